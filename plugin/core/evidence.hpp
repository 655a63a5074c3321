// SPDX-License-Identifier: BSD-2-Clause
#pragma once

#include <cmath>
#include <cstdint>
#include <functional>
#include <limits>
#include <vector>

#include "oclspkt/bands.hpp"

namespace oclspkt {

/// The largest growth for which elimination in partitions is trusted. The rounding error of a row, in eps, is at most
/// some 10 times the growth; its limit is 100 eps. The growth of dominant rows is at most 3.
inline constexpr double kGrowthLimit = 5;
/// The largest growth of matrices that are dominant by rows: elimination subtracts at most |b| from a diagonal b.
inline constexpr double kDominantGrowth = 3;
/// The largest componentwise backward error of a trial solve, in eps, for which a method is trusted.
inline constexpr double kTrialLimitEps = 100;

/// The largest normwise or rowwise backward error, in eps, that pivoting would not improve.
inline constexpr double kStableEps = 10;

/// Right-hand sides of trial solves, from a fixed seed.
///   rough   y_i = (|lower| + |diag| + |upper|)_i with a random sign: x is as large as the matrix can make it
///   smooth  y = A x, with each x_i 1 or 2: x is smaller than the solutions of single segments, which reveals errors
///           in the coupling of segments
enum class TrialKind { rough, smooth };

/// The random bits of trial solves, equal in every set-up: the highest bits of Knuth's 64-bit linear congruential
/// generator, because its lower bits have short periods.
class TrialCoin {
 public:
  /// @param process  rank of this process in a solve that several processes share; each process has its own sequence
  explicit TrialCoin(int process = 0) : state_(kSeed + static_cast<std::uint64_t>(process)) {}
  bool toss() { return (state_ = state_ * kFactor + kTerm) >> 63 != 0; }
  void skip(Index tosses) {
    // After 1, 2, 4, ... tosses the state is factor * state + term.
    std::uint64_t factor = kFactor, term = kTerm;
    for (auto left = static_cast<std::uint64_t>(tosses); left > 0; left >>= 1) {
      if ((left & 1) != 0) state_ = state_ * factor + term;
      term *= factor + 1;
      factor *= factor;
    }
  }

 private:
  /// A fixed seed makes the choice of the method reproducible.
  static constexpr std::uint64_t kSeed = 20190913, kFactor = 6364136223846793005U, kTerm = 1442695040888963407U;
  std::uint64_t state_;
};

template <typename T>
void trial_right_hand_side(const LineSet& lines, const BandsView<T>& bands, TrialKind kind, T* y);

struct Trial {
  double worst = 0;           ///< largest componentwise backward error over lines; NaN if a solution is not finite
  std::vector<Index> failed;  ///< lines whose error is above the limit, in order
  std::vector<Index> failed_by_row;  ///< failed lines whose rowwise backward error exceeds kStableEps
};

/// Solve a trial system by `apply` and compare the error of each line with kTrialLimitEps.
template <typename T>
Trial trial_solve(const LineSet& lines, const BandsView<T>& bands, TrialKind kind,
                  const std::function<void(const T*, T*)>& apply);

class Growth {
 public:
  /// Record a row.
  /// @param taken  the number that elimination subtracts from the diagonal
  /// @param left   the diagonal after elimination
  /// @param diag   the diagonal before elimination
  template <typename T>
  void see(T taken, T left, T diag) {
    const double row = static_cast<double>((std::abs(taken) + std::abs(left)) / std::abs(diag));
    finite_ = finite_ && row <= std::numeric_limits<double>::max() && std::abs(left) > 0;
    largest_ = row > largest_ ? row : largest_;
  }
  /// Record a coupling that elimination fills in, relative to the largest entry of its row before elimination.
  /// @param fill  the new coupling
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

/// The growth of downward elimination without pivoting over rows [first, end), in partitions of m rows with `halo` more
/// rows on each side: max (|b_i - u_i| + |u_i|) / |b_i|, b the diagonal, u the pivots. NaN if a pivot is 0 or not
/// finite.
/// @pre the rows are whole lines
template <typename T>
double elimination_growth(const BandsView<T>& bands, Index m, Index halo, Index first, Index end);

/// elimination_growth() for exact-twopass, which first eliminates the inner rows of each partition of m rows, and then
/// the boundary equations of all partitions. The couplings of inner rows to the top row of their partition count as
/// well: they grow if a solution grows downwards, and their terms then cancel.
template <typename T>
double twopass_growth(const BandsView<T>& bands, Index m, Index first, Index end);

}  // namespace oclspkt
