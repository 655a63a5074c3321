// SPDX-License-Identifier: BSD-2-Clause
// Purpose: a pass of exact-factored on GPUs, for lines laid end to end: the right-hand side of the system that is left
// of the first rows of all tiles when the others are eliminated. tile_stored.cl substitutes back.
//
//   inner rows, down:  d_i = y_i - m_i d_(i-1);   first row: y - sum of w_i d_i - m d of the row above
// Source: SPIKE with Schur complements. Inner rows are eliminated as tile_stored.cl does it, to the bit, so both passes
// are one elimination in another order; core/segment_factors makes the factors.
//
// Arguments (global memory)
//   multiplier, weight, y  m, w and y, shape [rows]. COUPLINGS_SERVE: the couplings in place of the multipliers, see
//                tile_factors.clh
//   taken        shape [rows]: LEFT: what is to be taken off y
//   left, left_taken  shape [tiles], at the places of the level above: out, of first rows, what is left of y, and of
//                that what is to be taken off
//   n, tiles     rows and tiles; tile t has rows [t TILE_ROWS, (t + 1) TILE_ROWS)
//   above_rows, above_items  Above of tile_level.clh
//   turned       local, TURNED_WORDS scalars
// Launch:  a work-group a tile, of GROUP_ITEMS work-items.
// Local:   as many scalars.
// Per row: 3 multiply-adds, 1 multiplication; 3 words.
#include "gpu/tile_factors.clh"
#include "gpu/tile_level.clh"
#include "gpu/tile_scan.clh"

// The sum over the work-group, in a fixed tree; valid in work-item 0. Begins with a barrier.
static inline scalar_t sum_of_group(scalar_t mine, __local scalar_t* words) {
  const int item = (int)get_local_id(0);
  barrier(CLK_LOCAL_MEM_FENCE);
  words[item] = mine;
  for (int count = GROUP_ITEMS, next; count > 1; count = next) {
    next = (count + 7) / 8;
    barrier(CLK_LOCAL_MEM_FENCE);
    if (item >= next) continue;
    for (int k = item + next; k < count; k += next) mine += words[k];
    words[item] = mine;
  }
  return mine;
}

__kernel __attribute__((reqd_work_group_size(GROUP_ITEMS, 1, 1))) void tile_fold(
    __global const scalar_t* restrict multiplier, __global const scalar_t* restrict weight,
    __global const scalar_t* restrict y, __global const scalar_t* restrict taken, __global scalar_t* restrict left,
    __global scalar_t* restrict left_taken, const long n, const long tiles, const int above_rows, const int above_items,
    __local vector_t* turned) {
  const long tile = (long)get_group_id(0);
  if (tile >= tiles) return;
  const int item = (int)get_local_id(0);
  const Above above = {above_rows, above_items};
  const bool takes = item == GROUP_ITEMS - 1 && tile + 1 < tiles;  // from the next tile's first row
  __local scalar_t* const words = (__local scalar_t*)turned;
  TileRows rows;
  rows.first = tile * TILE_ROWS;
  rows.n = n;
  rows.full = rows.first + TILE_ROWS <= rows.n;
  scalar_t w[ITEM_ROWS], g[ITEM_ROWS], v[ITEM_ROWS], next = 0;
  {
    vector_t fw[ITEM_VECTORS], fg[ITEM_VECTORS], fy[ITEM_VECTORS];
    fetch(multiplier, rows, 0, fw);
    fetch_right_side(y, taken, rows, fy);
    fetch(weight, rows, 0, fg);
#ifndef COUPLINGS_SERVE
    if (takes) next = multiplier[rows.first + TILE_ROWS];
#endif
    turn_to_rows(fy, turned, v);
    turn_to_rows(fg, turned, g);
#ifdef COUPLINGS_SERVE
    scalar_t own[ITEM_ROWS];
    turn_to_rows(fw, turned, own);
    take_from_above(0, turned, own, w);
    next = own[ITEM_ROWS - 1];
#else
    turn_to_rows(fw, turned, w);
#endif
  }
  scalar_t sum = 0;
  if (item == 0) {
    sum = v[0];
    v[0] = w[0] = 0;
  }
  Affine map = {1, 0};
#pragma unroll
  for (int i = 0; i < ITEM_ROWS; ++i) {
    map.value = take_off(GUARDED, v[i], w[i], map.value);
    map.factor = -mul(w[i], map.factor);
  }
  scalar_t z = scan(map, false, words).value;
#pragma unroll
  for (int i = 0; i < ITEM_ROWS; ++i) {
    z = take_off(GUARDED, v[i], w[i], z);
    sum = take_off(GUARDED, sum, g[i], z);
  }
  if (takes) left_taken[place_above_of(tile + 1, above)] = take_off(GUARDED, 0, -next, z);
  sum = sum_of_group(sum, words);
  if (item > 0) return;
  left[place_above_of(tile, above)] = sum;
  if (tile == 0) left_taken[0] = 0;
}
