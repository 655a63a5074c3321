// SPDX-License-Identifier: BSD-2-Clause
// Purpose: make lane-interleaved stored factors (schemes/lanes) of matrices whose pivots converge, whatever row
// elimination starts at. The elimination of a partition starts `lead_in` rows above it, as at the first row of a line.
//
//   p_i = 1 / (b_i - a_i c_(i-1) p_(i-1));  multiplier a_i p_(i-1), reciprocal p_i, coupling c_i p_i
//   with a, b, c: lower, diag, upper
// Source: core/factors computes the same factors, but eliminates from the first row of every line.
//
// Arguments (global memory)
//   lower, diag, upper  rows of the bands; lower of row 0 and upper of row n - 1 are never read
//   multipliers, reciprocals, couplings  written here, from first_tile on, rounded to factors_t (cpu/factors.clh)
//   down, up     products of -multiplier and of -coupling (as stored) over each partition, shape [tiles LANES],
//                written here
//   scratch      LANES lanes_t for each work-group
//   n            rows of the whole system
//   origin       row that element 0 of lower, diag and upper holds
//   first_tile   tile that vector 0 of the factors belongs to
//   tile_begin, tile_end  tiles of this launch
//   m            rows of a partition, a multiple of LANES
//   lead_in      number of rows, a multiple of LANES
//   passes       0: down and up become 0, because no influence passes through a whole partition
//   in_coupling  1: couplings serve as multipliers (symmetric matrices), and `multipliers` is the array `couplings`. A
//                tile has one more row of couplings, which holds the multipliers of the first rows
// Launch:  any number of work-groups of one work-item; each takes a run of consecutive tiles.
// Local:   none; private 3 LANES lanes_t.
// Per row: 1 division, 6 multiplications and additions, 6 words; reads and arithmetic take (m + lead_in) / m of this.
// Assumes: no pivot vanishes (rows are dominant).
// Valid:   factors of the tiles. Rows from n on are identity rows.
#include "cpu/factors.clh"
#include "cpu/tile.clh"

__kernel __attribute__((reqd_work_group_size(1, 1, 1))) void interleaved_factor(
    __global const scalar_t* restrict lower, __global const scalar_t* restrict diag,
    __global const scalar_t* restrict upper, __global factors_t* restrict multipliers,
    __global factors_t* restrict reciprocals, __global factors_t* restrict couplings, __global scalar_t* restrict down,
    __global scalar_t* restrict up, __global lanes_t* restrict scratch, const long n, const long origin,
    const long first_tile, const long tile_begin, const long tile_end, const int m, const int lead_in, const int passes,
    const int in_coupling) {
  const long run = (long)get_group_id(0), runs = (long)get_num_groups(0);
  __global scalar_t* const edge = (__global scalar_t*)(scratch + run * LANES);
  const Rows rows = {n, origin, m};
  const long end = run_begin(tile_begin, tile_end, run + 1, runs);
  for (long t = run_begin(tile_begin, tile_end, run, runs); t < end; ++t) {
    const long base = t * LANES * m - lead_in, next = base + LANES * m;
    const long vector = (t - first_tile) * (m + in_coupling) - lead_in;
    const bool full = base > 0 && (t + 1) * LANES * m < n;
    lanes_t p = ZERO, c = ZERO, through_down = ONE, through_up = ONE;
    lanes_t lower_block[LANES], diag_block[LANES], upper_block[LANES];
    for (int at = 0; at < lead_in + m; at += LANES) {
      load_bands(lower, diag, upper, rows, base + at, full, edge, lower_block, diag_block, upper_block);
      prefetch_block(lower, rows, next + at);
      prefetch_block(diag, rows, next + at);
      prefetch_block(upper, rows, next + at);
      for (int s = 0; s < LANES; ++s) {
        const lanes_t a = lower_block[s];
        const factors_t factor = narrowed(mul(a, p));
        p = reciprocal(mul_sub(diag_block[s], a, c));
        c = mul(upper_block[s], p);
        if (at < lead_in) continue;
        const factors_t coupling = narrowed(c);
        through_down = -mul(through_down, widen(factor));
        through_up = -mul(through_up, widen(coupling));
        if (!in_coupling || at + s == lead_in) store_factors_past_cache(factor, multipliers + vector + at + s);
        store_factors_past_cache(narrowed(p), reciprocals + vector + at + s);
        store_factors_past_cache(coupling, couplings + vector + at + s + in_coupling);
      }
    }
    to_storage(passes ? through_down : ZERO, down + t * LANES);
    to_storage(passes ? through_up : ZERO, up + t * LANES);
  }
}
