// SPDX-License-Identifier: BSD-2-Clause
// What ClSolver does for lines side by side by work-groups of many work-items: the kernels made for GPUs.
#include <algorithm>

#include "cl_solver.hpp"

namespace oclspkt::ocl {
namespace {

/// Scalars of local memory that the kernel of a plan asks for.
std::size_t local_words(const Plan& plan) {
  const auto items = static_cast<std::size_t>(plan.items), bundle = static_cast<std::size_t>(plan.bundle);
  if (plan.in_one_tile()) return 4 * items;
  if (plan.method == Method::exact_factored) return 4 * items + 2 * bundle;
  return 4 * items + bundle;
}

}  // namespace

template <typename T>
void ClSolver<T>::make_grid_kernel(State& s) const {
  if (plan_.grid_folds()) {
    make_fold_kernels(s);
    return;
  }
  const bool through = plan_.goes_through_tiles(), whole = plan_.in_one_tile();
  const char* const name = through      ? "grid_shared"
                           : whole      ? "grid_whole"
                           : factored() ? "grid_factored"
                                        : "grid_streamed";
  const std::string form = through ? " -D LINES=" + std::to_string(plan_.item_lines) +
                                         " -D IN_ONE_TILE=" + (whole ? "1" : "0") +
                                         " -D AHEAD=" + (plan_.reads_ahead() ? "1" : "0")
                           : factors_.shared()       ? " -D SHARED_FACTORS"
                           : plan_.couplings_serve() ? " -D COUPLINGS_SERVE"
                                                     : "";
  const bool waits = !through && !whole && !factored();
  const std::string shape =
      "-D BUNDLE=" + std::to_string(plan_.bundle) + " -D ITEMS_DOWN=" + std::to_string(plan_.grid_items_down()) +
      " -D ITEM_ROWS=" + std::to_string(plan_.item_rows) + form + (plan_.in_turn ? " -D IN_TURN" : "") +
      (waits ? " -D WAITING=" + std::to_string(plan_.waiting) : "");
  if (s.grid.handle() != nullptr && s.grid.name == name && s.grid.options == shape) return;
  s.grid = s.device->kernel(name, sizeof(T) == sizeof(double), 1, shape);
}

template <typename T>
cl::Event ClSolver<T>::launch_grid(State& s, const ChunkBands& factors, const cl::Buffer& y, const cl::Buffer& x,
                                   const Chunk& chunk) {
  const Index blocks = chunk.tile_end - chunk.tile_begin, length = lines_.length(0);
  if (plan_.grid_folds()) return launch_grid_levels(s, y, x, blocks);
  const std::int64_t array = chunk.rows() * static_cast<Index>(sizeof(T));
  const std::int64_t factor = blocks == 0 ? 0 : factors_.shared() ? length * static_cast<Index>(sizeof(T)) : array;
  const std::size_t word = sizeof(T), vector = factors_.shared() ? kVectorBytes : word;
  const auto run_by = [&](Index groups, std::size_t local, const auto&... more) {
    set_arguments(*s.device, s.grid, factors.lower, factors.diag, factors.upper, y, x, cl_long{blocks},
                  cl_long{lines_.block_stride()}, cl_long{lines_.block_lines()}, static_cast<cl_int>(length),
                  cl_long{lines_.row_stride()}, static_cast<cl_int>(plan_.bundles), more...);
    return launch(*s.device, s.grid, {std::max<Index>(1, groups), static_cast<std::size_t>(plan_.items), local},
                  {{"multiplier", &factors.lower, factor, vector},
                   {"reciprocal", &factors.diag, factor, vector},
                   {"coupling", &factors.upper, factor, vector},
                   {"y", &y, array, word},
                   {"x", &x, array, word}});
  };
  if (plan_.goes_through_tiles()) {
    const Index of_block = plan_.bundles * (plan_.in_one_tile() ? 1 : quotient_up(length, plan_.grid_tile_rows()));
    const Index first = chunk.tile_begin * of_block, groups = quotient_up(first + blocks * of_block, plan_.run_tiles);
    return run_by(groups - first / plan_.run_tiles, 0, cl_long{first}, cl_int{plan_.run_tiles});
  }
  const std::size_t local = local_words(plan_) * word;
  const auto run = [&](const auto&... more) {
    return run_by(blocks * plan_.bundles * plan_.segments, local, more..., cl::Local(local));
  };
  if (plan_.in_one_tile()) return run(cl_int{1}, y, y);
  if (factored()) return run();
  return run(static_cast<cl_int>(plan_.segments), static_cast<cl_int>(quotient_up(plan_.m, plan_.grid_tile_rows())));
}

#define OCLSPKT_INSTANTIATE(T)                                                                                 \
  template void ClSolver<T>::make_grid_kernel(State&) const;                                                   \
  template cl::Event ClSolver<T>::launch_grid(State&, const ChunkBands&, const cl::Buffer&, const cl::Buffer&, \
                                              const Chunk&);
OCLSPKT_INSTANTIATE(float)
OCLSPKT_INSTANTIATE(double)

}  // namespace oclspkt::ocl
