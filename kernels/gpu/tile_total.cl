// SPDX-License-Identifier: BSD-2-Clause
// Purpose: first pass of exact-factored on GPUs, for lines laid end to end: the map of z that every tile is on the way
// down, z_i = y_i - w_i z_(i-1), as tile_chained.cl composes it. Clears what that tells.
//
// Arguments (global memory)
//   multiplier, coupling, y  shape [n]; with SYMMETRIC multiplier is not read (see tile_factors.clh), else coupling
//   totals   shape [2 tiles], written here: factor and value of each map
//   told     shape [TOLD_WORDS], cleared here
//   ticket   shape [1], cleared here
//   n, tiles rows and tiles; tile t has rows [t TILE_ROWS, (t + 1) TILE_ROWS)
//   transposed  local, TRANSPOSED_WORDS scalars
// Launch:  a work-group a tile, of GROUP_ITEMS work-items.
// Local:   as many scalars.
// Per row: 1 multiply-add, 1 multiplication; 2 words.
// Assumes: couplings out of the system are 0.
// Valid:   the totals of all tiles.
#include "gpu/tile_chain.clh"
#include "gpu/tile_sweeps.clh"

__kernel __attribute__((reqd_work_group_size(GROUP_ITEMS, 1, 1))) void tile_total(
    __global const scalar_t* restrict multiplier, __global const scalar_t* restrict coupling,
    __global const scalar_t* restrict y, __global scalar_t* restrict totals, __global mask_t* restrict told,
    __global int* restrict ticket, const long n, const long tiles, __local vector_t* transposed) {
  const long tile = (long)get_group_id(0);
  const int item = (int)get_local_id(0);
  if (tile == 0 && item == 0) *ticket = 0;
  if (tile >= tiles) return;
  const TileRows rows = {tile * TILE_ROWS, n, (tile + 1) * TILE_ROWS <= n};
  scalar_t v[ITEM_ROWS], w[ITEM_ROWS];
  vector_t fy[ITEM_VECTORS], fw[ITEM_VECTORS];
#ifdef SYMMETRIC
  const scalar_t outer = fetch_above(coupling, rows);
  fetch(coupling, rows, 0, fw);
#else
  fetch(multiplier, rows, 0, fw);
#endif
  fetch(y, rows, 0, fy);
#ifdef SYMMETRIC
  scalar_t c[ITEM_ROWS];
  transpose_to_rows(fw, transposed, c);
  take_from_above(outer, transposed, c, w);
#else
  transpose_to_rows(fw, transposed, w);
#endif
  transpose_to_rows(fy, transposed, v);
  Affine map;
  sweep_from_zero(v, w, false, &map);
  const Affine before = scan(map, false, (__local scalar_t*)transposed);
  if (item == GROUP_ITEMS - 1) {
    totals[2 * tile] = mul(map.factor, before.factor);
    totals[2 * tile + 1] = map_at(map, before.value);
    told[2 * tile] = told[2 * tile + 1] = NOT_TOLD;
    if (tile < blocks_of(tiles)) told[2 * tiles + tile] = NOT_TOLD;
  }
}
