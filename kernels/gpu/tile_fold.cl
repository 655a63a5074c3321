// SPDX-License-Identifier: BSD-2-Clause
// Purpose: a pass of exact-factored on GPUs, for lines laid end to end: the right-hand side of the system that is left
// of the first and the last row of every tile when the others are eliminated. tile_stored.cl substitutes back.
// Source: SPIKE with Schur complements. The tile is solved for its first and last unknown with 0 around it; z, swept
// down, has settled what is large in y, and only then come the stored weights: rows of the inverse of the upper factor.
// Weights of y itself multiply rounding by the condition of the matrix.
//
// Arguments (global memory)
//   multiplier, weight, y  shape [rows]; x_first = sum of weight z. Multipliers of first rows are their couplings.
//                COUPLINGS_SERVE: the couplings in place of the multipliers, see tile_factors.clh
//   corners      shape [tiles][4]: what x_first and z_last add to the first row, and to the last
//   left         shape [tiles][2]: out, the right-hand side
//   n, tiles     rows and tiles; tile t has rows [t TILE_ROWS, (t + 1) TILE_ROWS)
//   turned       local, TURNED_WORDS scalars
// Launch:  a work-group a tile, of GROUP_ITEMS work-items.
// Local:   as many scalars.
// Per row: 3 multiply-adds, 1 multiplication; 3 words.
#include "gpu/tile_factors.clh"
#include "gpu/tile_scan.clh"

__kernel __attribute__((reqd_work_group_size(GROUP_ITEMS, 1, 1))) void tile_fold(
    __global const scalar_t* restrict multiplier, __global const scalar_t* restrict weight,
    __global const scalar_t* restrict y, __global const scalar_t* restrict corners, __global scalar_t* restrict left,
    const long n, const long tiles, __local vector_t* turned) {
  const long tile = (long)get_group_id(0);
  if (tile >= tiles) return;
  const int item = (int)get_local_id(0);
  __local scalar_t* const words = (__local scalar_t*)turned;
  TileRows rows;
  rows.first = tile * TILE_ROWS;
  rows.n = n;
  rows.full = rows.first + TILE_ROWS <= rows.n;
  scalar_t w[ITEM_ROWS], g[ITEM_ROWS], v[ITEM_ROWS];
  {
    vector_t fw[ITEM_VECTORS], fg[ITEM_VECTORS], fy[ITEM_VECTORS];
    fetch(multiplier, rows, 0, fw);
    fetch(y, rows, 0, fy);
    fetch(weight, rows, 0, fg);
    turn_to_rows(fy, turned, v);
    turn_to_rows(fg, turned, g);
#ifdef COUPLINGS_SERVE
    scalar_t own[ITEM_ROWS];
    turn_to_rows(fw, turned, own);
    take_from_above(0, turned, own, w);
#else
    turn_to_rows(fw, turned, w);
#endif
  }
  if (item == 0) w[0] = 0;  // nothing enters
  Affine map = {1, 0};
#pragma unroll
  for (int i = 0; i < ITEM_ROWS; ++i) {
    map.value = take_off(GUARDED, v[i], w[i], map.value);
    map.factor = -mul(w[i], map.factor);
  }
  scalar_t z = scan(map, false, words).value, sum = 0;
#pragma unroll
  for (int i = 0; i < ITEM_ROWS; ++i) {
    z = take_off(GUARDED, v[i], w[i], z);
    sum = take_off(GUARDED, sum, -g[i], z);
  }
  __local scalar_t* const z_last = words + GROUP_ITEMS;
  for (int others = GROUP_ITEMS / 2; others > 0; others /= 2) {
    barrier(CLK_LOCAL_MEM_FENCE);
    words[item] = sum;
    if (item == GROUP_ITEMS - 1) *z_last = z;
    barrier(CLK_LOCAL_MEM_FENCE);
    if (item < others) sum += words[item + others];
  }
  if (item == 0) {
    __global const scalar_t* const corner = corners + 4 * tile;
    for (int i = 0; i < 2; ++i)
      left[2 * tile + i] = take_off(GUARDED, take_off(GUARDED, 0, -corner[2 * i], sum), -corner[2 * i + 1], *z_last);
  }
}
