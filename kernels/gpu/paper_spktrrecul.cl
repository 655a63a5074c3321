// SPDX-License-Identifier: BSD-2-Clause
// Purpose: third kernel of truncated SPIKE by work-items: solve a 2x2 reduced system for the first unknown of each
// partition, then sweep UL back over the top half.
// Source: Macintosh, Banks and Kelson 2019, section 3.2.2 and figure 5 (spktrrecul), equations 6 and 7.
//
// Arguments (global memory, marshalled as gpu/paper.clh says)
//   lower, reciprocals, left  shape [tiles * GROUP_ITEMS * m]; paper_spkfact writes reciprocals and left
//   v, f_bottom, w, f_top     shape [tiles * GROUP_ITEMS], written by paper_spkfact
//   x                         shape [tiles * GROUP_ITEMS * m]; top halves are written here
//   partitions                the kernel solves partitions 1 to `partitions`
// Build parameter: PARTITION_ROWS is m.
// Launch:  a work-item for each partition, in groups of GROUP_ITEMS.
// Local:   none. Per row: half a multiply-add, half a multiplication, 2 words. Per partition: 4 words.
// Numerics: the influence from below is truncated half a partition away (schemes/paper bounds the error).
// Valid:   rows before m / 2 of these partitions.
#include "gpu/paper.clh"

#ifndef PARTITION_ROWS
#error "build with -D PARTITION_ROWS=rows of a partition"
#endif

__kernel __attribute__((reqd_work_group_size(GROUP_ITEMS, 1, 1))) void paper_spktrrecul(
    __global const scalar_t* restrict lower, __global const scalar_t* restrict reciprocals,
    __global const scalar_t* restrict left, __global const scalar_t* restrict v,
    __global const scalar_t* restrict f_bottom, __global const scalar_t* restrict w,
    __global const scalar_t* restrict f_top, __global scalar_t* restrict x, const long partitions) {
  enum { m = PARTITION_ROWS };
  const long partition = (long)get_global_id(0);
  if (m < 2) return;  // a partition of one row has no top half
  if (partition < 1 || partition > partitions) return;
  scalar_t above = interface_unknown(f_top[partition], w[partition], f_bottom[partition - 1], v[partition - 1]);
  x[marshalled(m, 0)] = above;
#pragma unroll 4
  for (int i = 1; i < m / 2; ++i) {
    const long at = marshalled(m, i);
    above = mul(take_off(true, left[at], lower[at], above), reciprocals[at]);
    x[at] = above;
  }
}
