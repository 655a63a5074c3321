// SPDX-License-Identifier: BSD-2-Clause
// Purpose: second pass of method exact-factored for lines end to end: substitute from tile `meeting` to both ends of
// the system. Above this tile x_i = d_i reciprocal_i - coupling_i x_(i+1); in this tile and below, x_(i-1) replaces
// x_(i+1). The entering values are computed as in the first pass.
// Source: as for twisted_eliminate. The pivot at the meeting may be tiny (Poisson: 4 / n) and its rounding error large.
// Both sides start from the same bits of that unknown, and the row's factors pass it on unchanged.
//
// Arguments (global memory)
//   reciprocal, coupling  stored factors of all tiles (cpu/interleaved.clh)
//   through      products of -coupling over every partition, shape [tiles LANES]
//   swept        d of all rows, from twisted_eliminate
//   x            solution; overlaps no other array
//   scratch      as for twisted_eliminate
//   n, meeting, m, slot  as for twisted_eliminate
//   from_above   multiplier that eliminates the last row above the meeting from the first row below it
//   met          reciprocal pivot of the first row below the meeting, after elimination from both sides
// Launch:  as for twisted_eliminate.
// Local:   none; private 2 LANES lanes_t.
// Per row: 2 multiplications, 2 multiply-adds; 4 words.
// Assumes: no factor is infinite. NaN of y stays in its line.
// Valid:   x of all rows below n.
#include "cpu/twisted.clh"

typedef struct {
  __global const lanes_t *reciprocal, *coupling;
} BackFactors;

// Substitute in the partitions of a tile from 0 and store x. Returns the x of the last rows of the sweep.
SPECIALISED static inline lanes_t substitute_alone(bool down, int m, BackFactors f, __global const lanes_t* swept,
                                                   __global lanes_t* kept) {
  lanes_t x = ZERO;
  const int ahead = down ? VECTORS_AHEAD : -VECTORS_AHEAD;
  for (int done = 0; done < m; done += LANES) {
#pragma unroll
    for (int k = 0; k < LANES; ++k) {
      const int i = down ? done + k : m - 1 - done - k;
      PREFETCH(f.reciprocal + i + ahead);
      PREFETCH(f.coupling + i + ahead);
      PREFETCH(swept + i + ahead);
      kept[i] = x = take_off(true, mul(swept[i], f.reciprocal[i]), f.coupling[i], x);
    }
  }
  return x;
}

SPECIALISED static inline void substitute(bool down, Side side, Rows rows, scalar_t value, BackFactors all,
                                          __global const scalar_t* through, __global const lanes_t* swept,
                                          __global scalar_t* x, __global lanes_t* own) {
  Pending pending = nothing_pending();
  for (long k = 0; k < side.count; ++k) {
    const long t = down ? side.first + k : side.first - k;
    const BackFactors f = {all.reciprocal + t * rows.m, all.coupling + t * rows.m};
    lanes_t entered;
    const lanes_t alone = substitute_alone(down, (int)rows.m, f, swept + t * rows.m, own + LANES);
    value = pass_on(down, alone, from_storage(through + t * LANES), value, &entered);
    substitute_entered(down, rows, t, entered, f.coupling, own + LANES, &pending, (__global scalar_t*)own, x);
  }
  store_pending(&pending);
}

__kernel __attribute__((reqd_work_group_size(1, 1, 1))) void twisted_substitute(
    __global const lanes_t* restrict reciprocal, __global const lanes_t* restrict coupling,
    __global const scalar_t* restrict through, __global const lanes_t* restrict swept,
    __global scalar_t* restrict x, __global lanes_t* restrict scratch, const long n, const long meeting, const int m,
    const int slot, const scalar_t from_above, const scalar_t met) {
  const Rows rows = {n, 0, m};
  const long tiles = tiles_of(rows);
  const bool below = get_group_id(0) > 0;
  __global lanes_t* const own = scratch + (long)get_group_id(0) * slot;
  const BackFactors f = {reciprocal, coupling};
  const Side side = side_of(below, below, meeting, tiles);
  scalar_t value = 0;  // the first unknown below the meeting
  if (meeting < tiles) {
    __global const scalar_t* const d = (__global const scalar_t*)(swept + meeting * m);
    value = (from_above == 0 ? d[0] : d[0] - from_above * d[-1]) * met;
  }
  if (below) {
    substitute(true, side, rows, value, f, through, swept, x, own);
  } else {
    substitute(false, side, rows, value, f, through, swept, x, own);
  }
}
