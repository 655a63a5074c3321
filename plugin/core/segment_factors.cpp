// SPDX-License-Identifier: BSD-2-Clause
#include "segment_factors.hpp"

#include <algorithm>

#include "level_rows.hpp"

namespace oclspkt {
namespace {

using Row = ExcessRow<double>;

/// Eliminate from the rows at hand on, with row `next` and those below it to come. Where they end before the segment is
/// full the last is of the identity, below the end.
template <typename T>
void eliminate_rows(const LevelRows& rows, Index next, Index end, bool full, SchurSegment<double>& segment,
                    typename SegmentFactors<T>::Level& level) {
  for (Index i = next; i < end + (full ? 0 : 1); ++i) {
    const Row row = i < end ? rows(i) : Row{.excess = 1};
    if (segment.single) {
      if (i < end) level.multiplier[i - 1] = level.multiplier[i] = static_cast<T>(row.lower);
    } else {
      const Row inner = segment.bottom.as_pivot();
      const double reciprocal = 1 / inner.diag();
      level.reciprocal[i - 1] = static_cast<T>(reciprocal);
      level.coupling[i - 1] = static_cast<T>(inner.upper * reciprocal);
      if (level.weight.size() > 0) level.weight[i - 1] = static_cast<T>(segment.top.upper * reciprocal);
      if (i < end) level.multiplier[i] = static_cast<T>(row.lower * reciprocal);
    }
    append_row(segment, row);
  }
}

/// Factor the only segment of a level: all rows from the first down.
template <typename T>
void factor_all(const LevelRows& rows, typename SegmentFactors<T>::Level& level) {
  SchurSegment<double> all;
  all.bottom = rows(0);
  all.single = false;  // nothing on top
  level.multiplier[0] = 0;
  eliminate_rows<T>(rows, 1, level.rows, false, all, level);
}

/// Factor the inner rows of a segment. @return what is left of its first and last row
template <typename T>
SchurSegment<double> factor_segment(const LevelRows& rows, Index first, Index end, bool full,
                                    typename SegmentFactors<T>::Level& level) {
  SchurSegment<double> segment = begin_segment(rows(first));
  level.multiplier[first] = 0;
  level.reciprocal[first] = 1;
  level.coupling[first] = level.weight[first] = 0;
  if (full) {
    level.reciprocal[end - 1] = level.weight[end - 1] = 0;
    level.coupling[end - 1] = -1;
  }
  eliminate_rows<T>(rows, first + 1, end, full, segment, level);
  return segment;
}

}  // namespace

template <typename T>
void SegmentFactors<T>::factor(Index n, const BandsView<T>& bands, Index segment_rows, Index upper_rows) {
  levels_.clear();
  std::vector<Row> present, left;
  LevelRows rows = rows_of_bands(bands);
  do {
    Level& level = levels_.emplace_back();
    const Index most = levels_.size() == 1 ? segment_rows : upper_rows;
    level.rows = levels_.size() == 1 ? n : static_cast<Index>(present.size());
    for (AlignedArray<T>* array : {&level.multiplier, &level.reciprocal, &level.coupling}) array->resize(level.rows);
    left.clear();
    if (level.rows <= most) {
      factor_all<T>(rows, level);
    } else {
      level.weight.resize(level.rows);
      for (Index first = 0; first < level.rows; first += most) {
        const Index end = std::min(level.rows, first + most);
        const SchurSegment<double> s = factor_segment<T>(rows, first, end, end == first + most, level);
        left.push_back(s.top);
        left.push_back(s.bottom);
      }
    }
    std::swap(present, left);
    rows = [&present](Index i) { return present[static_cast<std::size_t>(i)]; };
  } while (!present.empty());
}

template class SegmentFactors<float>;
template class SegmentFactors<double>;

}  // namespace oclspkt
