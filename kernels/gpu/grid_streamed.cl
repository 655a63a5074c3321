// SPDX-License-Identifier: BSD-2-Clause
// Purpose: method truncated-streamed for lines side by side on GPUs, one pass by stored factors. A work-group walks its
// run of tiles once: it sweeps down a tile ahead of the one that it substitutes, and keeps both in registers.
//
//   down:  d_i = y_i - m_i d_(i-1),      m_i = a_i p_(i-1), p_i = 1 / (b_i - a_i c_(i-1) p_(i-1))
//   back:  x_i = d_i p_i - k_i x_(i+1),  k_i = c_i p_i
// Source: Thomas' algorithm; core/factors makes the factors. Truncated: the unknown below a tile is found as if the
// next but one were 0, and a run begins as if all above the tile before it were 0. core/grid_evidence bounds the error.
//
// Arguments (global memory)
//   multiplier, reciprocal, coupling   m, p and k of every row, at its place in y and x; written by the host
//   y                   right-hand sides, written by the host
//   x                   solutions, written here; overlaps none of the others. Places of no line are left alone
//   blocks, block_stride, block_lines  line l of block o begins at place o block_stride + l
//   length, row_stride  rows of a line and places between them
//   bundles             of a block; the last may lack lines
//   runs, run_tiles     runs of a line, and tiles of a run; the last takes what is left
//   words               local, 6 GROUP_ITEMS + BUNDLE
// Launch:  a work-group for each run of each bundle, of GROUP_ITEMS work-items; neighbouring bundles are neighbours.
// Local:   those words, scalars.
// Per row: 7 multiply-adds, 3 multiplications; 5 words, and per run those of two tiles more.
// Assumes: factors are finite (set-up has the evidence). NaN of y stays in its line.
// Valid:   x for the rows of all lines.
#include "gpu/grid_rows.clh"

// My rows of a tile: factors, and y, then d.
typedef struct {
  scalar_t m[ITEM_ROWS], p[ITEM_ROWS], k[ITEM_ROWS], d[ITEM_ROWS];
} Tile;

static inline void fetch_tile(Factors f, __global const scalar_t* y, Home home, int tile, Tile* t) {
  fetch(y, home, tile, t->d);
  fetch(f.multiplier, home, tile, t->m);
  fetch(f.reciprocal, home, tile, t->p);
  fetch(f.coupling, home, tile, t->k);
}

// Substitute in a tile that was swept down, from the unknown below it.
static inline void finish_tile(Home home, int tile, scalar_t below, __local scalar_t* words, scalar_t* d,
                               const scalar_t* k, __global scalar_t* x) {
  sweep_up(k, pass_up_to(home.item, below, part_of(words, 1 + tile % 2), home), d);
  store(d, home, tile, x);
}

// From 0 down a tile of which only what leaves it counts.
static inline scalar_t lead_in(Factors f, __global const scalar_t* y, Home home, int tile, Told told) {
  scalar_t m[ITEM_ROWS], d[ITEM_ROWS];
  fetch(f.multiplier, home, tile, m);
  fetch(y, home, tile, d);
  tell_down(m, d, home, told);
  barrier(CLK_LOCAL_MEM_FENCE);
  const scalar_t left = pass_down_to(ITEMS_DOWN, 0, told, home);
  barrier(CLK_LOCAL_MEM_FENCE);
  return left;
}

__kernel __attribute__((reqd_work_group_size(GROUP_ITEMS, 1, 1))) void grid_streamed(
    __global const scalar_t* restrict multiplier, __global const scalar_t* restrict reciprocal,
    __global const scalar_t* restrict coupling, __global const scalar_t* restrict y, __global scalar_t* restrict x,
    const long blocks, const long block_stride, const long block_lines, const int length, const long row_stride,
    const int bundles, const int runs, const int run_tiles, __local scalar_t* words) {
  const int pieces = (int)get_group_id(0) / bundles, block = pieces / runs;
  if (block >= blocks) return;
  const int piece = remainder_of((int)get_group_id(0), pieces, bundles), run = remainder_of(pieces, block, runs);
  const Factors f = {multiplier, reciprocal, coupling};
  const Home home = make_home(block * block_stride, piece, block_lines, length, row_stride);
  const int tiles = (length + TILE_ROWS - 1) / TILE_ROWS;
  const int begin = run * run_tiles, end = min(tiles, begin + run_tiles), last = min(end, tiles - 1);
  const Told down = part_of(words, 0);
  __local scalar_t* const left = words + 6 * GROUP_ITEMS;  // what leaves the tile, shape [BUNDLE]
  scalar_t entered = begin > 0 ? lead_in(f, y, home, begin - 1, down) : 0;
  Tile now, next;
  scalar_t above[ITEM_ROWS], k_above[ITEM_ROWS];  // d p, then x, and k of the tile before
  fetch_tile(f, y, home, begin, &next);
  for (int tile = begin; tile <= last; ++tile) {
    now = next;
    if (tile < last) fetch_tile(f, y, home, tile + 1, &next);
    tell_down(now.m, now.d, home, down);
    barrier(CLK_LOCAL_MEM_FENCE);
    if (tile > begin) entered = left[home.lane];
    const scalar_t leaves = sweep_down(now.m, pass_down_to(home.item, entered, down, home), now.d);
    scale(now.p, now.d);
    // Of two parts the one is written while the other, of the tile before, is still read.
    const Told up = part_of(words, 1 + tile % 2);
    tell_up(now.k, now.d, home, up);
    barrier(CLK_LOCAL_MEM_FENCE);
    if (home.item == ITEMS_DOWN - 1) left[home.lane] = leaves;
    if (tile > begin) {
      const scalar_t below = pass_up_to(-1, 0, up, home);
      finish_tile(home, tile - 1, below, words, above, k_above, x);
    }
    take(now.d, above);
    take(now.k, k_above);
  }
  if (end == tiles) finish_tile(home, tiles - 1, 0, words, above, k_above, x);
}
