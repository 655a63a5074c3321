// SPDX-License-Identifier: BSD-2-Clause
// Purpose: method truncated-streamed on FPGAs, a variant of fpga/task_spktrunc that computes every row of a block from
// both unknowns beside the block, one iteration later. For dominance d the error is d^-TASK_ROWS in all rows.
//
// Arguments (global memory)
//   lower, diag, upper, y  whole blocks of the bands and of the right-hand side, written by the host
//   x                      whole blocks of the solution, written here
//   n                      rows of the whole system
//   first                  number of the block that element 0 of all arrays holds
//   kept_begin, kept_end   the kernel solves these blocks; the arrays also hold one more block on either side
// Launch:  one work-item.
// Local:   none; private two blocks.
// Per row: 2 divisions, 5 multiplications, 6 multiply-adds, 1 addition, 5 words (SYMMETRIC 4). Per block: 1 division.
//          The multiplications for unused spikes are not counted: the compiler removes them.
// Assumes: no pivot and no 1 - v_b w_t vanishes (set-up checks it). NaN of y stays in its line.
// Valid:   x of the blocks [kept_begin, kept_end). Rows from n on hold 0.
#include "fpga/task_blocks.clh"

__kernel TASK void task_spkboth(__global const block_t* restrict lower, __global const block_t* restrict diag,
                                __global const block_t* restrict upper, __global const block_t* restrict y,
                                __global block_t* restrict x, const long n, const long first, const long kept_begin,
                                const long kept_end) {
  if (kept_begin >= kept_end) return;
  const there_t there = {n, first, min(kept_end, (n - 1) / TASK_ROWS)};
  down_t down_1 = NOTHING_DOWN;  // results of block k - 1
  cut_t cut_1 = {ZERO, ZERO};    // unknowns at cut k - 1
  scalar_t upper_above = ZERO;
  for (long k = max(kept_begin - 1, 0L); k <= kept_end; ++k) {
    rows_t rows;
    load_block(lower, diag, upper, y, there, k, &upper_above, &rows);
    down_t down;
    up_t up;
    sweep_down(&rows, &down);
    sweep_up(&rows, &up);
    const cut_t cut = solve_cut_between(&down_1, &up, inverse_of_cut(&down_1, &up));
    block_t solved;
    substitute(&down_1, cut_1.above, cut.below, &solved);
    if (k > kept_begin) x[k - 1 - first] = solved;
    down_1 = down;
    cut_1 = cut;
  }
}
