// SPDX-License-Identifier: BSD-2-Clause
#include "schemes/grids/grid_factors.hpp"

#include <algorithm>
#include <functional>
#include <span>

#include "line_columns.hpp"
#include "parallel.hpp"

namespace oclspkt {
namespace {

using Row = ExcessRow<double>;
using LevelRows = std::function<Row(Index)>;

/// The rows of the bands. The arrays behind `bands` must outlive the result.
template <typename T>
LevelRows rows_of_bands(const BandsView<T>& bands) {
  return [bands](Index i) { return wide_row(bands, i); };
}

/// Rows [first, end) of a level, and the arrays for the multipliers of all rows, or of the second row only.
template <typename T>
struct Segment {
  Index first, end;
  T *multipliers, *second;
};

/// Eliminate the rows [next, end) of a segment and store their factors.
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

/// Factor the last level, which is not cut: eliminate all rows from the first row down.
template <typename T>
void factor_all(const LevelRows& rows, typename SegmentFactors<T>::Level& level) {
  SchurSegment<double> all;
  all.bottom = rows(0);
  all.single = false;  // all rows are eliminated, so no first row remains
  factor_rows<T>(rows, {0, level.rows, level.multiplier.data(), nullptr}, 1, all, level);
}

/// Factor the segments of a level. @return the rows of the next level
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

/// An array of one level of a line, and the layout of this level for all lines.
template <typename T, typename Level = typename SegmentFactors<T>::Level>
struct Laid {
  AlignedArray<T> Level::*array;
  LineSet places;
};

/// Write the numbers of the neighbouring lines `some`, which begin with line `first`, side by side to `to`.
template <typename T>
void lay_beside(const Laid<T>& laid, std::size_t level, Index first, std::span<const SegmentFactors<T>> some,
                AlignedArray<T>& to) {
  for (Index i = 0; i < laid.places.length(first); ++i) {
    Index line = first;
    for (const SegmentFactors<T>& one : some) {
      to[laid.places.first(line++) + i * laid.places.row_stride()] = (one.levels()[level].*laid.array)[i];
    }
  }
}

template <typename T>
std::vector<Laid<T>> arrays_of_level(const LineSet& lines, bool first, const typename SegmentFactors<T>::Level& level,
                                     bool symmetric) {
  using Level = typename SegmentFactors<T>::Level;
  const LineSet set = first ? lines : lines_of_level(lines, level.rows);
  std::vector<Laid<T>> arrays{{&Level::multiplier, first && symmetric ? lines_of_level(lines, level.segments) : set},
                              {&Level::reciprocal, set},
                              {&Level::coupling, set}};
  if (level.segments > 1) arrays.push_back({&Level::weight, set});
  return arrays;
}

/// Resize an array to `places`. Gaps between lines get zeros.
template <typename T>
void make_room(AlignedArray<T>& array, const LineSet& places) {
  array.resize(places.extent());
  if (places.rows() < places.extent()) std::fill_n(array.data(), array.size(), T(0));
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
      level.multiplier[level.multiplier.size() - 1] = 0;  // the last segment may have no second row
      left = factor_segments<T>(rows, cut.segment_rows(k), symmetric, level);
    }
    std::swap(present, left);
    rows = [&present](Index i) { return present[static_cast<std::size_t>(i)]; };
  } while (!present.empty());
}

LineSet lines_of_level(const LineSet& lines, Index rows) {
  return LineSet::strided(rows, lines.block_lines(), lines.block_lines(), 1, lines.blocks(),
                          rows * lines.block_lines());
}

template <typename T>
void GridFactors<T>::factor(const LineSet& lines, const BandsView<T>& bands, Form form, SegmentCut cut) {
  const Index length = lines.length(0);
  cut.symmetric = form == Form::symmetric && cut.segments(0, length) > 1;
  levels_.clear();
  if (form == Form::shared) {
    const Column<T> column(lines, bands, 0, 1);
    SegmentFactors<T> one;
    one.factor(length, column.line(0), cut);
    levels_ = std::move(one).take_levels();
    return;
  }
  std::vector<std::vector<Laid<T>>> laid;
  for (Index rows = length; laid.empty() || rows > 1; rows = levels_.back().segments) {
    Level& level = levels_.emplace_back();
    level.rows = rows;
    level.segments = cut.segments(laid.size(), rows);
    laid.push_back(arrays_of_level<T>(lines, laid.empty(), level, cut.symmetric));
    for (const Laid<T>& l : laid.back()) make_room(level.*l.array, l.places);
  }
  for_columns(lines, lines.count(), [&](Index first, Index width) {
    const Column<T> column(lines, bands, first, width);
    std::vector<SegmentFactors<T>> some(static_cast<std::size_t>(width));
    for (Index l = 0; l < width; ++l) {
      some[static_cast<std::size_t>(l)].factor(length, column.line(l), cut);
    }
    for (std::size_t k = 0; k < levels_.size(); ++k) {
      for (const Laid<T>& l : laid[k]) lay_beside<T>(l, k, first, some, levels_[k].*l.array);
    }
  });
}

#define OCLSPKT_INSTANTIATE(T)      \
  template class SegmentFactors<T>; \
  template class GridFactors<T>;
OCLSPKT_INSTANTIATE(float)
OCLSPKT_INSTANTIATE(double)

}  // namespace oclspkt
