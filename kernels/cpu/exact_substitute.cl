// SPDX-License-Identifier: BSD-2-Clause
// Purpose: second pass of exact-twopass: solve the inner rows of every partition, from known top and bottom unknowns.
// The elimination repeats that of exact_reduce to the bit, which makes both passes one Gaussian elimination. A sweep
// from the unknowns outside of the partition would disagree with the first pass if the partition by itself is
// ill-conditioned.
//
//   down:  for each row i after the second, eliminate row i - 1;  c'_i = upper_i / diag_i,
//          d'_i = (f_i - lower_i x_top) / diag_i. lower_i of the eliminated row couples to the top row
//   back:  x_i = d'_i - c'_i x_(i+1)
// Source: cpu/excess.clh.
//
// Arguments (global memory)
//   lower, diag, upper, y, x, n, origin, tile_begin, tile_end, m, slot   as for truncated_halo, with halo = 0
//   tops, bottoms  first and last unknown of every partition, shape [partitions padded to whole tiles]; written by the
//                  host. The last unknown is 0 if the partition ends beyond n
//   scratch        `slot` lanes_t for each work-group: LANES for edge tiles, then c', d' of every row of a tile
// Launch:  any number of work-groups of one work-item; each takes a run of consecutive tiles.
// Local:   none; private 5 LANES lanes_t.
// Per row: 1 division, about 35 additions and multiplications, 5 words.
// Assumes: the compiler neither re-associates nor contracts operations. NaN of y stays in its line.
// Valid:   x for the rows of the tiles below n.
#include "cpu/tile.clh"
#include "cpu/excess.clh"

// Store c' and d' of row i, with out = swept + 2 i. Returns -1 / diag.
static inline lanes_t leave(ExcessRow* row, lanes_t x_top, bool general, __global lanes_t* out) {
  const lanes_t r = make_pivot(row, general), inverse = -r;
  out[0] = mul(row->upper, inverse);
  out[1] = mul(take_off(general, row->f, row->lower, x_top), inverse);
  return r;
}

// Store c' and d' of every row. In the first and the last row, whose unknowns are given, c' is 0 and d' is the unknown.
// Returns false if the tile needs the `general` code.
SPECIALISED static inline bool sweep_down(Tile tile, bool general, __global const scalar_t* lower,
                                          __global const scalar_t* diag, __global const scalar_t* upper,
                                          __global const scalar_t* y, lanes_t x_top, lanes_t x_bottom,
                                          __global scalar_t* edge, __global lanes_t* swept) {
  const long next = tile.base + LANES * tile.rows.m;
  lanes_t r = ZERO, slack = ONE;
  ExcessRow row;
  Block block;
  for (int at = 0; at < tile.end; at += LANES) {
    load_rows(lower, diag, upper, y, tile.rows, tile.base + at, tile.full, edge, &block);
    prefetch_block(lower, tile.rows, next + at);
    prefetch_block(diag, tile.rows, next + at);
    __global lanes_t* const out = swept + 2 * at;
    const int end = min(tile.end - at, LANES);
    int s = 0;
    if (at == 0) {  // the elimination begins in the second row
      row = make_row(&block, 1, general, &slack);
      r = leave(&row, x_top, general, out + 2);
      s = 2;
    }
    for (; s < end; ++s) {
      ExcessRow below = make_row(&block, s, general, &slack);
      below.lower = eliminate(&below, below.lower, &row, row.upper, row.lower, r, general);
      row = below;
      r = leave(&row, x_top, general, out + 2 * s);
    }
  }
  swept[0] = swept[2 * tile.end - 2] = ZERO;
  swept[1] = x_top;
  swept[2 * tile.end - 1] = x_bottom;
  return !any_negative(slack);
}

// Solve the partitions of a tile. Returns false if the tile needs the `general` code.
SPECIALISED static inline bool substitute(Tile tile, bool general, __global const scalar_t* lower,
                                          __global const scalar_t* diag, __global const scalar_t* upper,
                                          __global const scalar_t* y, lanes_t x_top, lanes_t x_bottom,
                                          __global scalar_t* edge, __global lanes_t* swept, __global scalar_t* x) {
  const bool dominant = sweep_down(tile, general, lower, diag, upper, y, x_top, x_bottom, edge, swept);
  if (!dominant && !general) return false;
  return all_finite(sweep_back(tile, general, swept, ZERO, upper, y, edge, x)) && dominant;
}

__kernel __attribute__((reqd_work_group_size(1, 1, 1))) void exact_substitute(
    __global const scalar_t* restrict lower, __global const scalar_t* restrict diag,
    __global const scalar_t* restrict upper, __global const scalar_t* restrict y, __global scalar_t* restrict x,
    __global const scalar_t* restrict tops, __global const scalar_t* restrict bottoms,
    __global lanes_t* restrict scratch, const long n, const long origin, const long tile_begin, const long tile_end,
    const int m, const int slot) {
  const long run = (long)get_group_id(0), runs = (long)get_num_groups(0);
  __global lanes_t* const swept = scratch + run * slot + LANES;
  __global scalar_t* const edge = (__global scalar_t*)(scratch + run * slot);
  const Rows rows = {n, origin, m};
  const long end = run_begin(tile_begin, tile_end, run + 1, runs);
  bool easy = true;
  for (long t = run_begin(tile_begin, tile_end, run, runs); t < end; ++t) {
    const Tile tile = make_tile(rows, t, 0);
    const lanes_t top = from_storage(tops + t * LANES), bottom = from_storage(bottoms + t * LANES);
    if (easy) easy = substitute(tile, false, lower, diag, upper, y, top, bottom, edge, swept, x);
    if (!easy) easy = substitute(tile, true, lower, diag, upper, y, top, bottom, edge, swept, x);
  }
}
