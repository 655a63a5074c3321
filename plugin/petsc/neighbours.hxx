// SPDX-License-Identifier: BSD-2-Clause
#pragma once

#include <algorithm>
#include <array>
#include <vector>

#include "lines.hxx"

namespace oclspkt::petsc {

/// Call f(place, above, below) for places [first, end) in order, with the global rows before and behind each on its
/// line, those on other ranks included; -1 where there is none.
/// @pre every place belongs to a line: layout.lines.gapless()
template <typename F>
void for_neighbours(const LineLayout& layout, PetscInt first_row, Index first, Index end, const F& f) {
  const LineSet& lines = layout.lines;
  const auto global = [&](Index place) { return first_row + layout.row(place); };
  const auto beyond = [](const std::vector<PetscInt>& rows, Index line) {
    return rows.empty() ? -1 : rows[static_cast<std::size_t>(line)];
  };
  if (first >= end) return;
  if (lines.contiguous()) {
    Index line = lines.line_of(first), top = lines.first(line), bottom = top + lines.length(line) - 1;
    for (Index place = first; place < end; ++place) {
      for (; place > bottom; bottom = top + lines.length(line) - 1) top = lines.first(++line);
      f(place, place > top ? global(place - 1) : beyond(layout.above, line),
        place < bottom ? global(place + 1) : beyond(layout.below, line));
    }
    return;
  }
  const Index width = lines.row_stride(), block_rows = lines.block_extent(), length = lines.length(0);
  for (Index place = first; place < end;) {
    const Index block = place / block_rows, row = place % block_rows / width;
    Index line = block * width + place % width;
    for (const Index stop = std::min(end, place - place % width + width); place < stop; ++place, ++line) {
      f(place, row > 0 ? global(place - width) : beyond(layout.above, line),
        row + 1 < length ? global(place + width) : beyond(layout.below, line));
    }
  }
}

/// The global rows before and behind each local row on its line; -1 where there is none.
using Neighbours = std::vector<std::array<PetscInt, 2>>;

inline Neighbours neighbours_of(const LineLayout& layout, PetscInt first_row) {
  Neighbours rows(static_cast<std::size_t>(layout.lines.rows()));
  for_neighbours(layout, first_row, 0, layout.lines.rows(), [&](Index place, PetscInt above, PetscInt below) {
    rows[static_cast<std::size_t>(layout.row(place))] = {above, below};
  });
  return rows;
}

}  // namespace oclspkt::petsc
