// SPDX-License-Identifier: BSD-2-Clause
// Purpose: method truncated-streamed on FPGAs: truncated SPIKE as a stream of blocks (Macintosh, Banks and Kelson 2019,
// section 3.1.2, Figure 3). An iteration reads a block of TASK_ROWS rows and sweeps it down and up. It solves the cut
// between this block and the previous block. The cut's unknowns give the bottom half of the previous block by LU, and
// the top half of this block by UL. Each half ignores the far end of its block. For dominance d, rows in the middle of
// a block therefore have an error of d^(-TASK_ROWS / 2).
//
// Arguments (global memory)
//   lower, diag, upper, y  whole blocks of the bands and of the right-hand side, written by the host
//   x                      halves of blocks of the solution, written here
//   n                      rows of the whole system
//   first                  number of the block that element 0 of all arrays holds
//   kept_begin, kept_end   the kernel solves these blocks; the arrays also hold one more block on either side
// Launch:  one work-item.
// Local:   none; private two blocks.
// Per row: 2 divisions, 4 multiplications, 5 multiply-adds, 5 words (SYMMETRIC 4). Per block: 1 division.
//          The multiplications for unused spikes are not counted: the compiler removes them.
// Assumes: no pivot and no 1 - v_b w_t vanishes (set-up checks it). NaN of y stays in its line.
// Valid:   x of the blocks [kept_begin, kept_end). Rows from n on hold 0.
#include "fpga/task_blocks.clh"

#define HALF (TASK_ROWS / 2)

// An iteration stores the bottom half of the previous block, and the top half of the block that it reads. A launch may
// need only one of these two stores. A store has 512 bits for 32 floats, half of the longest burst.
typedef struct __attribute__((aligned(64))) {
  scalar_t row[HALF];
} half_t;

// Compute the bottom half of a block from the unknown below the block, or the top half from the unknown above it. Per
// row: 1 multiply-add.
static inline void bottom_half(const down_t* down, scalar_t x_below, half_t* x) {
  scalar_t value = x_below;
  UNROLL
  for (int i = HALF - 1; i >= 0; --i) {
    x->row[i] = value = take_off(true, down->value[HALF + i], down->coupling[HALF + i], value);
  }
}
static inline void top_half(const up_t* up, scalar_t x_above, half_t* x) {
  scalar_t value = x_above;
  UNROLL
  for (int i = 0; i < HALF; ++i) x->row[i] = value = take_off(true, up->value[i], up->coupling[i], value);
}

__kernel TASK void task_spktrunc(__global const block_t* restrict lower, __global const block_t* restrict diag,
                                 __global const block_t* restrict upper, __global const block_t* restrict y,
                                 __global half_t* restrict x, const long n, const long first, const long kept_begin,
                                 const long kept_end) {
  if (kept_begin >= kept_end) return;
  const there_t there = {n, first, min(kept_end, (n - 1) / TASK_ROWS)};
  down_t down_1 = NOTHING_DOWN;  // results of block k - 1
  scalar_t upper_above = ZERO;
  for (long k = max(kept_begin - 1, 0L); k <= kept_end; ++k) {
    rows_t rows;
    load_block(lower, diag, upper, y, there, k, &upper_above, &rows);
    down_t down;
    up_t up;
    sweep_down(&rows, &down);
    sweep_up(&rows, &up);
    const cut_t cut = solve_cut_between(&down_1, &up, inverse_of_cut(&down_1, &up));
    half_t bottom, top;
    bottom_half(&down_1, cut.below, &bottom);
    top_half(&up, cut.above, &top);
    if (k > kept_begin) x[2 * (k - first) - 1] = bottom;
    if (k >= kept_begin && k < kept_end) x[2 * (k - first)] = top;
    down_1 = down;
  }
}
