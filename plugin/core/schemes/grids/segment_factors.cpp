// SPDX-License-Identifier: BSD-2-Clause
#include "schemes/grids/segment_factors.hpp"

#include <algorithm>
#include <functional>

#include "parallel.hpp"
#include "schemes/grids/segment_elimination.hpp"

namespace oclspkt {
namespace {

using Row = ExcessRow<double>;
using LevelRows = std::function<Row(Index)>;

/// The rows of the bands, which must outlive the result.
template <typename T>
LevelRows rows_of_bands(const BandsView<T>& bands) {
  return [bands](Index i) { return wide_row(bands, i); };
}

/// Rows [first, end) of a level, and where multipliers go: of all rows, or of the second one only.
template <typename T>
struct Segment {
  Index first, end;
  T *multipliers, *second;
};

/// Eliminate the rows of a segment, from `next` on, and store their factors.
template <typename T>
void factor_rows(const LevelRows& rows, const Segment<T>& segment, Index next, SchurSegment<double>& left,
                 typename SegmentFactors<T>::Level& level) {
  eliminate_inner_rows(rows, level.rows, next, segment.end, left, [&](Index i, const Row& row, const auto& so_far) {
    if (so_far.single) {
      if (i < segment.end) *segment.second = static_cast<T>(row.lower);
      return;
    }
    const Row inner = so_far.bottom.as_pivot();
    const double reciprocal = 1 / inner.diag();
    level.reciprocal[i - 1] = static_cast<T>(reciprocal);
    level.coupling[i - 1] = static_cast<T>(inner.upper * reciprocal);
    if (level.weight.size() > 0) level.weight[i - 1] = static_cast<T>(so_far.top.upper * reciprocal);
    if (i < level.rows && segment.multipliers != nullptr) {
      segment.multipliers[i] = static_cast<T>(row.lower * reciprocal);
    }
  });
}

/// Factor a level that is not cut: all rows from the first down.
template <typename T>
void factor_all(const LevelRows& rows, typename SegmentFactors<T>::Level& level) {
  SchurSegment<double> all;
  all.bottom = rows(0);
  all.single = false;  // nothing on top
  factor_rows<T>(rows, {0, level.rows, level.multiplier.data(), nullptr}, 1, all, level);
}

/// Factor the segments of a level. @return their rows of the next level
template <typename T>
std::vector<Row> factor_segments(const LevelRows& rows, Index segment_rows, bool symmetric,
                                 typename SegmentFactors<T>::Level& level) {
  const auto at = [](Index s) { return static_cast<std::size_t>(s); };
  std::vector<SchurSegment<double>> left(at(level.segments));
  for_pieces(level.segments, std::max<Index>(1, kPieceRows / segment_rows), [&](Index begin, Index end) {
    for (Index s = begin; s < end; ++s) {
      const Index first = s * segment_rows;
      T* const multipliers = level.multiplier.data();
      const Segment<T> segment{first, std::min(level.rows, first + segment_rows), symmetric ? nullptr : multipliers,
                               multipliers + (symmetric ? s : first + 1)};
      level.reciprocal[first] = 1;
      level.coupling[first] = level.weight[first] = 0;
      SchurSegment<double> both = begin_segment(rows(first));
      factor_rows<T>(rows, segment, first + 1, both, level);
      left[at(s)] = both;
    }
  });
  return rows_that_are_left(left);
}

}  // namespace

template <typename T>
std::int64_t SegmentFactors<T>::bytes() const {
  std::int64_t bytes = 0;
  for (const Level& level : levels_) {
    bytes += level.multiplier.bytes() + level.reciprocal.bytes() + level.coupling.bytes() + level.weight.bytes();
  }
  return bytes;
}

template <typename T>
void SegmentFactors<T>::factor(Index n, const BandsView<T>& bands, const SegmentCut& cut) {
  levels_.clear();
  std::vector<Row> present, left;
  LevelRows rows = rows_of_bands(bands);
  do {
    const std::size_t k = levels_.size();
    Level& level = levels_.emplace_back();
    level.rows = k == 0 ? n : static_cast<Index>(present.size());
    level.segments = cut.segments(k, level.rows);
    const bool symmetric = k == 0 && cut.symmetric && level.segments > 1;
    level.multiplier.resize(symmetric ? level.segments : level.rows);
    level.reciprocal.resize(level.rows);
    level.coupling.resize(level.rows);
    level.multiplier[0] = 0;
    left.clear();
    if (level.segments == 1) {
      factor_all<T>(rows, level);
    } else {
      level.weight.resize(level.rows);
      level.multiplier[level.multiplier.size() - 1] = 0;  // of a segment of one row
      left = factor_segments<T>(rows, cut.segment_rows(k), symmetric, level);
    }
    std::swap(present, left);
    rows = [&present](Index i) { return present[static_cast<std::size_t>(i)]; };
  } while (!present.empty());
}

template class SegmentFactors<float>;
template class SegmentFactors<double>;

}  // namespace oclspkt
