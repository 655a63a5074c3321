// SPDX-License-Identifier: BSD-2-Clause
// Purpose: sum the numbers of a vector, their magnitudes, or their squares. Each work-group computes a partial sum; the
// host adds the partial sums in order.
//
// Build parameters: SUM  NUMBERS, MAGNITUDES, SQUARES or SQUARES_BY_SIZE
//                   and those of common/wide.clh; GROUP_ITEMS is a power of two
// Arguments: x        shape [n], global; aligned as common/wide.clh says
//            partial  global; sum k of work-group g is written to element first + k groups + g. SQUARES_BY_SIZE has
//                     sums k = 0 of small numbers, scaled up; 1 of medium; 2 of large numbers, scaled down
//            n, run   elements, and elements of a work-group (common/wide.clh)
// Launch:    groups of GROUP_ITEMS work-items for all elements.
// Local:     VALUES GROUP_ITEMS scalars. Per element: 1 word; 1 or 2 flops, SQUARES_BY_SIZE about 10.
// Source:    SQUARES_BY_SIZE: three accumulators, Blue 1978; limits and scales of Anderson 2017 (LAPACK 3.10). SQUARES
//            is faster and nearly always as accurate (ocl/sums.cpp).
// Valid:     the elements of `partial` named above.
#include "common/partial_sums.clh"

#define NUMBERS 0
#define MAGNITUDES 1
#define SQUARES 2
#define SQUARES_BY_SIZE 3

#ifndef SUM
#error "SUM: NUMBERS, MAGNITUDES, SQUARES or SQUARES_BY_SIZE"
#endif

#if SUM == SQUARES_BY_SIZE
#define VALUES 3
#else
#define VALUES 1
#endif

#if SCALAR == SCALAR_FLOAT
#define LEAST_MEDIUM 0x1p-63f
#define MOST_MEDIUM 0x1p52f
#define SCALE_OF_SMALL 0x1p75f
#define SCALE_OF_LARGE 0x1p-76f
#else
#define LEAST_MEDIUM 0x1p-511
#define MOST_MEDIUM 0x1p486
#define SCALE_OF_SMALL 0x1p537
#define SCALE_OF_LARGE 0x1p-538
#endif

static inline lanes_t square(lanes_t a) { return mul(a, a); }

static inline void take_number(lanes_t x, lanes_t* sums) {
#if SUM == NUMBERS
  sums[0] = add(sums[0], x);
#elif SUM == MAGNITUDES
  sums[0] = add(sums[0], magnitude(x));
#elif SUM == SQUARES
  sums[0] = mul_add(sums[0], x, x);
#else
  const lanes_t size = magnitude(x);
  const mask_t small = size<(lanes_t)LEAST_MEDIUM, large = size>(lanes_t) MOST_MEDIUM;
  sums[0] = add(sums[0], square(choose(small, mul(size, (lanes_t)SCALE_OF_SMALL), ZERO)));
  sums[1] = add(sums[1], square(choose(small | large, ZERO, size)));
  sums[2] = add(sums[2], square(choose(large, mul(size, (lanes_t)SCALE_OF_LARGE), ZERO)));
#endif
}

static inline void take_numbers(wide_t x, lanes_t sums[PARTS][VALUES]) {
  for (int p = 0; p < PARTS; ++p) take_number(x.at[p], sums[p]);
}

__kernel void vector_sum(__global const scalar_t* x, __global scalar_t* partial, const long first, const long n,
                         const long run) {
  __local scalar_t shared[VALUES * GROUP_ITEMS];
  const long end = end_of_group(run, n);
  lanes_t sums[PARTS][VALUES];
  for (int p = 0; p < PARTS; ++p) {
    for (int v = 0; v < VALUES; ++v) sums[p][v] = ZERO;
  }
  long i = first_of_item(run);
  for (; fits_ahead(i, end); i += READ_AHEAD * ITEM_STEP) {
    wide_t ahead[READ_AHEAD];
    load_ahead(x + i, ahead);
#pragma unroll
    for (int a = 0; a < READ_AHEAD; ++a) take_numbers(ahead[a], sums);
  }
  for (; i + WIDE <= end; i += ITEM_STEP) take_numbers(load_wide(x + i), sums);
  if (i < end) take_numbers(load_some(x + i, (int)(end - i)), sums);
  for (int v = 0; v < VALUES; ++v) {
    wide_t parts;
    for (int p = 0; p < PARTS; ++p) parts.at[p] = sums[p][v];
    shared[v * GROUP_ITEMS + (int)get_local_id(0)] = sum_of_parts(parts);
  }
  add_up(VALUES, shared);
  put_sums(VALUES, shared, first, partial);
}
