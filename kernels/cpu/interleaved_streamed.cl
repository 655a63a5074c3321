// SPDX-License-Identifier: BSD-2-Clause
// Purpose: method truncated-streamed by stored factors. A work-group sweeps its run of tiles down, one tile ahead of
// the substitution. The truncation is one tile below each tile and one tile above the run. The kernel sweeps the tile
// above the run from 0, and uses only the result of its last row.
// Source: core/certificate (certify_stored, bound_stored) bounds the error.
//
// Arguments (global memory)
//   multiplier, reciprocal, coupling  stored factors of the tiles from first_tile on (cpu/interleaved.clh); a tile
//                has m + in_coupling vectors
//   down, up     products over each partition that has factors, shape [tiles of factors, LANES] (interleaved.clh)
//   y, x         right-hand side and solution; x overlaps no other array
//   scratch      `slot` lanes_t for each work-group: LANES for edge tiles, then m for each of two tiles
//   n            rows of the whole system
//   origin       row that element 0 of y and x holds
//   first_tile   tile that vector 0 of the factors belongs to
//   tile_begin, tile_end  tiles of this launch. y, x and the factors include one more tile above and below
//   m            rows of a partition, a multiple of LANES
//   reach        rows of a partition that depend on the unknown above it, a multiple of LANES and at most m
//   slot         LANES + 2 m
//   head, period, tail, all  with t counted modulo `all`, a tile t below `head` or from `tail` on has its own
//                factors. The tiles between repeat the factors of the `period` tiles from `head` on. If nothing
//                repeats, head and all are the number of tiles
//   in_coupling  1 (symmetric matrices): the coupling of a row is the multiplier of the row below. A tile of
//                `coupling` begins with the multipliers of the first rows. 0: `multiplier` holds all multipliers
// Build parameter, optional: CORRECTED (cpu/interleaved_corrected.clh); reach is then m.
// Launch:  any number of work-groups of one work-item; each takes a run of consecutive tiles.
// Local:   none; private 2 LANES lanes_t.
// Per row: 1 multiplication, 2 multiply-adds, 5 words. The first `reach` rows of a partition take 2 multiply-adds more.
//          4 words with in_coupling; 2 words if factors repeat and stay in the cache. NARROW_FACTORS
//          (cpu/factors.clh): 3.5 words, 3 with in_coupling. CORRECTED: in addition 6 multiplications and 3
//          multiply-adds on cached numbers.
// Assumes: no factor is infinite. NaN of y stays in its line.
// Valid:   x for the rows of the tiles below n.
#include "cpu/interleaved.clh"

#ifdef CORRECTED
#include "cpu/interleaved_corrected.clh"
#else
static inline void stream_run(Factors factors, Rows rows, long begin, long end, int reach, __global const scalar_t* y,
                              __global scalar_t* x, __global lanes_t* own) {
  const int m = (int)rows.m;
  const long tiles = tiles_of(rows);
  __global scalar_t* const edge = (__global scalar_t*)own;
  scalar_t above = 0;
  lanes_t entered, tops = ZERO;
  // The loop begins in the tile above the run and ends in the tile below the run, if these exist.
  for (long t = max(begin - 1, 0L); t <= end; ++t) {
    const lanes_t tops_before = tops;
    scalar_t top = 0;
    if (t < tiles) {
      const TileFactors f = factors_of(factors, t, m);
      __global lanes_t* const kept = own + LANES + (t & 1) * m;
      above = pass_down(sweep_partitions(rows, t, reach, y, f, kept, edge), from_storage(f.down), above, &entered);
      if (t < begin) continue;
      tops = solve_interfaces(reach, entered, f, kept);
      top = pass_up(tops, from_storage(f.up), 0, &entered);
    }
    if (t == begin) continue;
    const TileFactors f = factors_of(factors, t - 1, m);
    __global lanes_t* const kept = own + LANES + ((t - 1) & 1) * m;
    pass_up(tops_before, from_storage(f.up), top, &entered);
    substitute_partitions(rows, t - 1, entered, f, kept, edge, x);
  }
}
#endif

__kernel __attribute__((reqd_work_group_size(1, 1, 1))) void interleaved_streamed(
    __global const factors_t* restrict multiplier, __global const factors_t* restrict reciprocal,
    __global const factors_t* restrict coupling, __global const scalar_t* restrict down,
    __global const scalar_t* restrict up, __global const scalar_t* restrict y, __global scalar_t* restrict x,
    __global lanes_t* restrict scratch, const long n, const long origin, const long first_tile, const long tile_begin,
    const long tile_end, const int m, const int reach, const int slot, const long head, const long period,
    const long tail, const long all, const int in_coupling) {
  const long run = (long)get_group_id(0), runs = (long)get_num_groups(0);
  const long begin = run_begin(tile_begin, tile_end, run, runs), end = run_begin(tile_begin, tile_end, run + 1, runs);
  const Rows rows = {n, origin, m};
  const Factors factors = {multiplier, reciprocal, coupling, down, up,         first_tile,
                           head,       period,     tail,     all,  in_coupling};
  if (begin == end) return;
  stream_run(factors, rows, begin, end, reach, y, x, scratch + run * slot);
}
