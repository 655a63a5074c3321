// SPDX-License-Identifier: BSD-2-Clause
// Purpose: method exact-factored for lines side by side, by factors stored at set-up.
//
//   down:  d_i = y_i - m_i d_(i-1),      m_i = a_i p_(i-1), p_i = 1 / (b_i - a_i c_(i-1) p_(i-1))
//   back:  x_i = d_i p_i - k_i x_(i+1),  k_i = c_i p_i;   a, b, c: lower, diag, upper
// Source: Thomas' algorithm; core/factors makes the factors, core/host_solver computes x in C++.
//
// Arguments (global memory)
//   multiplier, reciprocal, coupling   m, p and k in the layout of y and x; written by the host
//   y                   right-hand sides, written by the host
//   x                   solutions, written here; overlaps no other array. Elements between lines keep their values
//   scratch             `slot` lanes_t for each work-group: a row for the sweeps, then d of every row of a bundle
//   blocks, block_stride, block_lines  line l of block o begins at element o block_stride + l
//   length, row_stride  rows of a line, and distance between its rows in elements
//   width, bundles      lines of a bundle (whole lanes), bundles of a block; the last bundle takes the remaining lines,
//                       fewer than width + LANES
//   slot                (length + 1) times the vectors of a row of the widest bundle
//   above               symmetric (multiplier = coupling): distance between rows, in elements; else 0
// Launch:  any number of work-groups of one work-item; each takes a run of consecutive bundles.
// Local:   none.
// Per row: 3 multiply-adds; 5 words, or 4 if symmetric, while d of a bundle stays in the cache; else 7 words. With
//          NARROW_FACTORS (cpu/factors.clh) a factor counts half a word.
// Assumes: factors are finite (set-up checks it). NaN of y stays in its line.
// Valid:   x for the rows of all lines.
#define FACTORS(p, i, at) factors_from_storage((p) + (at))
#define FACTOR(p, i, at) ((p)[at])
#include "cpu/strided.clh"

__kernel __attribute__((reqd_work_group_size(1, 1, 1))) void strided_factored(
    __global const factor_t* restrict multiplier, __global const factor_t* restrict reciprocal,
    __global const factor_t* restrict coupling, __global const scalar_t* restrict y, __global scalar_t* restrict x,
    __global lanes_t* restrict scratch, const long blocks, const long block_stride, const long block_lines,
    const int length, const long row_stride, const int width, const int bundles, const long slot, const long above) {
  const Factors f = {multiplier, reciprocal, coupling, above};
  solve_bundles(f, y, x, scratch, blocks, block_stride, block_lines, length, row_stride, width, bundles, slot);
}
