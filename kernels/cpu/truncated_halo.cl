// SPDX-License-Identifier: BSD-2-Clause
// Purpose: method truncated-halo. The kernel solves each partition separately, extended by `halo` rows on either side;
// unknowns beyond these rows count as 0. The solver is Thomas' algorithm without pivoting, one pass over the rows.
//
//   down:  r_i = 1 / (b_i - a_i c'_(i-1)),  c'_i = c_i r_i,  d'_i = (y_i - a_i d'_(i-1)) r_i,  from c' = d' = 0
//   back:  x_i = d'_i - c'_i x_(i+1),  from 0;   a, b, c: lower, diag, upper
// Source: core/certificate bounds the error, tests/support/model computes x in C++.
//
// Arguments (global memory)
//   lower, diag, upper  rows of the bands, written by the host; lower of row 0 and upper of row n - 1 are never read
//   y                   rows of the right-hand side, written by the host
//   x                   rows of the solution, written here; overlaps no other array
//   scratch             `slot` lanes_t for each work-group: LANES for edge tiles, then c', d' of every row of a tile
//   n                   rows of the whole system
//   origin              row that element 0 of all arrays holds. With h = round_up(halo, LANES), the arrays hold rows
//                       from h before the tiles to round_up(h + m + halo, LANES) - h - m behind the tiles
//   tile_begin, tile_end  tiles of this launch; tile t holds the partitions [t LANES, (t + 1) LANES)
//   m, halo             rows of a partition, and rows that it is extended by on each side
//   slot                LANES + 2 round_up(h + m + halo, LANES)
// Launch:  any number of work-groups of one work-item; each takes a run of consecutive tiles.
// Local:   none; private 5 LANES lanes_t.
// Per row: 1 division, 6 multiply-adds, 5 words; reads and arithmetic take (m + 2 halo) / m of this.
// Assumes: no pivot b_i - a_i c'_(i-1) vanishes (set-up checks it). NaN of y stays in its line.
// Valid:   x for the rows of the tiles below n.
#include "cpu/tile.clh"

// Store c' and d' of a row of the block, both in out[0], out[1] and in *c, *d.
static inline void row_down(const Block* block, int s, bool nan_safe, lanes_t* c, lanes_t* d, __global lanes_t* out) {
  const lanes_t a = block->lower[s];
  const lanes_t r = reciprocal(mul_sub(block->diag[s], a, *c));
  out[0] = *c = mul(block->upper[s], r);
  out[1] = *d = mul(take_off(nan_safe, block->y[s], a, *d), r);
}

// Sweep down. c' and d' of padded row i (see Tile) go to swept[2 i] and swept[2 i + 1].
SPECIALISED static inline void sweep_down(Tile tile, bool nan_safe, __global const scalar_t* lower,
                                          __global const scalar_t* diag, __global const scalar_t* upper,
                                          __global const scalar_t* y, __global scalar_t* edge,
                                          __global lanes_t* swept) {
  const long next = tile.base + LANES * tile.rows.m;
  lanes_t c = ZERO, d = ZERO;
  Block block;
  for (int at = 0; at < tile.end; at += LANES) {
    load_rows(lower, diag, upper, y, tile.rows, tile.base + at, tile.full, edge, &block);
    prefetch_block(lower, tile.rows, next + at);
    prefetch_block(diag, tile.rows, next + at);
    __global lanes_t* const out = swept + 2 * at;
    const int begin = max(tile.first - at, 0), end = min(tile.end - at, LANES);
    if (!nan_safe && end - begin == LANES) {
#pragma unroll
      for (int s = 0; s < LANES; ++s) row_down(&block, s, nan_safe, &c, &d, out + 2 * s);
    } else {
      for (int s = begin; s < end; ++s) row_down(&block, s, nan_safe, &c, &d, out + 2 * s);
    }
  }
}

__kernel __attribute__((reqd_work_group_size(1, 1, 1))) void truncated_halo(
    __global const scalar_t* restrict lower, __global const scalar_t* restrict diag,
    __global const scalar_t* restrict upper, __global const scalar_t* restrict y, __global scalar_t* restrict x,
    __global lanes_t* restrict scratch, const long n, const long origin, const long tile_begin, const long tile_end,
    const int m, const int halo, const int slot) {
  const long run = (long)get_group_id(0), runs = (long)get_num_groups(0);
  __global lanes_t* const swept = scratch + run * slot + LANES;
  __global scalar_t* const edge = (__global scalar_t*)(scratch + run * slot);
  const Rows rows = {n, origin, m};
  const long end = run_begin(tile_begin, tile_end, run + 1, runs);
  for (long t = run_begin(tile_begin, tile_end, run, runs); t < end; ++t) {
    const Tile tile = make_tile(rows, t, halo);
    sweep_down(tile, false, lower, diag, upper, y, edge, swept);
    if (all_finite(sweep_back(tile, false, swept, ZERO, upper, y, edge, x))) continue;
    sweep_down(tile, true, lower, diag, upper, y, edge, swept);
    sweep_back(tile, true, swept, ZERO, upper, y, edge, x);
  }
}
