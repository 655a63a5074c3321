// SPDX-License-Identifier: BSD-2-Clause
// Purpose: copy places of one vector to places of another, both at equal distances: z_to = MERGE(z_to, x_from).
//
// Build parameter: MERGE  INSERT, ADD or GREATER
// Arguments: x  global; read
//            from, from_step  first place in x, and the distance to the next one
//            z  global; not x; written, and read with ADD and GREATER
//            to, to_step      first place in z, and the distance to the next one
//            count
// Launch:    any number of work-groups; a work-item takes one place.
// Local:     none. Per place: 2 words, 3 with ADD and GREATER.
// Valid:     z at the places written.
#include "common/scalar.clh"

#define INSERT 0
#define ADD 1
#define GREATER 2

#ifndef MERGE
#error "MERGE: INSERT, ADD or GREATER"
#endif

__kernel void vector_put(__global const scalar_t* restrict x, const long from, const long from_step,
                         __global scalar_t* restrict z, const long to, const long to_step, const long count) {
  const long i = (long)get_global_id(0);
  if (i >= count) return;
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
