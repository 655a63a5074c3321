// SPDX-License-Identifier: BSD-2-Clause
// Purpose: compute x_(places_i) += from_i.
//
// Build parameters: those of common/wide.clh
// Arguments: from    shape [count], global
//            places  shape [count], global; indices of elements of x, all distinct
//            x       global; elements named in `places` are read and written
//            count, run  number of places, and places of a work-group (common/wide.clh)
// Launch:    groups of GROUP_ITEMS work-items for all elements.
// Local:     none. Per place: 3 words and an index of 8 bytes.
// Valid:     all of x.
#include "common/wide.clh"

__kernel void vector_scatter_add(__global const scalar_t* restrict from, __global const long* restrict places,
                                 __global scalar_t* restrict x, const long count, const long run) {
  FOR_PLACES(i, run, count) x[places[i]] += from[i];
}
