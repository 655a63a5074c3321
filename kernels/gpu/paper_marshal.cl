// SPDX-License-Identifier: BSD-2-Clause
// Purpose: data marshalling before truncated SPIKE by work-items: copy bands and right-hand side from row order to the
// order that gpu/paper.clh defines.
// Source: Macintosh, Banks and Kelson 2019, section 3.2.1.
//
// Arguments (global memory)
//   lower, diag, upper, y      shape [end - origin], in the order of the rows
//   to_lower, ..., to_y        shape [tiles * GROUP_ITEMS * m], marshalled; written here. Rows outside [origin, end)
//                              are x = 0
//   origin, end  the arrays hold rows [origin, end) of the system
//   first        first row of partition 0; may be negative
//   m            rows of a partition
//   words        local, GROUP_ITEMS * (BLOCK_ROWS + 1)
// Launch:  a work-group for each tile, of GROUP_ITEMS work-items.
// Local:   `words` scalars, for BLOCK_ROWS rows of a tile at a time. Per row: no flops, 8 words.
// Valid:   all of the marshalled arrays.
#include "gpu/paper.clh"

#ifndef BLOCK_ROWS
#error "build with -D BLOCK_ROWS=rows of a partition that are transposed at a time, a power of two"
#endif

// The arrays hold rows [origin, end). Partition 0 consists of m rows from row `first` on.
typedef struct {
  long origin, end, first;
  int m;
} Rows;

static inline void turn(__global const scalar_t* restrict from, __global scalar_t* restrict to, scalar_t padding,
                        Rows rows, int row_begin, __local scalar_t* words) {
  const int item = (int)get_local_id(0);
  const long tile = (long)get_group_id(0);
  for (uint k = item; k < GROUP_ITEMS * BLOCK_ROWS; k += GROUP_ITEMS) {
    const int partition = k / BLOCK_ROWS, i = k % BLOCK_ROWS;
    const long row = rows.first + (tile * GROUP_ITEMS + partition) * rows.m + row_begin + i;
    const bool there = row_begin + i < rows.m && row >= rows.origin && row < rows.end;
    words[partition * (BLOCK_ROWS + 1) + i] = there ? from[row - rows.origin] : padding;
  }
  barrier(CLK_LOCAL_MEM_FENCE);
  for (int i = 0; i < BLOCK_ROWS && row_begin + i < rows.m; ++i) {
    to[marshalled(rows.m, row_begin + i)] = words[item * (BLOCK_ROWS + 1) + i];
  }
  barrier(CLK_LOCAL_MEM_FENCE);
}

__kernel __attribute__((reqd_work_group_size(GROUP_ITEMS, 1, 1))) void paper_marshal(
    __global const scalar_t* restrict lower, __global const scalar_t* restrict diag,
    __global const scalar_t* restrict upper, __global const scalar_t* restrict y, __global scalar_t* restrict to_lower,
    __global scalar_t* restrict to_diag, __global scalar_t* restrict to_upper, __global scalar_t* restrict to_y,
    const long origin, const long end, const long first, const int m, __local scalar_t* words) {
  const Rows rows = {origin, end, first, m};
  for (int i = 0; i < m; i += BLOCK_ROWS) {
    turn(lower, to_lower, 0, rows, i, words);
    turn(diag, to_diag, 1, rows, i, words);
    turn(upper, to_upper, 0, rows, i, words);
    turn(y, to_y, 0, rows, i, words);
  }
}
