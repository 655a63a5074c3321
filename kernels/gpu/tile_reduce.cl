// SPDX-License-Identifier: BSD-2-Clause
// Purpose: first pass of exact-twopass on GPUs, for lines laid end to end: what is left of the last row of every tile,
// and of the row above it, when the others are eliminated. The last rows are a system that is reduced in its turn.
// Source: gpu/tile_excess.clh.
//
// Arguments (global memory)
//   lower, diag, upper, y  shape [rows]; with SYMMETRIC lower is not read
//   rows_left    LEVEL, instead: shape [rows LEFT_WORDS], `left` of the level before
//   left         shape [tiles LEFT_WORDS], written here: what is left of the tiles
//   kept         shape [tiles KEPT_WORDS], written here: what solves for the places of the tiles
//   n, tiles     rows and tiles; tile t has rows [t TILE_ROWS, (t + 1) TILE_ROWS), from n on rows of the identity
//   transposed       local, the larger of TRANSPOSED_WORDS and EXCESS_WORDS scalars
// Launch:  a work-group a tile, of GROUP_ITEMS work-items.
// Local:   as many scalars.
// Per row: 1 division, about 20 additions and multiplications; 4 words and 3 a work-item; 3 if symmetric.
// Assumes: couplings out of the system are 0; nothing is re-associated. NaN of y stays in its line.
#include "gpu/tile_excess.clh"

static inline void put_row(ExcessRow row, scalar_t r, __local scalar_t* words, int place) {
  words[place] = row.lower;
  words[PLACES + place] = row.upper;
  words[2 * PLACES + place] = row.f;
  words[3 * PLACES + place] = row.excess;
  words[4 * PLACES + place] = r;
}

// @return make_pivot() of it. Rows are handed over by pointers: of structures that are returned oclgrind 21.10 makes
// calls that it does not know.
static inline scalar_t get_row(__local const scalar_t* words, int place, ExcessRow* row) {
  row->lower = words[place];
  row->upper = words[PLACES + place];
  row->f = words[2 * PLACES + place];
  row->excess = words[3 * PLACES + place];
  return words[4 * PLACES + place];
}

// Eliminate places by halves. The work-item of the tile's last row serves the row above the tile, too. Every row stays
// in its place as it was when it was eliminated.
static inline void eliminate_halves(bool general, __local scalar_t* words) {
  const int item = (int)get_local_id(0);
#pragma unroll
  for (int distance = 1; distance < GROUP_ITEMS; distance *= 2) {
    barrier(CLK_LOCAL_MEM_FENCE);
    int place = 2 * distance * (item + 1);
    if (place <= GROUP_ITEMS) {
      ExcessRow row, beside;
      get_row(words, place, &row);
      const scalar_t r_above = get_row(words, place - distance, &beside);
      eliminate_above(general, &row, beside, r_above);
      if (place == GROUP_ITEMS) {
        put_row(row, 0, words, place);
        place = 0;
        get_row(words, place, &row);
      }
      const scalar_t r_below = get_row(words, place + distance, &beside);
      eliminate_below(general, &row, beside, r_below);
      // The next to go are the odd ones.
      const bool leaves = item % 2 == 0 && place > 0;
      put_row(row, leaves ? make_pivot(general, &row) : 0, words, place);
    }
  }
  barrier(CLK_LOCAL_MEM_FENCE);
}

// Eliminate the places of a tile. Ends with a barrier.
// @param above, bottom  what eliminate_inner() made of them
static inline void eliminate_places(bool general, ExcessRow above, ExcessRow bottom, __local scalar_t* words) {
  const int item = (int)get_local_id(0);
  barrier(CLK_LOCAL_MEM_FENCE);
  put_row(above, 0, words, item);
  barrier(CLK_LOCAL_MEM_FENCE);
  if (item < GROUP_ITEMS - 1) {
    ExcessRow below;
    get_row(words, item + 1, &below);
    bottom.upper = below.upper;
    bottom.excess = add(bottom.excess, below.excess);
    bottom.f = add(bottom.f, below.f);
  }
  const bool leaves = item % 2 == 0 && item < GROUP_ITEMS - 1;
  const scalar_t r = leaves ? make_pivot(general, &bottom) : 0;
  barrier(CLK_LOCAL_MEM_FENCE);
  put_row(bottom, r, words, item + 1);
  eliminate_halves(general, words);
}

// Reduce a tile to places 0 and GROUP_ITEMS. @return 0, or else 1 if it takes the general way; the same for all
// work-items
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
    // That it is 1 the compiler does not know: it would else keep what has been fetched, in registers.
    rows.first += (long)repeat - 1;
    reduce_tile(true, of, rows, transposed);
  }
  const int item = (int)get_local_id(0);
  ExcessRow row;
  const scalar_t r = get_row((__local scalar_t*)transposed, item, &row);
  __global scalar_t* const mine = kept + tile * KEPT_WORDS + item;
  mine[0] = mul(row.lower, r);
  mine[GROUP_ITEMS] = mul(row.upper, r);
  mine[2 * GROUP_ITEMS] = mul(row.f, r);
  if (item > 0) return;
  __global wide_t* const ends = left + tile * LEFT_WORDS;
  ends[ABOVE_UPPER] = row.upper;
  ends[ABOVE_EXCESS] = row.excess;
  ends[ABOVE_F] = row.f;
  get_row((__local scalar_t*)transposed, GROUP_ITEMS, &row);
  ends[LEFT_LOWER] = row.lower;
  ends[LEFT_EXCESS] = row.excess;
  ends[LEFT_F] = row.f;
}
