// SPDX-License-Identifier: BSD-2-Clause
// Purpose: method truncated-streamed for lines side by side on GPUs, one pass by stored factors. A work-group sweeps
// its run of tiles down, IN_FLIGHT tiles ahead of the tile that it substitutes. Tiles wait in registers.
//
//   down:  d_i = y_i - m_i d_(i-1),      m_i = a_i p_(i-1), p_i = 1 / (b_i - a_i c_(i-1) p_(i-1))
//   back:  x_i = d_i p_i - k_i x_(i+1),  k_i = c_i p_i;   a, b, c: lower, diag, upper
// Source: Thomas' algorithm; core/factors makes the factors. Truncation: a tile is solved as if the unknown below the
// next IN_FLIGHT tiles were 0. A run starts IN_FLIGHT tiles early, as if no row were above these tiles. schemes/grids
// bounds the error.
//
// Build parameter, mandatory, besides those of grid_rows.clh:
//   IN_FLIGHT             tiles that wait for the unknown below them, at least 1
//
// Arguments (global memory)
//   multiplier, reciprocal, coupling   m, p and k in the layout of y and x; written by the host. With SYMMETRIC,
//                       multiplier is not read
//   y                   right-hand sides, written by the host
//   x                   solutions, written here; overlaps no other array. Elements between lines keep their values
//   blocks, block_stride, block_lines  line l of block o begins at element o block_stride + l
//   length, row_stride  rows of a line, and distance between its rows in elements
//   bundles             number of bundles of a block; the last bundle may have fewer lines
//   runs, run_tiles     runs of a line, and tiles of a run; the last run may have fewer tiles
//   words               local, 4 GROUP_ITEMS + BUNDLE
// Launch:  a work-group of GROUP_ITEMS work-items for each run of each bundle, in the order of runs.
// Local:   `words` scalars.
// Per row: 7 multiply-adds, 3 multiplications; 5 words, or 4 if symmetric. A run also reads 2 IN_FLIGHT more tiles.
// Assumes: factors are finite (set-up checks it). NaN of y stays in its line.
// Valid:   x for the rows of all lines.
#include "gpu/grid_rows.clh"

#ifndef IN_FLIGHT
#error "IN_FLIGHT tiles wait"
#endif

// A work-item's rows of a tile. d holds y, and later d_i. With SYMMETRIC, k holds all multipliers except `first`.
typedef struct {
#ifdef SYMMETRIC
  scalar_t first;
#else
  scalar_t m[ITEM_ROWS];
#endif
  scalar_t p[ITEM_ROWS], k[ITEM_ROWS], d[ITEM_ROWS];
} Tile;

// A work-item's rows of a swept tile. d holds d_i p_i, and later x_i; k holds k_i. The maps lead from the unknown below
// the tile: to_me to the unknown below these rows, to_above to the tile's first unknown.
typedef struct {
  scalar_t d[ITEM_ROWS], k[ITEM_ROWS];
  Passage to_me, to_above;
} Swept;

static inline void fetch_tile(Factors f, __global const scalar_t* y, Home home, int tile, Tile* t) {
  fetch(y, home, tile, t->d);
  fetch(f.coupling, home, tile, t->k);
#ifdef SYMMETRIC
  t->first = fetch_first_above(f.coupling, home, tile, tile == 0);
#else
  fetch(f.multiplier, home, tile, t->m);
#endif
  fetch(f.reciprocal, home, tile, t->p);
}

static inline void multipliers_of(const Tile* t, scalar_t* m) {
#ifdef SYMMETRIC
  multipliers_from(t->first, t->k, m);
#else
  take(t->m, m);
#endif
}

// Returns the unknown below a tile, if the unknown below the next `count` tiles is 0. in_flight begins with the lowest
// tile.
static inline scalar_t unknown_below(const Swept* in_flight, int count) {
  scalar_t unknown = 0;
#pragma unroll
  for (int w = 0; w < IN_FLIGHT; ++w) {
    if (w < count) unknown = w == 0 ? in_flight[w].to_above.value : go_through(in_flight[w].to_above, unknown);
  }
  return unknown;
}

// Substitute back in a swept tile, and store it.
static inline void finish_tile(Home home, int tile, scalar_t below, Swept* t, __global scalar_t* x) {
  sweep_up(t->k, go_through(t->to_me, below), t->d);
  store(t->d, home, tile, x);
}

// Sweep the tiles before a run down from 0. @return the result of the last row before the run
static inline scalar_t lead_in(Factors f, __global const scalar_t* y, Home home, int begin, Told told) {
  scalar_t entered = 0;
  for (int tile = max(0, begin - IN_FLIGHT); tile < begin; ++tile) {
    scalar_t m[ITEM_ROWS], d[ITEM_ROWS];
#ifdef SYMMETRIC
    fetch_above(f.coupling, home, tile, tile == 0, m);
#else
    fetch(f.multiplier, home, tile, m);
#endif
    fetch(y, home, tile, d);
    tell_down(m, d, home, told);
    barrier(CLK_LOCAL_MEM_FENCE);
    entered = pass_down_to(ITEMS_DOWN, entered, told, home);
    barrier(CLK_LOCAL_MEM_FENCE);
  }
  return entered;
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
  const int begin = run * run_tiles, end = min(tiles, begin + run_tiles), last = min(end + IN_FLIGHT, tiles) - 1;
  const Told down = part_of(words, 0), up = part_of(words, 1);
  __local scalar_t* const left = words + 4 * GROUP_ITEMS;  // the value that leaves a tile; shape [BUNDLE]
  scalar_t entered = lead_in(f, y, home, begin, down);
  Tile now, next;
  Swept in_flight[IN_FLIGHT];  // begins with the lowest tile
  fetch_tile(f, y, home, begin, &next);
  for (int tile = begin; tile <= last; ++tile) {
    now = next;
    if (tile < last) fetch_tile(f, y, home, tile + 1, &next);
    scalar_t m[ITEM_ROWS];
    multipliers_of(&now, m);
    tell_down(m, now.d, home, down);
    barrier(CLK_LOCAL_MEM_FENCE);
    if (tile > begin) entered = left[home.lane];
    const scalar_t leaves = sweep_down(m, pass_down_to(home.item, entered, down, home), now.d);
    scale(now.p, now.d);
    tell_up(now.k, now.d, home, up);
    barrier(CLK_LOCAL_MEM_FENCE);
    if (home.item == ITEMS_DOWN - 1) left[home.lane] = leaves;
    Swept oldest = in_flight[IN_FLIGHT - 1];
#pragma unroll
    for (int w = IN_FLIGHT - 1; w > 0; --w) in_flight[w] = in_flight[w - 1];
    take(now.d, in_flight[0].d);
    take(now.k, in_flight[0].k);
    pass_up_tile(up, home, &in_flight[0].to_me, &in_flight[0].to_above);
    if (tile - IN_FLIGHT >= begin) finish_tile(home, tile - IN_FLIGHT, unknown_below(in_flight, IN_FLIGHT), &oldest, x);
  }
  // Finish the tiles of the run that still wait for the unknown below them.
#pragma unroll
  for (int w = IN_FLIGHT - 1; w >= 0; --w) {
    const int tile = last - w;
    if (tile >= begin && tile < end) finish_tile(home, tile, unknown_below(in_flight, w), &in_flight[w], x);
  }
}
