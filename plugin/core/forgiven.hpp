// SPDX-License-Identifier: BSD-2-Clause
#pragma once

#include <vector>

#include "oclspkt/bands.hpp"
#include "scalars.hpp"

namespace oclspkt {

/// How much a solution can change, relative to its largest unknown, when the excesses for which is_forgiven() is true
/// (interface.hpp) are replaced by 0. This is the largest entry of M^-1 phi: phi_i is the size of such an excess, or 0;
/// M is the comparison matrix of A with these excesses set to 0. The effect is 0 for Poisson's equation, 1e44 for
/// Dorr's matrix of 511 rows, and NaN if M has a pivot of 0.
/// @cost 3 words a row; if an excess is forgiven, also the factors of M, by all processors, and two sweeps
/// @source Ostrowski 1937: |A^-1| <= M^-1 for the comparison matrix M of A
template <typename T>
double forgiven_effect(const LineSet& lines, const BandsView<T>& bands);

/// The largest harmless effect. If the effect is larger, no excess is forgiven.
inline constexpr double kHarmlessForgiving = 0.1;

template <typename T>
bool forgiving_harms(const LineSet& lines, const BandsView<T>& bands) {
  return !(forgiven_effect(lines, bands) <= kHarmlessForgiving);
}

/// True if all row sums of a line are 0 within rounding and, for real numbers, no coupling has the sign of its diagonal
/// (Neumann ends).
/// Constants then solve A x = 0, and the line is singular, whatever its computed pivots are. The lower of the first row
/// and the upper of the last row count as couplings.
/// @cost 3 words a row, up to the first row whose sum is not 0
template <typename T>
bool sums_are_zero(const LineSet& lines, const BandsView<T>& bands, Index line);

template <typename T>
std::vector<Index> lines_of_zero_sums(const LineSet& lines, const BandsView<T>& bands);

/// The largest dominance of a line for which sums_are_zero() is true.
template <typename T>
inline constexpr double kZeroSumDominance = 1 + 8 * static_cast<double>(kEpsOf<T>);

}  // namespace oclspkt
