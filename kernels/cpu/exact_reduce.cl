// SPDX-License-Identifier: BSD-2-Clause
// Purpose: first pass of exact-twopass: eliminate the inner rows of every partition, leaving the equations of its first
// (top) and last (bottom) row in the form that does not cancel at dominance 1 (cpu/excess.clh).
// Source: core/interface, SchurSegment and append_row.
//
// Arguments (global memory)
//   lower, diag, upper, y   as for truncated_halo; rows must be there to round_up(m, LANES) - m behind the tiles
//   segments            shape [10][padded], written here: lower, upper, excess, f, sign of the top, then of the bottom.
//                       Rows from n on count as identity rows, so that every partition has m rows; with m = 1 top and
//                       bottom are the same row
//   scratch             `slot` lanes_t for each work-group, of which the first LANES serve edge tiles
//   n, origin, tile_begin, tile_end, m   as for truncated_halo
//   padded              partitions padded to whole tiles
// Launch:  any number of work-groups of one work-item; each walks a run of consecutive tiles.
// Local:   none; private 4 LANES lanes_t.
// Per row: 1 division, about 45 additions and multiplications, 4 words.
// Assumes: nothing is re-associated or contracted. NaN of y stays in its line.
// Valid:   segments of the partitions of the tiles.
#include "cpu/tile.clh"
#include "cpu/excess.clh"

// The old bottom becomes an inner row and is eliminated from both its neighbours.
static inline void append_row(ExcessRow* top, ExcessRow* bottom, ExcessRow next) {
  const lanes_t r = make_pivot(bottom);
  next.lower = eliminate(&next, next.lower, bottom, bottom->upper, bottom->lower, r);
  top->upper = eliminate(top, top->upper, bottom, bottom->lower, bottom->upper, r);
  *bottom = next;
}

static inline void store_row(ExcessRow row, __global scalar_t* p, long padded) {
  to_storage(row.lower, p);
  to_storage(row.upper, p + padded);
  to_storage(row.excess, p + 2 * padded);
  to_storage(row.f, p + 3 * padded);
  to_storage(row.sign, p + 4 * padded);
}

__kernel __attribute__((reqd_work_group_size(1, 1, 1))) void exact_reduce(
    __global const scalar_t* restrict lower, __global const scalar_t* restrict diag,
    __global const scalar_t* restrict upper, __global const scalar_t* restrict y, __global scalar_t* restrict segments,
    __global lanes_t* restrict scratch, const long n, const long origin, const long tile_begin, const long tile_end,
    const int m, const int slot, const long padded) {
  const long run = (long)get_group_id(0), runs = (long)get_num_groups(0);
  __global scalar_t* const edge = (__global scalar_t*)(scratch + run * slot);
  const Rows rows = {n, origin, m};
  const long end = run_begin(tile_begin, tile_end, run + 1, runs);
  for (long t = run_begin(tile_begin, tile_end, run, runs); t < end; ++t) {
    const Tile tile = make_tile(rows, t, 0);
    const long next = tile.base + LANES * rows.m;
    ExcessRow top, bottom;
    Block block;
    for (int at = 0; at < m; at += LANES) {
      load_rows(lower, diag, upper, y, rows, tile.base + at, tile.full, edge, &block);
      prefetch_block(lower, rows, next + at);
      prefetch_block(diag, rows, next + at);
      prefetch_block(upper, rows, next + at);
      prefetch_block(y, rows, next + at);
      const int count = min(m - at, LANES);
      int s = 0;
      if (at == 0) {  // the first two rows couple directly
        top = bottom = make_row(&block, s++);
        if (count > 1) bottom = make_row(&block, s++);
      }
      for (; s < count; ++s) append_row(&top, &bottom, make_row(&block, s));
    }
    store_row(top, segments + t * LANES, padded);
    store_row(bottom, segments + 5 * padded + t * LANES, padded);
  }
}
