// SPDX-License-Identifier: BSD-2-Clause
// Purpose: second pass of exact-twopass: solve every partition with the unknowns beside it known. The sweep carries the
// excess of each row (cpu/excess.clh), since plain pivots would disagree with the first pass at dominance 1.
//
//   down:  from an identity row with the value x_above, eliminate row i - 1 from row i;  c'_i = c_i / diag_i,
//          d'_i = f_i / diag_i
//   back:  x_i = d'_i - c'_i x_(i+1),  from x_below
// Source: core/model is the same in C++; cpu/excess.clh.
//
// Arguments (global memory)
//   lower, diag, upper, y, x, n, origin, tile_begin, tile_end, m, slot   as for truncated_halo, with halo = 0
//   above, below   unknown above / below every partition, shape [partitions padded to whole tiles]; written by the host
//   scratch        `slot` lanes_t for each work-group: LANES for edge tiles, then c', d' of every row of a tile
// Launch:  any number of work-groups of one work-item; each walks a run of consecutive tiles.
// Local:   none; private 5 LANES lanes_t.
// Per row: 1 division, about 35 additions and multiplications, 5 words.
// Assumes: nothing is re-associated or contracted. NaN of y stays in its line.
// Valid:   x for the rows of the tiles below n.
#include "cpu/tile.clh"
#include "cpu/excess.clh"

// Leave c', d' of row i in swept[2 i], swept[2 i + 1].
static inline void sweep_down(Tile tile, __global const scalar_t* lower, __global const scalar_t* diag,
                              __global const scalar_t* upper, __global const scalar_t* y, lanes_t x_above,
                              __global scalar_t* edge, __global lanes_t* swept) {
  const long next = tile.base + LANES * tile.rows.m;
  // An identity row: its coupling to what lies above is part of the excess, here and from row to row.
  ExcessRow row = {ZERO, ZERO, ONE, x_above, ONE};
  lanes_t r = ONE;
  Block block;
  for (int at = 0; at < tile.end; at += LANES) {
    load_rows(lower, diag, upper, y, tile.rows, tile.base + at, tile.full, edge, &block);
    prefetch_block(lower, tile.rows, next + at);
    prefetch_block(diag, tile.rows, next + at);
    const int end = min(tile.end - at, LANES);
    for (int s = 0; s < end; ++s) {
      ExcessRow below = make_row(&block, s);
      eliminate(&below, below.lower, &row, row.upper, ZERO, r);
      below.lower = ZERO;
      row = below;
      r = make_pivot(&row);
      swept[2 * (at + s)] = mul(row.upper, r);
      swept[2 * (at + s) + 1] = mul(row.f, r);
    }
  }
}

__kernel __attribute__((reqd_work_group_size(1, 1, 1))) void exact_substitute(
    __global const scalar_t* restrict lower, __global const scalar_t* restrict diag,
    __global const scalar_t* restrict upper, __global const scalar_t* restrict y, __global scalar_t* restrict x,
    __global const scalar_t* restrict above, __global const scalar_t* restrict below,
    __global lanes_t* restrict scratch, const long n, const long origin, const long tile_begin, const long tile_end,
    const int m, const int slot) {
  const long run = (long)get_group_id(0), runs = (long)get_num_groups(0);
  __global lanes_t* const swept = scratch + run * slot + LANES;
  __global scalar_t* const edge = (__global scalar_t*)(scratch + run * slot);
  const Rows rows = {n, origin, m};
  const long end = run_begin(tile_begin, tile_end, run + 1, runs);
  for (long t = run_begin(tile_begin, tile_end, run, runs); t < end; ++t) {
    const Tile tile = make_tile(rows, t, 0);
    sweep_down(tile, lower, diag, upper, y, from_storage(above + t * LANES), edge, swept);
    sweep_back(tile, swept, from_storage(below + t * LANES), upper, y, edge, x);
  }
}
