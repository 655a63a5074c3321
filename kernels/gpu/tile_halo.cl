// SPDX-License-Identifier: BSD-2-Clause
// Purpose: method truncated-halo on GPUs, one pass. A work-group solves a tile as if it were uncoupled from other rows.
// It stores only rows that are at least `halo` rows away from the ends of the tile.
// Source: SPIKE inside the tile. Each partition is eliminated to its last unknown; parallel cyclic reduction (PCR)
// solves the interface system. core/certificate (certify_halo) bounds the error.
//
// Arguments (global memory)
//   lower, diag, upper, y, x  shape [rows of the chunk]; x overlaps no other array. With SYMMETRIC, lower is not read.
//                             With SHARED_FACTORS, the bands are those of one line (tile_factors.clh)
//   met_by, launch  members of NonFinite (tile_non_finite.clh)
//   n            rows of the whole system
//   origin       row that element 0 of the arrays holds, a multiple of VECTOR
//   tile_begin, tile_end  tiles of this launch; tile t stores rows [t kept, (t + 1) kept)
//   kept, halo   numbers of rows, multiples of VECTOR; kept + 2 halo is at most TILE_ROWS
//   length       with SHARED_FACTORS, rows of a line
//   steps        steps of the reduction, which truncates the influence of partitions 2^steps away
//   transposed       local, TRANSPOSED_WORDS scalars
// Launch:  a work-group of GROUP_ITEMS work-items for each tile; with ON_DEMAND any number of work-groups.
// Local:   `transposed`.
// Per row of the tile: 1 division, 7 multiply-adds, 4 multiplications. Per stored row: 5 words, 4 if symmetric, 2 with
//          shared bands; a number of narrow bands counts half a word.
// Without NAN_SAFE, divisions use rough_reciprocal(). If it returns NaN or 0, the kernel notes a non-finite number.
// Assumes: couplings out of the system are 0.
// Valid:   x for the rows of the tiles below n.
#include "gpu/tile_factors.clh"

// The equation of a partition's last row: x_k = value - above x_(k-1) - below x_(k+1).
typedef struct {
  scalar_t above, below, value;
} Reduced;

// Scalars of local memory for each work-item in solve_interfaces() and solve_tile().
#define REDUCED_WORDS 3

static inline scalar_t invert(scalar_t a) { return NAN_SAFE ? reciprocal(a) : rough_reciprocal(a); }

// Eliminate the rows of the partition, from the top. lower becomes the multipliers and diag the reciprocal pivots.
// upper becomes the couplings times the reciprocal pivots.
// @return equation of the last row; *top: equation of the first row, x_first = value - above x_above - below x_last
static inline Reduced eliminate(scalar_t* lower, scalar_t* diag, scalar_t* upper, const scalar_t* y, Reduced* top,
                                NonFinite non_finite) {
  // x_first = f - g x_above - h x_i; row i is the row eliminated last
  scalar_t f = 0, g = 0, h = -1, left = y[0], above = lower[0];
  scalar_t r = invert(diag[0]);
  bool vanished = is_zero(r);
  diag[0] = r;
#pragma unroll
  for (int i = 1; i < ITEM_ROWS; ++i) {
    const scalar_t t = mul(h, r);
    f = take_off(NAN_SAFE, f, t, left);
    g = mul_sub(g, t, above);
    const scalar_t coupling = upper[i - 1];
    h = -mul(t, coupling);
    const scalar_t w = mul(lower[i], r);
    lower[i] = w;
    upper[i - 1] = mul(coupling, r);
    r = invert(mul_sub(diag[i], w, coupling));
    vanished = vanished || is_zero(r);
    diag[i] = r;
    left = take_off(NAN_SAFE, y[i], w, left);
    above = -mul(w, above);
  }
  const int last = ITEM_ROWS - 1;
  upper[last] = mul(upper[last], r);
  top->value = f;
  top->above = g;
  top->below = h;
  const Reduced bottom = {mul(above, r), upper[last], mul(left, r)};
  // If some y is not finite, top->value or bottom.value is not finite.
  note_unless_finite(top->value, non_finite);
  note_unless_finite(bottom.value, non_finite);
  note(vanished, non_finite);
  return bottom;
}

// Parallel cyclic reduction: solve for the last unknown of every partition. The first partition's mine.above and the
// last partition's mine.below have no effect.
static inline scalar_t solve_interfaces(Reduced mine, int steps, __local scalar_t* words) {
  __local scalar_t *const above = words, *const below = words + GROUP_ITEMS, *const value = words + 2 * GROUP_ITEMS;
  const int item = (int)get_local_id(0);
  for (int step = 0, distance = 1; step < steps; ++step, distance *= 2) {
    barrier(CLK_LOCAL_MEM_FENCE);
    above[item] = mine.above;
    below[item] = mine.below;
    value[item] = mine.value;
    barrier(CLK_LOCAL_MEM_FENCE);
    const int up = item - distance, down = item + distance;
    Reduced a = {0, 0, 0}, b = {0, 0, 0};
    if (up >= 0) {
      a.above = above[up];
      a.below = below[up];
      a.value = value[up];
    }
    if (down < GROUP_ITEMS) {
      b.above = above[down];
      b.below = below[down];
      b.value = value[down];
    }
    const scalar_t r = invert(mul_sub(mul_sub(1, mine.above, a.below), mine.below, b.above));
    mine.value = mul(r, take_off(NAN_SAFE, take_off(NAN_SAFE, mine.value, mine.above, a.value), mine.below, b.value));
    mine.above = -mul(mul(r, mine.above), a.above);
    mine.below = -mul(mul(r, mine.below), b.below);
  }
  return mine.value;
}

// Solve a tile after eliminate(). v is the right-hand side on entry, and the solution on return.
static inline void solve_tile(const scalar_t* l, const scalar_t* d, const scalar_t* u, scalar_t* v, Reduced top,
                              Reduced bottom, int steps, __local scalar_t* words) {
  const int item = (int)get_local_id(0), last = ITEM_ROWS - 1;
  // Substitute the first unknown of the partition below. Then last rows couple only to last rows.
  barrier(CLK_LOCAL_MEM_FENCE);
  words[item] = top.value;
  words[GROUP_ITEMS + item] = top.above;
  words[2 * GROUP_ITEMS + item] = top.below;
  barrier(CLK_LOCAL_MEM_FENCE);
  Reduced next = {0, 0, 0};
  if (item < GROUP_ITEMS - 1) {
    next.value = words[item + 1];
    next.above = words[GROUP_ITEMS + item + 1];
    next.below = words[2 * GROUP_ITEMS + item + 1];
  }
  const scalar_t r = invert(mul_sub(1, bottom.below, next.above));
  const Reduced own = {mul(r, bottom.above), -mul(mul(r, bottom.below), next.below),
                       mul(r, take_off(NAN_SAFE, bottom.value, bottom.below, next.value))};
  const scalar_t x_last = solve_interfaces(own, steps, words);
  barrier(CLK_LOCAL_MEM_FENCE);
  words[item] = x_last;
  barrier(CLK_LOCAL_MEM_FENCE);
  scalar_t before = item > 0 ? words[item - 1] : 0;
#pragma unroll
  for (int i = 0; i < ITEM_ROWS; ++i) v[i] = before = take_off(NAN_SAFE, v[i], l[i], before);
  scalar_t behind = v[last] = x_last;
#pragma unroll
  for (int i = ITEM_ROWS - 2; i >= 0; --i) v[i] = behind = take_off(NAN_SAFE, mul(v[i], d[i]), u[i], behind);
}

typedef struct {
  __global const factor_t *lower, *diag, *upper;
  __global const scalar_t* y;
  __global scalar_t* x;
  NonFinite non_finite;
  long n, origin;
  int kept, halo, steps, length;
} System;

static inline void halo_tile(System of, long tile, __local vector_t* transposed) {
  TileRows rows;
  rows.first = tile * of.kept - of.halo - of.origin;
  rows.n = of.n - of.origin;
  rows.full = rows.first >= 0 && rows.first + TILE_ROWS <= rows.n;
  scalar_t l[ITEM_ROWS], d[ITEM_ROWS], u[ITEM_ROWS], v[ITEM_ROWS];
  {
    factors_t fd[ITEM_FACTORS], fu[ITEM_FACTORS];
    vector_t fy[ITEM_VECTORS];
#ifndef SYMMETRIC
    factors_t fl[ITEM_FACTORS];
    fetch_factors(of.lower, rows, 0, of.origin, of.length, fl);
#else
    const factor_t outer = fetch_above(of.upper, rows);
#endif
    fetch_factors(of.diag, rows, 1, of.origin, of.length, fd);
    fetch_factors(of.upper, rows, 0, of.origin, of.length, fu);
    fetch(of.y, rows, 0, fy);
    factor_t ol[ITEM_ROWS], od[ITEM_ROWS], ou[ITEM_ROWS];
#ifndef SYMMETRIC
    transpose_factors(fl, transposed, ol);
#endif
    transpose_factors(fd, transposed, od);
    transpose_to_rows(fy, transposed, v);
    transpose_factors(fu, transposed, ou);
#ifdef SYMMETRIC
    take_from_above(outer, transposed, ou, ol);
#endif
#pragma unroll
    for (int i = 0; i < ITEM_ROWS; ++i) {
      l[i] = ol[i];
      d[i] = od[i];
      u[i] = ou[i];
    }
  }
  Reduced top;
  Reduced bottom = eliminate(l, d, u, v, &top, of.non_finite);
  solve_tile(l, d, u, v, top, bottom, of.steps, (__local scalar_t*)transposed);
  store_kept(v, transposed, rows, of.halo, of.halo + of.kept, of.x);
}

__kernel __attribute__((reqd_work_group_size(GROUP_ITEMS, 1, 1))) void tile_halo(
    __global const factor_t* restrict lower, __global const factor_t* restrict diag,
    __global const factor_t* restrict upper, __global const scalar_t* restrict y, __global scalar_t* restrict x,
    __global int* restrict met_by, const int launch, const long n, const long origin, const long tile_begin,
    const long tile_end, const int kept, const int halo, const int steps, const int length,
    __local vector_t* transposed) {
  const System of = {lower, diag, upper, y, x, {met_by, launch}, n, origin, kept, halo, steps, length};
  long tile = tile_begin + (long)get_group_id(0);
  if (tile >= tile_end || !wanted(of.non_finite)) return;
#ifdef ON_DEMAND
  for (const long groups = (long)get_num_groups(0); tile + groups < tile_end; tile += groups) {
    halo_tile(of, tile, transposed);
    barrier(CLK_LOCAL_MEM_FENCE);
  }
#endif
  halo_tile(of, tile, transposed);
}
