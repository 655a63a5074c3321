// SPDX-License-Identifier: BSD-2-Clause
// Purpose: between the passes of exact-factored on GPUs: what enters each tile on the way down, from the maps that
// tile_total.cl has made of them.
//
// Arguments (global memory)
//   totals    shape [2 tiles]: factor and value of each map
//   entering  shape [tiles], written here
//   tiles, item_tiles  tiles, and how many of them a work-item takes
//   words     local, SCAN_WORDS scalars
// Launch:  one work-group of GROUP_ITEMS work-items.
// Local:   as many scalars.
// Per tile: 3 multiply-adds, 2 multiplications; 5 words.
// Valid:   what enters all tiles.
#include "gpu/tile_scan.clh"

static inline void compose_next(__global const scalar_t* totals, long tile, Affine* map) {
  const Affine next = {totals[2 * tile], totals[2 * tile + 1]};
  map->value = map_at(next, map->value);
  map->factor = mul(next.factor, map->factor);
}

__kernel __attribute__((reqd_work_group_size(GROUP_ITEMS, 1, 1))) void tile_chain(
    __global const scalar_t* restrict totals, __global scalar_t* restrict entering, const long tiles,
    const long item_tiles, __local scalar_t* words) {
  const long begin = (long)get_local_id(0) * item_tiles, end = min(tiles, begin + item_tiles);
  Affine map = {1, 0};
#pragma unroll 8
  for (long tile = begin; tile < end; ++tile) compose_next(totals, tile, &map);
  const scalar_t z = scan(map, false, words).value;
  map.factor = 1;
  map.value = 0;
#pragma unroll 8
  for (long tile = begin; tile < end; ++tile) {
    entering[tile] = map_at(map, z);
    compose_next(totals, tile, &map);
  }
}
