// SPDX-License-Identifier: BSD-2-Clause
// Purpose: solve lines side by side on GPUs, by stored factors. A work-group solves a tile of lines in one pass,
// without truncation. The tile holds whole lines, or with SEGMENTS (exact-factored) one segment of each line. With
// SEGMENTS, the first unknown of every segment is known (grid_condense.cl), and segments are swept down in turn.
//
//   down:  d_i = y_i - m_i d_(i-1),      m_i = a_i p_(i-1), p_i = 1 / (b_i - a_i c_(i-1) p_(i-1))
//   back:  x_i = d_i p_i - k_i x_(i+1),  k_i = c_i p_i;   a, b, c: lower, diag, upper
//   SEGMENTS: d_i begins at 0 below the first row, with the bits of grid_condense.cl; s_1 = m_1, s_i = -m_i s_(i-1);
//   back:  x_i = (d_i - s_i x_first) p_i - k_i x_(i+1)
// Source: Thomas' algorithm; core/factors makes the factors, core/schemes/grids/grid_factors those of segments.
//
// Arguments (global memory)
//   multiplier, reciprocal, coupling   m, p and k in the layout of y and x, or with SHARED_FACTORS of one line; written
//                       by the host. SYMMETRIC: `multiplier` is read only with SEGMENTS, and holds the multiplier of
//                       each segment's second row, shape [blocks][segments][block_lines]
//   y                   right-hand sides, written by the host
//   x                   solutions, written here; overlaps no other array. Elements between lines keep their values
//   blocks, block_stride, block_lines  line l of block o begins at element o block_stride + l
//   length, row_stride  rows of a line, and distance between its rows in elements
//   bundles             number of bundles of a block; the last bundle may have fewer lines
//   segments            number of segments of a line, TILE_ROWS rows each
//   known               shape [blocks][segments][block_lines]: the first unknown of every segment; read only with
//                       SEGMENTS
//   taken               with LEFT, numbers to subtract from y, in the layout of y
//   words               local, 4 GROUP_ITEMS
// Launch:  a work-group of GROUP_ITEMS work-items for each segment of each bundle. The last segments
//          come first, because the cache still holds them from grid_condense.cl.
// Local:   `words` scalars.
// Per row: 5 multiply-adds, 3 multiplications (SEGMENTS adds 1 of each); 5 words, 4 if symmetric, 2 with shared
//          factors.
// Assumes: factors are finite (set-up checks it). NaN of y stays in its line. Valid: x for the rows of all lines.
#include "gpu/grid_rows.clh"

#ifdef SEGMENTS
// Subtract s_i x_first from d_i. In the first row, d becomes x_first.
static inline void take_off_first(const scalar_t* m, scalar_t first, Home home, const __local scalar_t* through,
                                  scalar_t* d) {
  scalar_t minus_s = 1;
  for (int k = 0; k < home.item; ++k) minus_s = mul(minus_s, through[k * BUNDLE + home.lane]);
#pragma unroll
  for (int i = 0; i < ITEM_ROWS; ++i) {
    minus_s = -mul(m[i], minus_s);
    d[i] = mul_add(d[i], minus_s, first);
  }
}
#endif

__kernel __attribute__((reqd_work_group_size(GROUP_ITEMS, 1, 1))) void grid_whole(
    __global const scalar_t* restrict multiplier, __global const scalar_t* restrict reciprocal,
    __global const scalar_t* restrict coupling, __global const scalar_t* restrict y, __global scalar_t* restrict x,
    const long blocks, const long block_stride, const long block_lines, const int length, const long row_stride,
    const int bundles, const int segments, __global const scalar_t* restrict known,
    __global const scalar_t* restrict taken, __local scalar_t* words) {
  const int group = (int)get_num_groups(0) - 1 - (int)get_group_id(0), pieces = group / bundles;
  const int block = pieces / segments;
  if (block >= blocks) return;
  const int piece = remainder_of(group, pieces, bundles), segment = remainder_of(pieces, block, segments);
  const Home home = make_home(block * block_stride, piece, block_lines, length, row_stride);
  scalar_t m[ITEM_ROWS], p[ITEM_ROWS], k[ITEM_ROWS], d[ITEM_ROWS];
#ifdef SYMMETRIC
  fetch(coupling, home, segment, k);
  multipliers_from(fetch_first_above(coupling, home, segment, true), k, m);
#ifdef SEGMENTS
  if (home.item == 0) m[1] = multiplier[place_of_segment(block, segment, segments, block_lines, home)];
#endif
#else
  fetch_factor(multiplier, home, segment, m);
  fetch_factor(coupling, home, segment, k);
#endif
  fetch_right_side(y, taken, home, segment, d);
  fetch_factor(reciprocal, home, segment, p);
  scalar_t below = 0;
#ifdef SEGMENTS
  __global const scalar_t* const firsts = known + place_of_segment(block, segment, segments, block_lines, home);
  const scalar_t first = firsts[0];
  if (segment + 1 < segments) below = firsts[block_lines];
  __local scalar_t *const through = words, *const left = words + GROUP_ITEMS;
  if (home.item == 0) {
    d[0] = 0;
    m[0] = -1;
  }
  scalar_t product = 1;
#pragma unroll
  for (int i = 0; i < ITEM_ROWS; ++i) product = -mul(m[i], product);
  through[home.item * BUNDLE + home.lane] = product;
  sweep_down_in_turn(m, true, home, left, d);
  take_off_first(m, first, home, through, d);
#elif defined(IN_TURN)
  sweep_down_in_turn(m, true, home, words, d);
#else
  const Told down = part_of(words, 0);
  tell_down(m, d, home, down);
  barrier(CLK_LOCAL_MEM_FENCE);
  sweep_down(m, pass_down_to(home.item, 0, down, home), d);
#endif
  const Told up = part_of(words, 1);
  scale(p, d);
  tell_up(k, d, home, up);
  barrier(CLK_LOCAL_MEM_FENCE);
  sweep_up(k, pass_up_to(home.item, below, up, home), d);
  store(d, home, segment, x);
}
