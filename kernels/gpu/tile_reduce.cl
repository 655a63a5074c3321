// SPDX-License-Identifier: BSD-2-Clause
// Purpose: first pass of exact-twopass on GPUs, for lines laid end to end: what is left of the first and the last row
// of every tile when the others are eliminated, two rows of a system that is reduced in its turn. Nothing is stored of
// the others: tile_substitute.cl eliminates them again, to the bit.
// Source: gpu/tile_excess.clh.
//
// Arguments (global memory)
//   lower, diag, upper, y  shape [rows]; LEVEL: diag is the excess of the row
//   left_lower, left_excess, left_upper, left_y  shape [2 tiles], written here: the rows that are left
//   n, tiles     rows and tiles; tile t has rows [t TILE_ROWS, (t + 1) TILE_ROWS), from n on rows of the identity
//   turned       local, the larger of TURNED_WORDS and EXCESS_WORDS scalars
// Launch:  a work-group a tile, of GROUP_ITEMS work-items.
// Local:   as many scalars.
// Per row: 1 division, about 20 additions and multiplications; 4 words.
// Assumes: couplings out of the system are 0; nothing is re-associated. NaN of y stays in its line.
#include "gpu/tile_excess.clh"

// Reduce a tile. @return 0, or else 1 if it takes care; the same for all work-items
static inline scalar_t reduce_tile(bool careful, System of, TileRows rows, __local vector_t* turned) {
  __local scalar_t* const words = (__local scalar_t*)turned;
  ItemRows mine;
  ExcessRow top;
  eliminate_tile(careful, of, rows, &mine, &top, turned);
  if (get_local_id(0) == 0 && !isfinite(words[2 * PLACES])) words[CARE] = 1;
  barrier(CLK_LOCAL_MEM_FENCE);
  return words[CARE];
}

__kernel __attribute__((reqd_work_group_size(GROUP_ITEMS, 1, 1))) void tile_reduce(
    __global const scalar_t* restrict lower, __global const scalar_t* restrict diag,
    __global const scalar_t* restrict upper, __global const scalar_t* restrict y, __global wide_t* restrict left_lower,
    __global wide_t* restrict left_excess, __global wide_t* restrict left_upper, __global wide_t* restrict left_y,
    const long n, const long tiles, __local vector_t* turned) {
  const long tile = (long)get_group_id(0);
  if (tile >= tiles) return;
  const System of = {lower, diag, upper, y};
  TileRows rows;
  rows.first = tile * TILE_ROWS;
  rows.n = n;
  rows.full = rows.first + TILE_ROWS <= rows.n;
  const scalar_t care = reduce_tile(false, of, rows, turned);
  if (care != 0) {
    // That it is 1 the compiler does not know: it would else keep what has been fetched, in registers.
    rows.first += (long)care - 1;
    reduce_tile(true, of, rows, turned);
  }
  for (int k = (int)get_local_id(0); k < 2; k += GROUP_ITEMS) {
    ExcessRow row;
    get_row((__local scalar_t*)turned, k * GROUP_ITEMS, &row);
    left_lower[2 * tile + k] = row.lower;
    left_excess[2 * tile + k] = row.excess;
    left_upper[2 * tile + k] = row.upper;
    left_y[2 * tile + k] = row.f;
  }
}
