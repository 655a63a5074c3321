// SPDX-License-Identifier: BSD-2-Clause
// Purpose: method exact-factored for many lines, by Thomas' algorithm. BATCH_LINES lines take turns row by row, because
// divisions, products and differences of different lines then overlap.
//
//   down:  p_i = 1 / (b_i - a_i k_(i-1)),  k_i = c_i p_i,  f_i = (y_i - a_i f_(i-1)) p_i;  a, b, c: lower, diag, upper
//   back:  x_i = f_i - k_i x_(i+1)
//
// Arguments (global memory)
//   lower, diag, upper  bands in the layout of the lines, written by the host; lower is not read with -D SYMMETRIC
//   y                   right-hand sides, written by the host
//   x                   solutions, written here. Elements between lines keep their values
//   scratch             k, then f of BATCH_LINES lines in the order of the iterations, shape [2 longest BATCH_LINES];
//                       not used if KEPT_ROWS > 0
//   lines               number of lines in the launch
//   longest             rows of the longest line
//   row_stride          distance between rows of a line, in elements
// only for lines of equal length:
//   origin              element of the first row of line 0
//   block_lines, block_stride  line b block_lines + j begins at element origin + b block_stride + j
// only with -D UNEQUAL, for lines end to end of different lengths:
//   starts              first element of every line, then the end of the last line; [lines + 1]; written by the host
// Launch:  one work-item. lines = 0 does nothing.
// Local:   2 KEPT_ROWS BATCH_LINES scalars; private 5 BATCH_LINES numbers.
// Per row: 1 division, 5 multiplications, 3 subtractions; 5 words, or 9 with KEPT_ROWS 0; -D SYMMETRIC saves 1 word.
// Assumes: no pivot is 0 (set-up checks it); the couplings at the ends of lines are 0. NaN of y stays in its line.
// Valid:   x of all lines.
#include "fpga/task.clh"

// BATCH_LINES is a power of two, at least the cycles from a pivot to the next: about 30 in float, 60 in double.
#ifndef BATCH_LINES
#error "build with -D BATCH_LINES, a power of two"
#endif
// Local memory holds k and f of lines of up to KEPT_ROWS rows. With KEPT_ROWS 0, scratch holds them.
#ifndef KEPT_ROWS
#error "build with -D KEPT_ROWS"
#endif

__kernel TASK void batch(__global const scalar_t* restrict lower, __global const scalar_t* restrict diag,
                         __global const scalar_t* restrict upper, __global const scalar_t* restrict y,
                         __global scalar_t* restrict x, __global scalar_t* restrict scratch, const long lines,
                         const long longest, const long row_stride,
#ifdef UNEQUAL
                         __global const long* restrict starts
#else
                         const long origin, const long block_lines, const long block_stride
#endif
) {
  const long turns = longest * BATCH_LINES;
#if KEPT_ROWS > 0
  __local scalar_t coupling[KEPT_ROWS * BATCH_LINES], left[KEPT_ROWS * BATCH_LINES];
#else
  __global scalar_t* const coupling = scratch;
  __global scalar_t* const left = scratch + turns;
#endif
  for (long begin = 0; begin < lines; begin += BATCH_LINES) {
    // A slot without a line skips all its turns; any other slot skips its turns after the last row of its line.
    long place[BATCH_LINES], turns_end[BATCH_LINES];
    scalar_t k[BATCH_LINES], f[BATCH_LINES];  // k and f of the row above; on the way back, f is x of the row below
#ifdef SYMMETRIC
    scalar_t upper_above[BATCH_LINES];
#endif
    for (int slot = 0; slot < BATCH_LINES; ++slot) {
      const long line = begin + slot;
#ifdef UNEQUAL
      place[slot] = line < lines ? starts[line] : 0;
      turns_end[slot] = line < lines ? (starts[line + 1] - starts[line]) * BATCH_LINES : 0;
#else
      const long block = line / block_lines;
      place[slot] = origin + block * block_stride + (line - block * block_lines);
      turns_end[slot] = line < lines ? turns : 0;
#endif
      k[slot] = f[slot] = 0;
#ifdef SYMMETRIC
      upper_above[slot] = 0;
#endif
    }
    INDEPENDENT(BATCH_LINES)
    for (long turn = 0; turn < turns; ++turn) {
      const int slot = (int)(turn & (BATCH_LINES - 1));
      if (turn >= turns_end[slot]) continue;
      const long at = place[slot];
      const scalar_t c = upper[at];
#ifdef SYMMETRIC
      const scalar_t a = upper_above[slot];
      upper_above[slot] = c;
#else
      const scalar_t a = lower[at];
#endif
      const scalar_t p = reciprocal(take_off(true, diag[at], a, k[slot]));
      k[slot] = choose(is_zero(c), ZERO, mul(c, p));
      f[slot] = mul(take_off(true, y[at], a, f[slot]), p);
      coupling[turn] = k[slot];
      left[turn] = f[slot];
      place[slot] = at + row_stride;
    }
    // The coupling of a line's last row is 0, so take_off() ignores f, which still holds a result of the sweep down.
    INDEPENDENT(BATCH_LINES)
    for (long turn = turns - 1; turn >= 0; --turn) {
      const int slot = (int)(turn & (BATCH_LINES - 1));
      if (turn >= turns_end[slot]) continue;
      const long at = place[slot] - row_stride;
      f[slot] = take_off(true, left[turn], coupling[turn], f[slot]);
      x[at] = f[slot];
      place[slot] = at;
    }
  }
}
