// SPDX-License-Identifier: BSD-2-Clause
#pragma once

#include <vector>

#include "oclspkt/bands.hpp"

namespace oclspkt {

/// LAPACK with partial pivoting (gttrf, gttrs): the one truth of the tests, and the method `pivot`.
template <typename T>
class Reference {
 public:
  /// Factor every line.
  /// @throws InvalidInput if a line is longer than LAPACK's integers
  void factor(const LineSet& lines, const BandsView<T>& bands);
  /// @param y, x shape [lines.extent()]; may be the same
  void solve(const T* y, T* x);
  /// First line with a pivot that is exactly zero or not finite, -1 if none.
  Index singular_line() const { return singular_line_; }
  /// First row (within its line) of that pivot.
  Index singular_row() const { return singular_row_; }
  /// First line whose last pivot is at most 4 eps max |its row|, -1 if none: singular if the residual is large too.
  Index suspect_line() const { return suspect_line_; }
  std::int64_t bytes() const;

 private:
  LineSet lines_;
  AlignedArray<T> lower_, diag_, upper_, upper2_, work_;
  std::vector<int> pivots_;
  Index singular_line_ = -1, singular_row_ = -1, suspect_line_ = -1;
};

}  // namespace oclspkt
