// SPDX-License-Identifier: BSD-2-Clause
// Purpose: copy given places of a vector into consecutive places of another.
//
// Arguments: x       global; read
//            places  shape [count], global; in x
//            out     shape [count], global; written
//            count
// Launch:    any number of work-groups; a work-item takes one place.
// Local:     none. Per place: 2 words and an index of 8 bytes.
// Valid:     out everywhere.
#include "common/scalar.clh"

__kernel void vector_gather(__global const scalar_t* restrict x, __global const long* restrict places,
                            __global scalar_t* restrict out, const long count) {
  const long i = (long)get_global_id(0);
  if (i < count) out[i] = x[places[i]];
}
