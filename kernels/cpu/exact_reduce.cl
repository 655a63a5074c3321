// SPDX-License-Identifier: BSD-2-Clause
// Purpose: first pass of exact-twopass: eliminate the inner rows of every partition, leaving the equations of its first
// (top) and last (bottom) row in the form that does not cancel at dominance 1 (cpu/excess.clh).
// Source: core/interface, SchurSegment and append_row.
//
// Arguments (global memory)
//   lower, diag, upper, y   as for truncated_halo; rows must be there to round_up(m, LANES) - m behind the tiles
//   segments            shape [8][padded], written here: lower, upper, excess, f of the top, then of the bottom, both
//   times
//                       -1 where their diagonal was negative.
//                       Rows from n on count as identity rows, so that every partition has m rows; with m = 1 top and
//                       bottom are the same row
//   states              bottom rows as they are before every state_rows-th padded row, shape [padded / LANES][states of
//                       a tile][4] lanes_t, written here; see cpu/marks.clh
//   scratch             `slot` lanes_t for each work-group, of which the first LANES serve edge tiles
//   n, origin, tile_begin, tile_end, m   as for truncated_halo
//   padded              partitions padded to whole tiles
//   shift               rows by which blocks begin before each partition, at most LANES - 2; 0 unless the arrays hold
//   all
//                       rows, m is a multiple of LANES and at least two of them
//   state_rows          a multiple of LANES; from shift + m on there are no states
// Launch:  any number of work-groups of one work-item; each walks a run of consecutive tiles.
// Local:   none; private 4 CHAINS LANES lanes_t.
// Per row: 1 division, about 35 additions, multiplications and changes of sign, 4 words and 4 / state_rows.
// Assumes: nothing is re-associated or contracted. NaN of y stays in its line.
// Valid:   segments of the partitions of the tiles.
#include "cpu/marks.clh"

// The old bottom becomes an inner row and is eliminated from both its neighbours.
static inline void append_row(ExcessRow* top, ExcessRow* bottom, ExcessRow next, bool careful) {
  const lanes_t r = make_pivot(bottom, careful);
  next.lower = eliminate(&next, next.lower, bottom, bottom->upper, bottom->lower, r, careful);
  top->upper = eliminate(top, top->upper, bottom, bottom->lower, bottom->upper, r, careful);
  *bottom = next;
}

static inline void store_row(ExcessRow row, __global scalar_t* p, long padded) {
  to_storage(row.lower, p);
  to_storage(row.upper, p + padded);
  to_storage(row.excess, p + 2 * padded);
  to_storage(row.f, p + 3 * padded);
}

// What a tile is swept by.
typedef struct {
  Tile tile;
  ExcessRow top, bottom;
} Chain;

// Take the padded rows from `begin` to `end`. *slack: see make_row.
FOR_EACH_GUARD static inline void sweep_down(Chain* chains, int begin, int end, bool careful, System of,
                                             __global scalar_t* edge, lanes_t* slack) {
  const Rows rows = chains[0].tile.rows;
  Block block[CHAINS];
  for (int at = begin; at < end; at += LANES) {
#pragma unroll
    for (int c = 0; c < CHAINS; ++c) {
      const Tile tile = chains[c].tile;
      const long next = tile.base + CHAINS * LANES * rows.m + at;
      load_rows(of.lower, of.diag, of.upper, of.y, rows, tile.base + at, tile.full, edge, &block[c]);
      prefetch_block(of.lower, rows, next);
      prefetch_block(of.diag, rows, next);
      prefetch_block(of.upper, rows, next);
      prefetch_block(of.y, rows, next);
    }
    const int count = min(end - at, LANES);
    int s = 0;
    if (at == 0) {  // the first two rows couple directly
      s = chains[0].tile.first;
#pragma unroll
      for (int c = 0; c < CHAINS; ++c) {
        chains[c].top = make_row(&block[c], s, careful, slack);
        chains[c].bottom = make_row(&block[c], min(s, count - 2) + 1, careful, slack);
      }
      s += 2;
    }
    for (; s < count; ++s) {
#pragma unroll
      for (int c = 0; c < CHAINS; ++c) {
        append_row(&chains[c].top, &chains[c].bottom, make_row(&block[c], s, careful, slack), careful);
      }
    }
  }
}

// Reduce the partitions of some tiles; false if that takes care.
FOR_EACH_GUARD static inline bool reduce(Chain* chains, Marks marks, bool careful, System of, __global scalar_t* edge,
                                         __global scalar_t* segments, long padded, __global lanes_t* states) {
  const int end = chains[0].tile.end;
  lanes_t slack = ONE;
  for (int mark = 0; mark <= marks.count; ++mark) {
    const int begin = mark * marks.rows;
    if (mark > 0) {
#pragma unroll
      for (int c = 0; c < CHAINS; ++c) keep_state(chains[c].bottom, states + state_of(marks, &chains[c].tile, mark));
    }
    sweep_down(chains, begin, min(end, begin + marks.rows), careful, of, edge, &slack);
  }
  bool finite = true;
#pragma unroll
  for (int c = 0; c < CHAINS; ++c) {
    __global scalar_t* const out = segments + chains[c].tile.number * LANES;
    store_row(chains[c].top, out, padded);
    store_row(chains[c].bottom, out + 4 * padded, padded);
    finite = finite && all_finite(chains[c].top.f) && all_finite(chains[c].bottom.f);
  }
  return !any_negative(slack) && finite;
}

__kernel __attribute__((reqd_work_group_size(1, 1, 1))) void exact_reduce(
    __global const scalar_t* restrict lower, __global const scalar_t* restrict diag,
    __global const scalar_t* restrict upper, __global const scalar_t* restrict y, __global scalar_t* restrict segments,
    __global lanes_t* restrict states, __global lanes_t* restrict scratch, const long n, const long origin,
    const long tile_begin, const long tile_end, const int m, const int slot, const long padded, const int shift,
    const int state_rows) {
  const long run = (long)get_group_id(0), runs = (long)get_num_groups(0);
  __global scalar_t* const edge = (__global scalar_t*)(scratch + run * slot);
  const Rows rows = {n, origin, m};
  const Marks marks = make_marks(m, shift, state_rows);
  const System of = {lower, diag, upper, y};
  const long end = run_begin(tile_begin, tile_end, run + 1, runs);
  bool easy = true;
  for (long t = run_begin(tile_begin, tile_end, run, runs); t < end; t += CHAINS) {
    Chain chains[CHAINS];
#pragma unroll
    for (int c = 0; c < CHAINS; ++c) chains[c].tile = make_shifted_tile(rows, min(t + c, end - 1), shift);
    if (easy) easy = reduce(chains, marks, false, of, edge, segments, padded, states);
    if (!easy) easy = reduce(chains, marks, true, of, edge, segments, padded, states);
  }
}
