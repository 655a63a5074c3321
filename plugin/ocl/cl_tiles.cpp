// SPDX-License-Identifier: BSD-2-Clause
// What ClSolver does by work-groups of many work-items: the kernels made for GPUs.
#include <algorithm>

#include "cl_solver.hpp"

namespace oclspkt::ocl {
namespace {

/// Kernels for GPUs read and write vectors of that many bytes.
constexpr std::size_t kVectorBytes = 16;

}  // namespace

template <typename T>
void ClSolver<T>::make_tile_kernel(State& s) const {
  const std::string shape =
      "-D GROUP_ITEMS=" + std::to_string(plan_.items) + " -D ITEM_ROWS=" + std::to_string(plan_.item_rows);
  if (s.tile_halo.handle() != nullptr && s.tile_halo.options == shape) return;
  s.tile_halo = s.device->kernel("tile_halo", sizeof(T) == sizeof(double), 1, shape);
}

template <typename T>
cl::Event ClSolver<T>::launch_tiles(State& s, const ChunkBands& bands, const cl::Buffer& y, const cl::Buffer& x,
                                    const Chunk& chunk) {
  const std::int64_t array = chunk.rows() * static_cast<Index>(sizeof(T));
  const auto items = static_cast<std::size_t>(plan_.items);
  const std::size_t local = items * static_cast<std::size_t>(plan_.item_rows + 1) * sizeof(T);
  set_arguments(*s.device, s.tile_halo, bands.lower, bands.diag, bands.upper, y, x, cl_long{plan_.n},
                cl_long{chunk.first}, cl_long{chunk.tile_begin}, cl_long{chunk.tile_end}, static_cast<cl_int>(plan_.m),
                static_cast<cl_int>(plan_.halo), cl_int{plan_.steps}, cl::Local(local));
  return launch(*s.device, s.tile_halo, {std::max<Index>(1, chunk.tile_end - chunk.tile_begin), items, local},
                {{"lower", &bands.lower, array, kVectorBytes},
                 {"diag", &bands.diag, array, kVectorBytes},
                 {"upper", &bands.upper, array, kVectorBytes},
                 {"y", &y, array, kVectorBytes},
                 {"x", &x, array, kVectorBytes}});
}

#define OCLSPKT_INSTANTIATE(T)                                                                                  \
  template void ClSolver<T>::make_tile_kernel(State&) const;                                                    \
  template cl::Event ClSolver<T>::launch_tiles(State&, const ChunkBands&, const cl::Buffer&, const cl::Buffer&, \
                                               const Chunk&);
OCLSPKT_INSTANTIATE(float)
OCLSPKT_INSTANTIATE(double)

}  // namespace oclspkt::ocl
