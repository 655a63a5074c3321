// SPDX-License-Identifier: BSD-2-Clause
#include "stream.hpp"

#include "parallel.hpp"
#include "stream_kernel.hpp"

namespace oclspkt::bench {
namespace {

template <typename T>
struct Kernel {
  const char* isa;
  void (*run)(const T*, const T*, const T*, const T*, T*, std::int64_t);
};

/// The widest kernel that the processor carries.
template <typename T>
Kernel<T> kernel() {
#if defined(__x86_64__)
  if (__builtin_cpu_supports("avx512f")) return {"avx512", avx512::stream};
  if (__builtin_cpu_supports("avx")) return {"avx", avx::stream};
#endif
  return {"baseline", baseline::stream};
}

}  // namespace

template <typename T>
void stream(const StreamArrays<T>& s) {
  const auto run = kernel<T>().run;
  for_each_share(s.n, [&](Index first, Index last) {
    run(s.a + first, s.b + first, s.c + first, s.y + first, s.x + first, last - first);
  });
}

const char* stream_isa() { return kernel<double>().isa; }

template void stream(const StreamArrays<float>&);
template void stream(const StreamArrays<double>&);

}  // namespace oclspkt::bench
