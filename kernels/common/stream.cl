// SPDX-License-Identifier: BSD-2-Clause
// Purpose: measure the device's speed limit for solvers. The kernel reads four arrays and writes x = (a + b) + (c + y).
//
// Arguments: a, b, c, y, x  shape [n], global; the kernel writes x, the host the other arrays; any alignment
//            n              rows
// Launch:    any number of work-groups of one work-item; a work-group takes one run of consecutive rows.
// Local:     none. Per row: 3 flops, 5 words.
// Valid:     x in all rows.
#include "common/memory.clh"

#define PREFETCH_AHEAD 512  // bytes; about as much as a core fetches during one memory latency

static inline lanes_t stream_sum(__global const scalar_t* a, __global const scalar_t* b, __global const scalar_t* c,
                                 __global const scalar_t* y, long i) {
  PREFETCH((__global const char*)(a + i) + PREFETCH_AHEAD);
  PREFETCH((__global const char*)(b + i) + PREFETCH_AHEAD);
  PREFETCH((__global const char*)(c + i) + PREFETCH_AHEAD);
  PREFETCH((__global const char*)(y + i) + PREFETCH_AHEAD);
  return add(add(from_storage(a + i), from_storage(b + i)), add(from_storage(c + i), from_storage(y + i)));
}

__kernel __attribute__((reqd_work_group_size(1, 1, 1))) void stream(
    __global const scalar_t* restrict a, __global const scalar_t* restrict b, __global const scalar_t* restrict c,
    __global const scalar_t* restrict y, __global scalar_t* restrict x, const long n) {
  const long runs = (long)get_num_groups(0), run = (long)get_group_id(0);
  const long last = (run + 1) * n / runs;
  long i = run * n / runs;
  for (; i < last && !is_lanes_aligned(x + i); ++i) x[i] = (a[i] + b[i]) + (c[i] + y[i]);
  for (; i + LANES <= last; i += LANES) STORE_PAST_CACHE(stream_sum(a, b, c, y, i), x + i);
  for (; i < last; ++i) x[i] = (a[i] + b[i]) + (c[i] + y[i]);
}
