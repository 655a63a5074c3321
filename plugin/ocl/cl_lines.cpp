// SPDX-License-Identifier: BSD-2-Clause
// What ClSolver does by work-groups that take whole lines laid end to end: the kernel made for GPUs.
#include <algorithm>

#include "cl_solver.hpp"

namespace oclspkt::ocl {

template <typename T>
void ClSolver<T>::make_line_kernel(State& s) const {
  const std::string options =
      "-D GROUP_ITEMS=" + std::to_string(plan_.items / plan_.teams) +
      " -D ITEM_ROWS=" + std::to_string(plan_.item_rows) + " -D GUARDED=0" +
      " -D STEPS=" + std::to_string(plan_.steps) + " -D TOGETHER=" + std::to_string(plan_.together) +
      " -D TEAMS=" + std::to_string(plan_.teams) + (plan_.mirrors ? " -D COUPLINGS_SERVE" : "") +
      (line_factors_.own_last_row ? " -D OWN_LAST_ROW" : "");
  if (s.tile_line.handle() != nullptr && s.tile_line.options == options) return;
  s.tile_line = s.device->kernel("tile_line", sizeof(T) == sizeof(double), 1, options);
}

/// Bring to the device what is not by rows of a line, and give it back.
template <typename T>
void ClSolver<T>::set_up_lines(State& s, const Waiter& waiter) {
  bring(s, waiter, s.line_weights, line_factors_.weights);
  bring(s, waiter, s.line_reduced, line_factors_.reduced);
  line_factors_.weights = {};
  line_factors_.reduced = {};
}

/// The lines of a chunk.
template <typename T>
cl::Event ClSolver<T>::launch_lines(State& s, const ChunkBands& factors, const cl::Buffer& y, const cl::Buffer& x,
                                    const Chunk& chunk) {
  constexpr auto kWord = static_cast<Index>(sizeof(T));
  const Index lines = chunk.tile_end - chunk.tile_begin, groups = std::clamp<Index>(lines, 1, plan_.runs);
  const std::int64_t array = chunk.rows() * kWord, stored = plan_.m * kWord;
  const Geometry geometry{groups, static_cast<std::size_t>(plan_.items), size(first_row_words(plan_)) * sizeof(T)};
  set_arguments(*s.device, s.tile_line, factors.lower, factors.diag, factors.upper, s.line_weights, s.line_reduced, y,
                x, cl_long{chunk.tile_begin * plan_.m - chunk.first}, static_cast<cl_int>(lines),
                static_cast<cl_int>(plan_.m), static_cast<cl_int>(plan_.line_tiles()), line_factors_.inner_lower,
                line_factors_.inner_upper, line_factors_.last_lower, cl::Local(geometry.local_bytes));
  return launch(*s.device, s.tile_line, geometry,
                {{"multiplier", &factors.lower, stored, kVectorBytes},
                 {"reciprocal", &factors.diag, stored, kVectorBytes},
                 {"coupling", &factors.upper, stored, kVectorBytes},
                 {"weights", &s.line_weights, 3 * plan_.line_tile_rows() * kWord, kVectorBytes},
                 {"reduced", &s.line_reduced, 3 * plan_.line_tiles() * kWord, sizeof(T)},
                 {"y", &y, array, kVectorBytes},
                 {"x", &x, array, kVectorBytes}});
}

#define OCLSPKT_INSTANTIATE(T)                                                                                  \
  template void ClSolver<T>::make_line_kernel(State&) const;                                                    \
  template void ClSolver<T>::set_up_lines(State&, const Waiter&);                                               \
  template cl::Event ClSolver<T>::launch_lines(State&, const ChunkBands&, const cl::Buffer&, const cl::Buffer&, \
                                               const Chunk&);
OCLSPKT_INSTANTIATE(float)
OCLSPKT_INSTANTIATE(double)

}  // namespace oclspkt::ocl
