// SPDX-License-Identifier: BSD-2-Clause
#pragma once

#include <vector>

#include "bytes.hpp"
#include "oclspkt/bands.hpp"
#include "oclspkt/options.hpp"

namespace oclspkt::fuzz {

/// Rows of all lines together stay below this.
inline constexpr Index kMostRows = 3000;

/// A line set of any kind: one line, equal, unequal or strided ones, empty ones among them.
LineSet take_lines(Bytes& bytes);

/// Bands of any kind: repeated rows of odd numbers, random ones around d = 1, row sums 0, random bits; then single
/// entries that are replaced. The unread entries hold anything.
template <typename T>
Bands<T> take_bands(Bytes& bytes, const LineSet& lines);

/// Replace single entries of the bands.
template <typename T>
void poke(Bytes& bytes, const LineSet& lines, T* lower, T* diag, T* upper);

/// A right-hand side: around 3, A x, odd numbers, 0, or with a NaN in it. Places of no line hold NaN.
template <typename T>
std::vector<T> take_right_hand_side(Bytes& bytes, const LineSet& lines, const BandsView<T>& bands);

/// Options that a solver takes, devices among them that model_device.hpp has.
Options take_options(Bytes& bytes);

}  // namespace oclspkt::fuzz
