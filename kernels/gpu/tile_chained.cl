// SPDX-License-Identifier: BSD-2-Clause
// Purpose: second pass of exact-factored on GPUs, for lines laid end to end by stored factors: a work-group sweeps a
// tile down from what enters it, which is known, and up from 0, tells what map of the unknown below the tile that is,
// and waits for the maps of the tiles below.
// Source: tiles tell each other what they add up to, as in the decoupled look-back of Merrill and Garland 2016; but
// here a fixed tree composes maps, so that the same input gives the same bits.
//
// Tiles are taken in the order of a ticket, the last tile first, so that a work-group only waits for others that have
// begun. Blocks of BLOCK_TILES tiles: a tile waits for the maps of those of its block below it, and for the one unknown
// that enters the block.
//
// Arguments (global memory)
//   multiplier, reciprocal, coupling, y, x  shape [n]; x overlaps none of the others. With SYMMETRIC multiplier is not
//                read (see tile_factors.clh)
//   entering     shape [tiles]: what enters each tile on the way down
//   told, ticket as tile_total.cl left them
//   n, tiles     rows and tiles
//   transposed   local, TRANSPOSED_WORDS scalars
// Launch:  a work-group a tile, of GROUP_ITEMS work-items.
// Local:   as many scalars.
// Per row: 4 multiply-adds, 5 multiplications; 5 words, 4 if symmetric.
// Assumes: couplings out of the system are 0; work-groups that run do not stop for good.
// Valid:   x for the rows below n.
#include "gpu/tile_chain.clh"
#include "gpu/tile_sweeps.clh"

#define ITEM_PLACES ((BLOCK_TILES + GROUP_ITEMS - 1) / GROUP_ITEMS)

// The unknown below a tile. Ends with a barrier.
// @param own  the tile's map, of work-item 0;  turn  place of the tile from the last one on
static inline scalar_t find_below(Affine own, int turn, long tiles, __global mask_t* told,
                                  __local scalar_t* words) {
  const int item = (int)get_local_id(0), block = turn / BLOCK_TILES, place = turn % BLOCK_TILES;
  const bool is_top = place == BLOCK_TILES - 1 || turn == tiles - 1;
  if (item == 0) {
    tell(told + 2 * turn, own.factor);
    tell(told + 2 * turn + 1, own.value);
  }
  Affine below = {1, 0};
#pragma unroll
  for (int k = 0; k < ITEM_PLACES; ++k) {
    const int other = item * ITEM_PLACES + k;
    if (other < place) {
      __global mask_t* const of = told + 2 * (long)(block * BLOCK_TILES + other);
      const Affine map = {wait_for(of), wait_for(of + 1)};
      below.value = map_at(map, below.value);
      below.factor = mul(map.factor, below.factor);
    }
  }
  const Affine before = scan(below, false, words);
  barrier(CLK_LOCAL_MEM_FENCE);
  if (item == 0) {
    words[0] = own.factor;
    words[1] = own.value;
  }
  barrier(CLK_LOCAL_MEM_FENCE);
  if (item == GROUP_ITEMS - 1) {
    const Affine all = {mul(below.factor, before.factor), map_at(below, before.value)};
    const Affine map = {words[0], words[1]};
    const scalar_t x = map_at(all, block > 0 ? wait_for(told + 2 * tiles + block - 1) : 0);
    if (is_top) tell(told + 2 * tiles + block, map_at(map, x));
    words[2] = x;
  }
  barrier(CLK_LOCAL_MEM_FENCE);
  return words[2];
}

__kernel __attribute__((reqd_work_group_size(GROUP_ITEMS, 1, 1))) void tile_chained(
    __global const scalar_t* restrict multiplier, __global const scalar_t* restrict reciprocal,
    __global const scalar_t* restrict coupling, __global const scalar_t* restrict y, __global scalar_t* restrict x,
    __global const scalar_t* restrict entering, __global mask_t* told, __global int* ticket, const long n,
    const long tiles, __local vector_t* transposed) {
  __local int drawn;
  if (get_local_id(0) == 0) drawn = atomic_inc(ticket);
  barrier(CLK_LOCAL_MEM_FENCE);
  const int turn = drawn;
  if (turn >= tiles) return;
  __local scalar_t* const words = (__local scalar_t*)transposed;
  const long tile = tiles - 1 - turn;
  const NonFinite unused = {0, 0};
  const Lines of = {multiplier, reciprocal, coupling, y, x, unused, n, 0, 0, 0, 0, 0};
  Ahead mine;
  mine.rows.first = tile * TILE_ROWS;
  mine.rows.n = n;
  mine.rows.full = mine.rows.first + TILE_ROWS <= n;
  scalar_t w[ITEM_ROWS], r[ITEM_ROWS];
  Affine map;
  const scalar_t one = n > 0 ? 1 : 0;
  fetch_tile(of, &mine, transposed, w, r);
  sweep(&mine, entering[tile], one, w, r, words, unused, &map);
  const Affine own = {mul(map.factor, mine.behind.factor), map_at(map, mine.behind.value)};
  const scalar_t below = find_below(own, turn, tiles, told, words);
  finish(&mine, below, one, mine.rows.first, n, transposed, unused, x);
}
