// SPDX-License-Identifier: BSD-2-Clause
// Method exact-twopass by work-groups: tiles are reduced to their last rows, level by level, until one tile
// holds all; the way back solves the tiles of every level (kernels/gpu/tile_reduce.cl, tile_substitute.cl).
#include <algorithm>

#include "cl_solver.hpp"

namespace oclspkt::ocl {

namespace {

/// Numbers that are left of a tile, and that the first pass keeps of a work-item's place (kernels/gpu/tile_excess.clh).
constexpr Index kLeftWords = 6, kKeptWords = 3;

}  // namespace

template <typename T>
void ClSolver<T>::make_reduce_kernels(State& s) const {
  const bool is_double = sizeof(T) == sizeof(double), wide = wide_levels(s);
  const auto make = [&](Kernel& kernel, const char* name, bool first) {
    const std::string options = "-D GROUP_ITEMS=" + std::to_string(first ? plan_.items : plan_.level_items) +
                                " -D ITEM_ROWS=" + std::to_string(first ? plan_.item_rows : kLevelItemRows) +
                                (first && plan_.couplings_serve() ? " -D COUPLINGS_SERVE" : "") +
                                (!first ? " -D LEVEL"
                                 : wide ? " -D WIDE"
                                        : "");
    if (kernel.handle() != nullptr && kernel.options == options) return;
    kernel = s.device->kernel(name, is_double || (wide && !first), 1, options);
  };
  for (const bool first : {true, false}) {
    make(s.tile_reduce[!first], "tile_reduce", first);
    make(s.tile_substitute[!first], "tile_substitute", first);
  }
}

/// Levels up to that of one tile, and one behind it for what is left of that.
template <typename T>
void ClSolver<T>::make_reduced_levels(State& s) {
  const Index wide = wide_levels(s) ? sizeof(double) : sizeof(T);
  const auto buffer = [&](Index words, Index word) {
    bytes_ += words * word;
    return s.device->buffer(CL_MEM_READ_WRITE, words * word);
  };
  const auto add = [&](Index rows, Index items, Index item_rows, Index word) {
    ReducedLevel& level = s.reduced.emplace_back();
    level.rows = rows;
    level.tiles = quotient_up(rows, items * item_rows);
    level.kept = buffer(level.tiles * items * kKeptWords, word);
  };
  s.reduced.clear();
  add(plan_.n, plan_.items, plan_.item_rows, sizeof(T));
  s.reduced.front().y = s.y;
  s.reduced.front().x = s.x;
  while (s.reduced.back().tiles > 1) {
    add(s.reduced.back().tiles, plan_.level_items, kLevelItemRows, wide);
    s.reduced.back().left = buffer(s.reduced.back().rows * kLeftWords, wide);
    s.reduced.back().x = buffer(s.reduced.back().rows, wide);
  }
  s.reduced.emplace_back().left = buffer(kLeftWords, wide);
}

template <typename T>
Geometry ClSolver<T>::level_geometry(const State& s, bool first, Index tiles) const {
  const std::size_t word = !first && wide_levels(s) ? sizeof(double) : sizeof(T);
  const int items = first ? plan_.items : plan_.level_items;
  return {std::max<Index>(1, tiles), static_cast<std::size_t>(items),
          size(reduce_local_words(items, first ? plan_.item_rows : kLevelItemRows)) * word};
}

/// Bytes of what the kernels of a level touch.
template <typename T>
LevelSizes ClSolver<T>::level_sizes(const State& s, std::size_t level) const {
  const ReducedLevel& here = s.reduced[level];
  const Index wide = wide_levels(s) ? sizeof(double) : sizeof(T), word = level > 0 ? wide : sizeof(T);
  const Index items = level > 0 ? plan_.level_items : plan_.items;
  return {.word = size(word),
          .wide = size(wide),
          .array = here.rows * word,
          .rows_left = here.rows * kLeftWords * wide,
          .left = here.tiles * kLeftWords * wide,
          .kept = here.tiles * items * kKeptWords * word,
          .outer = here.tiles * wide};
}

/// Reduce the first `tiles` tiles of a level to rows of the next.
template <typename T>
cl::Event ClSolver<T>::launch_reduce_tiles(State& s, std::size_t level, Index tiles) {
  const ReducedLevel &from = s.reduced[level], &to = s.reduced[level + 1];
  const Geometry geometry = level_geometry(s, level == 0, tiles);
  const LevelSizes sizes = level_sizes(s, level);
  const BufferNeed left{"left", &to.left, sizes.left, sizes.wide}, kept{"kept", &from.kept, sizes.kept, sizes.word};
  Kernel& kernel = s.tile_reduce[level > 0];
  const cl_long n = from.rows, all = tiles;
  const cl::LocalSpaceArg local = cl::Local(geometry.local_bytes);
  if (level > 0) {
    set_arguments(*s.device, kernel, from.left, to.left, from.kept, n, all, local);
    return launch(*s.device, kernel, geometry, {{"rows_left", &from.left, sizes.rows_left, sizes.wide}, left, kept});
  }
  const ChunkBands& bands = s.bands.front();
  set_arguments(*s.device, kernel, bands.lower, bands.diag, bands.upper, from.y, to.left, from.kept, n, all, local);
  return launch(*s.device, kernel, geometry,
                {{"lower", &bands.lower, sizes.array, kVectorBytes},
                 {"diag", &bands.diag, sizes.array, kVectorBytes},
                 {"upper", &bands.upper, sizes.array, kVectorBytes},
                 {"y", &from.y, sizes.array, kVectorBytes},
                 left,
                 kept});
}

/// Solve the first `tiles` tiles of a level, their last unknowns being known from the next level; that of the only one
/// from what is left of it.
template <typename T>
cl::Event ClSolver<T>::launch_substitute_tiles(State& s, std::size_t level, Index tiles) {
  const ReducedLevel &here = s.reduced[level], &next = s.reduced[level + 1];
  const Geometry geometry = level_geometry(s, level == 0, tiles);
  const LevelSizes sizes = level_sizes(s, level);
  const cl::Buffer& of_tiles = here.tiles > 1 ? next.x : next.left;
  const BufferNeed kept{"kept", &here.kept, sizes.kept, sizes.word}, x{"x", &here.x, sizes.array, kVectorBytes},
      outer{"outer", &of_tiles, here.tiles > 1 ? sizes.outer : sizes.left, sizes.wide};
  Kernel& kernel = s.tile_substitute[level > 0];
  const cl_long n = here.rows, all = tiles;
  const cl::LocalSpaceArg local = cl::Local(geometry.local_bytes);
  if (level > 0) {
    set_arguments(*s.device, kernel, here.left, here.kept, here.x, of_tiles, n, all, local);
    return launch(*s.device, kernel, geometry,
                  {{"rows_left", &here.left, sizes.rows_left, sizes.wide}, kept, x, outer});
  }
  const ChunkBands& bands = s.bands.front();
  set_arguments(*s.device, kernel, bands.lower, bands.diag, bands.upper, here.y, here.kept, here.x, of_tiles, n, all,
                local);
  return launch(*s.device, kernel, geometry,
                {{"lower", &bands.lower, sizes.array, kVectorBytes},
                 {"diag", &bands.diag, sizes.array, kVectorBytes},
                 {"upper", &bands.upper, sizes.array, kVectorBytes},
                 {"y", &here.y, sizes.array, kVectorBytes},
                 kept,
                 x,
                 outer});
}

/// All levels, down and back.
template <typename T>
cl::Event ClSolver<T>::launch_reduced_levels(State& s, const cl::Buffer& y, const cl::Buffer& x) {
  s.reduced.front().y = y;
  s.reduced.front().x = x;
  const std::size_t levels = s.reduced.size() - 1;
  return launch_down_and_back(
      s, levels, levels, [&](std::size_t i) { return launch_reduce_tiles(s, i, s.reduced[i].tiles); },
      [&](std::size_t i) { return launch_substitute_tiles(s, i, s.reduced[i].tiles); });
}

/// Launch every kernel over no tiles.
template <typename T>
void ClSolver<T>::rehearse_levels(State& s, const Waiter& waiter) {
  for (std::size_t i = 0; i < std::min<std::size_t>(2, s.reduced.size() - 1); ++i) {
    waiter.wait(launch_reduce_tiles(s, i, 0));
    waiter.wait(launch_substitute_tiles(s, i, 0));
  }
}

#define OCLSPKT_INSTANTIATE(T)                                                                         \
  template void ClSolver<T>::make_reduce_kernels(State&) const;                                        \
  template void ClSolver<T>::make_reduced_levels(State&);                                              \
  template Geometry ClSolver<T>::level_geometry(const State&, bool, Index) const;                      \
  template LevelSizes ClSolver<T>::level_sizes(const State&, std::size_t) const;                       \
  template cl::Event ClSolver<T>::launch_reduce_tiles(State&, std::size_t, Index);                     \
  template cl::Event ClSolver<T>::launch_substitute_tiles(State&, std::size_t, Index);                 \
  template cl::Event ClSolver<T>::launch_reduced_levels(State&, const cl::Buffer&, const cl::Buffer&); \
  template void ClSolver<T>::rehearse_levels(State&, const Waiter&);
OCLSPKT_INSTANTIATE(float)
OCLSPKT_INSTANTIATE(double)

}  // namespace oclspkt::ocl
