// SPDX-License-Identifier: BSD-2-Clause
#pragma once

#include <vector>

#include "problem.hpp"

namespace oclspkt::bench {

/// Solvers of others, each a function that writes Problem::x and returns the seconds of the solve alone.
inline constexpr const char* kPeerNames[] = {"gtsv", "gttrs", "thomas"};

/// Words read and written a row. gtsv without interchanges: 4 + 3 on the way down, 4 + 1 on the way up.
inline constexpr double kGtsvWords = 12;
/// The sweep down reads 4 and writes the scaled upper band and right-hand side, the sweep up reads both and writes x.
inline constexpr double kThomasWords = 9;
/// Arrays of n scalars that stored LAPACK factors take: four bands, and pivots counted as one.
inline constexpr double kGttrsArrays = 5;

/// The sweep down reads a multiplier, a pivot index and y and writes x; the sweep up reads three bands and x, writes x.
template <typename T>
constexpr double gttrs_words() {
  return 8 + 4.0 / sizeof(T);
}

/// LAPACK gtsv: factor with partial pivoting and solve; destroys copies of the bands, which are not timed.
/// @throws InvalidInput if n is more than LAPACK's integers hold
template <typename T>
double gtsv(Problem<T>& problem);

/// LAPACK gttrf once, then gttrs.
template <typename T>
class LapackFactors {
 public:
  /// @throws InvalidInput if n is more than LAPACK's integers hold
  void factor(const Problem<T>& problem);
  double solve(Problem<T>& problem) const;

 private:
  AlignedArray<T> lower_, diag_, upper_, upper2_;
  std::vector<int> pivots_;
};

/// Serial elimination without pivoting, one sweep down and one up, nothing stored between solves.
template <typename T>
double thomas(Problem<T>& problem);

}  // namespace oclspkt::bench
