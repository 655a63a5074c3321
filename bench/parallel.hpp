// SPDX-License-Identifier: BSD-2-Clause
#pragma once

#include <omp.h>

#include <algorithm>

#include "oclspkt/line_set.hpp"

namespace oclspkt::bench {

/// Rows of a page of the largest scalar: no page, and no cache line, is written by two threads.
inline constexpr Index kShareUnit = 512;

/// Call f(first, last) once a thread on equal runs of [0, n). The runs depend on n and the number of threads alone, so
/// that the thread that touches a page first is the one that streams it.
/// @pre f does not throw
template <typename F>
void for_each_share(Index n, const F& f) {
#pragma omp parallel
  {
    const Index threads = omp_get_num_threads(), thread = omp_get_thread_num();
    const Index units = (n + kShareUnit - 1) / kShareUnit;
    const Index first = units * thread / threads * kShareUnit;
    const Index last = std::min(n, units * (thread + 1) / threads * kShareUnit);
    if (first < last) f(first, last);
  }
}

/// values[i] = f(i) in parallel.
template <typename T, typename F>
void fill(T* values, Index n, const F& f) {
  for_each_share(n, [&](Index first, Index last) {
    for (Index i = first; i < last; ++i) values[i] = f(i);
  });
}

/// Parallel copy, which also touches the pages of `to` as for_each_share() does.
template <typename T>
void copy(const T* from, Index n, T* to) {
  for_each_share(n, [&](Index first, Index last) { std::copy(from + first, from + last, to + first); });
}

}  // namespace oclspkt::bench
