// SPDX-License-Identifier: BSD-2-Clause
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "oclspkt/export.hpp"

namespace oclspkt {

/// Counts and offsets of rows and lines, in 64 bits whatever PetscInt is.
using Index = std::int64_t;

/// Many tridiagonal systems (lines) inside one vector; one huge system is a line set of one.
///
/// Row i of line l stands at `first(l) + i * row_stride()`. Bands and vectors share this layout.
class OCLSPKT_API LineSet {
 public:
  /// An empty set: no lines, no rows.
  LineSet() = default;

  /// One line of n rows, contiguous.
  static LineSet one(Index n);

  /// `count` contiguous lines of `length` rows, laid end to end.
  static LineSet equal(Index count, Index length);

  /// Contiguous lines laid end to end; line l holds rows starts[l] ... starts[l+1]-1.
  /// @param starts shape [count+1], starts[0] = 0, not decreasing
  /// @throws InvalidInput
  static LineSet unequal(std::vector<Index> starts);

  /// Lines of equal length whose rows lie apart; the lines form an inner x outer rectangle:
  /// line (i, o) begins at i * inner_stride + o * outer_stride.
  /// @throws InvalidInput if two rows fall on the same place or a stride is not positive
  static LineSet strided(Index length, Index row_stride, Index inner_count, Index inner_stride, Index outer_count = 1,
                         Index outer_stride = 1);

  /// The lines along axis 0 (x, fastest), 1 (y) or 2 (z) of an nx x ny x nz block.
  static LineSet grid_axis(int axis, Index nx, Index ny, Index nz);

  Index count() const { return count_; }
  Index length(Index line) const;
  /// Offset of the first row of line `line`.
  Index first(Index line) const;
  Index row_stride() const { return row_stride_; }
  /// Rows of all lines together.
  Index rows() const { return rows_; }
  /// Least length of a vector that holds the set.
  Index extent() const { return extent_; }
  /// The line that holds offset `row` of a contiguous set.
  /// @pre contiguous(), 0 <= row < rows()
  Index line_of(Index row) const;
  /// True if the lines are laid end to end without gaps.
  bool contiguous() const;
  /// How many lines lie side by side at stride 1; 1 for contiguous sets.
  Index side_by_side() const { return inner_stride_ == 1 && row_stride_ > 1 ? inner_count_ : 1; }
  /// True if the lines form `blocks()` blocks of `block_lines()` lines that lie side by side. Device kernels for
  /// strided lines need this layout.
  bool beside() const { return !contiguous() && inner_stride_ == 1 && row_stride_ > 1; }
  /// True if every place belongs to a line and blocks follow each other without a gap, as for all lines of a grid.
  bool gapless() const;
  /// @pre beside()
  Index block_lines() const { return inner_count_; }
  Index blocks() const { return inner_count_ > 0 ? count_ / inner_count_ : 0; }
  /// Places from one block to the next.
  Index block_stride() const { return outer_stride_; }
  /// Places from the first row of a block to the end of its last row.
  Index block_extent() const { return (length_ - 1) * row_stride_ + inner_count_; }
  /// Text such as "64 lines of 32 rows, stride 64".
  std::string describe() const;

  bool operator==(const LineSet&) const = default;

 private:
  Index count_ = 0, rows_ = 0, extent_ = 0;
  Index length_ = 0, row_stride_ = 1;
  Index inner_count_ = 1, inner_stride_ = 1, outer_stride_ = 1;
  std::vector<Index> starts_;
};

}  // namespace oclspkt
