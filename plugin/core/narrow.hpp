// SPDX-License-Identifier: BSD-2-Clause
#pragma once

#include <string>

#include "oclspkt/bands.hpp"
#include "survey.hpp"

namespace oclspkt {

/// The largest relative change of a row's excess |diag| - |lower| - |upper| that precision narrow may cause.
inline constexpr double kNarrowChange = 0.1;

/// Round the bands to the 24 bits of float, in place, as if each row were scaled by a power of two. This power brings
/// the row's largest number into [1/2, 1). Powers of two change no digit, so the rows stay unscaled.
/// @pre couplings out of the lines are 0 (Bands::close_lines)
/// @return the largest relative change of a row's excess
/// @throws InvalidInput that names the first row with a scaled number outside of float's range, or with an excess that
///         changes by more than kNarrowChange (an excess of 0 must not change); the bands are then unchanged
/// @post   rows with NaN or Inf are unchanged; a survey of the bands finds them
/// @cost   6 words read, 3 written a row, by all processors of this process; nothing where T is float
template <typename T>
OCLSPKT_API double narrow_bands(Bands<T>& bands);

/// narrow_bands() for one line.
template <typename T>
OCLSPKT_API double narrow_line(Bands<T>& bands, Index line);

/// A bound on the relative change of any row's excess if the stored factors of a matrix of dominance d are rounded to
/// float: 2^-24 (d + 6) / (d - 1); infinite if d <= 1.
///
/// Rounded multipliers M, reciprocals R and couplings C are the exact factors of a matrix with rows
///     lower_i = M_i / R_(i-1),  upper_i = C_i / R_i,  diag_i = 1 / R_i + M_i C_(i-1) / R_(i-1).
/// Compared with the original rows, lower_i, upper_i and diag_i change by at most 2^-23 |lower_i|, 2^-23 |upper_i| and
/// 2^-24 (|diag_i| + 4 |lower_i|). The pivots u have |lower_i upper_(i-1) / u_(i-1)| <= |lower_i|, because d >= 1.
double narrow_factors_change(double d);

/// Why the factors of narrowed bands must not be rounded to float as well; empty if they are in float's range and both
/// roundings together stay within kNarrowChange. Rounding the bands changes an excess by up to 2^-24 (d + 1) / (d - 1)
/// of its new value.
/// @param survey  survey of the narrowed bands
OCLSPKT_API std::string why_not_narrow_factors(const Survey& survey);

}  // namespace oclspkt
