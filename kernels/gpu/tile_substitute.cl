// SPDX-License-Identifier: BSD-2-Clause
// Purpose: second pass of exact-twopass on GPUs: solve every tile, whose first and last unknown are known. Rows are
// eliminated as tile_reduce.cl did, to the bit, so that both passes are one Gaussian elimination.
// Source: gpu/tile_excess.clh.
//
// Arguments (global memory)
//   lower, diag, upper, y, n, tiles, turned  as for tile_reduce
//   x            shape [rows]; overlaps none of the others
//   outer        shape [2 tiles]: the first and the last unknown of every tile; not read if there is one tile, which is
//                solved whole
// Launch:  a work-group a tile, of GROUP_ITEMS work-items. The last tiles come first: what tile_reduce.cl read last may
//          be in the cache.
// Local:   as many scalars.
// Per row: as tile_reduce, and 3 operations; 5 words.
// Assumes: as tile_reduce.
// Valid:   x for the rows of the tiles below n.
#include "gpu/tile_excess.clh"

// The first and the last unknown of a tile that is all there is.
static inline void solve_ends(bool careful, __local scalar_t* words) {
  ExcessRow first, last;
  get_row(words, 0, &first);
  get_row(words, GROUP_ITEMS, &last);
  const scalar_t r_first = make_pivot(careful, &first);
  take_out_above(careful, &last, first, r_first);
  const scalar_t x_last = solve_row(careful, last, make_pivot(careful, &last), 0, 0);
  words[2 * PLACES] = solve_row(careful, first, r_first, 0, x_last);
  words[2 * PLACES + GROUP_ITEMS] = x_last;
}

// The unknowns of all places, which take the place of right-hand sides; those of the tile's ends are there.
// Ends with a barrier.
static inline void substitute_outer(bool careful, __local scalar_t* words) {
  const int item = (int)get_local_id(0);
  __local scalar_t* const x = words + 2 * PLACES;
#pragma unroll
  for (int distance = GROUP_ITEMS / 2; distance > 0; distance /= 2) {
    const int place = distance + 2 * distance * item;
    if (place < GROUP_ITEMS) {
      ExcessRow row;
      const scalar_t r = get_row(words, place, &row);
      x[place] = solve_row(careful, row, r, x[place - distance], x[place + distance]);
    }
    barrier(CLK_LOCAL_MEM_FENCE);
  }
}

// Solve a tile. @param outer its first and its last unknown; null: it is all there is
// @return 0, or else 1 if it takes care, and then nothing is stored unless careful; as all work-items do
static inline scalar_t solve_tile(bool careful, System of, TileRows rows, __global const wide_t* outer,
                                  __local vector_t* turned, __global scalar_t* x) {
  const int item = (int)get_local_id(0);
  __local scalar_t* const words = (__local scalar_t*)turned;
  __local scalar_t* const outer_x = words + 2 * PLACES;
  // Read now: nobody waits for it in the middle.
  const scalar_t x_first = outer != 0 ? (scalar_t)outer[0] : 0, x_last = outer != 0 ? (scalar_t)outer[1] : 0;
  ItemRows mine;
  ExcessRow top;
  const scalar_t r_top = eliminate_tile(careful, of, rows, &mine, &top, turned);
  if (item == 0) {
    const bool finite = isfinite(outer_x[0]);  // the right-hand side still
    if (outer == 0) {
      solve_ends(careful, words);
    } else {
      outer_x[0] = x_first;
      outer_x[GROUP_ITEMS] = x_last;
    }
    if (!finite || !isfinite(outer_x[0]) || !isfinite(outer_x[GROUP_ITEMS])) words[CARE] = 1;
  }
  barrier(CLK_LOCAL_MEM_FENCE);
  const scalar_t care = words[CARE];
  if (!careful && care != 0) return care;
  substitute_outer(careful, words);
  const scalar_t before = outer_x[item], behind = outer_x[item + 1];
  mine.v[0] = item > 0 ? solve_row(careful, top, r_top, before, behind) : before;
  mine.v[ITEM_ROWS - 1] = behind;
  substitute_inner(careful, &mine);
  store_kept(mine.v, turned, rows, 0, TILE_ROWS, x);
  return care;
}

__kernel __attribute__((reqd_work_group_size(GROUP_ITEMS, 1, 1))) void tile_substitute(
    __global const scalar_t* restrict lower, __global const scalar_t* restrict diag,
    __global const scalar_t* restrict upper, __global const scalar_t* restrict y, __global scalar_t* restrict x,
    __global const wide_t* restrict outer, const long n, const long tiles, __local vector_t* turned) {
  const long tile = tiles - 1 - (long)get_group_id(0);
  if (tile < 0) return;
  const System of = {lower, diag, upper, y};
  TileRows rows;
  rows.first = tile * TILE_ROWS;
  rows.n = n;
  rows.full = rows.first + TILE_ROWS <= rows.n;
  __global const wide_t* const ends = tiles > 1 ? outer + 2 * tile : 0;
  const scalar_t care = solve_tile(false, of, rows, ends, turned, x);
  if (care == 0) return;
  // That it is 1 the compiler does not know: it would else keep what has been fetched, in registers.
  rows.first += (long)care - 1;
  solve_tile(true, of, rows, ends, turned, x);
}
