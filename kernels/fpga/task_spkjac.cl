// SPDX-License-Identifier: BSD-2-Clause
// Purpose: method truncated-streamed on FPGAs, a variant of fpga/task_spkboth that computes the unknowns of each cut
// twice. The second time uses the first results of the neighbouring cuts: one sweep of Jacobi's method. A block is
// solved two iterations later. For dominance d the error is d^(-2 TASK_ROWS).
//
// Arguments (global memory)
//   lower, diag, upper, y  whole blocks of the bands and of the right-hand side, written by the host
//   x                      whole blocks of the solution, written here
//   n                      rows of the whole system
//   first                  number of the block that element 0 of all arrays holds
//   kept_begin, kept_end   the kernel solves these blocks; the arrays also hold two more blocks on either side
// Launch:  one work-item.
// Local:   none; private three blocks.
// Per row: 2 divisions, 8 multiplications, 6 multiply-adds, 1 addition, 5 words (SYMMETRIC 4). Per block: 1 division.
// Assumes: no pivot and no 1 - v_b w_t vanishes (set-up checks it). NaN of y stays in its line.
// Valid:   x of the blocks [kept_begin, kept_end). Rows from n on hold 0.
#include "fpga/task_blocks.clh"

// The numbers that cut k needs from the block below it.
typedef struct {
  scalar_t value, coupling, spike;  // f_t, w_t, v_t of its first row
  scalar_t inverse;                 // 1 / (1 - v_b w_t) of the cut
} tips_t;

__kernel TASK void task_spkjac(__global const block_t* restrict lower, __global const block_t* restrict diag,
                               __global const block_t* restrict upper, __global const block_t* restrict y,
                               __global block_t* restrict x, const long n, const long first, const long kept_begin,
                               const long kept_end) {
  if (kept_begin >= kept_end) return;
  const there_t there = {n, first, min(kept_end + 1, (n - 1) / TASK_ROWS)};
  down_t down_1 = NOTHING_DOWN, down_2 = NOTHING_DOWN;  // results of blocks k - 1 and k - 2
  tips_t tips_1 = {ZERO, ZERO, ZERO, ONE};              // numbers for cut k - 1
  cut_t once_1 = {ZERO, ZERO}, once_2 = {ZERO, ZERO};   // first solution of cuts k - 1 and k - 2
  cut_t twice_2 = {ZERO, ZERO};                         // second solution of cut k - 2
  scalar_t upper_above = ZERO;
  for (long k = max(kept_begin - 2, 0L); k <= kept_end + 1; ++k) {
    rows_t rows;
    load_block(lower, diag, upper, y, there, k, &upper_above, &rows);
    down_t down;
    up_t up;
    sweep_down(&rows, &down);
    sweep_up(&rows, &up);
    const tips_t tips = {up.value[0], up.coupling[0], up.spike, inverse_of_cut(&down_1, &up)};
    const cut_t once = solve_cut_between(&down_1, &up, tips.inverse);
    const scalar_t f_above = take_off(true, down_2.value[TASK_ROWS - 1], down_2.spike, once_2.above),
                   f_below = take_off(true, tips_1.value, tips_1.spike, once.below);
    const cut_t twice_1 =
        solve_cut(f_above, down_2.coupling[TASK_ROWS - 1], f_below, tips_1.coupling, tips_1.inverse);
    block_t solved;
    substitute(&down_2, twice_2.above, twice_1.below, &solved);
    if (k > kept_begin + 1) x[k - 2 - first] = solved;
    down_2 = down_1;
    down_1 = down;
    tips_1 = tips;
    once_2 = once_1;
    once_1 = once;
    twice_2 = twice_1;
  }
}
