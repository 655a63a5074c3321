// SPDX-License-Identifier: BSD-2-Clause
#pragma once

#include <limits>
#include <vector>

#include "oclspkt/bands.hpp"

namespace oclspkt {

/// The largest change of a solution, relative to its largest unknown, if roundings of the diagonal are forgiven: the
/// largest number of M^-1 phi, where phi are the forgiven excesses with their sign reversed, and M is the comparison
/// matrix without them. Poisson's equation: 0; Dorr's matrix of 511 rows: 1e44. NaN if M has a pivot of 0.
/// @cost 3 words a row; where something is forgiven, factors of M, by all processors, and two sweeps
template <typename T>
double forgiven_effect(const LineSet& lines, const BandsView<T>& bands);

/// The largest effect that is harmless; above it excesses keep their sign.
inline constexpr double kHarmlessForgiving = 0.1;

template <typename T>
bool forgiving_harms(const LineSet& lines, const BandsView<T>& bands) {
  return !(forgiven_effect(lines, bands) <= kHarmlessForgiving);
}

/// True if a line is singular by what is known of it, whatever its pivots are: no coupling has the sign of its
/// diagonal, and the excess of every row is within rounding of 0 (Neumann ends), so that constants solve A x = 0.
/// The lower of the first row and the upper of the last count as couplings.
/// @cost up to the first row of another kind, 3 words a row
template <typename T>
bool sums_are_zero(const LineSet& lines, const BandsView<T>& bands, Index line);

/// The lines of a set that are so, by all processors.
template <typename T>
std::vector<Index> lines_of_zero_sums(const LineSet& lines, const BandsView<T>& bands);

/// The largest dominance of a line with sums of 0.
template <typename T>
inline constexpr double kZeroSumDominance = 1 + 8 * static_cast<double>(std::numeric_limits<T>::epsilon());

}  // namespace oclspkt
