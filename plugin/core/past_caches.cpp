// SPDX-License-Identifier: BSD-2-Clause
#include "past_caches.hpp"

#include <algorithm>

#if defined(__x86_64__) && defined(__GNUC__)
#include <immintrin.h>
#define OCLSPKT_STORES_PAST_CACHES 1
#endif

#include "scalars.hpp"

namespace oclspkt {
namespace {

#ifdef OCLSPKT_STORES_PAST_CACHES

/// A function that copies whole cache lines; `to` is aligned to cache lines. Stores of a whole line take two thirds of
/// the time of stores of a quarter line, because no buffer has to combine them.
using CopyLines = void (*)(const char* from, Index bytes, char* to);

__attribute__((target("avx512f"))) void copy_by_64(const char* from, Index bytes, char* to) {
  for (Index i = 0; i < bytes; i += 64)
    _mm512_stream_si512(reinterpret_cast<__m512i*>(to + i), _mm512_loadu_si512(from + i));
}

__attribute__((target("avx"))) void copy_by_32(const char* from, Index bytes, char* to) {
  for (Index i = 0; i < bytes; i += 32) {
    _mm256_stream_si256(reinterpret_cast<__m256i*>(to + i),
                        _mm256_loadu_si256(reinterpret_cast<const __m256i*>(from + i)));
  }
}

void copy_by_16(const char* from, Index bytes, char* to) {
  for (Index i = 0; i < bytes; i += 16) {
    _mm_stream_si128(reinterpret_cast<__m128i*>(to + i), _mm_loadu_si128(reinterpret_cast<const __m128i*>(from + i)));
  }
}

CopyLines widest() {
  static const CopyLines copy_lines = __builtin_cpu_supports("avx512f") ? copy_by_64
                                      : __builtin_cpu_supports("avx")   ? copy_by_32
                                                                        : copy_by_16;
  return copy_lines;
}

#endif

}  // namespace

template <typename T>
void copy_past_caches(const T* from, Index count, T* to) {
  Index done = 0;
#ifdef OCLSPKT_STORES_PAST_CACHES
  constexpr Index kLine = 64 / static_cast<Index>(sizeof(T));
  done = count - count % kLine;
  widest()(reinterpret_cast<const char*>(from), done * static_cast<Index>(sizeof(T)), reinterpret_cast<char*>(to));
#endif
  std::copy(from + done, from + count, to + done);
}

void copy_past_caches(const std::byte* from, Index bytes, std::byte* to) {
  const auto beyond = static_cast<Index>(reinterpret_cast<std::uintptr_t>(to) % 64);
  const Index head = std::min(bytes, beyond > 0 ? 64 - beyond : 0);
  std::copy_n(from, head, to);
  Index done = head;
#ifdef OCLSPKT_STORES_PAST_CACHES
  done += (bytes - head) / 64 * 64;
  widest()(reinterpret_cast<const char*>(from + head), done - head, reinterpret_cast<char*>(to + head));
#endif
  std::copy(from + done, from + bytes, to + done);
}

void order_stores() {
#ifdef OCLSPKT_STORES_PAST_CACHES
  _mm_sfence();
#endif
}

#define OCLSPKT_INSTANTIATE(T) template void copy_past_caches(const T*, Index, T*);
OCLSPKT_SCALARS(OCLSPKT_INSTANTIATE)

}  // namespace oclspkt
