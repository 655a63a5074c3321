// SPDX-License-Identifier: BSD-2-Clause
#pragma once

#include <utility>
#include <vector>

#include "oclspkt/bands.hpp"
#include "oclspkt/export.hpp"
#include "segment_cut.hpp"

namespace oclspkt {

/// What exact-factored by segments stores of a line, see GridFactors.
///
/// Rows are cut into segments. All rows of each but the first are eliminated from the second one down, which leaves a
/// tridiagonal system in the first unknowns of all segments; it is cut into segments in its turn, level by level, until
/// one is solved whole. An apply goes through the levels twice: down, inner rows are swept to the right-hand side of
/// the next level; back, they are swept again in the same way, to the bit, and substituted between the first unknowns
/// of the segment and of the next one. So it is one Gaussian elimination in another order, and stable wherever
/// elimination without pivoting is; a pass back that started from the unknowns outside of the segment would round its
/// ends anew, and multiply what they differ by with the condition of the segment. The excesses of rows (ExcessRow) go
/// from level to level in double.
/// @source Polizzi and Sameh 2006 (SPIKE); Grassmann, Taksar, Heyman 1985 (the excess)
template <typename T>
class OCLSPKT_API SegmentFactors {
 public:
  struct Level {
    Index rows = 0, segments = 1;
    /// Shape [rows]: a_i p_(i-1), p_i and c_i p_i as in FactorsView. Of a segment's second row the multiplier is a_i
    /// itself. In the first row it is what that takes off of the row above it, swept down, and the others are 1 and 0.
    /// Where symmetric, multipliers of second rows only, shape [segments], 0 where there is none.
    AlignedArray<T> multiplier, reciprocal, coupling;
    /// Shape [rows], empty in the last level: of inner rows, what is taken off the first row times the row swept down;
    /// 0 elsewhere.
    AlignedArray<T> weight;
  };

  /// @param n  rows, at least 1
  /// @pre couplings out of the line are 0
  /// @cost 2 divisions, 20 multiply-adds a row, by all processors of this process where rows are many
  void factor(Index n, const BandsView<T>& bands, const SegmentCut& cut);
  const std::vector<Level>& levels() const { return levels_; }
  std::vector<Level> take_levels() && { return std::move(levels_); }
  std::int64_t bytes() const;

 private:
  std::vector<Level> levels_;
};

}  // namespace oclspkt
