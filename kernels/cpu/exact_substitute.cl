// SPDX-License-Identifier: BSD-2-Clause
// Purpose: second pass of exact-twopass: solve the inner rows of every partition, whose top and bottom unknowns are
// known. They are eliminated as exact_reduce did, to the bit, so that both passes are one Gaussian elimination; a sweep
// that begins anew from the unknowns outside of the partition disagrees with the first pass where a partition is
// ill-conditioned by itself (core/model).
//
//   down:  eliminate row i - 1 from row i, from the second row on;  c'_i = upper_i / diag_i,
//          d'_i = (f_i - lower_i x_top) / diag_i, lower_i being what couples to the top by then
//   back:  x_i = d'_i - c'_i x_(i+1)
//
// Down and back go from one kept state of the elimination to the next, the last ones first, so that c', d' stay in the
// first-level cache.
// Source: core/model (substitute_exact); cpu/excess.clh.
//
// Arguments (global memory)
//   lower, diag, upper, y, x, n, origin, tile_begin, tile_end, m, slot   as for truncated_halo, with halo = 0
//   tops, bottoms  first and last unknown of every partition, shape [partitions padded to whole tiles]; written by the
//                  host; the last is 0 where the partition ends beyond n
//   states, shift, state_rows  as exact_reduce left them, and was given
//   scratch        `slot` lanes_t for each work-group: LANES for edge tiles, then c', d' of the rows between two states
//                  of CHAINS tiles
// Launch:  any number of work-groups of one work-item; each walks a run of consecutive tiles.
// Local:   none; private 6 CHAINS LANES lanes_t.
// Per row: 1 division, about 30 additions and multiplications, 5 words and 4 / state_rows.
// Assumes: nothing is re-associated or contracted. NaN of y stays in its line.
// Valid:   x for the rows of the tiles below n.
#include "cpu/marks.clh"

// Leave c', d' of a row where row_back() looks for them; returns -1 / diag. out: swept + 2 i
static inline lanes_t leave(ExcessRow* row, lanes_t x_top, bool careful, __global lanes_t* out) {
  const lanes_t r = make_pivot(row, careful), inverse = -r;
  out[0] = mul(row->upper, inverse);
  out[1] = mul(add_guarded(careful, row->f, -row->lower, x_top), inverse);
  return r;
}

// What a tile is swept by.
typedef struct {
  Tile tile;
  lanes_t x_top, x_bottom;
  lanes_t x;  // of the uppermost row that is solved
  ExcessRow row;
  lanes_t r;
  __global lanes_t* swept;
} Chain;

// Leave c', d' of the padded rows from state `mark` to `end` but for the first and last of the partition, for whose
// unknowns they are 0 and the unknown. *slack: see make_row.
FOR_EACH_GUARD static inline void sweep_down(Chain* chains, int mark, int end, bool careful, System of,
                                             __global const lanes_t* states, Marks marks, __global scalar_t* edge,
                                             lanes_t* slack) {
  const int begin = mark * marks.rows;
  const Rows rows = chains[0].tile.rows;
  const int first = chains[0].tile.first;
  Block block[CHAINS];
  for (int at = begin; at < end; at += LANES) {
#pragma unroll
    for (int c = 0; c < CHAINS; ++c) {
      const Tile tile = chains[c].tile;
      load_rows(of.lower, of.diag, of.upper, of.y, rows, tile.base + at, tile.full, edge, &block[c]);
      const long next = tile.base + CHAINS * LANES * rows.m + at;
      prefetch_block(of.lower, rows, next);
      prefetch_block(of.diag, rows, next);
    }
    const int count = min(end - at, LANES);
    int s = 0;
    if (at == 0) {  // the second row begins the elimination
      s = first + 1;
#pragma unroll
      for (int c = 0; c < CHAINS; ++c) {
        Chain* const k = &chains[c];
        k->row = make_row(&block[c], s, careful, slack);
        k->r = leave(&k->row, k->x_top, careful, k->swept + 2 * s);
      }
      ++s;
    } else if (at == begin) {
#pragma unroll
      for (int c = 0; c < CHAINS; ++c) {
        Chain* const k = &chains[c];
        k->row = kept_state(states + state_of(marks, &k->tile, mark));
        k->r = make_pivot(&k->row, careful);
      }
    }
    for (; s < count; ++s) {
#pragma unroll
      for (int c = 0; c < CHAINS; ++c) {
        Chain* const k = &chains[c];
        ExcessRow below = make_row(&block[c], s, careful, slack);
        below.lower = eliminate(&below, below.lower, &k->row, k->row.upper, k->row.lower, k->r, careful);
        k->row = below;
        k->r = leave(&k->row, k->x_top, careful, k->swept + 2 * (at - begin + s));
      }
    }
  }
  if (mark == 0) {
#pragma unroll
    for (int c = 0; c < CHAINS; ++c) {
      chains[c].swept[2 * first] = ZERO;
      chains[c].swept[2 * first + 1] = chains[c].x_top;
    }
  }
  if (mark == marks.count) {
#pragma unroll
    for (int c = 0; c < CHAINS; ++c) {
      chains[c].swept[2 * (end - 1 - begin)] = ZERO;
      chains[c].swept[2 * (end - 1 - begin) + 1] = chains[c].x_bottom;
    }
  }
}

// Substitute in the padded rows from `begin` to `end`, which sweep_down() left, and store them.
FOR_EACH_GUARD static inline void substitute_rows(Chain* chains, int begin, int end, bool careful, System of,
                                                  bool past_cache, __global scalar_t* edge, __global scalar_t* x) {
  const Rows rows = chains[0].tile.rows;
  const int first = max(begin, chains[0].tile.first);
  lanes_t block[CHAINS][2 * LANES];
  for (int at = begin + (end - 1 - begin) / LANES * LANES; at >= begin; at -= LANES) {
    const int from = max(first - at, 0), to = min(end - at, LANES);
    if (from == 0 && to == LANES) {
#pragma unroll
      for (int s = LANES - 1; s >= 0; --s) {
#pragma unroll
        for (int c = 0; c < CHAINS; ++c) {
          block[c][s] = chains[c].x = row_back(chains[c].swept + 2 * (at - begin), s, chains[c].x, careful);
        }
      }
    } else {
      for (int s = 0; s < 2 * LANES; ++s) {
        for (int c = 0; c < CHAINS; ++c) block[c][s] = ZERO;
      }
      for (int s = to - 1; s >= from; --s) {
#pragma unroll
        for (int c = 0; c < CHAINS; ++c) {
          block[c][s] = chains[c].x = row_back(chains[c].swept + 2 * (at - begin), s, chains[c].x, careful);
        }
      }
    }
#pragma unroll
    for (int c = 0; c < CHAINS; ++c) {
      const Tile tile = chains[c].tile;
      const long next = tile.base + CHAINS * LANES * rows.m + at;
      prefetch_block(of.upper, rows, next);
      prefetch_block(of.y, rows, next);
      store_rows(block[c] + from, to - from, rows, tile.base + at + from, tile.full, past_cache, edge, x);
    }
  }
}

// Solve the partitions of some tiles; false if that takes care.
FOR_EACH_GUARD static inline bool substitute(Chain* chains, Marks marks, bool careful, System of,
                                             __global const lanes_t* states, __global scalar_t* edge, bool past_cache,
                                             __global scalar_t* x) {
  const int end = chains[0].tile.end;
  lanes_t slack = ONE;
#pragma unroll
  for (int c = 0; c < CHAINS; ++c) chains[c].x = ZERO;
  for (int mark = marks.count; mark >= 0; --mark) {
    const int begin = mark * marks.rows, segment_end = min(end, begin + marks.rows);
    sweep_down(chains, mark, segment_end, careful, of, states, marks, edge, &slack);
    if (any_negative(slack) && !careful) return false;
    substitute_rows(chains, begin, segment_end, careful, of, past_cache, edge, x);
  }
  bool finite = true;
#pragma unroll
  for (int c = 0; c < CHAINS; ++c) finite = finite && all_finite(chains[c].x);
  return finite && !any_negative(slack);
}

__kernel __attribute__((reqd_work_group_size(1, 1, 1))) void exact_substitute(
    __global const scalar_t* restrict lower, __global const scalar_t* restrict diag,
    __global const scalar_t* restrict upper, __global const scalar_t* restrict y, __global scalar_t* restrict x,
    __global const scalar_t* restrict tops, __global const scalar_t* restrict bottoms,
    __global const lanes_t* restrict states, __global lanes_t* restrict scratch, const long n, const long origin,
    const long tile_begin, const long tile_end, const int m, const int slot, const int shift, const int state_rows) {
  const long run = (long)get_group_id(0), runs = (long)get_num_groups(0);
  __global lanes_t* const swept = scratch + run * slot + LANES;
  __global scalar_t* const edge = (__global scalar_t*)(scratch + run * slot);
  const Rows rows = {n, origin, m};
  const Marks marks = make_marks(m, shift, state_rows);
  const System of = {lower, diag, upper, y};
  const bool past_cache = m % LANES == 0 && is_lanes_aligned(x + (tile_begin * LANES * m - shift - origin));
  const long end = run_begin(tile_begin, tile_end, run + 1, runs);
  bool easy = true;
  for (long t = run_begin(tile_begin, tile_end, run, runs); t < end; t += CHAINS) {
    Chain chains[CHAINS];
#pragma unroll
    for (int c = 0; c < CHAINS; ++c) {
      const long number = min(t + c, end - 1);
      chains[c].tile = make_shifted_tile(rows, number, shift);
      chains[c].x_top = from_storage(tops + number * LANES);
      chains[c].x_bottom = from_storage(bottoms + number * LANES);
      chains[c].swept = swept + 2 * c * min(round_up(shift + m, LANES), state_rows);
    }
    if (easy) easy = substitute(chains, marks, false, of, states, edge, past_cache, x);
    if (!easy) easy = substitute(chains, marks, true, of, states, edge, past_cache, x);
  }
}
