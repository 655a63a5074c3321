// SPDX-License-Identifier: BSD-2-Clause
// Purpose: solve lines side by side on GPUs, by stored factors of one line that all lines share. A work-group takes
// many tiles. A work-item takes LINES lines, and reads factors from local memory. Factors and y are loaded a tile
// ahead.
//   IN_ONE_TILE 1  a tile holds whole lines, without truncation: truncated-streamed or exact-factored
//   IN_ONE_TILE 0  truncated-streamed, as in grid_streamed.cl. All lines' tiles, bundle by bundle, are cut into runs of
//                  equal length, because all work-groups then take the same time
//
//   down:  d_i = y_i - m_i d_(i-1),      m_i = a_i p_(i-1), p_i = 1 / (b_i - a_i c_(i-1) p_(i-1))
//   back:  x_i = d_i p_i - k_i x_(i+1),  k_i = c_i p_i;   a, b, c: lower, diag, upper
// Source: Thomas' algorithm; core/factors makes the factors. Truncation: a tile is solved as if the unknown below the
// next tile were 0. A run starts one tile early, as if no row were above that tile. schemes/grids bounds the error.
//
// Build parameters, mandatory, besides those of grid_shared_rows.clh:
//   AHEAD        1: y of the next tile is loaded while a tile is solved. 0 (needs IN_ONE_TILE 1): y is loaded
//                afterwards, because registers hold only one tile
//
// Arguments (global memory)
//   multiplier, reciprocal, coupling   m, p and k of one line, shape [length]; written by the host
//   y                   right-hand sides, written by the host
//   x                   solutions, written here; overlaps no other array. Elements between lines keep their values
//   blocks, block_stride, block_lines  line l of block o begins at element o block_stride + l
//   length, row_stride  rows of a line, and distance between its rows in elements
//   bundles             number of bundles of a block; the last bundle may have fewer lines
//   first_tile          number of the launch's first tile among the tiles of all blocks. Run k begins at tile
//                       k run_tiles
//   run_tiles           tiles of a run. With IN_ONE_TILE 1, first_tile and run_tiles are not read: work-group g takes
//                       bundles g, g + groups, ..., with `groups` work-groups
// Launch:  work-groups of GROUP_ITEMS work-items: one for each run, or any number with IN_ONE_TILE 1.
// Local:   IN_ONE_TILE 0: 3 GROUP_ITEMS LINES + BUNDLE + 4 RECORD scalars; 1: 2 GROUP_ITEMS LINES + RECORD.
// Per row: 5 multiply-adds, 1 multiplication; 2 words; y of two more tiles for each run.
// Assumes: factors are finite (set-up checks it). NaN of y stays in its line.
// Valid:   x for the rows of all lines.
#include "gpu/grid_shared_rows.clh"

__kernel __attribute__((reqd_work_group_size(GROUP_ITEMS, 1, 1))) void grid_shared(
    __global const scalar_t* restrict multiplier, __global const scalar_t* restrict reciprocal,
    __global const scalar_t* restrict coupling, __global const scalar_t* restrict y, __global scalar_t* restrict x,
    const long blocks, const long block_stride, const long block_lines, const int length, const long row_stride,
    const int bundles, const long first_tile, const int run_tiles) {
  const Factors f = {multiplier, reciprocal, coupling};
  const Grid grid = {block_stride, block_lines, row_stride, length, bundles, (length + TILE_ROWS - 1) / TILE_ROWS};
  lines_t now[ITEM_ROWS];
#if AHEAD
  lines_t next[ITEM_ROWS];
#endif
  scalar_t factors[RECORD_ITEM];
#if IN_ONE_TILE
  __local scalar_t record[RECORD];
  __local lines_t told[2 * GROUP_ITEMS];
  const int pieces = (int)blocks * bundles, groups = (int)get_num_groups(0);
  int piece = (int)get_group_id(0);
  if (piece >= pieces) return;
  Home home = home_in(grid, piece, 0);
  fetch(y, grid, home, now);
  fetch_record(f, length, 0, factors);
  keep_record(factors, record);
  barrier(CLK_LOCAL_MEM_FENCE);
  for (;;) {
    piece += groups;
    const Home there = home_in(grid, min(piece, pieces - 1), 0);
#if AHEAD
    if (piece < pieces) fetch(y, grid, there, next);
#endif
    tell_down(now, home, record, told);
    barrier(CLK_LOCAL_MEM_FENCE);
    sweep_down(0, now, home, record, told, told + GROUP_ITEMS);
    barrier(CLK_LOCAL_MEM_FENCE);
    finish(0, now, grid, home, record, told + GROUP_ITEMS, x);
    if (piece >= pieces) return;
    home = there;
#if AHEAD
    take(next, now);
#else
    fetch(y, grid, home, now);
#endif
  }
#else
  __local scalar_t records[4 * RECORD];
  __local lines_t told[3 * GROUP_ITEMS], left[ACROSS];  // told has 1 part for sweeps down and 2 for sweeps up
  // The run's tiles in these blocks are [begin, end). [first, last] has one more tile at an end that is inside a line.
  const long from = ((long)get_group_id(0) + first_tile / run_tiles) * run_tiles - first_tile;
  const int all = (int)blocks * bundles * grid.tiles;
  const int begin = (int)max(from, 0L), end = (int)min(from + run_tiles, (long)all);
  if (begin >= end) return;
  const int first = begin % grid.tiles > 0 ? begin - 1 : begin, last = end % grid.tiles > 0 ? end : end - 1;
  int piece = first / grid.tiles, tile = remainder_of(first, piece, grid.tiles);
  int factor_tile = tile;
  lines_t above[ITEM_ROWS];  // rows of the previous tile: d_i p_i, then x_i
  Home here, before, there = home_in(grid, piece, tile);
  fetch(y, grid, there, next);
  fetch_record(f, length, factor_tile, factors);
  keep_record(factors, records + (first & 3) * RECORD);
  factor_tile = factor_tile + 1 < grid.tiles ? factor_tile + 1 : 0;
  fetch_record(f, length, factor_tile, factors);
  barrier(CLK_LOCAL_MEM_FENCE);
  for (int s = first; s <= last; ++s) {
    const bool begins = tile == 0;
    here = there;
    take(next, now);
    if (s < last) {
      tile = tile + 1 < grid.tiles ? tile + 1 : 0;
      piece += tile == 0;
      there = home_in(grid, piece, tile);
      fetch(y, grid, there, next);
    }
    __local scalar_t *const record = records + (s & 3) * RECORD, *const record_above = records + ((s - 1) & 3) * RECORD;
    __local lines_t *const up = told + (1 + s % 2) * GROUP_ITEMS, *const up_above = told + (2 - s % 2) * GROUP_ITEMS;
    tell_down(now, here, record, told);
    keep_record(factors, records + ((s + 1) & 3) * RECORD);
    barrier(CLK_LOCAL_MEM_FENCE);
    factor_tile = factor_tile + 1 < grid.tiles ? factor_tile + 1 : 0;
    fetch_record(f, length, factor_tile, factors);
    const lines_t entered = begins || s == first ? (lines_t)(0) : left[here.lane];
    const lines_t leaves = sweep_down(entered, now, here, record, told, up);
    barrier(CLK_LOCAL_MEM_FENCE);
    if (here.item == ITEMS_DOWN - 1) left[here.lane] = leaves;
    if (s > begin) {
      const lines_t below = begins ? (lines_t)(0) : pass_up_to(-1, 0, here, record, up);
      finish(below, above, grid, before, record_above, up_above, x);
    }
    take(now, above);
    before = here;
  }
  if (last < end) {
    finish(0, above, grid, before, records + (last & 3) * RECORD, told + (1 + last % 2) * GROUP_ITEMS, x);
  }
#endif
}
