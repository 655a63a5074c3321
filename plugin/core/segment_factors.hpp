// SPDX-License-Identifier: BSD-2-Clause
#pragma once

#include <utility>
#include <vector>

#include "oclspkt/bands.hpp"
#include "oclspkt/export.hpp"

namespace oclspkt {

/// What exact-factored by segments stores of a line, see GridFactors.
///
/// Rows are cut into segments. The inner rows of each are eliminated from the second one down, which leaves a
/// tridiagonal system in the first and last unknowns of all segments; it is cut into segments in its turn, level by
/// level, until one holds all. An apply goes through the levels twice: down, inner rows are swept to the right-hand
/// side of the next level; back, they are swept again in the same way, to the bit, and substituted between the first
/// and the last unknown of the segment. So it is one Gaussian elimination in another order, and stable wherever
/// elimination without pivoting is; a pass back that started from the unknowns outside of the segment would round its
/// ends anew, and multiply what they differ by with the condition of the segment. The excesses of rows (ExcessRow) go
/// from level to level in double.
/// @source Polizzi and Sameh 2006 (SPIKE); Grassmann, Taksar, Heyman 1985 (the excess)
template <typename T>
class OCLSPKT_API SegmentFactors {
 public:
  struct Level {
    Index rows = 0;
    /// Shape [rows]: a_i p_(i-1), p_i and c_i p_i as in FactorsView. Of a segment's second row the multiplier is a_i
    /// itself, and stands in the first row too; there the others are 1 and 0. Of the last row of a segment that is full
    /// they are 0 and -1, which make of the unknown below it its own.
    AlignedArray<T> multiplier, reciprocal, coupling;
    /// Shape [rows], empty in the last level: of inner rows, what is taken off the first row times the row swept down;
    /// 0 elsewhere.
    AlignedArray<T> weight;
    Index segments(Index segment_rows) const { return (rows + segment_rows - 1) / segment_rows; }
  };

  /// @param n             rows, at least 1
  /// @param segment_rows  at least 4, so that every level has fewer rows than the one before
  /// @param upper_rows    the same of levels above the first
  /// @pre couplings out of the line are 0
  /// @cost 2 divisions, 20 multiply-adds a row
  void factor(Index n, const BandsView<T>& bands, Index segment_rows, Index upper_rows);
  const std::vector<Level>& levels() const { return levels_; }
  std::vector<Level> take_levels() && { return std::move(levels_); }

 private:
  std::vector<Level> levels_;
};

}  // namespace oclspkt
