// SPDX-License-Identifier: BSD-2-Clause
// Purpose: second kernel of truncated SPIKE by lanes: solve 2x2 reduced systems for the last and the first unknown of
// each partition, then sweep back by LU and UL.
// Source: Macintosh, Banks and Kelson 2019, section 3.2.2 and figure 4 (spktrrec), equations 6 and 7.
//
// Arguments (global memory, marshalled as cpu/paper_lanes.clh says)
//   lower, upper, reciprocals, left  shape [tiles * m] lanes_t; paper_lanes_spkfact writes reciprocals and left
//   v, f_bottom, w, f_top            shape [tiles * LANES + 2], written by paper_lanes_spkfact
//   x                                shape [tiles * m] lanes_t; written here
//   m, m_min                         rows of a partition, and the paper's m_min: even, at most m / 2
//   tiles                            tiles of this launch
// Launch:  any number of work-groups of one work-item; each takes a run of consecutive tiles.
// Local:   none. Per row: 1 multiply-add, 1 multiplication; 4 words.
// Numerics: the influence of a neighbour is truncated m_min / 2 rows away (schemes/paper bounds the error).
// Valid:   partitions with both neighbours in the launch, and the first and the last partition of the system.
#include "cpu/paper_lanes.clh"

__kernel __attribute__((reqd_work_group_size(1, 1, 1))) void paper_lanes_spktrrec(
    __global const lanes_t* restrict lower, __global const lanes_t* restrict upper,
    __global const lanes_t* restrict reciprocals, __global const lanes_t* restrict left,
    __global const scalar_t* restrict v, __global const scalar_t* restrict f_bottom,
    __global const scalar_t* restrict w, __global const scalar_t* restrict f_top, __global lanes_t* restrict x,
    const int m, const int m_min, const long tiles) {
  const long run = (long)get_group_id(0), runs = (long)get_num_groups(0);
  const int meeting = m_min / 2 * 3;
  for (long t = run_begin(0, tiles, run, runs); t < run_begin(0, tiles, run + 1, runs); ++t) {
    const long base = marshalled(t, m), tip = tip_of(t);
    lanes_t value = interface_unknown(from_storage(f_bottom + tip), from_storage(v + tip),
                                      from_storage(f_top + tip + 1), from_storage(w + tip + 1));
    store_lanes_past_cache(value, x + base + m - 1);
    for (long at = base + m - 2; at >= base + meeting; --at) {
      value = mul(take_off(true, left[at], upper[at], value), reciprocals[at]);
      store_lanes_past_cache(value, x + at);
    }
    value = interface_unknown(from_storage(f_top + tip), from_storage(w + tip), from_storage(f_bottom + tip - 1),
                              from_storage(v + tip - 1));
    store_lanes_past_cache(value, x + base);
    for (long at = base + 1; at < base + meeting; ++at) {
      value = mul(take_off(true, left[at], lower[at], value), reciprocals[at]);
      store_lanes_past_cache(value, x + at);
    }
  }
}
