// SPDX-License-Identifier: BSD-2-Clause
// Purpose: merge strided elements of one vector into strided elements of another.
//
// Build parameters: MERGE  INSERT, ADD or GREATER
//                   and those of common/wide.clh
// Arguments: x  global; read
//            from, from_step  first element of x, and the distance to the next one
//            z  global; not x; written, and read with ADD and GREATER
//            to, to_step      first element of z, and the distance to the next one
//            count, run  elements, and elements of a work-group (common/wide.clh)
// Launch:    groups of GROUP_ITEMS work-items for all elements.
// Local:     none. Per element: 2 words, 3 with ADD and GREATER.
// Valid:     z at the elements written.
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
