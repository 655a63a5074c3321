// SPDX-License-Identifier: BSD-2-Clause
// Purpose: collect elements of two vectors at the rows on both sides of each cut, for lines cut among processes.
//
// Arguments: y, z    global; read
//            rows    shape [2 count], global; count elements of y, then count of z. Negative: no such row
//            out     shape [2 count], global; written
//            count   number of elements to take from each vector
// Launch:    any number of work-groups; a work-item takes one element.
// Local:     none.
// Valid:     out everywhere; 0 where `rows` is negative.
#include "common/scalar.clh"

__kernel void border_take(__global const scalar_t* restrict y, __global const scalar_t* restrict z,
                          __global const long* restrict rows, __global scalar_t* restrict out, const long count) {
  const long i = (long)get_global_id(0);
  if (i >= 2 * count) return;
  const long row = rows[i];
  out[i] = row < 0 ? (scalar_t)0 : i < count ? y[row] : z[row];
}
