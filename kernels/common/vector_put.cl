// SPDX-License-Identifier: BSD-2-Clause
// Purpose: merge strided elements of one vector into strided elements of another.
//
// Build parameters: MERGE  INSERT, ADD or GREATER
//                   and those of common/wide.clh
// Arguments: x, from, from_step  global vector, its first element that is read, and the distance to the next
//            z, to, to_step      global vector, not x, its first element that is written, and the distance to the
//                                next; ADD and GREATER also read z
//            count, run  number of elements to merge, and elements of a work-group (common/wide.clh)
// Launch:    groups of GROUP_ITEMS work-items for all elements.
// Local:     none. Per element: 2 words; ADD and GREATER 3 words.
// Valid:     the written elements of z.
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
