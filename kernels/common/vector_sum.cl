// SPDX-License-Identifier: BSD-2-Clause
// Purpose: a sum over a vector: of its numbers, of their magnitudes, or of their squares, by partial sums of
// work-groups, which the host adds in order.
//
// Build parameters: SUM  NUMBERS, MAGNITUDES or SQUARES
//                   and those of common/wide.clh; GROUP_ITEMS is a power of two
// Arguments: x        shape [n], global; aligned as common/wide.clh says
//            partial  global; written from place `first` on: number k of group g at first + k groups + g. SQUARES: sums
//                     of the squares of small numbers scaled up, of those in between, of large ones scaled down
//            first
//            n, run   places, and places of a work-group (common/wide.clh)
// Launch:    groups of GROUP_ITEMS work-items for all places.
// Local:     GROUP_ITEMS scalars, three times as many for SQUARES. Per place: 1 word, 1 or 2 flops; SQUARES: 2 words and
//            about 12 flops in work-groups whose plain sum of squares may be inaccurate.
// Source:    SQUARES: three accumulators, Blue 1978; limits and scales of Anderson 2017 (LAPACK 3.10).
// Valid:     its part of `partial`, everywhere.
#include "common/partial_sums.clh"

#define NUMBERS 0
#define MAGNITUDES 1
#define SQUARES 2

#ifndef SUM
#error "SUM: NUMBERS, MAGNITUDES or SQUARES"
#endif

#if SUM == SQUARES
#define VALUES 3
#else
#define VALUES 1
#endif

// A plain sum of squares is as accurate as three sums if no square has overflown, and if all that underflow, each losing
// at most the least normal number, lose less than rounding does: if the sum is LEAST_SUM a place at least. Sums of groups
// may be added up below MOST_SUM.
#if SCALAR == SCALAR_FLOAT
#define LEAST_MEDIUM 0x1p-63f
#define MOST_MEDIUM 0x1p52f
#define SCALE_OF_SMALL 0x1p75f
#define SCALE_OF_LARGE 0x1p-76f
#define LEAST_SUM 0x1p-102f
#define MOST_SUM 0x1p126f
#else
#define LEAST_MEDIUM 0x1p-511
#define MOST_MEDIUM 0x1p486
#define SCALE_OF_SMALL 0x1p537
#define SCALE_OF_LARGE 0x1p-538
#define LEAST_SUM 0x1p-969
#define MOST_SUM 0x1p990
#endif

// Numbers 0 to VALUES - 1 of all parts; of one number, number 1.
typedef struct {
  lanes_t at[PARTS][VALUES];
} Sums;
#define PLAIN (VALUES / 2)

static inline lanes_t square(lanes_t a) { return mul(a, a); }

static inline void take_plain(wide_t x, Sums* sums) {
  for (int p = 0; p < PARTS; ++p) {
    lanes_t* const sum = &sums->at[p][PLAIN];
#if SUM == NUMBERS
    *sum = add(*sum, x.at[p]);
#elif SUM == MAGNITUDES
    *sum = add(*sum, magnitude(x.at[p]));
#else
    *sum = mul_add(*sum, x.at[p], x.at[p]);
#endif
  }
}

#if SUM == SQUARES
static inline void take_by_size(wide_t x, Sums* sums) {
  for (int p = 0; p < PARTS; ++p) {
    const lanes_t size = magnitude(x.at[p]);
    const mask_t small = size<(lanes_t)LEAST_MEDIUM, large = size>(lanes_t) MOST_MEDIUM;
    lanes_t* const sum = sums->at[p];
    sum[0] = add(sum[0], square(choose(small, mul(size, (lanes_t)SCALE_OF_SMALL), ZERO)));
    sum[1] = add(sum[1], square(choose(small | large, ZERO, size)));
    sum[2] = add(sum[2], square(choose(large, mul(size, (lanes_t)SCALE_OF_LARGE), ZERO)));
  }
}
#endif

static inline void begin(Sums* sums) {
  for (int p = 0; p < PARTS; ++p) {
    for (int v = 0; v < VALUES; ++v) sums->at[p][v] = ZERO;
  }
}

// Numbers of the work-group, for work-item 0.
static inline void add_up_group(const Sums* sums, __local scalar_t* shared) {
  for (int v = 0; v < VALUES; ++v) {
    wide_t parts;
    for (int p = 0; p < PARTS; ++p) parts.at[p] = sums->at[p][v];
    shared[v * GROUP_ITEMS + (int)get_local_id(0)] = sum_of_parts(parts);
  }
  add_up(VALUES, shared);
}

__kernel void vector_sum(__global const scalar_t* x, __global scalar_t* partial, const long first, const long n,
                         const long run) {
  __local scalar_t shared[VALUES * GROUP_ITEMS];
  const long end = end_of_group(run, n);
  Sums sums;
  begin(&sums);
  long i = first_of_item(run);
  for (; fits_ahead(i, end); i += READ_AHEAD * ITEM_STEP) {
    wide_t ahead[READ_AHEAD];
    load_ahead(x + i, ahead);
#pragma unroll
    for (int a = 0; a < READ_AHEAD; ++a) take_plain(ahead[a], &sums);
  }
  for (; i + WIDE <= end; i += ITEM_STEP) take_plain(load_wide(x + i), &sums);
  if (i < end) take_plain(load_some(x + i, (int)(end - i)), &sums);
  add_up_group(&sums, shared);
#if SUM == SQUARES
  barrier(CLK_LOCAL_MEM_FENCE);
  const scalar_t plain = shared[PLAIN * GROUP_ITEMS];
  barrier(CLK_LOCAL_MEM_FENCE);
  if (!(plain >= LEAST_SUM * (scalar_t)run && plain <= MOST_SUM)) {
    begin(&sums);
    for (i = first_of_item(run); i + WIDE <= end; i += ITEM_STEP) take_by_size(load_wide(x + i), &sums);
    if (i < end) take_by_size(load_some(x + i, (int)(end - i)), &sums);
    add_up_group(&sums, shared);
  }
#endif
  put_sums(VALUES, shared, first, partial);
}
