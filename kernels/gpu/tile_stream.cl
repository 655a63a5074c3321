// SPDX-License-Identifier: BSD-2-Clause
// Purpose: the speed limit of GPUs, as kernels/common/stream.cl is that of CPUs: read four arrays, write one,
// x = (a + b) + (c + y).
//
// Arguments: a, b, c, y, x  shape [n], global, aligned to 16 bytes; x is written here, the others by the host
//            n              rows
// Launch:    work-groups of any size; a work-item takes 8 rows, in vectors that are neighbours of its neighbours'.
// Local:     none. Per row: 3 flops, 5 words.
// Valid:     x everywhere.
#include "gpu/vector.clh"

#define ITEM_ROWS 8

__kernel void tile_stream(__global const scalar_t* restrict a, __global const scalar_t* restrict b,
                          __global const scalar_t* restrict c, __global const scalar_t* restrict y,
                          __global scalar_t* restrict x, const long n) {
  const int items = (int)get_local_size(0);
  const long first = (long)get_group_id(0) * items * ITEM_ROWS + (long)get_local_id(0) * VECTOR;
  for (int k = 0; k < ITEM_ROWS / VECTOR; ++k) {
    const long row = first + (long)k * items * VECTOR;
    if (row + VECTOR <= n) {
      *(__global vector_t*)(x + row) = (*(__global const vector_t*)(a + row) + *(__global const vector_t*)(b + row)) +
                                       (*(__global const vector_t*)(c + row) + *(__global const vector_t*)(y + row));
    } else {
      for (long i = row; i < n; ++i) x[i] = (a[i] + b[i]) + (c[i] + y[i]);
    }
  }
}
