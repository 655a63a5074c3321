// SPDX-License-Identifier: BSD-2-Clause
// Purpose: data marshalling before truncated SPIKE by lanes: copy bands and right-hand side from row order to the order
// that cpu/paper_lanes.clh defines.
// Source: Macintosh, Banks and Kelson 2019, section 3.2.1.
//
// Arguments (global memory)
//   lower, diag, upper, y  shape [end - origin], in the order of the rows, written by the host
//   to_lower, ..., to_y    shape [tiles * m] lanes_t, marshalled; written here. Rows outside [origin, end) are x = 0
//   scratch      LANES lanes_t for each work-group
//   n            rows of the whole system
//   origin, end  the arrays hold rows [origin, end) of the system
//   first        first row of partition 0
//   m            rows of a partition, a multiple of LANES
//   tiles        tiles of this launch
// Launch:  any number of work-groups of one work-item; each takes a run of consecutive tiles.
// Local:   none; private LANES lanes_t. Per row: no flops, 8 words.
// Valid:   all of the marshalled arrays.
#include "cpu/paper_lanes.clh"

// Marshal the block that begins at `row` in the tile's first partition. Rows outside of [first, end) become `outside`.
static inline void turn(__global const scalar_t* from, Rows rows, long row, long first, long end, scalar_t outside,
                        __global scalar_t* edge, __global lanes_t* to) {
  lanes_t block[LANES];
  const bool full = row >= first && row + (LANES - 1) * rows.m + LANES <= end;
  load_checked(from, rows, row, full, first, end, outside, edge, block);
  for (int s = 0; s < LANES; ++s) store_lanes_past_cache(block[s], to + s);
}

__kernel __attribute__((reqd_work_group_size(1, 1, 1))) void paper_lanes_marshal(
    __global const scalar_t* restrict lower, __global const scalar_t* restrict diag,
    __global const scalar_t* restrict upper, __global const scalar_t* restrict y, __global lanes_t* restrict to_lower,
    __global lanes_t* restrict to_diag, __global lanes_t* restrict to_upper, __global lanes_t* restrict to_y,
    __global lanes_t* restrict scratch, const long n, const long origin, const long end, const long first, const int m,
    const long tiles) {
  const long run = (long)get_group_id(0), runs = (long)get_num_groups(0);
  __global scalar_t* const edge = (__global scalar_t*)(scratch + run * LANES);
  const Rows rows = {n, origin, m};
  for (long t = run_begin(0, tiles, run, runs); t < run_begin(0, tiles, run + 1, runs); ++t) {
    for (int i = 0; i < m; i += LANES) {
      const long row = first + t * LANES * m + i, to = marshalled(t, m) + i;
      turn(lower, rows, row, max(origin, 1L), end, 0, edge, to_lower + to);
      turn(upper, rows, row, origin, min(end, n - 1), 0, edge, to_upper + to);
      turn(diag, rows, row, origin, end, 1, edge, to_diag + to);
      turn(y, rows, row, origin, end, 0, edge, to_y + to);
    }
  }
}
