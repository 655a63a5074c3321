// SPDX-License-Identifier: BSD-2-Clause
#include "schemes/grids/grid_factors.hpp"

#include <algorithm>
#include <span>

#include "line_columns.hpp"

namespace oclspkt {
namespace {

/// An array of a level and the places of its numbers.
template <typename T, typename Level = typename SegmentFactors<T>::Level>
struct Laid {
  AlignedArray<T> Level::*array;
  LineSet places;
};

/// Lay the numbers of some neighbouring lines, from `first` on, side by side at their places.
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

/// Places of no line are 0.
template <typename T>
void make_room(AlignedArray<T>& array, const LineSet& places) {
  array.resize(places.extent());
  if (places.rows() < places.extent()) std::fill_n(array.data(), array.size(), T(0));
}

}  // namespace

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

template class GridFactors<float>;
template class GridFactors<double>;

}  // namespace oclspkt
