// SPDX-License-Identifier: BSD-2-Clause
#pragma once

#include <vector>

#include "oclspkt/bands.hpp"

namespace oclspkt {

/// An equation of a tridiagonal system: lower x_(i-1) + diag x_i + upper x_(i+1) = f.
template <typename Number>
struct PivotedRow {
  Number lower = 0, diag = 0, upper = 0;
  Number scale = 1;  ///< the size of the row: pivots are compared, and held against, relative to it
};

/// A row of the upper triangle, and what led to it.
template <typename Number>
struct PivotStep {
  Number diag, upper = 0, upper2 = 0;
  Number multiplier = 0;  ///< times this row's right-hand side goes from the next one's
  bool swapped = false;   ///< with the next row, before
};

/// Take the larger of `row` and the next row against their scales for the pivot row, and eliminate it from the other.
/// @param[in,out] row, next  the pivot row, and what is left of the other
/// @param lower              coupling of `next` to the unknown of `row`
template <typename Number>
void eliminate_pivoted(PivotStep<Number>& row, Number& scale, PivotStep<Number>& next, Number& next_scale,
                       Number lower);

/// Many tridiagonal systems, one after the other, solved by Gaussian elimination with scaled partial pivoting in a
/// number type that may be wider than LAPACK's: what is left of cut lines, in double, and lines beyond the range of
/// their own type.
template <typename Number>
class PivotedLines {
 public:
  void clear();
  /// Factor one more system.
  /// @param[in] rows shape [n]; lower of the first and upper of the last are not read
  /// @return the smallest pivot against its row's scale; NaN if one is not finite
  /// @cost 2n divisions
  Number add(const std::vector<PivotedRow<Number>>& rows);
  /// Unknowns of all systems.
  Index size() const { return static_cast<Index>(rows_.size()); }
  /// Solve all systems in place. NaN stays in its system.
  /// @param[in,out] x shape [size()]; right-hand sides, then unknowns, in the order of add()
  /// @cost 1 division, 3 multiplications and subtractions a row, by all processors of this process
  void solve(Number* x) const;
  std::int64_t bytes() const;

 private:
  using Row = PivotStep<Number>;
  void solve(Number* x, Index first, Index end) const;
  std::vector<Row> rows_;
  std::vector<Index> starts_{0};  ///< shape [systems + 1]
};

}  // namespace oclspkt
