// SPDX-License-Identifier: BSD-2-Clause
// Purpose: lines side by side on GPUs, by stored factors: a work-group solves a tile of its lines in one pass and
// truncates nothing. The tile holds whole lines or, of exact-factored, a segment of each with the unknowns around it
// known (see grid_fold.cl).
//
//   down:  d_i = y_i - m_i d_(i-1),      m_i = a_i p_(i-1), p_i = 1 / (b_i - a_i c_(i-1) p_(i-1))
//   back:  x_i = d_i p_i - k_i x_(i+1),  k_i = c_i p_i
// Source: Thomas' algorithm; core/factors and, of segments, core/grid_factors make the factors.
//
// Arguments (global memory)
//   multiplier, reciprocal, coupling   m, p and k of every row, at its place in y and x, or (SHARED_FACTORS) of one
//                       line; written by the host. COUPLINGS_SERVE: multipliers of a segment's first row only, shape
//                       [blocks][segments][block_lines]
//   y                   right-hand sides, written by the host
//   x                   solutions, written here; overlaps none of the others. Places of no line are left alone
//   blocks, block_stride, block_lines  line l of block o begins at place o block_stride + l
//   length, row_stride  rows of a line and places between them
//   bundles             of a block; the last may lack lines
//   segments            of a line, TILE_ROWS each
//   around              shape [blocks][2 segments][block_lines]: the first and the last unknown of every segment; not
//                       read where lines are whole
//   words               local, 4 GROUP_ITEMS
// Launch:  a work-group for each segment of each bundle, of GROUP_ITEMS work-items; neighbouring bundles are
//          neighbours. The last segments come first: grid_fold.cl left them in the cache.
// Local:   those words, scalars.
// Per row: 5 multiply-adds, 3 multiplications; 5 words, 4 where couplings serve, 2 where factors are shared.
// Assumes: factors are finite (set-up has the evidence). NaN of y stays in its line.
// Valid:   x for the rows of all lines.
#include "gpu/grid_rows.clh"

__kernel __attribute__((reqd_work_group_size(GROUP_ITEMS, 1, 1))) void grid_whole(
    __global const scalar_t* restrict multiplier, __global const scalar_t* restrict reciprocal,
    __global const scalar_t* restrict coupling, __global const scalar_t* restrict y, __global scalar_t* restrict x,
    const long blocks, const long block_stride, const long block_lines, const int length, const long row_stride,
    const int bundles, const int segments, __global const scalar_t* restrict around, __local scalar_t* words) {
  const int group = (int)get_num_groups(0) - 1 - (int)get_group_id(0), pieces = group / bundles;
  const int block = pieces / segments;
  if (block >= blocks) return;
  const int piece = remainder_of(group, pieces, bundles), segment = remainder_of(pieces, block, segments);
  const Home home = make_home(block * block_stride, piece, block_lines, length, row_stride);
  const Told down = part_of(words, 0), up = part_of(words, 1);
  scalar_t m[ITEM_ROWS], p[ITEM_ROWS], k[ITEM_ROWS], d[ITEM_ROWS];
#ifdef COUPLINGS_SERVE
  fetch(coupling, home, segment, k);
  fetch_above(coupling, home, segment, m);
  if (home.item == 0) m[0] = multiplier[place_of_segment(block, segment, segments, 1, block_lines, home)];
#else
  fetch_factor(multiplier, home, segment, m);
  fetch_factor(coupling, home, segment, k);
#endif
  fetch(y, home, segment, d);
  fetch_factor(reciprocal, home, segment, p);
  __global const scalar_t* const outer = around + place_of_segment(block, segment, segments, 2, block_lines, home);
  const scalar_t above = segment > 0 ? outer[-block_lines] : 0;
  const scalar_t below = segment + 1 < segments ? outer[2 * block_lines] : 0;
  tell_down(m, d, home, down);
  barrier(CLK_LOCAL_MEM_FENCE);
  sweep_down(m, pass_down_to(home.item, above, down, home), d);
  scale(p, d);
  tell_up(k, d, home, up);
  barrier(CLK_LOCAL_MEM_FENCE);
  sweep_up(k, pass_up_to(home.item, below, up, home), d);
  store(d, home, segment, x);
}
