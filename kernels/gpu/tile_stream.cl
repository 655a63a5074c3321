// SPDX-License-Identifier: BSD-2-Clause
// Purpose: measure the speed limit of GPUs, as common/stream.cl does for CPUs. The kernel reads READS arrays, writes x.
// With four arrays, x = (a + b) + (c + y); with fewer arrays, x has fewer terms.
//
// Arguments: a, b, c, y, x  shape [n], global, aligned to 16 bytes; the kernel writes x, the host the other arrays;
//                           only the first READS arrays are read
//            n              rows
// Launch:    work-items for all vectors of 16 bytes, in groups of any size.
// Local:     none. Per row: READS - 1 flops, READS + 1 words.
// Valid:     x in all rows.
#include "gpu/vector.clh"

#ifndef READS
#error "READS: arrays that are read, 1 to 4"
#elif READS == 1
#define SUM(a, b, c, y) (a)
#elif READS == 2
#define SUM(a, b, c, y) ((a) + (b))
#elif READS == 3
#define SUM(a, b, c, y) (((a) + (b)) + (c))
#else
#define SUM(a, b, c, y) (((a) + (b)) + ((c) + (y)))
#endif
#define VECTOR_AT(array) (*(__global const vector_t*)(array + row))

__kernel void tile_stream(__global const scalar_t* restrict a, __global const scalar_t* restrict b,
                          __global const scalar_t* restrict c, __global const scalar_t* restrict y,
                          __global scalar_t* restrict x, const long n) {
  const long row = (long)get_global_id(0) * VECTOR;
  if (row + VECTOR <= n) {
    *(__global vector_t*)(x + row) = SUM(VECTOR_AT(a), VECTOR_AT(b), VECTOR_AT(c), VECTOR_AT(y));
  } else {
    for (long i = row; i < n; ++i) x[i] = SUM(a[i], b[i], c[i], y[i]);
  }
}
