// SPDX-License-Identifier: BSD-2-Clause
// Purpose: substitute back in segments, as grid_whole.cl does, by concurrent sweeps, for lines with equal bands. The
// first unknown of every segment is known; the kernel solves the other rows. A work-group takes many bundles. It keeps
// a segment's factors in local memory and loads y of the next bundle ahead.
//
//   inner rows, down from 0 with the bits of grid_shared_condense.cl:  d_i = y_i - m_i d_(i-1)
//   back:  x_i = (d_i - s_i x_first) p_i - k_i x_(i+1),  s_i = -m_i s_(i-1), s = -1 in the first row
// Source: SPIKE with Schur complements; core/schemes/grids/grid_factors makes the factors.
//
// Arguments (global memory)
//   multiplier, reciprocal, coupling   m, p and k of one line, shape [length]; written by the host
//   y                   right-hand sides
//   x                   solutions, written here; overlaps no other array. Elements between lines keep their values
//   known               shape [blocks][segments][block_lines]: the first unknown of every segment
//   blocks, block_stride, block_lines  line l of block o begins at element o block_stride + l
//   length, row_stride  rows of a line, and distance between its rows in elements
//   bundles             number of bundles of a block; the last bundle may have fewer lines
//   segments            number of segments of a line, TILE_ROWS rows each; the last segment may have fewer rows
//   run_tiles           as for grid_shared_condense.cl. A work-group takes the last tiles of its run first, because the
//                       cache still holds them from grid_shared_condense.cl
// Launch:  work-groups of GROUP_ITEMS work-items, one for each run.
// Local:   2 GROUP_ITEMS LINES + 4 TILE_ROWS + 2 ITEMS_DOWN scalars.
// Per row: 6 multiply-adds, 1 multiplication; 2 words.
// Assumes: factors are finite (set-up checks it). NaN of y stays in its line.
// Valid:   x for the rows of all lines.
#include "gpu/grid_shared_rows.clh"

// Compute -s_i p_i of every row from the factors in `record`.
static inline void keep_spike(__local const scalar_t* record, __local scalar_t* spike) {
  for (int row = (int)get_local_id(0); row < TILE_ROWS; row += GROUP_ITEMS) {
    scalar_t minus_s = 1;
    for (int i = 1; i <= row; ++i) minus_s = -mul(record[i], minus_s);
    spike[row] = mul(minus_s, record[TILE_ROWS + row]);
  }
  barrier(CLK_LOCAL_MEM_FENCE);
}

__kernel __attribute__((reqd_work_group_size(GROUP_ITEMS, 1, 1))) void grid_shared_back(
    __global const scalar_t* restrict multiplier, __global const scalar_t* restrict reciprocal,
    __global const scalar_t* restrict coupling, __global const scalar_t* restrict y, __global scalar_t* restrict x,
    __global const scalar_t* restrict known, const long blocks, const long block_stride, const long block_lines,
    const int length, const long row_stride, const int bundles, const int segments, const int run_tiles) {
  __local scalar_t record[RECORD], spike[TILE_ROWS];
  __local lines_t down[GROUP_ITEMS], up[GROUP_ITEMS];
  const Factors f = {multiplier, reciprocal, coupling};
  const Grid grid = {block_stride, block_lines, row_stride, length, bundles, segments};
  const int pieces = (int)blocks * bundles, begin = (int)get_group_id(0) * run_tiles;
  const int end = min(begin + run_tiles, pieces * segments);
  if (begin >= end) return;
  lines_t now[ITEM_ROWS], next[ITEM_ROWS];
  int segment = (end - 1) / pieces, piece = remainder_of(end - 1, segment, pieces);
  Home home, there = home_in(grid, piece, segment);
  fetch(y, grid, there, next);
  for (int s = end - 1; s >= begin; --s) {
    const Place place = place_of_segment(grid, piece, segment, there);
    const lines_t first = load(known + place.here, there.second);
    const lines_t below = segment + 1 < segments ? load(known + place.below, there.second) : (lines_t)(0);
    if (s == end - 1 || piece == pieces - 1) {
      keep_segment(f, grid, segment, record);
      keep_spike(record, spike);
    }
    home = there;
    take(next, now);
    if (s > begin) {
      segment -= piece == 0;
      piece = piece > 0 ? piece - 1 : pieces - 1;
      there = home_in(grid, piece, segment);
      fetch(y, grid, there, next);
    }
    if (home.item == 0) now[0] = 0;
    tell_down(now, home, record, down);
    barrier(CLK_LOCAL_MEM_FENCE);
    sweep_down_rows(enter_down(0, home, record, down), now, home, record);
    __local const scalar_t* const mine = spike + home.item * ITEM_ROWS;
#pragma unroll
    for (int i = 0; i < ITEM_ROWS; ++i) now[i] = mul_add_lines(now[i], mine[i], first);
    tell_up(now, home, record, up);
    barrier(CLK_LOCAL_MEM_FENCE);
    finish(below, now, grid, home, record, up, x);
  }
}
