// SPDX-License-Identifier: BSD-2-Clause
#pragma once

#include <cstddef>
#include <cstring>

#include "oclspkt/line_set.hpp"

#if defined(__SSE2__)
#include <emmintrin.h>
#endif

namespace oclspkt {

/// Copy n numbers past the caches, where the processor can: lines that are written whole are not read first, and what
/// the caches hold stays there. For arrays that are larger than the caches.
/// @param[out] to aligned to 16 bytes
/// @post other threads see the numbers once they know that this call has returned
template <typename T>
void copy_past_cache(const T* from, Index n, T* to) {
  Index copied = 0;
#if defined(__SSE2__)
  constexpr Index kWord = 16 / static_cast<Index>(sizeof(T));
  for (; copied + kWord <= n; copied += kWord) {
    const __m128i word = _mm_loadu_si128(reinterpret_cast<const __m128i*>(from + copied));
    _mm_stream_si128(reinterpret_cast<__m128i*>(to + copied), word);
  }
  _mm_sfence();
#endif
  std::memcpy(to + copied, from + copied, static_cast<std::size_t>(n - copied) * sizeof(T));
}

}  // namespace oclspkt
