// SPDX-License-Identifier: BSD-2-Clause
// Purpose: the last level of exact-factored on GPUs, for lines laid end to end, see tile_fold.cl: one work-group solves
// what is left of all tiles, z_i = y_i - m_i z_(i-1) down, x_i = p_i z_i - k_i x_(i+1) up. What counts is how soon it
// begins and ends, so its text is short, and nothing is turned: whoever writes y and the factors puts them where its
// work-items read side by side.
// Source: sweeps are chains of affine maps, composed within a work-item and scanned over the work-group.
//
// Arguments (global memory): row i of work-item j, ITEM_ROWS j + i of the level, is at i row_step + j item_step of
//   multiplier, reciprocal, coupling, y, x  shape [GROUP_ITEMS ITEM_ROWS], as far as there are rows; x overlaps none.
//                LEFT: all of them are there, beyond the rows y is 0 and what x becomes is not read
//   taken        the same, LEFT: what is to be taken off y
//   care         shape [1], set to 1 where a number is not finite; the launch is then to be repeated with GUARDED 1
//   n            rows; 0: nothing to do
//   words        local, SCAN_WORDS scalars
// Build parameters: those of tile_scan.clh, ITEM_ROWS: rows of a work-item, at least 1, and LEFT of tile_level.clh.
// Launch:  one work-group of GROUP_ITEMS work-items.
// Local:   as many scalars.
// Per row: 4 multiply-adds, 3 multiplications; 6 words.
#include "gpu/tile_care.clh"
#include "gpu/tile_scan.clh"

// Loads that wait for no condition are 3 us of 12 (14,649 rows on an H200).
#ifdef LEFT
#define IS_THERE(i) true
#else
#define IS_THERE(i) ((i) < rows)
#endif
// Of large work-groups work-items have few registers: what is for the way up comes late.
#define LATE (GROUP_ITEMS > 512)

__kernel __attribute__((reqd_work_group_size(GROUP_ITEMS, 1, 1))) void tile_last(
    __global const scalar_t* restrict multiplier, __global const scalar_t* restrict reciprocal,
    __global const scalar_t* restrict coupling, __global const scalar_t* restrict y,
    __global const scalar_t* restrict taken, __global scalar_t* restrict x, __global int* restrict care, const int n,
    const int row_step, const int item_step, __local scalar_t* words) {
  if (n == 0) return;
  const int item = (int)get_local_id(0), first = item * item_step, rows = n - item * ITEM_ROWS;
  scalar_t w[ITEM_ROWS], r[ITEM_ROWS], c[ITEM_ROWS], v[ITEM_ROWS];
#pragma unroll
  for (int i = 0; i < ITEM_ROWS; ++i) {
    const int at = first + i * row_step;
    const bool there = IS_THERE(i);
    w[i] = there ? multiplier[at] : 0;
#if !LATE
    r[i] = there ? reciprocal[at] : 0;
    c[i] = there ? coupling[at] : 0;
#endif
    v[i] = there ? y[at] : 0;
#ifdef LEFT
    if (there) v[i] -= taken[at];
#endif
  }
  Affine map = {1, 0};
#pragma unroll
  for (int i = 0; i < ITEM_ROWS; ++i) {
    map.value = take_off(GUARDED, v[i], w[i], map.value);
    map.factor = -mul(w[i], map.factor);
  }
  note_unless_finite(map.value, care);
  scalar_t z = scan(map, false, words).value;
  map.factor = 1;
  map.value = 0;
#pragma unroll
  for (int i = 0; i < ITEM_ROWS; ++i) {
#if LATE
    const int at = first + i * row_step;
    r[i] = IS_THERE(i) ? reciprocal[at] : 0;
    c[i] = IS_THERE(i) ? coupling[at] : 0;
#endif
    z = take_off(GUARDED, v[i], w[i], z);
    v[i] = mul(z, r[i]);
  }
#pragma unroll
  for (int i = ITEM_ROWS - 1; i >= 0; --i) {
    map.value = take_off(GUARDED, v[i], c[i], map.value);
    map.factor = -mul(c[i], map.factor);
  }
  z = scan(map, true, words).value;
#pragma unroll
  for (int i = ITEM_ROWS - 1; i >= 0; --i) {
    z = take_off(GUARDED, v[i], c[i], z);
    if (IS_THERE(i)) x[first + i * row_step] = z;
  }
  note_unless_finite(z, care);
}
