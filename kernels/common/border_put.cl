// SPDX-License-Identifier: BSD-2-Clause
// Purpose: write the unknowns next to cuts to their rows, for lines cut among processes.
//
// Arguments: unknowns  shape [count], global; read
//            rows      shape [count], global; elements of x. An unknown with a negative element is not written
//            x         global; written
//            count     number of unknowns
// Launch:    any number of work-groups; a work-item writes one unknown.
// Local:     none.
// Valid:     x at the elements in `rows`.
#include "common/scalar.clh"

__kernel void border_put(__global const scalar_t* restrict unknowns, __global const long* restrict rows,
                         __global scalar_t* restrict x, const long count) {
  const long i = (long)get_global_id(0);
  if (i < count && rows[i] >= 0) x[rows[i]] = unknowns[i];
}
