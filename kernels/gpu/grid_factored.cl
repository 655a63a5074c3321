// SPDX-License-Identifier: BSD-2-Clause
// Purpose: method exact-factored for lines side by side on GPUs, by stored factors. A work-group streams down its lines
// and back, tile by tile, and loads the next tile while it computes.
//
//   down:  d_i = y_i - m_i d_(i-1),      m_i = a_i p_(i-1), p_i = 1 / (b_i - a_i c_(i-1) p_(i-1))
//   back:  x_i = d_i p_i - k_i x_(i+1),  k_i = c_i p_i;   a, b, c: lower, diag, upper
// Source: Thomas' algorithm; core/factors makes the factors. The work-items of a line sweep down in turn, and up at
// once (gpu/grid_rows.clh); schemes/grids bounds the rounding. With ITEMS_DOWN 1, the arithmetic is that of the host.
//
// Arguments (global memory)
//   multiplier, reciprocal, coupling   m, p and k in the layout of y and x, or with SHARED_FACTORS of one line; written
//                       by the host. With SYMMETRIC, `multiplier` is the array `coupling`
//   y                   right-hand sides, written by the host
//   x                   written here: first d, then the solutions; overlaps no other array. Elements between lines keep
//                       their values
//   blocks, block_stride, block_lines  line l of block o begins at element o block_stride + l
//   length, row_stride  rows of a line, and distance between its rows in elements
//   bundles             number of bundles of a block; the last bundle may have fewer lines
//   words               local, 4 GROUP_ITEMS + 2 BUNDLE
// Launch:  a work-group of GROUP_ITEMS work-items for each bundle.
// Local:   `words` scalars.
// Per row: 3 multiply-adds, 2 multiplications; 7 words, or 4 with shared factors; 2 words less in the last tile.
// Assumes: factors are finite (set-up checks it). NaN of y stays in its line.
// Valid:   x for the rows of all lines.
#include "gpu/grid_rows.clh"

// Load the multipliers and the right-hand side of a tile for the sweep down.
static inline void fetch_down(__global const scalar_t* multiplier, __global const scalar_t* y, Home home, int tile,
                              scalar_t* m, scalar_t* d) {
#ifdef SYMMETRIC
  fetch_above(multiplier, home, tile, tile == 0, m);
#else
  fetch_factor(multiplier, home, tile, m);
#endif
  fetch(y, home, tile, d);
}

// Load d of this work-item's rows of a tile, which stream_down() stored. Work-items without a line get 0.
static inline void fetch_left(__global const scalar_t* x, Home home, int tile, scalar_t* d) {
  if (home.there) {
    fetch(x, home, tile, d);
  } else {
#pragma unroll
    for (int i = 0; i < ITEM_ROWS; ++i) d[i] = 0;
  }
}

// Compute d of all tiles. The last tile's d stays in `d`; the other tiles' d goes to x.
static inline void stream_down(__global const scalar_t* multiplier, __global const scalar_t* y, Home home, int tiles,
                               __local scalar_t* words, scalar_t* d, __global scalar_t* x) {
  __local scalar_t* const left = words + 4 * GROUP_ITEMS;  // the value that leaves a tile; shape [BUNDLE]
  scalar_t m[ITEM_ROWS], m_next[ITEM_ROWS], d_next[ITEM_ROWS];
  fetch_down(multiplier, y, home, 0, m, d);
  for (int tile = 0; tile < tiles; ++tile) {
    const bool more = tile + 1 < tiles;
    if (more) fetch_down(multiplier, y, home, tile + 1, m_next, d_next);
    sweep_down_in_turn(m, tile == 0, home, left, d);
    barrier(CLK_LOCAL_MEM_FENCE);
    if (more) {
      store(d, home, tile, x);
      take(m_next, m);
      take(d_next, d);
    }
  }
}

// Compute the solution of all tiles, from the last tile up. On entry, `d` holds d of the last tile.
static inline void stream_up(__global const scalar_t* reciprocal, __global const scalar_t* coupling, Home home,
                             int tiles, __local scalar_t* words, scalar_t* d, __global scalar_t* x) {
  // The values that leave odd and even tiles; shape [2][BUNDLE].
  __local scalar_t* const left = words + 4 * GROUP_ITEMS;
  scalar_t p[ITEM_ROWS], k[ITEM_ROWS], p_next[ITEM_ROWS], k_next[ITEM_ROWS], d_next[ITEM_ROWS], entered = 0;
  fetch_factor(reciprocal, home, tiles - 1, p);
  fetch_factor(coupling, home, tiles - 1, k);
  for (int tile = tiles - 1; tile >= 0; --tile) {
    if (tile > 0) {
      fetch_factor(reciprocal, home, tile - 1, p_next);
      fetch_factor(coupling, home, tile - 1, k_next);
      fetch_left(x, home, tile - 1, d_next);
    }
    scale(p, d);
#if ITEMS_DOWN > 1
    const Told told = part_of(words, tile % 2);
    tell_up(k, d, home, told);
    barrier(CLK_LOCAL_MEM_FENCE);
    if (tile < tiles - 1) entered = left[(tile + 1) % 2 * BUNDLE + home.lane];
    const scalar_t leaves = sweep_up(k, pass_up_to(home.item, entered, told, home), d);
    if (home.item == 0) left[tile % 2 * BUNDLE + home.lane] = leaves;
#else
    entered = sweep_up(k, entered, d);
#endif
    store(d, home, tile, x);
    if (tile > 0) {
      take(p_next, p);
      take(k_next, k);
      take(d_next, d);
    }
  }
}

__kernel __attribute__((reqd_work_group_size(GROUP_ITEMS, 1, 1))) void grid_factored(
    __global const scalar_t* restrict multiplier, __global const scalar_t* restrict reciprocal,
    __global const scalar_t* restrict coupling, __global const scalar_t* restrict y, __global scalar_t* restrict x,
    const long blocks, const long block_stride, const long block_lines, const int length, const long row_stride,
    const int bundles, __local scalar_t* words) {
  const int block = (int)get_group_id(0) / bundles;
  if (block >= blocks) return;
  const int piece = remainder_of((int)get_group_id(0), block, bundles);
  const Home home = make_home(block * block_stride, piece, block_lines, length, row_stride);
  const int tiles = (length + TILE_ROWS - 1) / TILE_ROWS;
  scalar_t d[ITEM_ROWS];
  stream_down(multiplier, y, home, tiles, words, d, x);
  barrier(CLK_LOCAL_MEM_FENCE);
  stream_up(reciprocal, coupling, home, tiles, words, d, x);
}
