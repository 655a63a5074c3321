// SPDX-License-Identifier: BSD-2-Clause
// Purpose: for each long row, add up the sums of its segments. z_i is this total; with PLUS, y_i plus this total.
//
// Arguments: long_rows  shape [count][3], global; row, first segment, end of its segments; written by the host
//            sums       shape [segments], global; written by product_rows
//            y          shape [rows], global; read only with PLUS
//            z          shape [rows], global; written in long rows; may be y
//            count      number of long rows
//            span       long rows of a work-group
//            x, partial, first  used with DOT, see product.clh
// Launch:    work-groups of GROUP_ITEMS work-items for all long rows.
// Local:     with GROUP_ITEMS > 1, GROUP_ITEMS words. Per segment: 1 flop, 1 word.
// Valid:     z in long rows. Bits depend only on GROUP_ITEMS, sums and y.
//
// Build parameter: GROUP_ITEMS is a power of two.
#include "common/product.clh"

#ifndef GROUP_ITEMS
#error "build with -D GROUP_ITEMS=work-items"
#endif

__kernel __attribute__((reqd_work_group_size(GROUP_ITEMS, 1, 1))) void product_segments(
    __global const long* restrict long_rows, __global const scalar_t* restrict sums, __global const scalar_t* y,
    __global scalar_t* z, const long count, const long span, __global const scalar_t* x, __global scalar_t* partial,
    const long first) {
  const int item = (int)get_local_id(0);
  const long end = min(count, ((long)get_group_id(0) + 1) * span);
  __local scalar_t parts[GROUP_ITEMS];
  scalar_t dot = 0;
  for (long at = (long)get_group_id(0) * span; at < end; ++at) {
    __global const long* const row = long_rows + 3 * at;
    scalar_t sum = 0;
    for (long k = row[1] + item; k < row[2]; k += GROUP_ITEMS) sum += sums[k];
#if GROUP_ITEMS > 1
    sum = sum_of_items(sum, GROUP_ITEMS, parts);
    barrier(CLK_LOCAL_MEM_FENCE);  // the next row overwrites the parts
#endif
    if (item > 0) continue;
    put_row(y, z, row[0], sum);
#ifdef DOT
    dot += x[row[0]] * sum;
#endif
  }
#ifdef DOT
  put_dot(dot, parts, partial, first);
#endif
}
