// SPDX-License-Identifier: BSD-2-Clause
// Purpose: second kernel of truncated SPIKE by work-items: solve a 2x2 reduced system for the last unknown of each
// partition, then sweep LU back over the bottom half.
// Source: Macintosh, Banks and Kelson 2019, section 3.2.2 and figure 5 (spktrrecl), equations 6 and 7.
//
// Arguments (global memory, marshalled as gpu/paper.clh says)
//   upper, reciprocals, left  shape [tiles * GROUP_ITEMS * m]; paper_spkfact writes reciprocals and left
//   v, f_bottom, w, f_top     shape [tiles * GROUP_ITEMS], written by paper_spkfact
//   x                         shape [tiles * GROUP_ITEMS * m]; bottom halves are written here
//   partitions                the kernel solves partitions 1 to `partitions`
// Build parameter: PARTITION_ROWS is m.
// Launch:  a work-item for each partition, in groups of GROUP_ITEMS.
// Local:   none. Per row: half a multiply-add, half a multiplication, 2 words. Per partition: 4 words.
// Numerics: the influence from above is truncated half a partition away (schemes/paper bounds the error).
// Valid:   rows from m / 2 on of these partitions.
#include "gpu/paper.clh"

#ifndef PARTITION_ROWS
#error "build with -D PARTITION_ROWS=rows of a partition"
#endif

__kernel __attribute__((reqd_work_group_size(GROUP_ITEMS, 1, 1))) void paper_spktrrecl(
    __global const scalar_t* restrict upper, __global const scalar_t* restrict reciprocals,
    __global const scalar_t* restrict left, __global const scalar_t* restrict v,
    __global const scalar_t* restrict f_bottom, __global const scalar_t* restrict w,
    __global const scalar_t* restrict f_top, __global scalar_t* restrict x, const long partitions) {
  enum { m = PARTITION_ROWS };
  const long partition = (long)get_global_id(0);
  if (partition < 1 || partition > partitions) return;
  scalar_t below = interface_unknown(f_bottom[partition], v[partition], f_top[partition + 1], w[partition + 1]);
  x[marshalled(m, m - 1)] = below;
#pragma unroll 4
  for (int i = m - 2; i >= m / 2; --i) {
    const long at = marshalled(m, i);
    below = mul(take_off(true, left[at], upper[at], below), reciprocals[at]);
    x[at] = below;
  }
}
