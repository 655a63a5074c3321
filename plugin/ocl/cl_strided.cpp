// SPDX-License-Identifier: BSD-2-Clause
// What ClSolver does for lines side by side only.
#include <algorithm>
#include <cstring>

#include "cl_solver.hpp"
#include "past_caches.hpp"

namespace oclspkt::ocl {

template <typename T>
Geometry ClSolver<T>::strided_geometry(Index pieces) const {
  return {std::clamp<Index>(layout_.runs, 1, std::max<Index>(1, pieces))};
}

template <typename T>
cl::Event ClSolver<T>::launch_factored(State& s, const ChunkBands& factors, const cl::Buffer& y, const cl::Buffer& x,
                                       const Chunk& chunk) {
  const std::int64_t array = chunk.rows() * static_cast<Index>(sizeof(T));
  const Index blocks = chunk.tile_end - chunk.tile_begin;
  const Index kept = blocks == 0 ? 0 : factors_.shared() ? lines_.length(0) : chunk.rows();
  const std::int64_t factor = kept * resident_.word;
  const std::size_t word = sizeof(T), vector = word * static_cast<std::size_t>(plan_.lanes),
                    factor_word = static_cast<std::size_t>(resident_.word);
  Kernel& kernel = factors_.shared() ? s.strided_shared : s.strided_factored[plan_.narrow];
  const auto set = [&](auto... above) {
    set_arguments(*s.device, kernel, factors.lower, factors.diag, factors.upper, y, x, s.scratch, cl_long{blocks},
                  cl_long{lines_.block_stride()}, cl_long{lines_.block_lines()}, static_cast<cl_int>(lines_.length(0)),
                  cl_long{lines_.row_stride()}, static_cast<cl_int>(plan_.bundle), static_cast<cl_int>(plan_.bundles),
                  cl_long{layout_.slot}, above...);
  };
  factors_.shared() ? set() : set(cl_long{plan_.couplings_serve() ? lines_.row_stride() : 0});
  return launch(*s.device, kernel, strided_geometry(blocks * plan_.bundles),
                {{"multiplier", &factors.lower, factor, factor_word},
                 {"reciprocal", &factors.diag, factor, factor_word},
                 {"coupling", &factors.upper, factor, factor_word},
                 {"y", &y, array, word},
                 {"x", &x, array, word},
                 {"scratch", &s.scratch, layout_.scratch_bytes, vector}});
}

/// Lines cut into segments: truncated-halo.
template <typename T>
cl::Event ClSolver<T>::launch_segments(State& s, const ChunkBands& bands, const cl::Buffer& y, const cl::Buffer& x,
                                       const Chunk& chunk) {
  const std::int64_t array = chunk.rows() * static_cast<Index>(sizeof(T));
  const Index blocks = chunk.tile_end - chunk.tile_begin;
  const std::size_t word = sizeof(T), vector = word * static_cast<std::size_t>(plan_.lanes);
  set_arguments(*s.device, s.strided_halo, bands.lower, bands.diag, bands.upper, y, x, s.scratch, cl_long{blocks},
                cl_long{lines_.block_stride()}, cl_long{lines_.block_lines()}, static_cast<cl_int>(lines_.length(0)),
                cl_long{lines_.row_stride()}, static_cast<cl_int>(plan_.bundle), static_cast<cl_int>(plan_.bundles),
                static_cast<cl_int>(plan_.m), static_cast<cl_int>(plan_.halo), static_cast<cl_int>(plan_.segments),
                cl_long{layout_.slot});
  return launch(*s.device, s.strided_halo, strided_geometry(blocks * plan_.bundles * plan_.segments),
                {{"lower", &bands.lower, array, word},
                 {"diag", &bands.diag, array, word},
                 {"upper", &bands.upper, array, word},
                 {"y", &y, array, word},
                 {"x", &x, array, word},
                 {"scratch", &s.scratch, layout_.scratch_bytes, vector}});
}

/// Copy rows [first, end) of a chunk's solution to x, and nothing that stands between its lines.
template <typename T>
void ClSolver<T>::copy_out(const Chunk& chunk, Index first, Index end, const std::byte* solved, T* x) const {
  constexpr auto kWord = static_cast<Index>(sizeof(T));
  const auto copy = [&](Index begin, Index behind) {
    const std::byte* from = solved + (begin - first) * kWord;
    std::memcpy(x + begin, from, static_cast<std::size_t>((behind - begin) * kWord));
  };
  if (lines_.rows() == lines_.extent()) {
    if (lines_.extent() * kWord < kPastCaches) {
      copy(first, end);
    } else {
      copy_past_caches(solved, (end - first) * kWord, reinterpret_cast<std::byte*>(x + first));
      order_stores();
    }
    return;
  }
  for (Index block = chunk.tile_begin; block < chunk.tile_end; ++block) {
    const Index begin = block * lines_.block_stride();
    const Index row = std::max<Index>(0, first - begin) / lines_.row_stride();
    for (Index i = row; i < lines_.length(0); ++i) {
      const Index at = begin + i * lines_.row_stride();
      if (at >= end) break;
      const Index from = std::max(first, at), behind = std::min(end, at + lines_.block_lines());
      if (from < behind) copy(from, behind);
    }
  }
}

#define OCLSPKT_INSTANTIATE(T)                                                                                     \
  template Geometry ClSolver<T>::strided_geometry(Index) const;                                                    \
  template cl::Event ClSolver<T>::launch_factored(State&, const ChunkBands&, const cl::Buffer&, const cl::Buffer&, \
                                                  const Chunk&);                                                   \
  template cl::Event ClSolver<T>::launch_segments(State&, const ChunkBands&, const cl::Buffer&, const cl::Buffer&, \
                                                  const Chunk&);                                                   \
  template void ClSolver<T>::copy_out(const Chunk&, Index, Index, const std::byte*, T*) const;
OCLSPKT_INSTANTIATE(float)
OCLSPKT_INSTANTIATE(double)

}  // namespace oclspkt::ocl
