// SPDX-License-Identifier: BSD-2-Clause
// Purpose: second pass of exact-twopass on GPUs: solve every tile, from the last unknowns of this tile and of the tile
// above. The kernel eliminates inner rows with the operations of tile_reduce.cl, to the bit. It reads the equations of
// the places (the last rows of work-items, tile_excess.clh) from `kept`.
// Source: gpu/tile_excess.clh.
//
// Arguments (global memory)
//   lower, diag, upper, y, rows_left, kept, n, tiles  as for tile_reduce
//   x            shape [rows]; overlaps no other array
//   outer        shape [tiles]: the last unknown of every tile
//   transposed       local, as for tile_reduce
// Launch:  a work-group of GROUP_ITEMS work-items for each tile. The last tiles come first, because the cache may still
//          hold data that tile_reduce.cl read last.
// Local:   `transposed`.
// Per row: 1 division, about 15 additions and multiplications; 5 words, 4 if symmetric. Per work-item: 3 words.
// Assumes: as for tile_reduce.
// Valid:   x for the rows of the tiles below n.
#include "gpu/tile_places.clh"

__kernel __attribute__((reqd_work_group_size(GROUP_ITEMS, 1, 1))) void tile_substitute(
    SYSTEM_ARGUMENTS, __global const scalar_t* restrict kept, __global scalar_t* restrict x,
    __global const wide_t* restrict outer, const long n, const long tiles, __local vector_t* transposed) {
  const long tile = tiles - 1 - (long)get_group_id(0);
  if (tile < 0) return;
  const System of = SYSTEM_GIVEN;
  const int item = (int)get_local_id(0);
  TileRows rows;
  rows.first = tile * TILE_ROWS;
  rows.n = n;
  rows.full = rows.first + TILE_ROWS <= rows.n;
  Fetched fetched;
  fetch_rows(of, rows, &fetched);
  __local scalar_t* const words = (__local scalar_t*)transposed;
  const scalar_t x_above = tile > 0 ? (scalar_t)outer[tile - 1] : 0, x_last = (scalar_t)outer[tile];
  __global const scalar_t* const solves = kept + tile * KEPT_WORDS + item;
  const PlaceRow place = {solves[0], solves[GROUP_ITEMS], solves[2 * GROUP_ITEMS]};
  substitute_places(x_above, x_last, place, words);
  Ends ends;
  ends.before = words[2 * PLACES + item];
  ends.behind = words[2 * PLACES + item + 1];
  ItemRows mine;
  transpose_rows(&fetched, transposed, &mine);
  // All tiles use `general`. It costs nothing here, and does not change the bits of dominant tiles.
  eliminate_inner(true, true, &mine, &ends);
  substitute_inner(true, &mine, ends.behind);
  store_kept(mine.v, transposed, rows, 0, TILE_ROWS, x);
}
