// SPDX-License-Identifier: BSD-2-Clause
// What ClSolver does from both ends of the system, for lines laid end to end only: two passes by two work-groups,
// nothing between them. exact-factored has stored factors, exact-twopass makes them in the first pass.
#include "cl_solver.hpp"

namespace oclspkt::ocl {

/// @param n rows; 0 to launch over none
template <typename T>
cl::Event ClSolver<T>::launch_eliminate(State& s, const cl::Buffer& y, Index n) {
  const std::size_t word = sizeof(T), vector = word * static_cast<std::size_t>(plan_.lanes);
  const ChunkBands& f = s.bands.front();
  const std::int64_t factor = n > 0 ? layout_.swept_bytes : 0;
  set_arguments(*s.device, s.twisted_eliminate, f.lower, s.top_buffer, y, s.swept, s.scratch, cl_long{n},
                cl_long{n > 0 ? plan_.meeting : 0}, static_cast<cl_int>(plan_.m), static_cast<cl_int>(layout_.slot));
  return launch(*s.device, s.twisted_eliminate, {layout_.runs},
                {{"multiplier", &f.lower, factor, vector},
                 {"through", &s.top_buffer, layout_.outer_bytes, word},
                 {"y", &y, n * static_cast<Index>(word), word},
                 {"swept", &s.swept, layout_.swept_bytes, vector},
                 {"scratch", &s.scratch, layout_.scratch_bytes, vector}});
}

/// @param n rows; 0 to launch over none
template <typename T>
cl::Event ClSolver<T>::launch_substitute(State& s, const cl::Buffer& x, Index n) {
  const std::size_t word = sizeof(T), vector = word * static_cast<std::size_t>(plan_.lanes);
  const ChunkBands& f = s.bands.front();
  const std::int64_t factor = n > 0 ? layout_.swept_bytes : 0;
  set_arguments(*s.device, s.twisted_substitute, f.diag, f.upper, s.bottom_buffer, s.swept, x, s.scratch, cl_long{n},
                cl_long{n > 0 ? plan_.meeting : 0}, static_cast<cl_int>(plan_.m), static_cast<cl_int>(layout_.slot),
                factors_.meeting().from_above, factors_.meeting().reciprocal);
  return launch(*s.device, s.twisted_substitute, {layout_.runs},
                {{"reciprocal", &f.diag, factor, vector},
                 {"coupling", &f.upper, factor, vector},
                 {"through", &s.bottom_buffer, layout_.outer_bytes, word},
                 {"swept", &s.swept, layout_.swept_bytes, vector},
                 {"x", &x, n * static_cast<Index>(word), word},
                 {"scratch", &s.scratch, layout_.scratch_bytes, vector}});
}

/// @param n rows; 0 to launch over none
template <typename T>
cl::Event ClSolver<T>::launch_ends_eliminate(State& s, const cl::Buffer& y, Index n) {
  const std::size_t word = sizeof(T), vector = word * static_cast<std::size_t>(plan_.lanes);
  const ChunkBands& bands = s.bands.front();
  const std::int64_t array = n * static_cast<Index>(word);
  set_arguments(*s.device, s.ends_eliminate, bands.lower, bands.diag, bands.upper, y, s.coupling, s.swept, s.top_buffer,
                s.scratch, cl_long{n}, cl_long{n > 0 ? plan_.meeting : 0}, static_cast<cl_int>(plan_.m),
                static_cast<cl_int>(layout_.slot));
  return launch(*s.device, s.ends_eliminate, {layout_.runs},
                {{"lower", &bands.lower, array, word},
                 {"diag", &bands.diag, array, word},
                 {"upper", &bands.upper, array, word},
                 {"y", &y, array, word},
                 {"coupling", &s.coupling, layout_.coupling_bytes, vector},
                 {"swept", &s.swept, layout_.swept_bytes, vector},
                 {"met", &s.top_buffer, layout_.outer_bytes, word},
                 {"scratch", &s.scratch, layout_.scratch_bytes, vector}});
}

/// @param n rows; 0 to launch over none
template <typename T>
cl::Event ClSolver<T>::launch_ends_substitute(State& s, const cl::Buffer& x, Index n) {
  const std::size_t word = sizeof(T), vector = word * static_cast<std::size_t>(plan_.lanes);
  set_arguments(*s.device, s.ends_substitute, s.coupling, s.swept, s.top_buffer, x, s.scratch, cl_long{n},
                cl_long{n > 0 ? plan_.meeting : 0}, static_cast<cl_int>(plan_.m), static_cast<cl_int>(layout_.slot));
  return launch(*s.device, s.ends_substitute, {layout_.runs},
                {{"coupling", &s.coupling, layout_.coupling_bytes, vector},
                 {"swept", &s.swept, layout_.swept_bytes, vector},
                 {"met", &s.top_buffer, layout_.outer_bytes, word},
                 {"x", &x, n * static_cast<Index>(word), word},
                 {"scratch", &s.scratch, layout_.scratch_bytes, vector}});
}

/// Both passes; there is nothing between them.
/// @param n rows; 0 to launch over none
template <typename T>
cl::Event ClSolver<T>::launch_from_ends(State& s, const cl::Buffer& y, const cl::Buffer& x, Index n) {
  s.earlier = {plan_.from_ends ? launch_ends_eliminate(s, y, n) : launch_eliminate(s, y, n)};
  return plan_.from_ends ? launch_ends_substitute(s, x, n) : launch_substitute(s, x, n);
}

#define OCLSPKT_INSTANTIATE(T)                                                              \
  template cl::Event ClSolver<T>::launch_eliminate(State&, const cl::Buffer&, Index);       \
  template cl::Event ClSolver<T>::launch_substitute(State&, const cl::Buffer&, Index);      \
  template cl::Event ClSolver<T>::launch_ends_eliminate(State&, const cl::Buffer&, Index);  \
  template cl::Event ClSolver<T>::launch_ends_substitute(State&, const cl::Buffer&, Index); \
  template cl::Event ClSolver<T>::launch_from_ends(State&, const cl::Buffer&, const cl::Buffer&, Index);
OCLSPKT_INSTANTIATE(float)
OCLSPKT_INSTANTIATE(double)

}  // namespace oclspkt::ocl
