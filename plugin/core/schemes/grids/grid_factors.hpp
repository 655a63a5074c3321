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

/// Append the inner rows [next, end) to a segment, and eliminate each. Then append row `end`, the first row of the next
/// segment, with excess 0; its excess then holds only what this segment adds. Row `count` is an identity row.
/// @param rows  f(i): row i of `count`, an ExcessRow<double>
/// @param see   f(i, row, left), called before row i is appended; left.bottom is the row above, not yet eliminated
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

/// The rows of the reduced system, whose unknowns are the first unknowns of the segments.
/// @param segments  from eliminate_inner_rows(); bottom is the change of the next segment's first row
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

/// The stored factors of one line for exact-factored by segments, see GridFactors.
///
/// Each level is cut into segments of rows. In each segment, all rows but the first are eliminated, from the second row
/// down. The first unknowns of the segments then form a tridiagonal system, the next level. The last level is not cut.
///
/// An apply goes through the levels twice. The pass down sweeps inner rows to compute the right-hand side of the next
/// level. The pass back repeats these sweeps, with the same bits, and substitutes between the first unknowns of
/// neighbouring segments. Both passes together are one Gaussian elimination in another order, so they are stable
/// wherever elimination without pivoting is. A pass back from the unknowns around a segment would round the segment's
/// end rows a second time. The segment's condition would then amplify the difference.
///
/// Excesses (ExcessRow) are in double.
/// @source Polizzi and Sameh 2006 (SPIKE); Grassmann, Taksar, Heyman 1985 (the excess)
template <typename T>
class OCLSPKT_API SegmentFactors {
 public:
  struct Level {
    Index rows = 0, segments = 1;
    /// Shape [rows]: a_i p_(i-1), p_i and c_i p_i, see FactorsView. A segment's first row has reciprocal 1 and coupling
    /// 0; its multiplier belongs to the swept row above it. A second row has the multiplier a_i. If symmetric,
    /// `multiplier` has shape [segments], for second rows alone, and 0 for a segment of one row.
    AlignedArray<T> multiplier, reciprocal, coupling;
    /// Shape [rows], empty in the last level. The result of the sweep down of an inner row, times its weight, is
    /// subtracted from the segment's first row. First rows have weight 0.
    AlignedArray<T> weight;
  };

  /// @param n  rows, at least 1
  /// @pre couplings out of the line are 0
  /// @cost 2 divisions, 20 multiply-adds a row; by all processors of this process if there are many rows
  void factor(Index n, const BandsView<T>& bands, const SegmentCut& cut);
  const std::vector<Level>& levels() const { return levels_; }
  std::vector<Level> take_levels() && { return std::move(levels_); }
  std::int64_t bytes() const;

 private:
  std::vector<Level> levels_;
};

/// The lines of a level above the first (see GridFactors), side by side in the order of `lines`, without gaps.
OCLSPKT_API LineSet lines_of_level(const LineSet& lines, Index rows);

/// The stored factors of exact-factored by segments for lines side by side: the SegmentFactors of every line, with the
/// numbers of neighbouring lines next to each other. The first level has the layout of the vectors, the other levels
/// have the layout of lines_of_level(). If lines share their factors, only one line's factors are stored, row after
/// row. If lines are symmetric, the coupling of an inner row is also the multiplier of the next row; the first level
/// then stores only the multipliers of second rows, in lines_of_level(lines, segments).
template <typename T>
class OCLSPKT_API GridFactors {
 public:
  using Level = typename SegmentFactors<T>::Level;

  /// @param form          shared: the first line's factors serve all lines; symmetric; general otherwise
  /// @param cut           the cut of every line; `form` decides whether it is symmetric
  /// @pre lines.beside(), couplings out of the lines are 0
  /// @cost the cost of SegmentFactors::factor() for each line, by all processors of this process
  void factor(const LineSet& lines, const BandsView<T>& bands, Form form, SegmentCut cut);
  const std::vector<Level>& levels() const { return levels_; }

 private:
  std::vector<Level> levels_;
};

}  // namespace oclspkt
