// SPDX-License-Identifier: BSD-2-Clause
// Purpose: add numbers to given places of a vector.
//
// Arguments: from    shape [count], global
//            places  shape [count], global; places in x, all distinct
//            x       global; read and written at those places
//            count
// Launch:    any number of work-groups; a work-item takes one place.
// Local:     none. Per place: 3 words and an index of 8 bytes.
// Valid:     x at the given places.
#include "common/scalar.clh"

__kernel void vector_scatter_add(__global const scalar_t* restrict from, __global const long* restrict places,
                                 __global scalar_t* restrict x, const long count) {
  const long i = (long)get_global_id(0);
  if (i < count) x[places[i]] += from[i];
}
