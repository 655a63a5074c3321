// SPDX-License-Identifier: BSD-2-Clause
// Purpose: first kernel of truncated SPIKE by lanes: sweep UL over the first 2 m_min rows of each partition, sweep LU
// over its rows from m_min on, and store the tips of the spikes.
// Source: Macintosh, Banks and Kelson 2019, section 3.2.2 and figure 4 (spkfact).
//
// Arguments (global memory, marshalled as cpu/paper_lanes.clh says)
//   lower, diag, upper, y  shape [tiles * m] lanes_t
//   reciprocals, left      shape [tiles * m] lanes_t, written here; reciprocal pivots and eliminated y. UL gives those
//                          above row 3 m_min / 2 of a partition, LU the others
//   v, f_bottom            shape [tiles * LANES + 2]; LU gives x = f_bottom - v x_below in the last row
//   w, f_top               shape [tiles * LANES + 2]; UL gives x = f_top - w x_above in the first row
//   m, m_min               rows of a partition, and the paper's m_min: even, at most m / 2
//   tiles                  tiles of this launch
// Launch:  any number of work-groups of one work-item; each takes a run of consecutive tiles.
// Local:   none. Per row 1 division, 2 multiply-adds, 1 multiplication and 4 words read, all times 1 + m_min / m, and
//          2 words written.
// Assumes: rows are dominant, which keeps pivots from vanishing without pivoting.
// Valid:   all partitions of the tiles.
#include "cpu/paper_lanes.clh"

typedef struct {
  lanes_t f, r;  // eliminated y and reciprocal pivot of the last row taken
  lanes_t far;   // coupling of the last row taken to the next row
} Swept;

// Begin with a row as if the sweep had no row before it.
static inline Swept begin_sweep(lanes_t diag, lanes_t behind, lanes_t y) {
  const Swept swept = {y, reciprocal(diag), behind};
  return swept;
}

// Take the next row: eliminate the row before it. `before` and `behind` couple the row to its two neighbours.
static inline void take_row(Swept* of, lanes_t before, lanes_t diag, lanes_t behind, lanes_t y) {
  const lanes_t t = mul(before, of->r);
  of->r = reciprocal(mul_sub(diag, t, of->far));
  of->f = take_off(true, y, t, of->f);
  of->far = behind;
}

static inline void keep_row(Swept of, __global lanes_t* reciprocal_of_row, __global lanes_t* left_of_row) {
  store_lanes_past_cache(of.r, reciprocal_of_row);
  store_lanes_past_cache(of.f, left_of_row);
}

__kernel __attribute__((reqd_work_group_size(1, 1, 1))) void paper_lanes_spkfact(
    __global const lanes_t* restrict lower, __global const lanes_t* restrict diag,
    __global const lanes_t* restrict upper, __global const lanes_t* restrict y, __global lanes_t* restrict reciprocals,
    __global lanes_t* restrict left, __global scalar_t* restrict v, __global scalar_t* restrict f_bottom,
    __global scalar_t* restrict w, __global scalar_t* restrict f_top, const int m, const int m_min, const long tiles) {
  const long run = (long)get_group_id(0), runs = (long)get_num_groups(0);
  const int meeting = m_min / 2 * 3;
  for (long t = run_begin(0, tiles, run, runs); t < run_begin(0, tiles, run + 1, runs); ++t) {
    const long base = marshalled(t, m), tip = tip_of(t), above = base + 2 * m_min - 1, below = base + m_min;
    Swept ul = begin_sweep(diag[above], lower[above], y[above]);
    for (long at = above - 1; at >= base + meeting; --at) take_row(&ul, upper[at], diag[at], lower[at], y[at]);
    for (long at = base + meeting - 1; at >= base; --at) {
      take_row(&ul, upper[at], diag[at], lower[at], y[at]);
      keep_row(ul, reciprocals + at, left + at);
    }
    to_storage(mul(ul.far, ul.r), w + tip);
    to_storage(mul(ul.f, ul.r), f_top + tip);
    Swept lu = begin_sweep(diag[below], upper[below], y[below]);
    for (long at = below + 1; at < base + meeting; ++at) take_row(&lu, lower[at], diag[at], upper[at], y[at]);
    for (long at = base + meeting; at < base + m; ++at) {
      take_row(&lu, lower[at], diag[at], upper[at], y[at]);
      keep_row(lu, reciprocals + at, left + at);
    }
    to_storage(mul(lu.far, lu.r), v + tip);
    to_storage(mul(lu.f, lu.r), f_bottom + tip);
    // Outside the partitions, tips are 0.
    if (t == 0) v[0] = f_bottom[0] = 0;
    if (t == tiles - 1) w[tip_of(tiles)] = f_top[tip_of(tiles)] = 0;
  }
}
