// SPDX-License-Identifier: BSD-2-Clause
// Compiled once for each instruction set, into the namespace OCLSPKT_STREAM_ISA. No inline function of a header may be
// used here: the linker could keep the copy made for an instruction set that the processor lacks.
#include "stream_kernel.hpp"

#include <cstring>

#if defined(__x86_64__)
#include <immintrin.h>
#endif

namespace oclspkt::bench::OCLSPKT_STREAM_ISA {
namespace {

constexpr std::int64_t kLineBytes = 64;
/// About what a core fetches while one line arrives.
constexpr std::int64_t kPrefetchBytes = 1024;

#if defined(__AVX512F__)
using Register = __m512i;
void store_past_cache(void* p, Register v) { _mm512_stream_si512(static_cast<Register*>(p), v); }
#elif defined(__AVX__)
using Register = __m256i;
void store_past_cache(void* p, Register v) { _mm256_stream_si256(static_cast<Register*>(p), v); }
#elif defined(__x86_64__)
using Register = __m128i;
void store_past_cache(void* p, Register v) { _mm_stream_si128(static_cast<Register*>(p), v); }
#else
typedef char Register __attribute__((vector_size(16)));
void store_past_cache(void* p, Register v) { std::memcpy(p, &v, sizeof v); }
#endif

/// Stores past the cache are ordered before what follows.
void finish_stores() {
#if defined(__x86_64__)
  _mm_sfence();
#endif
}

template <typename T>
struct Lanes;
template <>
struct Lanes<float> {
  typedef float type __attribute__((vector_size(sizeof(Register))));
};
template <>
struct Lanes<double> {
  typedef double type __attribute__((vector_size(sizeof(Register))));
};

template <typename T>
typename Lanes<T>::type load(const T* p) {
  typename Lanes<T>::type v;
  std::memcpy(&v, p, sizeof v);
  return v;
}

template <typename T>
void run(const T* a, const T* b, const T* c, const T* y, T* x, std::int64_t n) {
  constexpr std::int64_t line = kLineBytes / static_cast<std::int64_t>(sizeof(T));
  constexpr std::int64_t lanes = sizeof(Register) / sizeof(T);
  constexpr std::int64_t ahead = kPrefetchBytes / static_cast<std::int64_t>(sizeof(T));
  std::int64_t i = 0;
  for (; i < n && reinterpret_cast<std::uintptr_t>(x + i) % kLineBytes != 0; ++i) x[i] = (a[i] + b[i]) + (c[i] + y[i]);
  for (; i + line <= n; i += line) {
    // Prefetching past the end of an array is harmless: it cannot fault.
    __builtin_prefetch(a + i + ahead);
    __builtin_prefetch(b + i + ahead);
    __builtin_prefetch(c + i + ahead);
    __builtin_prefetch(y + i + ahead);
    for (std::int64_t j = i; j < i + line; j += lanes) {
      const auto sum = (load(a + j) + load(b + j)) + (load(c + j) + load(y + j));
      store_past_cache(x + j, (Register)sum);
    }
  }
  for (; i < n; ++i) x[i] = (a[i] + b[i]) + (c[i] + y[i]);
  finish_stores();
}

}  // namespace

void stream(const float* a, const float* b, const float* c, const float* y, float* x, std::int64_t n) {
  run(a, b, c, y, x, n);
}
void stream(const double* a, const double* b, const double* c, const double* y, double* x, std::int64_t n) {
  run(a, b, c, y, x, n);
}

}  // namespace oclspkt::bench::OCLSPKT_STREAM_ISA
