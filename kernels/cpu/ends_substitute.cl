// SPDX-License-Identifier: BSD-2-Clause
// Purpose: second pass of method exact-twopass from both ends of the system: substitute from the meeting to both ends,
// x_i = d_i - c_i x_(i+1), on the side below the meeting from the row above. Lanes settle what they start from as in
// the first pass. Source: as for ends_eliminate. The row where the sides meet is eliminated from both; its pivot may be
// tiny (Poisson: 4 / n), is formed without subtraction, and both sides start from the same bits of its unknown.
//
// Arguments (global memory)
//   coupling     c as ends_eliminate left it; of the row where the sides meet it becomes -1 here
//   swept        d, likewise; becomes 0 there, so that the row passes its unknown on as it is
//   met          shape [2][MET_WORDS]: what either side left of its last row (cpu/ends.clh)
//   x            solution; overlaps none of the others
//   scratch      as for ends_eliminate, of which LANES + m are used
//   n, meeting, m, slot  as for ends_eliminate
// Launch:  as for ends_eliminate.
// Local:   none; private 2 LANES lanes_t.
// Per row: 2 multiplications, 2 multiply-adds; 3 words.
// Assumes: couplings are at most 1, as those of dominant rows are. NaN of y stays in its line.
// Valid:   x of all rows below n.
#include "cpu/ends.clh"

// Substitute in the partitions of a tile from 0 and keep x. Returns x of the rows that were met last, and the products
// of -c over every partition.
FOR_EACH_GUARD static inline lanes_t substitute_alone(bool down, int m, __global const lanes_t* coupling,
                                                      __global const lanes_t* swept, __global lanes_t* kept,
                                                      lanes_t* through) {
  lanes_t x = ZERO, share = ONE;
  const int ahead = down ? VECTORS_AHEAD : -VECTORS_AHEAD;
  for (int done = 0; done < m; done += LANES) {
#pragma unroll
    for (int k = 0; k < LANES; ++k) {
      const int i = down ? done + k : m - 1 - done - k;
      PREFETCH(coupling + i + ahead);
      PREFETCH(swept + i + ahead);
      share = -mul(coupling[i], share);
      if (k % PRODUCT_ROWS == 0) share = drop_tiny(share);
      kept[i] = x = take_off(true, swept[i], coupling[i], x);
    }
  }
  *through = share;
  return x;
}

FOR_EACH_GUARD static inline void substitute(bool down, Side side, Rows rows, scalar_t value,
                                             __global const lanes_t* coupling, __global const lanes_t* swept,
                                             __global scalar_t* x, __global lanes_t* own) {
  Pending pending = nothing_pending();
  for (long k = 0; k < side.count; ++k) {
    const long t = down ? side.first + k : side.first - k;
    __global const lanes_t* const c = coupling + t * rows.m;
    lanes_t entered, through;
    const lanes_t alone = substitute_alone(down, (int)rows.m, c, swept + t * rows.m, own + LANES, &through);
    value = pass_on(down, alone, through, value, &entered);
    substitute_settled(down, rows, t, entered, c, own + LANES, &pending, (__global scalar_t*)own, x);
  }
  store_pending(&pending);
}

// The unknown of the first row below the meeting, eliminated from both sides.
static inline scalar_t unknown_met(__global const scalar_t* above, __global const scalar_t* below) {
  const scalar_t near = below[MET_FAR], h = above[MET_H];
  const scalar_t left = (near < 0) == (above[MET_FAR] < 0) ? h : 2 - h;
  const scalar_t right = below[MET_PIVOT] * below[MET_D];
  const scalar_t pivot = below[MET_PIVOT] * below[MET_H] + fabs(near) * left;
  return (near == 0 ? right : right - near * above[MET_D]) / pivot;
}

__kernel __attribute__((reqd_work_group_size(1, 1, 1))) void ends_substitute(
    __global lanes_t* restrict coupling, __global lanes_t* restrict swept, __global const scalar_t* restrict met,
    __global scalar_t* restrict x, __global lanes_t* restrict scratch, const long n, const long meeting, const int m,
    const int slot) {
  const Rows rows = {n, 0, m};
  const long tiles = tiles_of(rows);
  const bool below = get_group_id(0) > 0;
  __global lanes_t* const own = scratch + (long)get_group_id(0) * slot;
  const Side side = side_of(below, below, meeting, tiles);
  const scalar_t value = meeting < tiles ? unknown_met(met, met + MET_WORDS) : 0;
  if (side.count == 0) return;
  if (below) {
    ((__global scalar_t*)(coupling + meeting * m))[0] = -1;
    ((__global scalar_t*)(swept + meeting * m))[0] = 0;
    substitute(true, side, rows, value, coupling, swept, x, own);
  } else {
    substitute(false, side, rows, value, coupling, swept, x, own);
  }
}
