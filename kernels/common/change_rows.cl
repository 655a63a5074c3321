// SPDX-License-Identifier: BSD-2-Clause
// Purpose: x += z adds up the results of several solvers. With MULTIPLY, x *= z multiplies results or undoes a scaling
// of columns.
//
// Arguments: x      global; read and written
//            z      global; read
//            first  first row that changes
//            count  number of rows that change
//            ahead  x[i] changes by z[ahead + i]
// Launch:    any number of work-groups; a work-item takes one row.
// Local:     none. Per row: 1 flop, 3 words; with MULTIPLY only 1 word in rows where z is 1.
// Valid:     x at rows [first, first + count).
#include "common/scalar.clh"

__kernel void change_rows(__global scalar_t* restrict x, __global const scalar_t* restrict z, const long first,
                          const long count, const long ahead) {
  const long i = (long)get_global_id(0);
  if (i >= count) return;
#ifdef MULTIPLY
  if (z[ahead + first + i] != 1) x[first + i] *= z[ahead + first + i];
#else
  x[first + i] += z[ahead + first + i];
#endif
}
