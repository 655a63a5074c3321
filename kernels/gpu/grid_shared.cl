// SPDX-License-Identifier: BSD-2-Clause
// Purpose: lines side by side on GPUs, by stored factors of one line that stands for all. A work-group goes through
// many tiles; a work-item serves LINES of its lines, and what it needs of the factors it reads from local memory, where
// they are fetched a tile ahead, as y is.
//   IN_ONE_TILE 1  a tile holds whole lines, nothing is truncated: both methods
//   IN_ONE_TILE 0  truncated-streamed, as in grid_streamed.cl. The tiles of all lines, bundle by bundle, are cut into
//                  runs of the same number of tiles, so that all work-groups take the same time
//
//   down:  d_i = y_i - m_i d_(i-1),      m_i = a_i p_(i-1), p_i = 1 / (b_i - a_i c_(i-1) p_(i-1))
//   back:  x_i = d_i p_i - k_i x_(i+1),  k_i = c_i p_i
// Source: Thomas' algorithm; core/factors makes the factors. Truncated: the unknown below a tile is found as if the
// next but one were 0, and a run begins as if all above the tile before it were 0. core/grid_evidence bounds the error.
//
// Build parameters, mandatory:
//   BUNDLE       lines of a work-group
//   LINES        lines of a work-item, 1 or 2: neighbours in memory are neighbours in the work-group, ACROSS of them
//   ITEMS_DOWN   work-items a line
//   ITEM_ROWS    rows of a work-item
//   AHEAD        1: y of the next tile is on its way while one is solved; 0: registers hold no more than one, which is
//                then one of whole lines
//
// Arguments (global memory)
//   multiplier, reciprocal, coupling   m, p and k of one line, shape [length]; written by the host
//   y                   right-hand sides, written by the host
//   x                   solutions, written here; overlaps none of the others. Places of no line are left alone
//   blocks, block_stride, block_lines  line l of block o begins at place o block_stride + l
//   length, row_stride  rows of a line and places between them
//   bundles             of a block; the last may lack lines
//   first_tile          of these blocks among those of all blocks, which the runs are counted from
//   run_tiles           tiles of a run. Where a tile holds whole lines these two are not read: work-group g takes
//                       bundles g, g + groups, ...
// Launch:  work-groups of GROUP_ITEMS work-items: one for each run, or any number.
// Local:   IN_ONE_TILE 0: 3 GROUP_ITEMS LINES + BUNDLE + 4 RECORD scalars; 1: 2 GROUP_ITEMS LINES + RECORD.
// Per row: 5 multiply-adds, 1 multiplication; 2 words, and per run y of two tiles more.
// Assumes: factors are finite (set-up has the evidence). NaN of y stays in its line.
// Valid:   x for the rows of all lines.
#include "common/scalar.clh"

#define ACROSS (BUNDLE / LINES)
#define GROUP_ITEMS (ACROSS * ITEMS_DOWN)
#define TILE_ROWS (ITEMS_DOWN * ITEM_ROWS)
// Factors of a tile: m, p, k, and of each work-item's rows the products of -m and of -k.
#define RECORD (3 * TILE_ROWS + 2 * ITEMS_DOWN)
#define RECORD_ITEM ((3 * TILE_ROWS + GROUP_ITEMS - 1) / GROUP_ITEMS)

// A number of each of a work-item's lines.
#if LINES == 1
typedef scalar_t lines_t;
#elif SCALAR == SCALAR_FLOAT
typedef float2 lines_t;
#else
typedef double2 lines_t;
#endif

typedef struct {
  __global const scalar_t *multiplier, *reciprocal, *coupling;
} Factors;

// Some blocks of lines.
typedef struct {
  long block_stride, block_lines, row_stride;
  int length, bundles, tiles;  // tiles: of a line
} Grid;

// Where a work-item is in the work-group, and its rows of a tile in memory.
typedef struct {
  int lane, item;
  long first;  // place of the first row of its first line
  int apart;   // places to its second line; 0 if there is none, and the first stands for it
  bool there;  // false: not even the first
  int row;     // of the line
} Home;

static inline lines_t mul_sub_lines(lines_t a, scalar_t f, lines_t b) { return fma((lines_t)(-f), b, a); }
static inline lines_t mul_add_lines(lines_t a, scalar_t f, lines_t b) { return fma((lines_t)(f), b, a); }

static inline Home home_in(Grid grid, int piece, int tile) {
  Home home;
  home.item = (int)get_local_id(0) / ACROSS;
  home.lane = remainder_of((int)get_local_id(0), home.item, ACROSS);
  const int block = piece / grid.bundles;
  const long line = (long)remainder_of(piece, block, grid.bundles) * BUNDLE + home.lane;
  home.there = line < grid.block_lines;
  home.apart = line + ACROSS < grid.block_lines ? ACROSS : 0;
  home.row = tile * TILE_ROWS + home.item * ITEM_ROWS;
  home.first = block * grid.block_stride + min(line, grid.block_lines - 1) + home.row * grid.row_stride;
  return home;
}

static inline lines_t load(__global const scalar_t* from, int apart) {
#if LINES == 1
  return *from;
#else
  const scalar_t both[2] = {from[0], from[apart]};
  return vload2(0, both);
#endif
}

static inline void put(lines_t v, Home home, __global scalar_t* to) {
#if LINES == 1
  if (home.there) *to = v;
#else
  if (home.there) to[0] = v.s0;
  if (home.apart > 0) to[ACROSS] = v.s1;
#endif
}

// Rows below the line are 0.
static inline void fetch(__global const scalar_t* array, Grid grid, Home home, lines_t* mine) {
  __global const scalar_t* const from = array + home.first;
  if (home.row + ITEM_ROWS <= grid.length) {
#pragma unroll
    for (int i = 0; i < ITEM_ROWS; ++i) mine[i] = load(from + i * grid.row_stride, home.apart);
  } else {
#pragma unroll
    for (int i = 0; i < ITEM_ROWS; ++i)
      mine[i] = home.row + i < grid.length ? load(from + i * grid.row_stride, home.apart) : (lines_t)(0);
  }
}

static inline void store(const lines_t* mine, Grid grid, Home home, __global scalar_t* array) {
  __global scalar_t* const to = array + home.first;
  if (home.row + ITEM_ROWS <= grid.length) {
#pragma unroll
    for (int i = 0; i < ITEM_ROWS; ++i) put(mine[i], home, to + i * grid.row_stride);
  } else {
#pragma unroll
    for (int i = 0; i < ITEM_ROWS; ++i)
      if (home.row + i < grid.length) put(mine[i], home, to + i * grid.row_stride);
  }
}

// The work-item's share of the factors of a tile, on its way to local memory. Below the line they are 0.
static inline void fetch_record(Factors f, int length, int tile, scalar_t* mine) {
#pragma unroll
  for (int i = 0; i < RECORD_ITEM; ++i) {
    const int word = (int)get_local_id(0) + i * GROUP_ITEMS, kind = word / TILE_ROWS;
    const int row = tile * TILE_ROWS + remainder_of(word, kind, TILE_ROWS);
    __global const scalar_t* const from = kind == 0 ? f.multiplier : kind == 1 ? f.reciprocal : f.coupling;
    mine[i] = kind < 3 && row < length ? from[row] : 0;
  }
}

static inline void keep_record(const scalar_t* mine, __local scalar_t* record) {
#pragma unroll
  for (int i = 0; i < RECORD_ITEM; ++i) {
    const int word = (int)get_local_id(0) + i * GROUP_ITEMS;
    if (word < 3 * TILE_ROWS) record[word] = mine[i];
  }
}

static inline __local scalar_t* through_down(__local scalar_t* record) { return record + 3 * TILE_ROWS; }
static inline __local scalar_t* through_up(__local scalar_t* record) { return record + 3 * TILE_ROWS + ITEMS_DOWN; }

// What leaves the work-item's rows downwards if 0 enters them, and the product of their -m.
static inline void tell_down(const lines_t* y, Home home, __local scalar_t* record, __local lines_t* told) {
  __local const scalar_t* const m = record + home.item * ITEM_ROWS;
  lines_t value = 0;
  scalar_t through = 1;
#pragma unroll
  for (int i = 0; i < ITEM_ROWS; ++i) {
    value = mul_sub_lines(y[i], m[i], value);
    through = -mul(m[i], through);
  }
  told[get_local_id(0)] = value;
  if (home.lane == 0) through_down(record)[home.item] = through;
}

// From above the tile to below it: d p in place, and what leaves the rows upwards if 0 enters them, as above.
// @return what leaves them downwards
static inline lines_t sweep_down(lines_t entered, lines_t* d, Home home, __local scalar_t* record,
                                 __local const lines_t* told_down, __local lines_t* told_up) {
  __local const scalar_t *const m = record + home.item * ITEM_ROWS, *const p = m + TILE_ROWS, *const k = p + TILE_ROWS;
  for (int j = 0; j < home.item; ++j) {
    entered = mul_add_lines(told_down[j * ACROSS + home.lane], through_down(record)[j], entered);
  }
#pragma unroll
  for (int i = 0; i < ITEM_ROWS; ++i) {
    entered = mul_sub_lines(d[i], m[i], entered);
    d[i] = entered * p[i];
  }
  lines_t value = 0;
  scalar_t through = 1;
#pragma unroll
  for (int i = ITEM_ROWS - 1; i >= 0; --i) {
    value = mul_sub_lines(d[i], k[i], value);
    through = -mul(k[i], through);
  }
  told_up[get_local_id(0)] = value;
  if (home.lane == 0) through_up(record)[home.item] = through;
  return entered;
}

// From the unknown below the tile to that below work-item `item`; -1: to the first of the tile.
static inline lines_t pass_up_to(int item, lines_t unknown, Home home, __local scalar_t* record,
                                 __local const lines_t* told) {
#pragma unroll
  for (int j = ITEMS_DOWN - 1; j >= 0; --j) {
    if (j > item) unknown = mul_add_lines(told[j * ACROSS + home.lane], through_up(record)[j], unknown);
  }
  return unknown;
}

// From the unknown below the tile: the solution of the work-item's rows.
static inline void finish(lines_t below, lines_t* d, Grid grid, Home home, __local scalar_t* record,
                          __local const lines_t* told, __global scalar_t* x) {
  __local const scalar_t* const k = record + 2 * TILE_ROWS + home.item * ITEM_ROWS;
  lines_t unknown = pass_up_to(home.item, below, home, record, told);
#pragma unroll
  for (int i = ITEM_ROWS - 1; i >= 0; --i) d[i] = unknown = mul_sub_lines(d[i], k[i], unknown);
  store(d, grid, home, x);
}

static inline void take(const lines_t* from, lines_t* to) {
#pragma unroll
  for (int i = 0; i < ITEM_ROWS; ++i) to[i] = from[i];
}

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
  __local lines_t told[3 * GROUP_ITEMS], left[ACROSS];  // down, and up of odd and even tiles; what leaves a tile
  // Tiles of these blocks; one more before a run that begins within a line, and after one that ends there.
  const long from = ((long)get_group_id(0) + first_tile / run_tiles) * run_tiles - first_tile;
  const int all = (int)blocks * bundles * grid.tiles;
  const int begin = (int)max(from, 0L), end = (int)min(from + run_tiles, (long)all);
  if (begin >= end) return;
  const int first = begin % grid.tiles > 0 ? begin - 1 : begin, last = end % grid.tiles > 0 ? end : end - 1;
  int piece = first / grid.tiles, tile = remainder_of(first, piece, grid.tiles);
  int factor_tile = tile;
  lines_t above[ITEM_ROWS];  // d p of the tile before, then x
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
