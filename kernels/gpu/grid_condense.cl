// SPDX-License-Identifier: BSD-2-Clause
// Purpose: a pass of exact-factored on GPUs, for lines side by side that are cut into segments. The inner rows of a
// segment are the rows after its first row. Once they are eliminated, the first rows form smaller systems, again lines
// side by side. The kernel computes the right-hand sides of these systems; grid_whole.cl substitutes back.
//
//   inner rows, down from 0:  d_i = y_i - m_i d_(i-1)
//   first row:                y - (sum of w_i d_i over the segment's inner rows) - m d, with d of the row above it
// Source: SPIKE with Schur complements. grid_whole.cl eliminates inner rows with the same bits, so both passes are one
// elimination in another order. core/schemes/grids/grid_factors makes the factors.
//
// Arguments (global memory)
//   multiplier, weight  m and w in the layout of y; with SHARED_FACTORS, of one line. With SYMMETRIC, `multiplier`
//                       holds the couplings
//   y                   right-hand sides
//   taken               with LEFT, numbers to subtract from y, in the layout of y
//   left, left_taken    shape [blocks][segments][block_lines], written here: y - sum of w_i d_i, and m d
//   blocks, block_stride, block_lines  line l of block o begins at element o block_stride + l
//   length, row_stride  rows of a line, and distance between its rows in elements
//   bundles             number of bundles of a block; the last bundle may have fewer lines
//   segments            number of segments of a line, TILE_ROWS rows each; the last segment may have fewer rows
//   words               local, at least GROUP_ITEMS + BUNDLE
// Launch:  a work-group of GROUP_ITEMS work-items for each segment of each bundle, in the order of segments.
// Local:   `words` scalars. Per row: 2 multiply-adds; 3 words, or 1 word with shared factors.
// Assumes: factors are finite (set-up checks it). NaN of y stays in its line. Valid: left and left_taken, all lines.
#include "gpu/grid_rows.clh"

__kernel __attribute__((reqd_work_group_size(GROUP_ITEMS, 1, 1))) void grid_condense(
    __global const scalar_t* restrict multiplier, __global const scalar_t* restrict weight,
    __global const scalar_t* restrict y, __global const scalar_t* restrict taken, __global scalar_t* restrict left,
    __global scalar_t* restrict left_taken, const long blocks, const long block_stride, const long block_lines,
    const int length, const long row_stride, const int bundles, const int segments, __local scalar_t* words) {
  const int pieces = (int)get_group_id(0) / bundles, block = pieces / segments;
  if (block >= blocks) return;
  const int piece = remainder_of((int)get_group_id(0), pieces, bundles),
            segment = remainder_of(pieces, block, segments);
  const Home home = make_home(block * block_stride, piece, block_lines, length, row_stride);
  __local scalar_t* const sums = words;                // shape [ITEMS_DOWN][BUNDLE]
  __local scalar_t* const last = words + GROUP_ITEMS;  // shape [BUNDLE]
  scalar_t m[ITEM_ROWS], w[ITEM_ROWS], d[ITEM_ROWS];
#ifdef SYMMETRIC
  fetch_above(multiplier, home, segment, true, m);
#else
  fetch_factor(multiplier, home, segment, m);
#endif
  fetch_right_side(y, taken, home, segment, d);
  fetch_factor(weight, home, segment, w);
  scalar_t sum = 0, next = 0;
  if (home.item == 0 && segment + 1 < segments) next = fetch_next(multiplier, home, segment);
  if (home.item == 0) {
    sum = d[0];  // the sweep begins below the first row
    d[0] = m[0] = 0;
  }
  sweep_down_in_turn(m, true, home, last, d);
#pragma unroll
  for (int i = 0; i < ITEM_ROWS; ++i) sum = mul_sub(sum, w[i], d[i]);
  sums[home.item * BUNDLE + home.lane] = sum;
  barrier(CLK_LOCAL_MEM_FENCE);
  if (home.item > 0 || !home.there) return;
  for (int k = 1; k < ITEMS_DOWN; ++k) sum += sums[k * BUNDLE + home.lane];
  const long place = place_of_segment(block, segment, segments, block_lines, home);
  left[place] = sum;
  if (segment == 0) left_taken[place] = 0;
  if (segment + 1 < segments) left_taken[place + block_lines] = mul(next, last[home.lane]);
}
