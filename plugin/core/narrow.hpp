// SPDX-License-Identifier: BSD-2-Clause
#pragma once

#include <string>

#include "oclspkt/bands.hpp"
#include "survey.hpp"

namespace oclspkt {

/// The largest relative change of a row's excess |diag| - |lower| - |upper| that precision narrow may cause.
inline constexpr double kNarrowChange = 0.1;

/// Round the bands to the 24 bits of float, in place, as if each row had been scaled by the power of two that brings
/// its largest number into [1/2, 1). Such a scale changes no bit, so none is kept.
/// @pre couplings out of the lines are 0 (Bands::close_lines)
/// @return the largest relative change of a row's excess
/// @throws InvalidInput that names the first row with a number outside of float's range when scaled so, or whose excess
///         changes by more than kNarrowChange (one of 0 by anything at all); the bands are then unchanged
/// @post   rows with NaN or Inf are unchanged; a survey of the bands finds them
/// @cost   6 words read, 3 written a row, by all processors of this process; nothing where T is float
template <typename T>
OCLSPKT_API double narrow_bands(Bands<T>& bands);

/// narrow_bands() for one line.
template <typename T>
OCLSPKT_API double narrow_line(Bands<T>& bands, Index line);

/// Bound of the relative change of any row's excess when the stored factors of a matrix of dominance d are rounded to
/// float: 2^-24 (d + 6) / (d - 1); infinite if d <= 1.
///
/// Multiplier M, reciprocal R and coupling C of rounded factors stand for the matrix with rows
///     lower_i = M_i / R_(i-1),  upper_i = C_i / R_i,  diag_i = 1 / R_i + M_i C_(i-1) / R_(i-1),
/// whose numbers are off by 2^-23 |lower_i|, 2^-23 |upper_i| and 2^-24 (|diag_i| + 4 |lower_i|) at most: with dominance
/// by rows, the fill is below |lower_i|.
double narrow_factors_change(double d);

/// Why factors of narrowed bands must not be rounded as well; empty if floats hold them, and both roundings stay within
/// kNarrowChange. The first rounding changes 2^-24 (d + 1) / (d - 1) of the excess that is left.
/// @param survey  of the narrowed bands
OCLSPKT_API std::string why_not_narrow_factors(const Survey& survey);

}  // namespace oclspkt
