// SPDX-License-Identifier: BSD-2-Clause
// Purpose: both passes of exact-twopass in one launch, for the last level, whose rows fit in one tile. The bits are
// those of tile_reduce.cl and tile_substitute.cl. Source: gpu/tile_excess.clh.
//
// Arguments (global memory)
//   lower, diag, upper, y, rows_left  as for tile_reduce
//   x            shape [n]; overlaps no other array
//   n            rows, at most TILE_ROWS; rows from n on are identity rows
//   transposed       local, as for tile_reduce
// Launch:  one work-group of GROUP_ITEMS work-items.
// Local:   `transposed`.
// Per row: 2 divisions, about 35 additions and multiplications; 5 words, 4 if symmetric.
// Assumes: as for tile_reduce.
// Valid:   x for rows below n.
#include "gpu/tile_places.clh"

__kernel __attribute__((reqd_work_group_size(GROUP_ITEMS, 1, 1))) void tile_solve(SYSTEM_ARGUMENTS,
                                                                                  __global scalar_t* restrict x,
                                                                                  const long n,
                                                                                  __local vector_t* transposed) {
  const System of = SYSTEM_GIVEN;
  const TileRows rows = {0, n, TILE_ROWS <= n};
  __local scalar_t* const words = (__local scalar_t*)transposed;
  const int item = (int)get_local_id(0);
  ItemRows mine;
  Ends ends = {{0, 0, 0, 0}, {0, 0, 0, 0}, 0, 0};
  {
    Fetched fetched;
    fetch_rows(of, rows, &fetched);
    ends.above.upper = transpose_rows(&fetched, transposed, &mine);
  }
  // The only tile uses `general` at once, because a first attempt without it would not pay.
  eliminate_inner(true, false, &mine, &ends);
  eliminate_places(true, ends.above, ends.bottom, words);
  PlaceRow place;
  take_place(words, &place);
  ExcessRow last;
  get_row(words, GROUP_ITEMS, &last);
  barrier(CLK_LOCAL_MEM_FENCE);
  substitute_places(0, mul(last.f, reciprocal(last.excess)), place, words);
  ends.before = words[2 * PLACES + item];
  ends.behind = words[2 * PLACES + item + 1];
  eliminate_inner(true, true, &mine, &ends);
  substitute_inner(true, &mine, ends.behind);
  store_kept(mine.v, transposed, rows, 0, TILE_ROWS, x);
}
