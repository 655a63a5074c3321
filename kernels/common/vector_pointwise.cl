// SPDX-License-Identifier: BSD-2-Clause
// Purpose: apply an elementwise operation to one or two vectors: z_i = OPERATION(x_i, y_i).
//
// Build parameters: OPERATION  MULTIPLY, DIVIDE or another operation of the list below
//                   and those of common/wide.clh
// Arguments: z, x, y  shape [n], global, aligned as common/wide.clh says; z is written and may be x or y. For an
//                     operation on one vector, y is x
//            number   SHIFT: the summand; DIVIDE: the result of 0 / 0
//            n, run   elements, and elements of a work-group (common/wide.clh)
// Launch:    groups of GROUP_ITEMS work-items for all elements.
// Local:     none. Per element: about 1 flop; 2 words, or 3 for two vectors.
// Valid:     all of z.
#include "common/wide.clh"

#define MULTIPLY 0
#define DIVIDE 1
#define GREATER 2
#define LESS 3
#define GREATER_MAGNITUDE 4
#define RATIO 5
#define RECIPROCAL 6
#define SHIFT 7
#define MAGNITUDE 8
#define ROOT 9

#ifndef OPERATION
#error "OPERATION: MULTIPLY, ..., as core/space.hpp lists them"
#endif

static inline lanes_t operate(lanes_t x, lanes_t y, lanes_t number) {
#if OPERATION == MULTIPLY
  return mul(x, y);
#elif OPERATION == DIVIDE
  return choose(is_zero(y), choose(is_zero(x), number, (lanes_t)ZERO), x / y);
#elif OPERATION == GREATER
  return choose(x < y, y, x);
#elif OPERATION == LESS
  return choose(x < y, x, y);
#elif OPERATION == GREATER_MAGNITUDE
  return choose(magnitude(x) < magnitude(y), magnitude(y), magnitude(x));
#elif OPERATION == RATIO
  return choose(is_zero(y), x, x / y);
#elif OPERATION == RECIPROCAL
  return choose(is_zero(x), ZERO, reciprocal(x));
#elif OPERATION == SHIFT
  return add(x, number);
#elif OPERATION == MAGNITUDE
  return magnitude(x);
#elif OPERATION == ROOT
  return sqrt(magnitude(x));
#else
#error "OPERATION is none of them"
#endif
}

static inline wide_t operate_wide(wide_t x, wide_t y, scalar_t number) {
  wide_t z;
  for (int p = 0; p < PARTS; ++p) z.at[p] = operate(x.at[p], y.at[p], (lanes_t)number);
  return z;
}

__kernel void vector_pointwise(__global scalar_t* z, __global const scalar_t* x, __global const scalar_t* y,
                               const scalar_t number, const long n, const long run) {
  const long end = end_of_group(run, n);
  long i = first_of_item(run);
  for (; i + WIDE <= end; i += ITEM_STEP) {
    const wide_t a = load_wide(x + i);
    store_wide(operate_wide(a, OPERATION <= RATIO ? load_wide(y + i) : a, number), z + i);
  }
  if (i < end) {
    const int count = (int)(end - i);
    store_some(operate_wide(load_some(x + i, count), load_some(y + i, count), number), z + i, count);
  }
}
