// SPDX-License-Identifier: BSD-2-Clause
// Purpose: method exact-factored for lines end to end, by Thomas' algorithm. The kernel sweeps all rows down, block by
// block, then all rows back.
//
//   down:  p_i = 1 / (b_i - a_i k_(i-1)),  k_i = c_i p_i,  f_i = (y_i - a_i f_(i-1)) p_i;  a, b, c: lower, diag, upper
//   back:  x_i = f_i - k_i x_(i+1)
// Source: Macintosh, Banks and Kelson 2019, section 3.1.1. Their kernel stores the pivots b_i - a_i k_(i-1), and reads
// the upper couplings again on the way back.
//
// Arguments (global memory, shape [n] in whole blocks of TASK_ROWS)
//   lower, diag, upper  bands of all lines, written by the host; lower is not read with -D SYMMETRIC
//   y                   right-hand sides, written by the host
//   x                   f on the way down, then the solution; 0 in rows from n on
//   coupling            k of all rows, written and read here
//   n                   number of rows
// Launch:  one work-item. n = 0 does nothing.
// Local:   none; private 4 TASK_ROWS scalars.
// Per row: 1 division, 5 multiplications, 3 subtractions; 9 words, or 8 with -D SYMMETRIC.
// Assumes: no pivot is 0 (set-up checks it); couplings between lines are 0. NaN of y stays in its line.
// Valid:   x of all rows.
#include "fpga/task.clh"

__kernel TASK void tdma(__global const scalar_t* restrict lower, __global const scalar_t* restrict diag,
                        __global const scalar_t* restrict upper, __global const scalar_t* restrict y,
                        __global scalar_t* restrict x, __global scalar_t* restrict coupling, const long n) {
  const long end = (n + TASK_ROWS - 1) / TASK_ROWS * TASK_ROWS;
  scalar_t coupled = 0, left = 0;  // k and f of the row above
#ifdef SYMMETRIC
  scalar_t upper_above = 0;
#endif
  for (long first = 0; first < end; first += TASK_ROWS) {
    scalar_t a[TASK_ROWS], b[TASK_ROWS], c[TASK_ROWS], f[TASK_ROWS];
    // Rows from n on are identity rows.
    UNROLL
    for (int i = 0; i < TASK_ROWS; ++i) {
      const bool inside = first + i < n;
      b[i] = inside ? diag[first + i] : 1;
      c[i] = inside ? upper[first + i] : 0;
      f[i] = inside ? y[first + i] : 0;
#ifndef SYMMETRIC
      a[i] = inside ? lower[first + i] : 0;
#else
      a[i] = i > 0 ? c[i - 1] : upper_above;
#endif
    }
#ifdef SYMMETRIC
    upper_above = c[TASK_ROWS - 1];
#endif
    // Not unrolled: each row waits for the pivot above it, so a single divider is as fast as TASK_ROWS dividers.
    for (int i = 0; i < TASK_ROWS; ++i) {
      const scalar_t p = reciprocal(take_off(true, b[i], a[i], coupled));
      coupled = choose(is_zero(c[i]), ZERO, mul(c[i], p));
      left = mul(take_off(true, f[i], a[i], left), p);
      b[i] = coupled;
      f[i] = left;
    }
    UNROLL
    for (int i = 0; i < TASK_ROWS; ++i) {
      coupling[first + i] = b[i];
      x[first + i] = f[i];
    }
  }
  scalar_t below = 0;
  // An iteration reads and writes the same block of x.
  INDEPENDENT(TASK_ROWS)
  for (long first = end - TASK_ROWS; first >= 0; first -= TASK_ROWS) {
    scalar_t k[TASK_ROWS], f[TASK_ROWS];
    UNROLL
    for (int i = 0; i < TASK_ROWS; ++i) {
      k[i] = coupling[first + i];
      f[i] = x[first + i];
    }
    for (int i = TASK_ROWS - 1; i >= 0; --i) {
      below = take_off(true, f[i], k[i], below);
      f[i] = below;
    }
    UNROLL
    for (int i = 0; i < TASK_ROWS; ++i) x[first + i] = f[i];
  }
}
