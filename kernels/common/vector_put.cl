// SPDX-License-Identifier: BSD-2-Clause
// Purpose: copy places of one vector to places of another, both at equal distances: z_to = MERGE(z_to, x_from).
//
// Build parameters: MERGE  INSERT, ADD or GREATER
//                   and those of common/wide.clh
// Arguments: x  global; read
//            from, from_step  first place in x, and the distance to the next one
//            z  global; not x; written, and read with ADD and GREATER
//            to, to_step      first place in z, and the distance to the next one
//            count, run  places, and places of a work-group (common/wide.clh)
// Launch:    groups of GROUP_ITEMS work-items for all places.
// Local:     none. Per place: 2 words, 3 with ADD and GREATER.
// Valid:     z at the places written.
#include "common/wide.clh"

#define INSERT 0
#define ADD 1
#define GREATER 2

#ifndef MERGE
#error "MERGE: INSERT, ADD or GREATER"
#endif

__kernel void vector_put(__global const scalar_t* restrict x, const long from, const long from_step,
                         __global scalar_t* restrict z, const long to, const long to_step, const long count,
                         const long run) {
  FOR_PLACES(i, run, count) {
    const scalar_t number = x[from + i * from_step];
    __global scalar_t* const at = z + (to + i * to_step);
#if MERGE == INSERT
    *at = number;
#elif MERGE == ADD
    *at += number;
#else
    *at = *at > number ? *at : number;
#endif
  }
}
