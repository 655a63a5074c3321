// SPDX-License-Identifier: BSD-2-Clause
// Purpose: compute the right-hand sides of the systems of the segments' first rows. It is grid_condense.cl for lines
// with equal bands, by concurrent sweeps. A work-group takes many bundles. It keeps a segment's factors in local memory
// and loads y of the next bundle ahead.
//
//   inner rows, down from 0:  d_i = y_i - m_i d_(i-1)
//   first row:                y - (sum of w_i d_i over the segment's inner rows) - m d, with d of the row above it
// Source: SPIKE with Schur complements. grid_shared_back.cl eliminates inner rows with the same bits.
//
// Arguments (global memory)
//   multiplier, weight  m and w of one line, shape [length]; written by the host
//   y                   right-hand sides
//   left, left_taken    shape [blocks][segments][block_lines], written here: y - sum of w_i d_i, and m d
//   blocks, block_stride, block_lines  line l of block o begins at element o block_stride + l
//   length, row_stride  rows of a line, and distance between its rows in elements
//   bundles             number of bundles of a block; the last bundle may have fewer lines
//   segments            number of segments of a line, TILE_ROWS rows each; the last segment may have fewer rows
//   run_tiles           tiles of a work-group; tiles are numbered segment by segment, and in a segment bundle by bundle
// Launch:  work-groups of GROUP_ITEMS work-items, one for each run.
// Local:   2 GROUP_ITEMS LINES + 2 TILE_ROWS + ITEMS_DOWN scalars.
// Per row: 3 multiply-adds; 1 word. Assumes: factors are finite (set-up checks it). NaN of y stays in its line.
// Valid:   left and left_taken, for all lines.
#include "gpu/grid_shared_rows.clh"

__kernel __attribute__((reqd_work_group_size(GROUP_ITEMS, 1, 1))) void grid_shared_condense(
    __global const scalar_t* restrict multiplier, __global const scalar_t* restrict weight,
    __global const scalar_t* restrict y, __global scalar_t* restrict left, __global scalar_t* restrict left_taken,
    const long blocks, const long block_stride, const long block_lines, const int length, const long row_stride,
    const int bundles, const int segments, const int run_tiles) {
  __local scalar_t record[RECORD];  // m and w of the segment, and a part that is not used
  __local lines_t told[GROUP_ITEMS], sums[GROUP_ITEMS];
  const Factors f = {multiplier, weight, weight};
  const Grid grid = {block_stride, block_lines, row_stride, length, bundles, segments};
  const int pieces = (int)blocks * bundles, begin = (int)get_group_id(0) * run_tiles;
  const int end = min(begin + run_tiles, pieces * segments);
  if (begin >= end) return;
  lines_t now[ITEM_ROWS], next[ITEM_ROWS];
  scalar_t m_next = 0;
  int segment = begin / pieces, piece = remainder_of(begin, segment, pieces);
  Home home, there = home_in(grid, piece, segment);
  fetch(y, grid, there, next);
  for (int s = begin; s < end; ++s) {
    const int here = segment;
    const Place place = place_of_segment(grid, piece, here, there);
    if (s == begin || piece == 0) {
      keep_segment(f, grid, here, record);
      m_next = here + 1 < segments ? multiplier[(here + 1) * TILE_ROWS] : 0;
    }
    home = there;
    take(next, now);
    if (s + 1 < end) {
      piece = piece + 1 < pieces ? piece + 1 : 0;
      segment += piece == 0;
      there = home_in(grid, piece, segment);
      fetch(y, grid, there, next);
    }
    lines_t sum = 0;
    if (home.item == 0) {
      sum = now[0];  // the sweep begins below the first row
      now[0] = 0;
    }
    tell_down(now, home, record, told);
    barrier(CLK_LOCAL_MEM_FENCE);
    __local const scalar_t *const m = record + home.item * ITEM_ROWS, *const w = m + TILE_ROWS;
    lines_t d = enter_down(0, home, record, told);
#pragma unroll
    for (int i = 0; i < ITEM_ROWS; ++i) {
      d = mul_sub_lines(now[i], m[i], d);
      sum = mul_sub_lines(sum, w[i], d);
    }
    sums[get_local_id(0)] = sum;
    barrier(CLK_LOCAL_MEM_FENCE);
    if (home.item == ITEMS_DOWN - 1 && here + 1 < segments) put(d * m_next, home, left_taken + place.below);
    if (home.item > 0) continue;
    for (int k = 1; k < ITEMS_DOWN; ++k) sum += sums[k * ACROSS + home.lane];
    put(sum, home, left + place.here);
    if (here == 0) put((lines_t)(0), home, left_taken + place.here);
  }
}
