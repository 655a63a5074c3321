// SPDX-License-Identifier: BSD-2-Clause
#pragma once

#include <cstddef>
#include <cstdint>

#include "oclspkt/export.hpp"
#include "oclspkt/line_set.hpp"

namespace oclspkt {

/// The least size, in bytes, of copies that are stored past the caches. Such data would leave the caches before the
/// next pass reads it, and a store through the caches first reads the line that it overwrites. Measured on 2 cores with
/// 2 MB of second-level cache each: from 24 MB of bands on, such a copy takes two thirds of the time of an ordinary
/// copy, and the next solve is not slower. At 12 MB, the next solve loses as much time as the copy gains.
inline constexpr std::int64_t kPastCaches = std::int64_t{16} << 20;

/// Prefetch `count` numbers into the second-level cache. The addresses may lie outside of any array.
/// @tparam kWrite  true: the caller will write the numbers
template <bool kWrite = false, typename T>
inline void prefetch(const T* from, Index count) {
  constexpr Index kLine = 64 / static_cast<Index>(sizeof(T));
  for (Index i = 0; i < count; i += kLine) __builtin_prefetch(from + i, kWrite, 2);
}

/// Copy `count` numbers past the caches, if the processor has such stores. They neither read `to` nor bring it into the
/// caches. Other threads see the numbers after order_stores().
/// @param[in]  from shape [count]; aligned to cache lines
/// @param[out] to   shape [count]; aligned to cache lines
template <typename T>
OCLSPKT_API void copy_past_caches(const T* from, Index count, T* to);

/// Copy bytes at any addresses past the caches. The first and the last cache line of `to` go through the caches.
/// @param[in]  from shape [bytes]
/// @param[out] to   shape [bytes]
OCLSPKT_API void copy_past_caches(const std::byte* from, Index bytes, std::byte* to);

/// Order all earlier stores of copy_past_caches() before all later stores.
OCLSPKT_API void order_stores();

}  // namespace oclspkt
