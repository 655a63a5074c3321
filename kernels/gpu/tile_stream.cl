// SPDX-License-Identifier: BSD-2-Clause
// Purpose: the speed limit of GPUs, as kernels/common/stream.cl is that of CPUs: read four arrays, write one,
// x = (a + b) + (c + y).
//
// Arguments: a, b, c, y, x  shape [n], global, aligned to 16 bytes; x is written here, the others by the host
//            n              rows
// Launch:    work-items for all vectors of 16 bytes, in groups of any size.
// Local:     none. Per row: 3 flops, 5 words.
// Valid:     x everywhere.
#include "gpu/vector.clh"

__kernel void tile_stream(__global const scalar_t* restrict a, __global const scalar_t* restrict b,
                          __global const scalar_t* restrict c, __global const scalar_t* restrict y,
                          __global scalar_t* restrict x, const long n) {
  const long row = (long)get_global_id(0) * VECTOR;
  if (row + VECTOR <= n) {
    *(__global vector_t*)(x + row) = (*(__global const vector_t*)(a + row) + *(__global const vector_t*)(b + row)) +
                                     (*(__global const vector_t*)(c + row) + *(__global const vector_t*)(y + row));
  } else {
    for (long i = row; i < n; ++i) x[i] = (a[i] + b[i]) + (c[i] + y[i]);
  }
}
