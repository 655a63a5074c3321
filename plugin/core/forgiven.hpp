// SPDX-License-Identifier: BSD-2-Clause
#pragma once

#include "oclspkt/bands.hpp"

namespace oclspkt {

/// What forgiving a rounding of the diagonal may do to a solution, relative to its largest unknown: the largest number
/// of M^-1 phi, phi the excesses that are forgiven, against their sign, and M the comparison matrix of what is left.
/// Poisson's equation: 0; Dorr's matrix of 511 rows: 1e44. NaN if M has a pivot of 0.
/// @cost 3 words a row; where something is forgiven, factors of M, by all processors, and two sweeps
template <typename T>
double forgiven_effect(const LineSet& lines, const BandsView<T>& bands);

/// The largest effect that is harmless; above it excesses keep their sign.
inline constexpr double kHarmlessForgiving = 0.1;

template <typename T>
bool forgiving_harms(const LineSet& lines, const BandsView<T>& bands) {
  return !(forgiven_effect(lines, bands) <= kHarmlessForgiving);
}

}  // namespace oclspkt
