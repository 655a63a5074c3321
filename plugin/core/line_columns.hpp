// SPDX-License-Identifier: BSD-2-Clause
#pragma once

#include <algorithm>
#include <functional>
#include <vector>

#include "oclspkt/bands.hpp"
#include "parallel.hpp"
#include "plan.hpp"

namespace oclspkt {

/// Neighbouring lines that are copied at once, each to contiguous memory: as many as a cache line has doubles.
inline constexpr Index kColumnLines = 8;

/// Copies of some neighbouring lines of a set, each in contiguous memory.
template <typename T>
class Column {
 public:
  Column(const LineSet& lines, const BandsView<T>& bands, Index first, Index count)
      : length_(lines.length(first)), count_(count) {
    rows_.resize(static_cast<std::size_t>(3 * count * length_));
    const T* const from[] = {bands.lower, bands.diag, bands.upper};
    for (Index array = 0; array < 3; ++array) {
      for (Index i = 0; i < length_; ++i) {
        for (Index l = 0; l < count; ++l) {
          rows_[at(array, l) + static_cast<std::size_t>(i)] =
              from[array][lines.first(first + l) + i * lines.row_stride()];
        }
      }
    }
  }
  BandsView<T> line(Index l) const { return {&rows_[at(0, l)], &rows_[at(1, l)], &rows_[at(2, l)]}; }
  std::vector<BandsView<T>> lines() const {
    std::vector<BandsView<T>> all;
    for (Index l = 0; l < count_; ++l) all.push_back(line(l));
    return all;
  }

 private:
  std::size_t at(Index array, Index line) const { return static_cast<std::size_t>((3 * line + array) * length_); }
  Index length_, count_;
  std::vector<T> rows_;
};

/// Call f(first, width) for the first `count` lines of a set, a few neighbours at a time, by all processors.
/// @pre lines are of one length, which is not 0
/// @param f     see for_pieces()
/// @param most  the most lines of one call
inline void for_columns(const LineSet& lines, Index count, const std::function<void(Index first, Index width)>& f,
                        Index most = kColumnLines) {
  for_pieces(quotient_up(count, most), 1 + kPieceRows / (most * lines.length(0)), [&](Index begin, Index end) {
    for (Index first = begin * most; first < std::min(count, end * most); first += most) {
      f(first, std::min(most, count - first));
    }
  });
}

}  // namespace oclspkt
