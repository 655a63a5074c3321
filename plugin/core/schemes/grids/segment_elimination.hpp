// SPDX-License-Identifier: BSD-2-Clause
#pragma once

#include <vector>

#include "interface.hpp"

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

}  // namespace oclspkt
