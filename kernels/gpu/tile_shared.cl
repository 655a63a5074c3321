// SPDX-License-Identifier: BSD-2-Clause
// Purpose: whole lines laid end to end on GPUs, by stored factors of one line that stands for all: z_i = y_i - w_i
// z_(i-1) down, x_i = r_i z_i - c_i x_(i+1) up. A tile holds as many lines as go into it, so all tiles have the same
// factors: a work-group keeps them in registers and goes through many tiles, y of the next one on its way. Source:
// sweeps are chains of affine maps, composed within a work-item and scanned over a line in a fixed tree. The products
// of the scan are those of every tile, and only values are exchanged.
//
// Build parameters, mandatory beside those of tile_rows.clh:
//   STEPS        of the scan: a work-item learns of the 4^STEPS before it, which hold what is left of its line
//
// Arguments (global memory)
//   multiplier, reciprocal, coupling   w, r and c of one line, shape [length]; written by the host
//   y, x         shape [rows of the chunk]; x overlaps y not
//   care         shape [1], set to 1 where a number is not finite; the launch is then to be repeated with GUARDED 1
//   n, origin    rows of the whole system; row of element 0 of the arrays, a multiple of VECTOR
//   tile_begin, tile_end  tiles of this launch; tile t keeps rows [t kept, (t + 1) kept)
//   kept         rows, a multiple of length, at most TILE_ROWS
//   length       rows of a line, a multiple of VECTOR
// Launch:  any number of work-groups of GROUP_ITEMS work-items; group g takes tiles g, g + groups, ...
// Local:   TURNED_WORDS + 2 (GROUP_ITEMS + 1) scalars.
// Per row: 5 multiply-adds, 1 multiplication; 2 words.
// Assumes: couplings out of the lines are 0; factors are finite.
// Valid:   x for the rows of the tiles below n.
#include "gpu/tile_rows.clh"

// Products of a work-item's scan: of step s, of the one, two and three windows of 4^s work-items before what it has.
typedef struct {
  scalar_t through[STEPS][3];
} Passage;

typedef struct {
  scalar_t w[ITEM_ROWS], r[ITEM_ROWS], c[ITEM_ROWS];
} Kept;

static inline int item_of(bool back) { return back ? GROUP_ITEMS - 1 - (int)get_local_id(0) : (int)get_local_id(0); }

static inline Passage passage_of(scalar_t through, bool back, __local scalar_t* told) {
  const int item = item_of(back);
  Passage p;
#pragma unroll
  for (int s = 0, distance = 1; s < STEPS; ++s, distance *= 4) {
    barrier(CLK_LOCAL_MEM_FENCE);
    told[item] = through;
    barrier(CLK_LOCAL_MEM_FENCE);
#pragma unroll
    for (int k = 1; k < 4; ++k) {
      const int other = item - k * distance;
      p.through[s][k - 1] = other >= 0 ? through : 0;
      through = other >= 0 ? mul(through, told[other]) : 0;
    }
  }
  barrier(CLK_LOCAL_MEM_FENCE);
  return p;
}

// What enters the rows of this work-item, `value` being what leaves them if 0 does. @param turn  of two parts of
// `told`, the one that nobody may still read
static inline scalar_t enter(scalar_t value, Passage p, bool back, __local scalar_t* told, int* turn) {
  const int item = item_of(back);
#pragma unroll
  for (int s = 0, distance = 1; s <= STEPS; ++s, distance *= 4) {
    __local scalar_t* const now = told + *turn * (GROUP_ITEMS + 1);
    *turn = 1 - *turn;
    now[item] = value;
    barrier(CLK_LOCAL_MEM_FENCE);
    if (s == STEPS) return item > 0 ? now[item - 1] : 0;
#pragma unroll
    for (int k = 1; k < 4; ++k) {
      value = take_off(GUARDED || k * distance >= GROUP_ITEMS, value, -p.through[s][k - 1],
                       now[max(item - k * distance, 0)]);
    }
  }
  return 0;
}

// Rows of a line for those of a tile.
static inline void keep(__global const scalar_t* factor, int length, __local vector_t* turned, scalar_t* own) {
  const int item = (int)get_local_id(0);
  vector_t mine[ITEM_VECTORS];
#pragma unroll
  for (int k = 0; k < ITEM_VECTORS; ++k)
    mine[k] = *(__global const vector_t*)(factor + (k * GROUP_ITEMS + item) * VECTOR % length);
  turn_to_rows(mine, turned, own);
}

// Vectors of y; beyond `rows` they are 0. Lines end with a vector, so no vector is there in part.
static inline void fetch_whole(__global const scalar_t* y, int rows, vector_t* mine) {
  const int item = (int)get_local_id(0);
#pragma unroll
  for (int k = 0; k < ITEM_VECTORS; ++k) {
    const int vector = k * GROUP_ITEMS + item;
    mine[k] = vector * VECTOR < rows ? ((__global const vector_t*)y)[vector] : (vector_t)(0);
  }
}

// y, then x, in place.
static inline void solve(const Kept* f, Passage down, Passage up, scalar_t* v, __local scalar_t* told, int* turn,
                         __global int* care) {
  scalar_t value = 0;
#pragma unroll
  for (int i = 0; i < ITEM_ROWS; ++i) value = take_off(GUARDED, v[i], f->w[i], value);
  note_unless_finite(value, care);
  scalar_t z = enter(value, down, false, told, turn);
#pragma unroll
  for (int i = 0; i < ITEM_ROWS; ++i) {
    z = take_off(GUARDED, v[i], f->w[i], z);
    v[i] = mul(z, f->r[i]);
  }
  value = 0;
#pragma unroll
  for (int i = ITEM_ROWS - 1; i >= 0; --i) value = take_off(GUARDED, v[i], f->c[i], value);
  note_unless_finite(value, care);
  scalar_t unknown = enter(value, up, true, told, turn);
#pragma unroll
  for (int i = ITEM_ROWS - 1; i >= 0; --i) v[i] = unknown = take_off(GUARDED, v[i], f->c[i], unknown);
}

// What put_fetched() and get_own() left is each work-item's own to overwrite, so one barrier is enough.
static inline void store_turned(const scalar_t* own, __local vector_t* turned, int rows, __global scalar_t* x) {
  const int item = (int)get_local_id(0);
  put_own(own, turned);
  barrier(CLK_LOCAL_MEM_FENCE);
#pragma unroll
  for (int k = 0; k < ITEM_VECTORS; ++k) {
    const int vector = k * GROUP_ITEMS + item;
    if (vector * VECTOR < rows) ((__global vector_t*)x)[vector] = turned[pitched(vector, ITEM_VECTORS)];
  }
}

__kernel __attribute__((reqd_work_group_size(GROUP_ITEMS, 1, 1))) void tile_shared(
    __global const scalar_t* restrict multiplier, __global const scalar_t* restrict reciprocal,
    __global const scalar_t* restrict coupling, __global const scalar_t* restrict y, __global scalar_t* restrict x,
    __global int* restrict care, const long n, const long origin, const long tile_begin, const long tile_end,
    const int kept, const int length) {
  __local vector_t turned[TURNED_WORDS / VECTOR];
  __local scalar_t told[2 * (GROUP_ITEMS + 1)];
  const long groups = (long)get_num_groups(0);
  long tile = tile_begin + (long)get_group_id(0);
  if (tile >= tile_end) return;
  Kept f;
  keep(multiplier, length, turned, f.w);
  keep(reciprocal, length, turned, f.r);
  keep(coupling, length, turned, f.c);
  scalar_t left = 1, right = 1;
#pragma unroll
  for (int i = 0; i < ITEM_ROWS; ++i) {
    left = -mul(f.w[i], left);
    right = -mul(f.c[i], right);
  }
  const Passage down = passage_of(left, false, told), up = passage_of(right, true, told);
  int turn = 0;
  vector_t next[ITEM_VECTORS];
  const long row_end = n - origin;
  long first = tile * kept - origin;
  fetch_whole(y + first, (int)min((long)kept, row_end - first), next);
  for (; tile < tile_end; tile += groups) {
    put_fetched(next, turned);
    barrier(CLK_LOCAL_MEM_FENCE);
    if (tile + groups < tile_end) {
      const long ahead = first + groups * kept;
      fetch_whole(y + ahead, (int)min((long)kept, row_end - ahead), next);
    }
    scalar_t v[ITEM_ROWS];
    get_own(turned, v);
    solve(&f, down, up, v, told, &turn, care);
    store_turned(v, turned, (int)min((long)kept, row_end - first), x + first);
    first += groups * kept;
  }
}
