// SPDX-License-Identifier: BSD-2-Clause
// Purpose: copy the solution of truncated SPIKE by lanes back to row order.
// Source: Macintosh, Banks and Kelson 2019, section 3.2.1.
//
// Arguments (global memory)
//   from         shape [tiles * m] lanes_t, marshalled (cpu/paper_lanes.clh)
//   x            shape [rows of the chunk], in the order of the rows; written here
//   scratch      LANES lanes_t for each work-group
//   n            rows of the whole system
//   origin       row that element 0 of x holds
//   kept_first, kept_end  the kernel writes rows [kept_first, kept_end) of x
//   first        first row of partition 0
//   m            rows of a partition, a multiple of LANES
//   tiles        tiles of this launch
// Launch:  any number of work-groups of one work-item; each takes a run of consecutive tiles.
// Local:   none; private 2 LANES lanes_t. Per row: no flops, 2 words.
// Valid:   x for rows [kept_first, kept_end).
#include "cpu/paper_lanes.clh"

// Store the block that begins at `row` in the tile's first partition, but only rows [kept_first, kept_end).
static inline void store_kept(const lanes_t* block, Rows rows, long row, long kept_first, long kept_end,
                              __global scalar_t* edge, __global scalar_t* x) {
  if (row >= kept_first && row + (LANES - 1) * rows.m + LANES <= kept_end) {
    __global scalar_t* const to = x + (row - rows.origin);
    store_block(block, is_lanes_aligned(to), to, rows.m);
    return;
  }
  store_block(block, false, edge, LANES);
  for (int j = 0; j < LANES; ++j, row += rows.m) {
    const long end = min(row + LANES, kept_end);
    for (long r = max(row, kept_first); r < end; ++r) x[r - rows.origin] = edge[j * LANES + (r - row)];
  }
}

__kernel __attribute__((reqd_work_group_size(1, 1, 1))) void paper_lanes_unmarshal(
    __global const lanes_t* restrict from, __global scalar_t* restrict x, __global lanes_t* restrict scratch,
    const long n, const long origin, const long kept_first, const long kept_end, const long first, const int m,
    const long tiles) {
  const long run = (long)get_group_id(0), runs = (long)get_num_groups(0);
  __global scalar_t* const edge = (__global scalar_t*)(scratch + run * LANES);
  const Rows rows = {n, origin, m};
  for (long t = run_begin(0, tiles, run, runs); t < run_begin(0, tiles, run + 1, runs); ++t) {
    for (int i = 0; i < m; i += LANES) {
      lanes_t block[LANES];
      for (int s = 0; s < LANES; ++s) block[s] = from[marshalled(t, m) + i + s];
      store_kept(block, rows, first + t * LANES * m + i, kept_first, kept_end, edge, x);
    }
  }
}
