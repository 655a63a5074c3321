// SPDX-License-Identifier: BSD-2-Clause
#pragma once

#include <cmath>
#include <cstdint>
#include <functional>
#include <limits>
#include <vector>

#include "oclspkt/bands.hpp"

namespace oclspkt {

/// Growth above which elimination in partitions is not trusted: rounding leaves up to some 10 times as many eps in a
/// row, and 100 are the limit. Rows that are dominant stay at 3.
inline constexpr double kGrowthLimit = 5;
/// The largest growth of matrices that are dominant by rows: |l c| <= |b| and |u| <= |b| + |l c|.
inline constexpr double kDominantGrowth = 3;
/// Componentwise backward error of the trial solve above which a method is not trusted, in units of eps.
inline constexpr double kTrialLimitEps = 100;

/// Normwise or rowwise backward error, in units of eps, of a solve that no pivoting could have done better.
inline constexpr double kStableEps = 10;

/// Right-hand sides of trial solves, from a fixed seed.
///   rough   y_i = (|a| + |b| + |c|)_i with a random sign: x is as large as the matrix can make it
///   smooth  y = A x for x_i of 1 or 2: x is small against what segments make of y by themselves, so that pieces solved
///           apart must agree to be right
enum class TrialKind { rough, smooth };

/// The coin of trial solves, the same in every set-up: Knuth's 64-bit linear congruence. Its low bits repeat, the
/// highest does not for long enough.
class TrialCoin {
 public:
  /// @param process solves that are shared among processes toss another coin on each
  explicit TrialCoin(int process = 0) : state_(kSeed + static_cast<std::uint64_t>(process)) {}
  bool toss() { return (state_ = state_ * kFactor + kTerm) >> 63 != 0; }
  /// Skip this many tosses.
  void skip(Index tosses) {
    // factor and term: the state after 1, 2, 4, ... tosses is factor * state + term.
    std::uint64_t factor = kFactor, term = kTerm;
    for (auto left = static_cast<std::uint64_t>(tosses); left > 0; left >>= 1) {
      if ((left & 1) != 0) state_ = state_ * factor + term;
      term *= factor + 1;
      factor *= factor;
    }
  }

 private:
  /// Any fixed seed will do; the same one keeps the choice of the method reproducible.
  static constexpr std::uint64_t kSeed = 20190913, kFactor = 6364136223846793005U, kTerm = 1442695040888963407U;
  std::uint64_t state_;
};

template <typename T>
void trial_right_hand_side(const LineSet& lines, const BandsView<T>& bands, TrialKind kind, T* y);

/// The errors of a trial solve.
struct Trial {
  double worst = 0;           ///< largest componentwise backward error over lines; NaN if a solution is not finite
  std::vector<Index> failed;  ///< lines whose error is above the limit, in order
  std::vector<Index>
      failed_by_row;  ///< those of them where a row's error is, against the row and the line's largest unknown
};

/// Solve a trial system by `apply` and measure it, line by line, against kTrialLimitEps.
template <typename T>
Trial trial_solve(const LineSet& lines, const BandsView<T>& bands, TrialKind kind,
                  const std::function<void(const T*, T*)>& apply);

/// The largest growth of rows seen.
class Growth {
 public:
  /// @param taken  what elimination took from the diagonal, and what it left of it
  /// @param diag   the diagonal before any elimination
  template <typename T>
  void see(T taken, T left, T diag) {
    const double row = static_cast<double>((std::abs(taken) + std::abs(left)) / std::abs(diag));
    finite_ = finite_ && row <= std::numeric_limits<double>::max() && std::abs(left) > 0;
    largest_ = row > largest_ ? row : largest_;
  }
  /// A coupling that elimination put where there was another, against the largest entry of the row before.
  template <typename T>
  void see_fill(T fill, T lower, T diag, T upper) {
    const double row =
        static_cast<double>(std::abs(fill) / std::max({std::abs(lower), std::abs(diag), std::abs(upper)}));
    largest_ = row > largest_ ? row : largest_;
  }
  double value() const { return finite_ ? largest_ : std::numeric_limits<double>::quiet_NaN(); }

 private:
  double largest_ = 0;
  bool finite_ = true;
};

/// Largest growth max (|l_i c_(i-1)| + |u_i|) / |b_i| of elimination without pivoting over rows [first, end),
/// downwards, partition by partition of m rows, each with `halo` rows on either side. NaN if a pivot is zero or not
/// finite.
/// @pre the rows are whole lines
template <typename T>
double elimination_growth(const BandsView<T>& bands, Index m, Index halo, Index first, Index end);

/// The same for exact-twopass: the inner rows of each partition of m rows first, then the boundary equations that are
/// left, top and bottom of each partition. The couplings that inner rows get to the top row count as well; where a
/// solution grows downwards they do, and take more than it off again.
template <typename T>
double twopass_growth(const BandsView<T>& bands, Index m, Index first, Index end);

}  // namespace oclspkt
