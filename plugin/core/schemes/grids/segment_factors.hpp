// SPDX-License-Identifier: BSD-2-Clause
#pragma once

#include <utility>
#include <vector>

#include "oclspkt/bands.hpp"
#include "oclspkt/export.hpp"
#include "schemes/grids/grid_plan.hpp"

namespace oclspkt {

/// The factors that exact-factored by segments stores of a line, see GridFactors.
///
/// Rows are cut into segments. All rows of each but the first are eliminated from the second one down, which leaves a
/// tridiagonal system in the first unknowns of all segments. This system is cut into segments in turn, level by level,
/// until one is solved whole. An apply goes through the levels twice. The pass down sweeps inner rows to the right-hand
/// side of the next level. The pass back sweeps them again in the same way, to the bit, and substitutes between the
/// first unknowns of the segment and of the next one. So both are one Gaussian elimination in another order, and stable
/// wherever elimination without pivoting is. A pass back from the unknowns outside of the segment would round its ends
/// anew, and multiply the difference by the condition of the segment. Excesses (ExcessRow) are in double.
/// @source Polizzi and Sameh 2006 (SPIKE); Grassmann, Taksar, Heyman 1985 (the excess)
template <typename T>
class OCLSPKT_API SegmentFactors {
 public:
  struct Level {
    Index rows = 0, segments = 1;
    /// Shape [rows]: a_i p_(i-1), p_i and c_i p_i as in FactorsView. In a segment's second row the multiplier is a_i
    /// itself. In its first row the multiplier applies to the row above, swept down; the others are 1 and 0. If
    /// symmetric, multipliers of second rows only, shape [segments], 0 if there is no such row.
    AlignedArray<T> multiplier, reciprocal, coupling;
    /// Shape [rows], empty in the last level: the factor with which an inner row, swept down, is subtracted from the
    /// first row; 0 elsewhere.
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
