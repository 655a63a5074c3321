// SPDX-License-Identifier: BSD-2-Clause
#pragma once

#include <utility>
#include <vector>

#include "interface.hpp"
#include "oclspkt/bands.hpp"
#include "oclspkt/export.hpp"
#include "oclspkt/options.hpp"
#include "schemes/grids/grid_plan.hpp"

namespace oclspkt {

/// A row of the bands with its excess, in double.
template <typename T>
ExcessRow<double> wide_row(const BandsView<T>& bands, Index i) {
  const ExcessRow<T> row = make_row(bands.lower[i], bands.diag[i], bands.upper[i], T(0));
  return {row.lower, row.upper, row.excess, 0, row.sign};
}

/// Eliminate the inner rows [next, end) of a segment, after those that are in `left`. Then append the row below, whose
/// excess becomes the change of that row. Below the last row lies a row of the identity.
/// @param rows  f(i): row i of `count`, an ExcessRow<double>
/// @param see   f(i, row, left): before row i is appended; left.bottom is the row above, not yet eliminated
template <typename Rows, typename See>
void eliminate_inner_rows(const Rows& rows, Index count, Index next, Index end, SchurSegment<double>& left,
                          const See& see) {
  for (Index i = next; i <= end; ++i) {
    ExcessRow<double> row = i < count ? rows(i) : ExcessRow<double>{.excess = 1};
    if (i == end && i < count) row.excess = 0;
    see(i, row, left);
    append_row(left, row);
  }
}

/// The rows of the reduced system, in the first unknowns of segments.
/// @param segments  as eliminate_inner_rows() leaves them; bottom is the change of the next segment's first row
inline std::vector<ExcessRow<double>> rows_that_are_left(const std::vector<SchurSegment<double>>& segments) {
  std::vector<ExcessRow<double>> left;
  left.reserve(segments.size());
  for (const SchurSegment<double>& segment : segments) {
    ExcessRow<double> row = segment.top;
    if (!left.empty()) {
      const ExcessRow<double>& below = (&segment - 1)->bottom;
      row.lower = below.lower;
      row.excess += below.excess;
    }
    left.push_back(row);
  }
  return left;
}

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

/// The lines of a level above the first, see GridFactors: side by side as those of `lines`, without gaps.
OCLSPKT_API LineSet lines_of_level(const LineSet& lines, Index rows);

/// What exact-factored by segments stores of lines side by side: the SegmentFactors of every line, each number at its
/// place beside that of the next line: of the first level in the layout of the vectors, of others in lines_of_level().
/// Where lines share their factors, those of one line, its rows end to end. Where they are symmetric, the coupling of
/// an inner row is the multiplier of the next one: of the first level's multipliers only those of second rows are kept,
/// in lines_of_level(lines, segments).
template <typename T>
class OCLSPKT_API GridFactors {
 public:
  using Level = typename SegmentFactors<T>::Level;

  /// @param form          shared: the first line stands for all; symmetric; general otherwise
  /// @param cut           of every line; whether it is symmetric is what the form says
  /// @pre lines.beside(), couplings out of the lines are 0
  /// @cost as SegmentFactors::factor() a line, by all processors of this process
  void factor(const LineSet& lines, const BandsView<T>& bands, Form form, SegmentCut cut);
  const std::vector<Level>& levels() const { return levels_; }

 private:
  std::vector<Level> levels_;
};

}  // namespace oclspkt
