// SPDX-License-Identifier: BSD-2-Clause
// Purpose: first pass of exact-twopass: eliminate the inner rows of every partition. Equations of its first (top) and
// last (bottom) row remain. They carry their excess, which avoids cancellation at dominance 1 (cpu/excess.clh).
// Source: core/interface, SchurSegment and append_row.
//
// Arguments (global memory)
//   lower, diag, upper, y   as for truncated_halo; readable up to round_up(m, LANES) - m rows behind the tiles
//   segments            shape [8][padded], written here: lower, upper, excess, f of the top row, then of the bottom
//                       row. A row with a negative diagonal is multiplied by -1. Rows from n on are identity rows,
//                       because every partition has m rows. If m is 1, top and bottom are the same row
//   scratch             `slot` lanes_t for each work-group; the first LANES are for edge tiles
//   n, origin, tile_begin, tile_end, m   as for truncated_halo
//   padded              number of partitions, padded to whole tiles
// Launch:  any number of work-groups of one work-item; each takes a run of consecutive tiles.
// Local:   none; private 4 LANES lanes_t.
// Per row: 1 division, about 45 additions, multiplications and changes of sign, 4 words.
// Assumes: the compiler neither re-associates nor contracts operations. NaN of y stays in its line.
// Valid:   `segments`, for the partitions of the tiles.
#include "cpu/tile.clh"
#include "cpu/excess.clh"

// Append row `next` at the bottom: eliminate the old bottom row from `top` and from `next`.
static inline void append_row(ExcessRow* top, ExcessRow* bottom, ExcessRow next, bool general) {
  const lanes_t r = make_pivot(bottom, general);
  next.lower = eliminate(&next, next.lower, bottom, bottom->upper, bottom->lower, r, general);
  top->upper = eliminate(top, top->upper, bottom, bottom->lower, bottom->upper, r, general);
  *bottom = next;
}

static inline void store_row(ExcessRow row, __global scalar_t* p, long padded) {
  to_storage(row.lower, p);
  to_storage(row.upper, p + padded);
  to_storage(row.excess, p + 2 * padded);
  to_storage(row.f, p + 3 * padded);
}

// Reduce the partitions of a tile. Returns false if the tile needs the `general` code.
SPECIALISED static inline bool reduce(Tile tile, bool general, __global const scalar_t* lower,
                                      __global const scalar_t* diag, __global const scalar_t* upper,
                                      __global const scalar_t* y, __global scalar_t* edge, __global scalar_t* segments,
                                      long padded) {
  const long next = tile.base + LANES * tile.rows.m;
  lanes_t slack = ONE;
  ExcessRow top, bottom;
  Block block;
  for (int at = 0; at < tile.end; at += LANES) {
    load_rows(lower, diag, upper, y, tile.rows, tile.base + at, tile.full, edge, &block);
    prefetch_block(lower, tile.rows, next + at);
    prefetch_block(diag, tile.rows, next + at);
    prefetch_block(upper, tile.rows, next + at);
    prefetch_block(y, tile.rows, next + at);
    const int count = min(tile.end - at, LANES);
    int s = 0;
    if (at == 0) {  // the first two rows are neighbours, so nothing is eliminated
      top = bottom = make_row(&block, s++, general, &slack);
      if (count > 1) bottom = make_row(&block, s++, general, &slack);
    }
    for (; s < count; ++s) append_row(&top, &bottom, make_row(&block, s, general, &slack), general);
  }
  store_row(top, segments, padded);
  store_row(bottom, segments + 4 * padded, padded);
  return !any_negative(slack) && all_finite(top.f) && all_finite(bottom.f);
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
  bool easy = true;
  for (long t = run_begin(tile_begin, tile_end, run, runs); t < end; ++t) {
    const Tile tile = make_tile(rows, t, 0);
    __global scalar_t* const out = segments + t * LANES;
    if (easy) easy = reduce(tile, false, lower, diag, upper, y, edge, out, padded);
    if (!easy) easy = reduce(tile, true, lower, diag, upper, y, edge, out, padded);
  }
}
