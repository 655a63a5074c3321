// SPDX-License-Identifier: BSD-2-Clause
// Purpose: compute out_i = x_(places_i).
//
// Build parameters: those of common/wide.clh
// Arguments: x       global; read
//            places  shape [count], global; indices of elements of x
//            out     shape [count], global; written
//            count, run  number of elements of `out`, and elements of a work-group (common/wide.clh)
// Launch:    groups of GROUP_ITEMS work-items for all elements.
// Local:     none. Per element: 2 words and an index of 8 bytes.
// Valid:     all of `out`.
#include "common/wide.clh"

__kernel void vector_gather(__global const scalar_t* restrict x, __global const long* restrict places,
                            __global scalar_t* restrict out, const long count, const long run) {
  FOR_PLACES(i, run, count) out[i] = x[places[i]];
}
