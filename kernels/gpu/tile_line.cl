// SPDX-License-Identifier: BSD-2-Clause
// Purpose: exact-factored on GPUs, of lines laid end to end that are all alike and whose inner rows are, too. A
// work-group takes whole lines. Of every tile all rows but the first are eliminated, from the second one down; what is
// left is a tridiagonal system of the tiles' first rows. Inner rows being alike, all tiles have the same factors, which
// work-items keep in registers. Down, two sums of each tile, weights times y, are what is taken off its own first row
// and off that of the next tile; one work-item solves for the first unknowns. Back, from the last tile up, y is still
// in the cache, and tiles are solved between their first unknown and that of the next one, several at once.
//
//   left of tile s: the sum of top_i y_i of its rows, top of the first one being 1, and of bottom_i y_i of tile s - 1
//   inner rows:     y of the second one less lower x_first, of the last one less upper x_first of the next tile; then
//                   z_i = y_i - w_i z_(i-1) down, x_i = r_i z_i - c_i x_(i+1) up
// Source: SPIKE with Schur complements; core/line_factors. Sums have an order that the build parameters fix.
//
// Build parameters, mandatory: those of tile_shared_rows.clh, and TEAMS: work-items of a tile and the tiles of a
// work-group. BATCH / TEAMS is a multiple of DEEP. Optional:
//   OWN_LAST_ROW  the last row is not like inner ones, or is not the last of a tile
//
// Arguments (global memory)
//   multiplier, reciprocal, coupling   w, r and c of one line, shape [length]; written by the host. With
//                       COUPLINGS_SERVE multiplier is not read
//   weights             shape [3][TILE_ROWS]: top, bottom, top of the last tile
//   reduced             shape [3][segments]: w, r and c of the first rows
//   y, x                shape [rows of the chunk]; x overlaps y not
//   begin, lines        of this launch: element of y and x, a multiple of VECTOR, where the first line begins
//   length, segments    rows of a line, a multiple of VECTOR; its tiles, the last of which may lack rows
//   lower, upper        couplings of inner rows; last_lower: of the last row
//   first_rows          local, see below
// Launch:  any number of work-groups of TEAMS GROUP_ITEMS work-items; group g takes lines g, g + groups, ...
// Local:   TEAMS TOGETHER (TURNED_WORDS + 2 (GROUP_ITEMS + 1)) + 2 HELPERS BATCH scalars, and first_rows:
//          6 segments + 2 BATCH + TEAMS TOGETHER + 1.
// Per row: 7 multiply-adds, 1 multiplication; 3 words, one of them from the cache.
// Assumes: factors are finite. Other lines do not see NaN of one, so nothing is guarded.
// Valid:   x for the rows of all lines.
#include "gpu/tile_shared_rows.clh"

#define ALL_ITEMS (GROUP_ITEMS * TEAMS)
#define AT_ONCE (TEAMS * TOGETHER)
// Tiles whose sums are added up at once, those that are on their way to a work-item, and work-items that add up a sum.
#define BATCH 16
#define DEEP 4
#define HELPERS 8
#define PARTS_PITCH (GROUP_ITEMS + HELPERS)

// One line: y, tiles and rows of it.
typedef struct {
  __global const scalar_t* y;
  int length, tiles;
} Line;

// What is left of a line's first rows, tile by tile in batches: BATCH numbers of their own, BATCH for the next; then
// their unknowns, and 0 for tiles that are not there; and w, r and c of them.
typedef struct {
  __local scalar_t *left, *unknown, *factors;
} FirstRows;

static inline int rows_from(Line line, int tile) { return line.length - tile * TILE_ROWS; }

static inline void fetch_tile(Line line, int tile, vector_t* mine) {
  fetch_between(line.y + (long)tile * TILE_ROWS, 0, tile < line.tiles ? rows_from(line, tile) : 0, mine);
}

static inline void fetch_weights(__global const scalar_t* weights, int kind, vector_t* mine) {
  fetch_between(weights + kind * TILE_ROWS, 0, TILE_ROWS, mine);
}

static inline scalar_t weigh(const vector_t* weight, const vector_t* y) {
  scalar_t sum = 0;
#pragma unroll
  for (int k = 0; k < ITEM_VECTORS; ++k) {
    sum = mul_add(sum, weight[k].s0, y[k].s0);
    sum = mul_add(sum, weight[k].s1, y[k].s1);
#if VECTOR == 4
    sum = mul_add(sum, weight[k].s2, y[k].s2);
    sum = mul_add(sum, weight[k].s3, y[k].s3);
#endif
  }
  return sum;
}

// The sums of a batch, of which every work-item has a part.
static inline void add_up(__local const scalar_t* parts, __local scalar_t* helped, __local scalar_t* sums) {
  barrier(CLK_LOCAL_MEM_FENCE);
  for (int j = (int)get_local_id(0); j < 2 * BATCH * HELPERS; j += ALL_ITEMS) {
    const int at = j / HELPERS, from = at * PARTS_PITCH + remainder_of(j, at, HELPERS);
    scalar_t sum = 0;
#pragma unroll
    for (int k = 0; k < GROUP_ITEMS; k += HELPERS) sum = add(sum, parts[from + k]);
    helped[j] = sum;
  }
  barrier(CLK_LOCAL_MEM_FENCE);
  for (int j = (int)get_local_id(0); j < 2 * BATCH; j += ALL_ITEMS) {
    scalar_t sum = 0;
#pragma unroll
    for (int k = 0; k < HELPERS; ++k) sum = add(sum, helped[j * HELPERS + k]);
    sums[j] = sum;
  }
}

// Down. Begins and ends with barriers to come: `parts` may be what is read no more, `left` is not yet there for all.
static inline void fold(Line line, __global const scalar_t* weights, __local scalar_t* parts, __local scalar_t* helped,
                        FirstRows first) {
  const int team = (int)(get_local_id(0) / GROUP_ITEMS);
  vector_t top[ITEM_VECTORS], bottom[ITEM_VECTORS], y[DEEP][ITEM_VECTORS];
  fetch_weights(weights, 0, top);
  fetch_weights(weights, 1, bottom);
#pragma unroll
  for (int d = 0; d < DEEP; ++d) fetch_tile(line, team + d * TEAMS, y[d]);
  for (int batch = 0; batch < line.tiles; batch += BATCH) {
    barrier(CLK_LOCAL_MEM_FENCE);
#pragma unroll 1
    for (int q = team; q < BATCH; q += DEEP * TEAMS) {
#pragma unroll
      for (int d = 0; d < DEEP; ++d) {
        const int at = q + d * TEAMS, tile = batch + at;
#ifdef OWN_LAST_ROW
        if (tile == line.tiles - 1) fetch_weights(weights, 2, top);
#endif
        parts[at * PARTS_PITCH + tile_item()] = weigh(top, y[d]);
        parts[(BATCH + at) * PARTS_PITCH + tile_item()] = weigh(bottom, y[d]);
        fetch_tile(line, tile + DEEP * TEAMS, y[d]);
      }
    }
    add_up(parts, helped, first.left + 2 * batch);
  }
}

// The first unknowns, by one work-item, behind a barrier.
static inline void solve_first(Line line, FirstRows first) {
  barrier(CLK_LOCAL_MEM_FENCE);
  if (get_local_id(0) > 0) return;
  scalar_t value = 0, taken = 0;
#pragma unroll 4
  for (int s = 0; s < line.tiles; ++s) {
    const int batch = s / BATCH;
    __local const scalar_t* const left = first.left + 2 * BATCH * batch + remainder_of(s, batch, BATCH);
    value = mul_sub(add(left[0], taken), first.factors[s], value);
    taken = left[BATCH];
    first.unknown[s] = mul(value, first.factors[line.tiles + s]);
  }
  value = 0;
#pragma unroll 4
  for (int s = line.tiles - 1; s >= 0; --s) {
    value = mul_sub(first.unknown[s], first.factors[2 * line.tiles + s], value);
    first.unknown[s] = value;
  }
}

#ifdef OWN_LAST_ROW
// The last tile of a line. Its last row, which is not the first one of a work-item, has factors of its own, and what is
// below the line is 0.
typedef struct {
  int row;               // of the tile
  scalar_t y, lower, r;  // y of the work-item that has the row
} LastRow;

static inline void find_y(LastRow* last, const scalar_t* v) {
#pragma unroll
  for (int i = 1; i < ITEM_ROWS; ++i) last->y = tile_item() * ITEM_ROWS + i == last->row ? v[i] : last->y;
}

// Between sweeps.
static inline void end_line(LastRow last, scalar_t* v) {
#pragma unroll
  for (int i = 1; i < ITEM_ROWS; ++i) {
    const int row = tile_item() * ITEM_ROWS + i;
    if (row == last.row) v[i] = mul(mul_sub(last.y, last.lower, v[i - 1]), last.r);
    if (row > last.row) v[i] = 0;
  }
  if (tile_item() * ITEM_ROWS > last.row) v[0] = 0;
}
#endif

// What is known of y: the first unknown, and what it and that of the next tile take off. @param unknown  first one
static inline void take_off_first(__local const scalar_t* unknown, scalar_t lower, scalar_t upper, scalar_t* v) {
  if (tile_item() == 0) {
    v[0] = unknown[0];
    v[1] = mul_sub(v[1], lower, unknown[0]);
  }
  if (tile_item() == GROUP_ITEMS - 1) v[ITEM_ROWS - 1] = mul_sub(v[ITEM_ROWS - 1], upper, unknown[1]);
}

// Factors of the first tile, which are those of all. They do not couple its first row to the second, nor the last one
// to the next tile.
static inline void keep_factors(__global const scalar_t* multiplier, __global const scalar_t* reciprocal,
                                __global const scalar_t* coupling, __local vector_t* turned, Kept* f) {
  vector_t mine[ITEM_VECTORS];
#ifndef COUPLINGS_SERVE
  fetch_between(multiplier, 0, TILE_ROWS, mine);
  turn_to_rows(mine, turned, f->w);
  if (tile_item() == 0) f->w[0] = f->w[1] = 0;
#endif
  fetch_between(reciprocal, 0, TILE_ROWS, mine);
  turn_to_rows(mine, turned, f->r);
  fetch_between(coupling, 0, TILE_ROWS, mine);
  turn_to_rows(mine, turned, f->c);
#ifdef COUPLINGS_SERVE
  // The next that is put there comes behind the barriers of find_passages().
  f->above = tile_item() > 0 ? ((__local const scalar_t*)turned)[place_above(ITEM_VECTORS, VECTOR)] : 0;
#endif
  if (tile_item() == GROUP_ITEMS - 1) f->c[ITEM_ROWS - 1] = 0;
}

__kernel __attribute__((reqd_work_group_size(ALL_ITEMS, 1, 1))) void tile_line(
    __global const scalar_t* restrict multiplier, __global const scalar_t* restrict reciprocal,
    __global const scalar_t* restrict coupling, __global const scalar_t* restrict weights,
    __global const scalar_t* restrict reduced, __global const scalar_t* restrict y, __global scalar_t* restrict x,
    const long begin, const int lines, const int length, const int segments, const scalar_t lower, const scalar_t upper,
    const scalar_t last_lower, __local scalar_t* first_rows) {
  __local vector_t turned_by_all[AT_ONCE * TURNED_VECTORS];
  __local scalar_t told_by_all[TEAMS * 2 * TOLD_TOGETHER], helped[2 * BATCH * HELPERS];
  const int team = (int)(get_local_id(0) / GROUP_ITEMS);
  __local vector_t* const turned = turned_by_all + team * TOGETHER * TURNED_VECTORS;
  __local scalar_t* const told = told_by_all + team * 2 * TOLD_TOGETHER;
  const FirstRows first = {first_rows + 3 * segments, first_rows + 5 * segments + 2 * BATCH, first_rows};
#ifdef OWN_LAST_ROW
  LastRow last = {length - 1 - (segments - 1) * TILE_ROWS, 0, last_lower, reciprocal[length - 1]};
#endif
  Kept f;
  Passage passages[2];
  keep_factors(multiplier, reciprocal, coupling, turned, &f);
  find_passages(&f, told, passages);
  for (int s = (int)get_local_id(0); s < 3 * segments; s += ALL_ITEMS) first.factors[s] = reduced[s];
  for (int s = segments + (int)get_local_id(0); s <= segments + AT_ONCE; s += ALL_ITEMS) first.unknown[s] = 0;
  int turn = 0;
  for (int l = (int)get_group_id(0); l < lines; l += (int)get_num_groups(0)) {
    const long at_line = begin + (long)l * length;
    const Line line = {y + at_line, length, segments};
    fold(line, weights, (__local scalar_t*)turned_by_all, helped, first);
    vector_t next[TOGETHER][ITEM_VECTORS];
    int tile = (segments - 1) / AT_ONCE * AT_ONCE + team;
#pragma unroll
    for (int t = 0; t < TOGETHER; ++t) fetch_tile(line, tile + t * TEAMS, next[t]);
    solve_first(line, first);
    for (; tile >= 0; tile -= AT_ONCE) {
#pragma unroll
      for (int t = 0; t < TOGETHER; ++t) put_fetched(next[t], turned + t * TURNED_VECTORS);
      barrier(CLK_LOCAL_MEM_FENCE);
      if (tile >= AT_ONCE) {
#pragma unroll
        for (int t = 0; t < TOGETHER; ++t) fetch_tile(line, tile - AT_ONCE + t * TEAMS, next[t]);
      }
      scalar_t v[TOGETHER][ITEM_ROWS];
#pragma unroll
      for (int t = 0; t < TOGETHER; ++t) {
        const int at = tile + t * TEAMS;
        get_own(turned + t * TURNED_VECTORS, v[t]);
#ifdef OWN_LAST_ROW
        if (at == segments - 1) find_y(&last, v[t]);
#endif
        take_off_first(first.unknown + at, lower, upper, v[t]);
      }
      sweep_down(&f, passages[0], v, told, &turn, 0);
#ifdef OWN_LAST_ROW
#pragma unroll
      for (int t = 0; t < TOGETHER; ++t) {
        if (tile + t * TEAMS == segments - 1) end_line(last, v[t]);
      }
#endif
      sweep_up(&f, passages[1], v, told, &turn, 0);
#pragma unroll
      for (int t = 0; t < TOGETHER; ++t) put_own(v[t], turned + t * TURNED_VECTORS);
      barrier(CLK_LOCAL_MEM_FENCE);
#pragma unroll
      for (int t = 0; t < TOGETHER; ++t) {
        const int at = tile + t * TEAMS;
        if (at >= segments) continue;
        store_between(turned + t * TURNED_VECTORS, 0, rows_from(line, at), x + at_line + (long)at * TILE_ROWS);
      }
    }
  }
}
