// SPDX-License-Identifier: BSD-2-Clause
// Purpose: method truncated-halo for lines end to end on GPUs, by stored factors of one line that all lines share: down
// z_i = y_i - w_i z_(i-1), up x_i = r_i z_i - c_i x_(i+1). A tile holds as many whole lines as fit, or a part of a line
// with a halo on either side. All tiles of a work-group begin at the same row of their lines. The group keeps their
// factors, which are equal, in registers. It solves ITEM_TILES tiles at once and loads y of the next tiles meanwhile.
// Source: tile_shared_rows.clh.
//
// Build parameters: those of tile_shared_rows.clh. 4^STEPS work-items hold a whole line, or as many rows as the halo.
// With SYMMETRIC, multiplier is not read.
//
// Arguments (global memory)
//   multiplier, reciprocal, coupling   w, r and c of one line, shape [length]; written by the host
//   y, x         shape [rows of the chunk]; x does not overlap y
//   met_by, launch     members of NonFinite (tile_non_finite.clh)
//   n, origin    rows of the whole system; row that element 0 of the arrays holds, a multiple of VECTOR
//   tile_begin, tile_end  tiles of this launch; tile t stores rows [t kept, (t + 1) kept)
//   kept         rows that a tile stores. Without a halo it is a multiple of length, at most TILE_ROWS. With a halo
//                length is a multiple of kept, and a tile has kept + 2 halo rows
//   halo         rows that a tile reads above and below its stored rows; the line is truncated beyond the halo
//   length       rows of a line; kept, halo and length are multiples of VECTOR
// Launch:  any number of work-groups of GROUP_ITEMS work-items. With a halo, the number of work-groups is a multiple of
//          length / kept, or equals the number of tiles. Group g takes tiles g, g + groups, ..., with `groups` groups.
// Local:   ITEM_TILES (TRANSPOSED_WORDS + 2 (GROUP_ITEMS + 1)) scalars. PRODUCTS_TOLD adds 6 STEPS GROUP_ITEMS
//          scalars.
// Per row: 5 multiply-adds, 1 multiplication for every row of the tile; 2 words.
// Assumes: couplings out of the lines are 0; factors are finite. The influence of rows beyond the halo is negligible.
// Valid:   x for the rows of the tiles below n.
#include "gpu/tile_shared_rows.clh"

// Rows [begin, end) of a tile are in its lines. `row` is the number of row 0 in a line; it is negative above the line.
typedef struct {
  int begin, end, row;
} Place;

// Returns the end of a tile's rows, or 0 for a missing tile. The system has `rows` rows from the tile's row 0 on.
static inline int end_of(Place place, bool there, long rows) { return there ? (int)min(rows, (long)place.end) : 0; }

// Load a factor of the tile's rows, in the order of memory. Outside the lines the factor is 0.
static inline void fetch_factor(__global const scalar_t* factor, Place place, int length, vector_t* mine) {
  const int item = (int)get_local_id(0);
#pragma unroll
  for (int k = 0; k < ITEM_VECTORS; ++k) {
    const int row = (k * GROUP_ITEMS + item) * VECTOR;
    mine[k] = row >= place.begin && row < place.end ? *(__global const vector_t*)(factor + (place.row + row) % length)
                                                    : (vector_t)(0);
  }
}

__kernel __attribute__((reqd_work_group_size(GROUP_ITEMS, 1, 1))) void tile_shared(
    __global const scalar_t* restrict multiplier, __global const scalar_t* restrict reciprocal,
    __global const scalar_t* restrict coupling, __global const scalar_t* restrict y, __global scalar_t* restrict x,
    __global int* restrict met_by, const int launch, const long n, const long origin, const long tile_begin,
    const long tile_end, const int kept, const int halo, const int length) {
  __local vector_t transposed[ITEM_TILES * TRANSPOSED_VECTORS];
  __local scalar_t told[2 * TOLD_BY_ALL];
#ifdef PRODUCTS_TOLD
  __local scalar_t products[2][STEPS * 3 * GROUP_ITEMS];
#endif
  const long groups = (long)get_num_groups(0), stride = groups * kept;
  long tile = tile_begin + (long)get_group_id(0);
  const NonFinite non_finite = {met_by, launch};
  if (tile >= tile_end || !wanted(non_finite)) return;
  long first = tile * kept - halo - origin;
  const int row = halo > 0 ? (int)(tile * kept % length) - halo : 0;
  const Place place = {max(0, -row), halo > 0 ? min(kept + 2 * halo, length - row) : kept, row};
  const long row_end = n - origin;
  // Issue all loads before any result is used.
  vector_t next[ITEM_TILES][ITEM_VECTORS];
#pragma unroll
  for (int t = 0; t < ITEM_TILES; ++t) {
    const long at = first + t * stride;
    fetch_between(y + at, place.begin, end_of(place, tile + t * groups < tile_end, row_end - at), next[t]);
  }
  Kept f;
  {
    vector_t r[ITEM_VECTORS], c[ITEM_VECTORS];
#ifndef SYMMETRIC
    vector_t w[ITEM_VECTORS];
    fetch_factor(multiplier, place, length, w);
#endif
    fetch_factor(reciprocal, place, length, r);
    fetch_factor(coupling, place, length, c);
#ifndef SYMMETRIC
    transpose_to_rows(w, transposed, f.w);
#endif
    transpose_to_rows(r, transposed, f.r);
    transpose_to_rows(c, transposed, f.c);
#ifdef SYMMETRIC
    // No row above the tile changes its first row. find_passages() has a barrier before `transposed` is overwritten.
    f.above = get_local_id(0) > 0 ? ((__local const scalar_t*)transposed)[place_above(ITEM_VECTORS, VECTOR)] : 0;
#endif
  }
  Passage passages[2];
#ifdef PRODUCTS_TOLD
  for (int d = 0; d < 2; ++d) passages[d].through = products[d] + get_local_id(0);
#endif
  find_passages(&f, told, passages);
  int turn = 0;
  for (; tile < tile_end; tile += ITEM_TILES * groups) {
#pragma unroll
    for (int t = 0; t < ITEM_TILES; ++t) put_fetched(next[t], transposed + t * TRANSPOSED_VECTORS);
    barrier(CLK_LOCAL_MEM_FENCE);
    const long behind = tile + ITEM_TILES * groups;
    if (behind < tile_end) {
#pragma unroll
      for (int t = 0; t < ITEM_TILES; ++t) {
        const long at = first + (ITEM_TILES + t) * stride;
        fetch_between(y + at, place.begin, end_of(place, behind + t * groups < tile_end, row_end - at), next[t]);
      }
    }
    scalar_t v[ITEM_TILES][ITEM_ROWS];
#pragma unroll
    for (int t = 0; t < ITEM_TILES; ++t) get_own(transposed + t * TRANSPOSED_VECTORS, v[t]);
    sweep_down(&f, passages[0], v, told, &turn, non_finite);
    sweep_up(&f, passages[1], v, told, &turn, non_finite);
    // put_own() needs no barrier before it: it overwrites only rows that this work-item alone has read, in get_own().
#pragma unroll
    for (int t = 0; t < ITEM_TILES; ++t) put_own(v[t], transposed + t * TRANSPOSED_VECTORS);
    barrier(CLK_LOCAL_MEM_FENCE);
#pragma unroll
    for (int t = 0; t < ITEM_TILES; ++t) {
      const long at = first + t * stride;
      const int end = end_of(place, tile + t * groups < tile_end, row_end - at);
      store_between(transposed + t * TRANSPOSED_VECTORS, halo, min(halo + kept, end), x + at);
    }
    first += ITEM_TILES * stride;
  }
}
