// SPDX-License-Identifier: BSD-2-Clause
// Purpose: first pass of exact-twopass on GPUs, for lines end to end: in every tile eliminate all rows but the last,
// and compute the change to the row above the tile. The last rows form a smaller system, which is reduced the same way.
// Source: gpu/tile_excess.clh.
//
// Arguments (global memory)
//   lower, diag, upper, y  shape [rows]; with SYMMETRIC, lower is not read
//   rows_left    with LEVEL, replaces the bands: shape [rows LEFT_WORDS], `left` of the previous level
//   left         shape [tiles LEFT_WORDS], written here: the reduced equations of the tiles
//   kept         shape [tiles KEPT_WORDS], written here: the equations of the tiles' places (gpu/tile_excess.clh)
//   n, tiles     rows and tiles; tile t has rows [t TILE_ROWS, (t + 1) TILE_ROWS); rows from n on are identity rows
//   transposed       local, the larger of TRANSPOSED_WORDS and EXCESS_WORDS scalars
// Launch:  a work-group of GROUP_ITEMS work-items for each tile.
// Local:   `transposed`.
// Per row: 1 division, about 20 additions and multiplications; 4 words, 3 if symmetric. Per work-item: 3 words.
// Assumes: couplings out of the system are 0; the compiler does not re-associate. NaN of y stays in its line.
#include "gpu/tile_places.clh"

// Eliminate all rows of a tile but the last. @return in all work-items: 1 if the tile needs `general`, else 0
static inline scalar_t reduce_tile(bool general, System of, TileRows rows, __local vector_t* transposed) {
  __local scalar_t* const words = (__local scalar_t*)transposed;
  ItemRows mine;
  Ends ends = {{0, 0, 0, 0}, {0, 0, 0, 0}, 0, 0};
  {
    Fetched fetched;
    fetch_rows(of, rows, &fetched);
    ends.above.upper = transpose_rows(&fetched, transposed, &mine);
  }
  const mask_t slack = eliminate_inner(general, false, &mine, &ends);
  eliminate_places(general, ends.above, ends.bottom, words);
  if (get_local_id(0) == 0) words[REPEAT] = isfinite(words[2 * PLACES]) ? 0 : 1;
  barrier(CLK_LOCAL_MEM_FENCE);
  if (slack < 0) words[REPEAT] = 1;
  barrier(CLK_LOCAL_MEM_FENCE);
  return words[REPEAT];
}

__kernel __attribute__((reqd_work_group_size(GROUP_ITEMS, 1, 1))) void tile_reduce(SYSTEM_ARGUMENTS,
                                                                                   __global wide_t* restrict left,
                                                                                   __global scalar_t* restrict kept,
                                                                                   const long n, const long tiles,
                                                                                   __local vector_t* transposed) {
  const long tile = (long)get_group_id(0);
  if (tile >= tiles) return;
  const System of = SYSTEM_GIVEN;
  TileRows rows;
  rows.first = tile * TILE_ROWS;
  rows.n = n;
  rows.full = rows.first + TILE_ROWS <= rows.n;
  const scalar_t repeat = reduce_tile(false, of, rows, transposed);
  if (repeat != 0) {
    // The compiler must not know that `repeat` is 1, because it would then keep the fetched rows in registers.
    rows.first += (long)repeat - 1;
    reduce_tile(true, of, rows, transposed);
  }
  const int item = (int)get_local_id(0);
  __local const scalar_t* const words = (__local const scalar_t*)transposed;
  PlaceRow place;
  take_place(words, &place);
  __global scalar_t* const mine = kept + tile * KEPT_WORDS + item;
  mine[0] = place.lower;
  mine[GROUP_ITEMS] = place.upper;
  mine[2 * GROUP_ITEMS] = place.f;
  if (item > 0) return;
  ExcessRow row;
  get_row(words, 0, &row);
  __global wide_t* const ends = left + tile * LEFT_WORDS;
  ends[ABOVE_UPPER] = row.upper;
  ends[ABOVE_EXCESS] = row.excess;
  ends[ABOVE_F] = row.f;
  get_row(words, GROUP_ITEMS, &row);
  ends[LEFT_LOWER] = row.lower;
  ends[LEFT_EXCESS] = row.excess;
  ends[LEFT_F] = row.f;
}
