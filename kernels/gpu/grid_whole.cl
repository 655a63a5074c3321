// SPDX-License-Identifier: BSD-2-Clause
// Purpose: lines side by side on GPUs that one tile holds whole, by stored factors: a work-group solves its lines in one
// pass and truncates nothing.
//
//   down:  d_i = y_i - m_i d_(i-1),      m_i = a_i p_(i-1), p_i = 1 / (b_i - a_i c_(i-1) p_(i-1))
//   back:  x_i = d_i p_i - k_i x_(i+1),  k_i = c_i p_i
// Source: Thomas' algorithm; core/factors makes the factors.
//
// Arguments (global memory)
//   multiplier, reciprocal, coupling   m, p and k of every row, at its place in y and x, or (SHARED_FACTORS) of one line;
//                       written by the host
//   y                   right-hand sides, written by the host
//   x                   solutions, written here; overlaps none of the others. Places of no line are left alone
//   blocks, block_stride, block_lines  line l of block o begins at place o block_stride + l
//   length, row_stride  rows of a line, at most TILE_ROWS, and places between them
//   bundles             of a block; the last may lack lines
//   words               local, 4 GROUP_ITEMS
// Launch:  a work-group a bundle, of GROUP_ITEMS work-items.
// Local:   those words, scalars.
// Per row: 5 multiply-adds, 3 multiplications; 5 words, 2 where factors are shared.
// Assumes: factors are finite (set-up has the evidence). NaN of y stays in its line.
// Valid:   x for the rows of all lines.
#include "gpu/grid_rows.clh"

__kernel __attribute__((reqd_work_group_size(GROUP_ITEMS, 1, 1))) void grid_whole(
    __global const scalar_t* restrict multiplier, __global const scalar_t* restrict reciprocal,
    __global const scalar_t* restrict coupling, __global const scalar_t* restrict y, __global scalar_t* restrict x,
    const long blocks, const long block_stride, const long block_lines, const int length, const long row_stride,
    const int bundles, __local scalar_t* words) {
  const int block = (int)get_group_id(0) / bundles;
  if (block >= blocks) return;
  const int piece = remainder_of((int)get_group_id(0), block, bundles);
  const Home home = make_home(block * block_stride, piece, block_lines, length, row_stride);
  const Told down = part_of(words, 0), up = part_of(words, 1);
  scalar_t m[ITEM_ROWS], p[ITEM_ROWS], k[ITEM_ROWS], d[ITEM_ROWS];
  fetch_factor(multiplier, home, 0, m);
  fetch(y, home, 0, d);
  fetch_factor(reciprocal, home, 0, p);
  fetch_factor(coupling, home, 0, k);
  tell_down(m, d, home, down);
  barrier(CLK_LOCAL_MEM_FENCE);
  sweep_down(m, pass_down_to(home.item, 0, down, home), d);
  scale(p, d);
  tell_up(k, d, home, up);
  barrier(CLK_LOCAL_MEM_FENCE);
  sweep_up(k, pass_up_to(home.item, 0, up, home), d);
  store(d, home, 0, x);
}
