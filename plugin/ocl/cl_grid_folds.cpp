// SPDX-License-Identifier: BSD-2-Clause
// What ClSolver does for exact-factored of lines side by side that are cut into segments: the kernels made for GPUs.
#include <algorithm>

#include "cl_solver.hpp"
#include "grid_plan.hpp"

namespace oclspkt::ocl {

template <typename T>
void ClSolver<T>::make_fold_kernels(State& s) const {
  const auto make = [&](Kernel& kernel, const char* name, Index bundle, int down, const char* more) {
    const std::string options = "-D BUNDLE=" + std::to_string(bundle) + " -D ITEMS_DOWN=" + std::to_string(down) +
                                " -D ITEM_ROWS=" + std::to_string(plan_.item_rows) + more +
                                (plan_.form == Form::shared ? " -D SHARED_FACTORS" : "");
    if (kernel.handle() != nullptr && kernel.name == name && kernel.options == options) return;
    kernel = s.device->kernel(name, sizeof(T) == sizeof(double), 1, options);
  };
  const int down = plan_.grid_items_down();
  const bool serve = plan_.couplings_serve();
  if (plan_.grid_folds_at_once()) {
    const std::string lines = " -D LINES=" + std::to_string(plan_.item_lines);
    make(s.grid, "grid_shared_back", plan_.bundle, down, lines.c_str());
    make(s.grid_fold, "grid_shared_fold", plan_.bundle, down, lines.c_str());
  } else {
    make(s.grid, "grid_whole", plan_.bundle, down, serve ? " -D SEGMENTS -D COUPLINGS_SERVE" : " -D SEGMENTS");
    make(s.grid_fold, "grid_fold", plan_.bundle, down, serve ? " -D COUPLINGS_SERVE" : "");
  }
  const UpperTiles upper = upper_tiles(plan_, lines_.block_lines());
  make(s.grid_last, "grid_whole", upper.bundle, upper.down, " -D IN_TURN -D LEFT");
  if (plan_.segments <= upper.rows) return;
  make(s.grid_upper, "grid_whole", upper.bundle, upper.down, " -D SEGMENTS -D LEFT");
  make(s.grid_upper_fold, "grid_fold", upper.bundle, upper.down, " -D LEFT");
}

/// Make factors; resident_ is then where those of all rows stand.
template <typename T>
void ClSolver<T>::store_grid_factors(const BandsView<T>& bands) {
  factors_ = {};
  grid_factors_.factor(lines_, bands, plan_.form, grid_cut(plan_, lines_.block_lines()));
  const auto& level = grid_factors_.levels().front();
  resident_ = {level.multiplier.data(), level.reciprocal.data(), level.coupling.data(), sizeof(T)};
}

/// Bring to the device what is not by rows of the system, and give back what it has now.
template <typename T>
void ClSolver<T>::set_up_grid_levels(State& s, const Waiter& waiter) {
  for (const auto& level : grid_factors_.levels()) {
    TileLevel& on_device = s.levels.emplace_back();
    on_device.rows = level.rows;
    on_device.tiles = level.segments;
    bring(s, waiter, on_device.weight, level.weight);
    if (s.levels.size() == 1) {
      const ChunkBands& bands = s.bands.front();
      if (plan_.couplings_serve()) {
        bring(s, waiter, on_device.multiplier, level.multiplier);
      } else {
        on_device.multiplier = bands.lower;
      }
      on_device.reciprocal = bands.diag;
      on_device.coupling = bands.upper;
      continue;
    }
    bring(s, waiter, on_device.multiplier, level.multiplier);
    bring(s, waiter, on_device.reciprocal, level.reciprocal);
    bring(s, waiter, on_device.coupling, level.coupling);
    const std::int64_t bytes = level.rows * lines_.count() * static_cast<Index>(sizeof(T));
    for (cl::Buffer* vector : {&on_device.y, &on_device.taken, &on_device.x}) {
      *vector = s.device->buffer(CL_MEM_READ_WRITE, bytes);
    }
    bytes_ += 3 * bytes;
  }
  grid_factors_ = {};
}

namespace {

/// What the launches over the first `blocks` blocks of a level have in common.
template <typename T>
struct LevelLaunch {
  LevelLaunch(const LineSet& all, const Plan& plan, const TileLevel& level, bool first, Index some_blocks)
      : lines(first ? all : lines_of_level(all, level.rows)),
        blocks(some_blocks),
        serve(first && plan.couplings_serve()) {
    const UpperTiles upper = upper_tiles(plan, all.block_lines());
    const auto items = static_cast<std::size_t>(first ? plan.items : upper.bundle * upper.down);
    bundles = quotient_up(all.block_lines(), first ? plan.bundle : upper.bundle);
    geometry = {std::max<Index>(1, blocks * bundles * level.tiles), items, 4 * items * sizeof(T)};
    if (blocks == 0) return;
    constexpr auto kWord = static_cast<Index>(sizeof(T));
    vector = lines.extent() * kWord;
    factor = plan.form == Form::shared ? level.rows * kWord : vector;
    multiplier = serve ? level.tiles * all.count() * kWord : factor;
    alignment = plan.form == Form::shared ? kVectorBytes : sizeof(T);
  }
  LineSet lines;
  Index blocks, bundles = 1;
  bool serve;  ///< couplings, as multipliers
  Geometry geometry;
  std::int64_t vector = 0, factor = 0, multiplier = 0;  ///< bytes
  std::size_t alignment = sizeof(T);                    ///< of factors
};

/// One work-group for each run through the tiles of a segment of all bundles, then of the next one.
template <typename T>
Geometry shared_geometry(const Plan& plan, const LevelLaunch<T>& level) {
  const Index tiles = level.blocks * level.bundles * plan.segments;
  return {std::max<Index>(1, quotient_up(tiles, plan.run_tiles)), static_cast<std::size_t>(plan.items), 0};
}

}  // namespace

/// The first level of lines that are alike and settle at once, down and back.
template <typename T>
cl::Event ClSolver<T>::launch_shared_fold(State& s, Index blocks) {
  const TileLevel &from = s.levels[0], &to = s.levels[1];
  const LevelLaunch<T> here(lines_, plan_, from, true, blocks), next(lines_, plan_, to, false, blocks);
  set_arguments(*s.device, s.grid_fold, from.multiplier, from.weight, from.y, to.y, to.taken, cl_long{blocks},
                cl_long{lines_.block_stride()}, cl_long{lines_.block_lines()}, static_cast<cl_int>(from.rows),
                cl_long{lines_.row_stride()}, static_cast<cl_int>(plan_.bundles), static_cast<cl_int>(from.tiles),
                static_cast<cl_int>(plan_.run_tiles));
  return launch(*s.device, s.grid_fold, shared_geometry(plan_, here),
                {{"multiplier", &from.multiplier, here.factor, sizeof(T)},
                 {"weight", &from.weight, here.factor, sizeof(T)},
                 {"y", &from.y, here.vector, sizeof(T)},
                 {"left", &to.y, next.vector, sizeof(T)},
                 {"left_taken", &to.taken, next.vector, sizeof(T)}});
}

template <typename T>
cl::Event ClSolver<T>::launch_shared_back(State& s, Index blocks) {
  const TileLevel &at = s.levels[0], &above = s.levels[1];
  const LevelLaunch<T> here(lines_, plan_, at, true, blocks), next(lines_, plan_, above, false, blocks);
  set_arguments(*s.device, s.grid, at.multiplier, at.reciprocal, at.coupling, at.y, at.x, above.x, cl_long{blocks},
                cl_long{lines_.block_stride()}, cl_long{lines_.block_lines()}, static_cast<cl_int>(at.rows),
                cl_long{lines_.row_stride()}, static_cast<cl_int>(plan_.bundles), static_cast<cl_int>(at.tiles),
                static_cast<cl_int>(plan_.run_tiles));
  return launch(*s.device, s.grid, shared_geometry(plan_, here),
                {{"multiplier", &at.multiplier, here.factor, sizeof(T)},
                 {"reciprocal", &at.reciprocal, here.factor, sizeof(T)},
                 {"coupling", &at.coupling, here.factor, sizeof(T)},
                 {"y", &at.y, here.vector, sizeof(T)},
                 {"x", &at.x, here.vector, sizeof(T)},
                 {"known", &above.x, next.vector, sizeof(T)}});
}

/// Down: fold the segments of the first `blocks` blocks of a level to rows of the next.
template <typename T>
cl::Event ClSolver<T>::launch_grid_fold(State& s, std::size_t level, Index blocks) {
  if (level == 0 && plan_.grid_folds_at_once()) return launch_shared_fold(s, blocks);
  const TileLevel &from = s.levels[level], &to = s.levels[level + 1];
  const LevelLaunch<T> here(lines_, plan_, from, level == 0, blocks), next(lines_, plan_, to, false, blocks);
  const cl::Buffer &multiplier = here.serve ? from.coupling : from.multiplier, &taken = level > 0 ? from.taken : from.y;
  Kernel& kernel = level == 0 ? s.grid_fold : s.grid_upper_fold;
  set_arguments(*s.device, kernel, multiplier, from.weight, from.y, taken, to.y, to.taken, cl_long{blocks},
                cl_long{here.lines.block_stride()}, cl_long{lines_.block_lines()}, static_cast<cl_int>(from.rows),
                cl_long{here.lines.row_stride()}, static_cast<cl_int>(here.bundles), static_cast<cl_int>(from.tiles),
                cl::Local(here.geometry.local_bytes));
  return launch(*s.device, kernel, here.geometry,
                {{"multiplier", &multiplier, here.factor, here.alignment},
                 {"weight", &from.weight, here.factor, here.alignment},
                 {"y", &from.y, here.vector, sizeof(T)},
                 {"taken", &taken, here.vector, sizeof(T)},
                 {"left", &to.y, next.vector, sizeof(T)},
                 {"left_taken", &to.taken, next.vector, sizeof(T)}});
}

/// And back: solve the segments between their first rows, which the next level has.
template <typename T>
cl::Event ClSolver<T>::launch_grid_back(State& s, std::size_t level, Index blocks) {
  if (level == 0 && plan_.grid_folds_at_once()) return launch_shared_back(s, blocks);
  const TileLevel& at = s.levels[level];
  const bool last = level + 1 == s.levels.size();
  const cl::Buffer &known = last ? at.y : s.levels[level + 1].x, &taken = level > 0 ? at.taken : at.y;
  const LevelLaunch<T> here(lines_, plan_, at, level == 0, blocks);
  Kernel& kernel = level == 0 ? s.grid : last ? s.grid_last : s.grid_upper;
  set_arguments(*s.device, kernel, at.multiplier, at.reciprocal, at.coupling, at.y, at.x, cl_long{blocks},
                cl_long{here.lines.block_stride()}, cl_long{lines_.block_lines()}, static_cast<cl_int>(at.rows),
                cl_long{here.lines.row_stride()}, static_cast<cl_int>(here.bundles), static_cast<cl_int>(at.tiles),
                known, taken, cl::Local(here.geometry.local_bytes));
  return launch(*s.device, kernel, here.geometry,
                {{"multiplier", &at.multiplier, here.multiplier, here.alignment},
                 {"reciprocal", &at.reciprocal, here.factor, here.alignment},
                 {"coupling", &at.coupling, here.factor, here.alignment},
                 {"y", &at.y, here.vector, sizeof(T)},
                 {"taken", &taken, here.vector, sizeof(T)},
                 {"x", &at.x, here.vector, sizeof(T)}});
}

/// All levels, down and back.
template <typename T>
cl::Event ClSolver<T>::launch_grid_levels(State& s, const cl::Buffer& y, const cl::Buffer& x, Index blocks) {
  s.levels.front().y = y;
  s.levels.front().x = x;
  return launch_down_and_back(
      s, s.levels.size() - 1, s.levels.size(), [&](std::size_t i) { return launch_grid_fold(s, i, blocks); },
      [&](std::size_t i) { return launch_grid_back(s, i, blocks); });
}

#define OCLSPKT_INSTANTIATE(T)                                                  \
  template void ClSolver<T>::make_fold_kernels(State&) const;                   \
  template void ClSolver<T>::store_grid_factors(const BandsView<T>&);           \
  template void ClSolver<T>::set_up_grid_levels(State&, const Waiter&);         \
  template cl::Event ClSolver<T>::launch_shared_fold(State&, Index);            \
  template cl::Event ClSolver<T>::launch_shared_back(State&, Index);            \
  template cl::Event ClSolver<T>::launch_grid_fold(State&, std::size_t, Index); \
  template cl::Event ClSolver<T>::launch_grid_back(State&, std::size_t, Index); \
  template cl::Event ClSolver<T>::launch_grid_levels(State&, const cl::Buffer&, const cl::Buffer&, Index);
OCLSPKT_INSTANTIATE(float)
OCLSPKT_INSTANTIATE(double)

}  // namespace oclspkt::ocl
