// SPDX-License-Identifier: BSD-2-Clause
#pragma once

#include <vector>

#include "oclspkt/bands.hpp"

namespace oclspkt {

/// LAPACK with partial pivoting (gttrf, gttrs), the reference of all tests.
template <typename T>
class Reference {
 public:
  /// Factor every line.
  /// @throws InvalidInput if a line is longer than LAPACK's integers
  void factor(const LineSet& lines, const BandsView<T>& bands);
  /// @param y, x shape [lines.extent()]; may be the same
  void solve(const T* y, T* x);
  /// A line that is singular, or possibly singular, according to partial pivoting.
  struct Doubt {
    Index line = 0;
    Index row = 0;         ///< within the line
    bool singular = true;  ///< a pivot is 0 or not finite; else the last pivot is at most 4 eps max |its row|
  };
  /// Doubtful lines in order, one entry for each.
  const std::vector<Doubt>& doubts() const { return doubts_; }

 private:
  LineSet lines_;
  AlignedArray<T> lower_, diag_, upper_, upper2_, work_;
  std::vector<int> pivots_;
  std::vector<Doubt> doubts_;
};

/// The answer of LAPACK. @return shape [y]
template <typename T>
std::vector<T> solve_by_reference(const Bands<T>& bands, const std::vector<T>& y) {
  Reference<T> reference;
  reference.factor(bands.lines(), bands.view());
  std::vector<T> x(y.size());
  reference.solve(y.data(), x.data());
  return x;
}

}  // namespace oclspkt
