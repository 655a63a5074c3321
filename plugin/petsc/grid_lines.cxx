// SPDX-License-Identifier: BSD-2-Clause
/* The lines of a grid, and their cuts between ranks. This file calls no function of PETSc. */
#include <algorithm>
#include <numeric>

#include "lines.hxx"

namespace oclspkt::petsc {
namespace {

int rank_at(const Grid& grid, const std::array<std::size_t, kAxes>& place) {
  return static_cast<int>(place[0] + grid.widths[0].size() * (place[1] + grid.widths[1].size() * place[2]));
}

/// Global row of a node's first unknown. PETSc numbers rank by rank, and within a rank node by node.
Index global_row(const Grid& grid, const std::array<std::size_t, kAxes>& place, const std::array<Index, kAxes>& node) {
  Index width[kAxes], begin[kAxes];
  for (std::size_t a = 0; a < kAxes; ++a) {
    width[a] = grid.widths[a][place[a]];
    begin[a] = grid.begin(a, place[a]);
  }
  const Index before =
      grid.nodes[0] * grid.nodes[1] * begin[2] + grid.nodes[0] * begin[1] * width[2] + begin[0] * width[1] * width[2];
  const Index inside = ((node[2] - begin[2]) * width[1] + (node[1] - begin[1])) * width[0] + (node[0] - begin[0]);
  return grid.unknowns * (before + inside);
}

/// Call f(line, node of the line's first row, unknown) for this rank's lines in the order of lines_along().
template <typename F>
void for_each_line(const Grid& grid, std::size_t axis, const F& f) {
  Index begin[kAxes], end[kAxes];
  for (std::size_t a = 0; a < kAxes; ++a) {
    begin[a] = grid.begin(a, grid.place[a]);
    end[a] = a == axis ? begin[a] + 1 : begin[a] + grid.width(a);
  }
  Index line = 0;
  for (Index k = begin[2]; k < end[2]; ++k) {
    for (Index j = begin[1]; j < end[1]; ++j) {
      for (Index i = begin[0]; i < end[0]; ++i) {
        for (Index c = 0; c < grid.unknowns; ++c) f(line++, std::array<Index, kAxes>{i, j, k}, c);
      }
    }
  }
}

/// The ranks that own nodes, by their places along the axis.
std::vector<std::size_t> owners_along(const Grid& grid, std::size_t axis) {
  std::vector<std::size_t> owners;
  for (std::size_t r = 0; r < grid.widths[axis].size(); ++r) {
    if (grid.widths[axis][r] > 0) owners.push_back(r);
  }
  return owners;
}

}  // namespace

Index Grid::begin(std::size_t axis, std::size_t rank) const {
  return std::accumulate(widths[axis].begin(), widths[axis].begin() + static_cast<std::ptrdiff_t>(rank), Index{0});
}

LineSet lines_along(const Grid& grid, std::size_t axis) {
  const Index c = grid.unknowns, x = grid.width(0), y = grid.width(1), z = grid.width(2);
  if (axis == 0) return c == 1 ? LineSet::equal(y * z, x) : LineSet::strided(x, c, c, 1, y * z, c * x);
  if (axis == 1) return LineSet::strided(y, c * x, c * x, 1, z, c * x * y);
  return LineSet::strided(z, c * x * y, c * x * y, 1);
}

void cut_lines(const Grid& grid, std::size_t axis, LineLayout& layout) {
  const std::vector<std::size_t> owners = owners_along(grid, axis);
  if (owners.size() < 2 || layout.lines.rows() == 0) return;
  std::array<std::size_t, kAxes> place = grid.place;
  const auto here = static_cast<std::size_t>(std::find(owners.begin(), owners.end(), place[axis]) - owners.begin());
  layout.cuts.chains.resize(1);
  for (const std::size_t owner : owners) {
    place[axis] = owner;
    layout.cuts.chains[0].push_back(rank_at(grid, place));
  }
  const auto count = static_cast<std::size_t>(layout.lines.count());
  layout.above.assign(count, -1);
  layout.below.assign(count, -1);
  layout.cuts.number.resize(count);
  for_each_line(grid, axis, [&](Index line, const std::array<Index, kAxes>& first, Index unknown) {
    const auto l = static_cast<std::size_t>(line);
    std::array<Index, kAxes> node = first;
    node[axis] = 0;
    layout.cuts.number[l] = unknown + grid.unknowns * (node[0] + grid.nodes[0] * (node[1] + grid.nodes[1] * node[2]));
    const auto neighbour = [&](std::size_t other, Index along) {
      place[axis] = owners[other];
      node[axis] = along;
      return static_cast<PetscInt>(global_row(grid, place, node) + unknown);
    };
    if (here > 0) layout.above[l] = neighbour(here - 1, first[axis] - 1);
    if (here + 1 < owners.size()) layout.below[l] = neighbour(here + 1, first[axis] + grid.width(axis));
  });
}

}  // namespace oclspkt::petsc
