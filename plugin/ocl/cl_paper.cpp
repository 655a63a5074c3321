// SPDX-License-Identifier: BSD-2-Clause
// What ClSolver does in the paper's form: truncated SPIKE by work-items over marshalled arrays. As in the paper an
// apply marshals and factors anew; set-up keeps nothing but the bands on the device.
#include "cl_solver.hpp"
#include "paper_form.hpp"

namespace oclspkt::ocl {

template <typename T>
void ClSolver<T>::make_paper_kernels(State& s) const {
  const auto make = [&](Kernel& kernel, const char* name, const std::string& more) {
    const std::string options = "-D GROUP_ITEMS=" + std::to_string(plan_.items) + more;
    if (kernel.handle() != nullptr && kernel.options == options) return;
    kernel = s.device->kernel(name, sizeof(T) == sizeof(double), 1, options);
  };
  const std::string block = " -D BLOCK_ROWS=" + std::to_string(paper_block_rows(sizeof(T))),
                    rows = " -D PARTITION_ROWS=" + std::to_string(plan_.m);
  make(s.paper.marshal, "paper_marshal", block);
  make(s.paper.spkfact, "paper_spkfact", rows + (plan_.staged ? " -D STAGED=1" : " -D STAGED=0"));
  make(s.paper.spktrrecl, "paper_spktrrecl", rows);
  make(s.paper.spktrrecul, "paper_spktrrecul", rows);
  make(s.paper.unmarshal, "paper_unmarshal", block);
}

/// The five launches over some tiles; the event is that of the last.
template <typename T>
cl::Event ClSolver<T>::launch_paper(State& s, const ChunkBands& bands, const cl::Buffer& y, const cl::Buffer& x,
                                    const Chunk& chunk) {
  PaperState& p = s.paper;
  const Index tiles = chunk.tile_end - chunk.tile_begin, partitions = paper_partitions(plan_, tiles);
  constexpr auto kWord = static_cast<std::int64_t>(sizeof(T));
  const std::int64_t array = chunk.rows() * kWord, marshalled = partitions * plan_.m * kWord, tips = partitions * kWord;
  const auto groups = [&](Index local_words) {
    return Geometry{partitions / plan_.items, ocl::size(plan_.items), ocl::size(local_words * kWord)};
  };
  const Geometry turning = groups(plan_.items * (paper_block_rows(sizeof(T)) + 1)),
                 factoring = groups(plan_.staged ? 4 * plan_.m * plan_.items : 1), sweeping = groups(0);
  // The first partition of a launch is that of the neighbour above.
  const cl_long origin{chunk.first}, end{chunk.end}, first{(chunk.tile_begin * plan_.lanes - 1) * plan_.m},
      own{tiles * plan_.items};
  const auto m = static_cast<cl_int>(plan_.m);
  const auto need = [&](const char* name, const cl::Buffer& buffer, std::int64_t bytes) {
    return BufferNeed{name, &buffer, bytes, sizeof(T)};
  };
  const BufferNeed lower = need("lower", p.lower, marshalled), upper = need("upper", p.upper, marshalled),
                   solved = need("marshalled y", p.y, marshalled), left = need("left", p.left, marshalled),
                   reciprocals = need("reciprocals", p.reciprocals, marshalled), v = need("v", p.v, tips),
                   w = need("w", p.w, tips), bottom = need("f_bottom", p.f_bottom, tips),
                   top = need("f_top", p.f_top, tips);
  set_arguments(*s.device, p.marshal, bands.lower, bands.diag, bands.upper, y, p.lower, p.diag, p.upper, p.y, origin,
                end, first, m, cl::Local(turning.local_bytes));
  s.earlier.push_back(launch(*s.device, p.marshal, turning,
                             {need("lower in rows", bands.lower, array), need("diag in rows", bands.diag, array),
                              need("upper in rows", bands.upper, array), need("y", y, array), lower,
                              need("diag", p.diag, marshalled), upper, solved}));
  set_arguments(*s.device, p.spkfact, p.lower, p.diag, p.upper, p.y, p.reciprocals, p.left, p.v, p.f_bottom, p.w,
                p.f_top, cl::Local(factoring.local_bytes));
  s.earlier.push_back(launch(*s.device, p.spkfact, factoring, {reciprocals, left, v, w, bottom, top}));
  set_arguments(*s.device, p.spktrrecl, p.upper, p.reciprocals, p.left, p.v, p.f_bottom, p.w, p.f_top, p.y, own);
  s.earlier.push_back(launch(*s.device, p.spktrrecl, sweeping, {upper, reciprocals, left, v, w, bottom, top, solved}));
  set_arguments(*s.device, p.spktrrecul, p.lower, p.reciprocals, p.left, p.v, p.f_bottom, p.w, p.f_top, p.y, own);
  s.earlier.push_back(launch(*s.device, p.spktrrecul, sweeping, {lower, reciprocals, left, v, w, bottom, top, solved}));
  set_arguments(*s.device, p.unmarshal, p.y, x, origin, cl_long{chunk.kept_first}, cl_long{chunk.kept_end}, first, m,
                cl::Local(turning.local_bytes));
  return launch(*s.device, p.unmarshal, turning, {solved, need("x", x, array)});
}

#define OCLSPKT_INSTANTIATE(T)                                                                                  \
  template void ClSolver<T>::make_paper_kernels(State&) const;                                                  \
  template cl::Event ClSolver<T>::launch_paper(State&, const ChunkBands&, const cl::Buffer&, const cl::Buffer&, \
                                               const Chunk&);
OCLSPKT_INSTANTIATE(float)
OCLSPKT_INSTANTIATE(double)

}  // namespace oclspkt::ocl
