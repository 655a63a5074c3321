// SPDX-License-Identifier: BSD-2-Clause
#pragma once

#include <functional>

#include "oclspkt/bands.hpp"

namespace oclspkt {

/// Growth above which elimination without pivoting is not trusted.
inline constexpr double kGrowthLimit = 100;
/// What it cannot exceed for matrices that are dominant by rows: |l c| <= |b| and |u| <= |b| + |l c|.
inline constexpr double kDominantGrowth = 3;
/// Componentwise backward error of the trial solve above which a method is not trusted, in units of eps.
inline constexpr double kTrialLimitEps = 100;

/// The right-hand side of the trial solve: y_i = (|a| + |b| + |c|)_i with a random sign from a fixed seed.
template <typename T>
void trial_right_hand_side(const LineSet& lines, const BandsView<T>& bands, T* y);

/// Solve the trial system by `apply` and measure it, per line.
/// @return largest componentwise backward error over lines; NaN if the solution is not finite
template <typename T>
double trial_solve(const LineSet& lines, const BandsView<T>& bands, const std::function<void(const T*, T*)>& apply);

/// Largest growth max (|l_i c_(i-1)| + |u_i|) / |b_i| of elimination without pivoting that starts anew every m rows,
/// downwards. NaN if a pivot is not finite.
template <typename T>
double elimination_growth(Index n, const BandsView<T>& bands, Index m);

}  // namespace oclspkt
