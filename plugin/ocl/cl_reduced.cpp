// SPDX-License-Identifier: BSD-2-Clause
// Method exact-twopass by work-groups: tiles are reduced to their first and last rows, level by level, until one tile
// holds all; the way back solves the tiles of every level (kernels/gpu/tile_reduce.cl, tile_substitute.cl).
#include <algorithm>

#include "cl_solver.hpp"

namespace oclspkt::ocl {

template <typename T>
void ClSolver<T>::make_reduce_kernels(State& s) const {
  const std::string shape =
      "-D GROUP_ITEMS=" + std::to_string(plan_.items) + " -D ITEM_ROWS=" + std::to_string(plan_.item_rows);
  const bool is_double = sizeof(T) == sizeof(double), wide = wide_levels(s);
  const auto make = [&](Kernel& kernel, const char* name, bool first) {
    const std::string options = shape + (!first ? " -D LEVEL" : wide ? " -D WIDE" : "");
    if (kernel.handle() != nullptr && kernel.options == options) return;
    kernel = s.device->kernel(name, is_double || (wide && !first), 1, options);
  };
  for (const bool first : {true, false}) {
    make(s.tile_reduce[!first], "tile_reduce", first);
    make(s.tile_substitute[!first], "tile_substitute", first);
  }
}

template <typename T>
void ClSolver<T>::make_reduced_levels(State& s) {
  const ChunkBands& bands = s.bands.front();
  const Index tile_rows = plan_.group_rows(), word = wide_levels(s) ? sizeof(double) : sizeof(T);
  s.reduced = {{plan_.n, quotient_up(plan_.n, tile_rows), bands.lower, bands.diag, bands.upper, s.y, s.x}};
  while (s.reduced.back().tiles > 1) {
    const Index rows = 2 * s.reduced.back().tiles;
    ReducedLevel& level = s.reduced.emplace_back();
    level.rows = rows;
    level.tiles = quotient_up(rows, tile_rows);
    for (cl::Buffer* array : {&level.lower, &level.diag, &level.upper, &level.y, &level.x}) {
      *array = s.device->buffer(CL_MEM_READ_WRITE, rows * word);
      bytes_ += rows * word;
    }
  }
}

template <typename T>
Geometry ClSolver<T>::level_geometry(const State& s, bool first, Index tiles) const {
  const std::size_t word = !first && wide_levels(s) ? sizeof(double) : sizeof(T);
  return {std::max<Index>(1, tiles), static_cast<std::size_t>(plan_.items),
          size(reduce_local_words(plan_.items, plan_.item_rows)) * word};
}

/// Reduce the first `tiles` tiles of a level to rows of the next.
template <typename T>
cl::Event ClSolver<T>::launch_reduce_tiles(State& s, std::size_t level, Index tiles) {
  const ReducedLevel &from = s.reduced[level], &to = s.reduced[level + 1];
  const Geometry geometry = level_geometry(s, level == 0, tiles);
  const Index wide = wide_levels(s) ? sizeof(double) : sizeof(T);
  const std::int64_t array = from.rows * (level == 0 ? static_cast<Index>(sizeof(T)) : wide), left = to.rows * wide;
  Kernel& kernel = s.tile_reduce[level > 0];
  set_arguments(*s.device, kernel, from.lower, from.diag, from.upper, from.y, to.lower, to.diag, to.upper, to.y,
                cl_long{from.rows}, cl_long{tiles}, cl::Local(geometry.local_bytes));
  const auto word = static_cast<std::size_t>(wide);
  return launch(*s.device, kernel, geometry,
                {{"lower", &from.lower, array, kVectorBytes},
                 {"diag", &from.diag, array, kVectorBytes},
                 {"upper", &from.upper, array, kVectorBytes},
                 {"y", &from.y, array, kVectorBytes},
                 {"left_lower", &to.lower, left, word},
                 {"left_excess", &to.diag, left, word},
                 {"left_upper", &to.upper, left, word},
                 {"left_y", &to.y, left, word}});
}

/// Solve the first `tiles` tiles of a level, their ends being known from the next; the only one is solved whole.
template <typename T>
cl::Event ClSolver<T>::launch_substitute_tiles(State& s, std::size_t level, Index tiles) {
  const ReducedLevel& here = s.reduced[level];
  const cl::Buffer& outer = level + 1 < s.reduced.size() ? s.reduced[level + 1].x : here.y;
  const Geometry geometry = level_geometry(s, level == 0, tiles);
  const Index word = level > 0 && wide_levels(s) ? sizeof(double) : sizeof(T);
  const std::int64_t array = here.rows * word;
  Kernel& kernel = s.tile_substitute[level > 0];
  set_arguments(*s.device, kernel, here.lower, here.diag, here.upper, here.y, here.x, outer, cl_long{here.rows},
                cl_long{tiles}, cl::Local(geometry.local_bytes));
  return launch(*s.device, kernel, geometry,
                {{"lower", &here.lower, array, kVectorBytes},
                 {"diag", &here.diag, array, kVectorBytes},
                 {"upper", &here.upper, array, kVectorBytes},
                 {"y", &here.y, array, kVectorBytes},
                 {"x", &here.x, array, kVectorBytes}});
}

/// All levels, down and back.
template <typename T>
cl::Event ClSolver<T>::launch_reduced_levels(State& s, const cl::Buffer& y, const cl::Buffer& x) {
  s.reduced.front().y = y;
  s.reduced.front().x = x;
  return launch_down_and_back(
      s, s.reduced.size(), [&](std::size_t i) { return launch_reduce_tiles(s, i, s.reduced[i].tiles); },
      [&](std::size_t i) { return launch_substitute_tiles(s, i, s.reduced[i].tiles); });
}

/// Launch every kernel over no tiles.
template <typename T>
void ClSolver<T>::rehearse_levels(State& s, const Waiter& waiter) {
  for (std::size_t i = 0; i < std::min<std::size_t>(2, s.reduced.size()); ++i) {
    if (i + 1 < s.reduced.size()) waiter.wait(launch_reduce_tiles(s, i, 0));
    waiter.wait(launch_substitute_tiles(s, i, 0));
  }
}

#define OCLSPKT_INSTANTIATE(T)                                                                         \
  template void ClSolver<T>::make_reduce_kernels(State&) const;                                        \
  template void ClSolver<T>::make_reduced_levels(State&);                                              \
  template Geometry ClSolver<T>::level_geometry(const State&, bool, Index) const;                      \
  template cl::Event ClSolver<T>::launch_reduce_tiles(State&, std::size_t, Index);                     \
  template cl::Event ClSolver<T>::launch_substitute_tiles(State&, std::size_t, Index);                 \
  template cl::Event ClSolver<T>::launch_reduced_levels(State&, const cl::Buffer&, const cl::Buffer&); \
  template void ClSolver<T>::rehearse_levels(State&, const Waiter&);
OCLSPKT_INSTANTIATE(float)
OCLSPKT_INSTANTIATE(double)

}  // namespace oclspkt::ocl
