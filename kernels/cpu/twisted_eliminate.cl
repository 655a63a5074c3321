// SPDX-License-Identifier: BSD-2-Clause
// Purpose: first pass of method exact-factored for lines end to end: eliminate from both ends of the system to tile
// `meeting`. Above this tile d_i = y_i - multiplier_i d_(i-1); in this tile and below, d_(i+1) replaces d_(i-1). A lane
// sweeps its partition from 0. Then the kernel computes the values that enter all lanes of the tile. It corrects the
// rows for these values while they are in the cache.
// Source: twisted factorisation; core/factors (Order::inwards) makes the factors.
//
// Arguments (global memory)
//   multiplier   stored factors of all tiles (cpu/interleaved.clh)
//   through      products of -multiplier over every partition, shape [tiles LANES]
//   y            right-hand side
//   swept        d of all rows in the order of the factors, shape [tiles m] lanes_t
//   scratch      `slot` lanes_t for each work-group: LANES for edge tiles, then m
//   n            rows
//   meeting      first tile of the lower side
//   m            rows of a partition, a multiple of LANES
//   slot         LANES + m
// Launch:  two work-groups of one work-item. Group 0 takes the tiles above `meeting`, group 1 takes the other tiles.
// Local:   none; private 3 LANES lanes_t.
// Per row: 1 multiplication, 2 multiply-adds; 3 words.
// Assumes: no factor is infinite. NaN of y stays in its line.
// Valid:   `swept`, for all tiles.
#include "cpu/twisted.clh"

// Sweep the partitions of a tile from 0 and store d. Returns the d of the last rows of the sweep.
SPECIALISED static inline lanes_t sweep_alone(bool down, Rows rows, long t, __global const scalar_t* y,
                                              __global const lanes_t* multiplier, __global lanes_t* kept,
                                              __global scalar_t* edge) {
  const long first = t * LANES * rows.m, next = first + (down ? LANES * rows.m : -LANES * rows.m);
  const bool full = first + LANES * rows.m <= rows.n;
  lanes_t d = ZERO, block[LANES];
  for (int done = 0; done < rows.m; done += LANES) {
    const int at = down ? done : (int)rows.m - LANES - done;
    load_checked(y, rows, first + at, full, 0, rows.n, 0, edge, block);
    prefetch_block(y, rows, next + at);
#pragma unroll
    for (int k = 0; k < LANES; ++k) {
      const int s = down ? k : LANES - 1 - k;
      PREFETCH(multiplier + at + s + (down ? VECTORS_AHEAD : -VECTORS_AHEAD));
      kept[at + s] = d = take_off(true, block[s], multiplier[at + s], d);
    }
  }
  return d;
}

// Correct all rows of a tile for the values that enter its partitions, and store them.
SPECIALISED static inline void sweep_entered(bool down, int m, lanes_t entered, __global const lanes_t* multiplier,
                                             __global const lanes_t* kept, __global lanes_t* swept) {
  lanes_t share = -ONE;
  for (int done = 0; done < m; done += LANES) {
#pragma unroll
    for (int k = 0; k < LANES; ++k) {
      const int i = down ? done + k : m - 1 - done - k;
      share = -mul(multiplier[i], share);
      store_lanes_past_cache(take_off(true, kept[i], share, entered), swept + i);
      if (k % PRODUCT_ROWS == 0) share = drop_tiny(share);
    }
  }
}

SPECIALISED static inline void eliminate(bool down, Side side, Rows rows, __global const lanes_t* multiplier,
                                         __global const scalar_t* through, __global const scalar_t* y,
                                         __global lanes_t* swept, __global lanes_t* own) {
  scalar_t value = 0;
  for (long k = 0; k < side.count; ++k) {
    const long t = down ? side.first + k : side.first - k;
    __global const lanes_t* const factor = multiplier + t * rows.m;
    lanes_t entered;
    const lanes_t d = sweep_alone(down, rows, t, y, factor, own + LANES, (__global scalar_t*)own);
    value = pass_on(down, d, from_storage(through + t * LANES), value, &entered);
    sweep_entered(down, (int)rows.m, entered, factor, own + LANES, swept + t * rows.m);
  }
}

__kernel __attribute__((reqd_work_group_size(1, 1, 1))) void twisted_eliminate(
    __global const lanes_t* restrict multiplier, __global const scalar_t* restrict through,
    __global const scalar_t* restrict y, __global lanes_t* restrict swept, __global lanes_t* restrict scratch,
    const long n, const long meeting, const int m, const int slot) {
  const Rows rows = {n, 0, m};
  const long tiles = tiles_of(rows);
  const bool below = get_group_id(0) > 0;
  __global lanes_t* const own = scratch + (long)get_group_id(0) * slot;
  const Side side = side_of(below, !below, meeting, tiles);
  if (below) {
    eliminate(false, side, rows, multiplier, through, y, swept, own);
  } else {
    eliminate(true, side, rows, multiplier, through, y, swept, own);
  }
}
