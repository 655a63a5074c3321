// SPDX-License-Identifier: BSD-2-Clause
// Purpose: second pass of exact-twopass: solve the inner rows of every partition, whose top and bottom unknowns are known.
// They are eliminated as exact_reduce did, to the bit, so that both passes are one Gaussian elimination; a sweep that
// begins anew from the unknowns outside of the partition disagrees with the first pass where a partition is
// ill-conditioned by itself (core/model).
//
//   down:  eliminate row i - 1 from row i, from the second row on;  c'_i = upper_i / diag_i,
//          d'_i = (f_i - lower_i x_top) / diag_i, lower_i being what couples to the top by then
//   back:  x_i = d'_i - c'_i x_(i+1)
// Source: core/model (substitute_exact); cpu/excess.clh.
//
// Arguments (global memory)
//   lower, diag, upper, y, x, n, origin, tile_begin, tile_end, m, slot   as for truncated_halo, with halo = 0
//   tops, bottoms  first and last unknown of every partition, shape [partitions padded to whole tiles]; written by the
//                  host; the last is 0 where the partition ends beyond n
//   scratch        `slot` lanes_t for each work-group: LANES for edge tiles, then c', d' of every row of a tile
// Launch:  any number of work-groups of one work-item; each walks a run of consecutive tiles.
// Local:   none; private 5 LANES lanes_t.
// Per row: 1 division, about 35 additions and multiplications, 5 words.
// Assumes: nothing is re-associated or contracted. NaN of y stays in its line.
// Valid:   x for the rows of the tiles below n.
#include "cpu/tile.clh"
#include "cpu/excess.clh"

// Leave c', d' of row i where sweep_back looks for them.
static inline void leave(__global lanes_t* swept, int i, lanes_t c, lanes_t d) {
  swept[2 * i] = c;
  swept[2 * i + 1] = d;
}

static inline void sweep_down(Tile tile, __global const scalar_t* lower, __global const scalar_t* diag,
                              __global const scalar_t* upper, __global const scalar_t* y, lanes_t x_top,
                              lanes_t x_bottom, __global scalar_t* edge, __global lanes_t* swept) {
  const long next = tile.base + LANES * tile.rows.m;
  ExcessRow row;
  lanes_t r = ZERO;
  Block block;
  for (int at = 0; at < tile.end; at += LANES) {
    load_rows(lower, diag, upper, y, tile.rows, tile.base + at, tile.full, edge, &block);
    prefetch_block(lower, tile.rows, next + at);
    prefetch_block(diag, tile.rows, next + at);
    const int end = min(tile.end - at, LANES);
    int s = 0;
    if (at == 0) {  // the second row begins the elimination
      leave(swept, 0, ZERO, x_top);
      row = make_row(&block, 1);
      r = make_pivot(&row);
      leave(swept, 1, mul(row.upper, r), take_off(true, mul(row.f, r), mul(row.lower, r), x_top));
      s = 2;
    }
    for (; s < end; ++s) {
      ExcessRow below = make_row(&block, s);
      below.lower = eliminate(&below, below.lower, &row, row.upper, row.lower, r);
      row = below;
      r = make_pivot(&row);
      leave(swept, at + s, mul(row.upper, r), take_off(true, mul(row.f, r), mul(row.lower, r), x_top));
    }
  }
  leave(swept, tile.end - 1, ZERO, x_bottom);
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
  for (long t = run_begin(tile_begin, tile_end, run, runs); t < end; ++t) {
    const Tile tile = make_tile(rows, t, 0);
    sweep_down(tile, lower, diag, upper, y, from_storage(tops + t * LANES), from_storage(bottoms + t * LANES), edge,
               swept);
    sweep_back(tile, true, swept, ZERO, upper, y, edge, x);
  }
}
