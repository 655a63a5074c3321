// SPDX-License-Identifier: BSD-2-Clause
// Purpose: copy the solution of truncated SPIKE by work-items back to row order.
// Source: Macintosh, Banks and Kelson 2019, section 3.2.1.
//
// Arguments (global memory)
//   from         shape [tiles * GROUP_ITEMS * m], marshalled (gpu/paper.clh)
//   x            shape [rows of the chunk], in the order of the rows
//   origin       row that element 0 of x holds
//   kept_first, kept_end  the kernel writes rows [kept_first, kept_end) of x
//   first        first row of partition 0; may be negative
//   m            rows of a partition
//   words        local, GROUP_ITEMS * (BLOCK_ROWS + 1)
// Launch:  a work-group for each tile, of GROUP_ITEMS work-items.
// Local:   `words` scalars. Per row: no flops, 2 words.
// Valid:   x for rows [kept_first, kept_end).
#include "gpu/paper.clh"

#ifndef BLOCK_ROWS
#error "build with -D BLOCK_ROWS=rows of a partition that are transposed at a time, a power of two"
#endif

__kernel __attribute__((reqd_work_group_size(GROUP_ITEMS, 1, 1))) void paper_unmarshal(
    __global const scalar_t* restrict from, __global scalar_t* restrict x, const long origin, const long kept_first,
    const long kept_end, const long first, const int m, __local scalar_t* words) {
  const int item = (int)get_local_id(0);
  const long tile = (long)get_group_id(0);
  for (int begin = 0; begin < m; begin += BLOCK_ROWS) {
    // The other kernels solve no rows outside [kept_first, kept_end).
    const long own = first + (tile * GROUP_ITEMS + item) * m + begin;
    for (int i = 0; i < BLOCK_ROWS && begin + i < m; ++i) {
      const bool kept = own + i >= kept_first && own + i < kept_end;
      words[item * (BLOCK_ROWS + 1) + i] = kept ? from[marshalled(m, begin + i)] : 0;
    }
    barrier(CLK_LOCAL_MEM_FENCE);
    for (uint k = item; k < GROUP_ITEMS * BLOCK_ROWS; k += GROUP_ITEMS) {
      const int partition = k / BLOCK_ROWS, i = k % BLOCK_ROWS;
      const long row = first + (tile * GROUP_ITEMS + partition) * m + begin + i;
      if (begin + i < m && row >= kept_first && row < kept_end) {
        x[row - origin] = words[partition * (BLOCK_ROWS + 1) + i];
      }
    }
    barrier(CLK_LOCAL_MEM_FENCE);
  }
}
