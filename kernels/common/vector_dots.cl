// SPDX-License-Identifier: BSD-2-Clause
// Purpose: compute dot products of y with several vectors. The host adds the work-groups' partial sums in order.
//
// Build parameters: TERMS  1 to 8
//                   and those of common/wide.clh; GROUP_ITEMS is a power of two
// Arguments: y         shape [n], global; aligned as common/wide.clh says
//            partial   global; partial[first + k groups + g] receives the part of y . x_k that work-group g computes;
//                      `groups` is the number of work-groups of the launch
//            first     element of `partial` that holds the first sum of this launch
//            n, run    elements, and elements of a work-group (common/wide.clh)
//            x_k       shape [n], global, for each term; may be y
// Launch:    groups of GROUP_ITEMS work-items for all elements.
// Local:     TERMS GROUP_ITEMS scalars. Per element: 2 TERMS flops, TERMS + 1 words, 1 word less if an x_k is y.
// Valid:     the elements of `partial` named above.
#include "common/partial_sums.clh"
#include "common/terms.clh"

#define PARAMETER(k) , __global const scalar_t* x##k

static inline void take_product(wide_t a, wide_t b, wide_t* sum) {
  for (int p = 0; p < PARTS; ++p) sum->at[p] = mul_add(sum->at[p], a.at[p], b.at[p]);
}

__kernel void vector_dots(__global const scalar_t* y, __global scalar_t* partial, const long first, const long n,
                          const long run FOR_TERMS(PARAMETER)) {
  __local scalar_t shared[TERMS * GROUP_ITEMS];
  const long end = end_of_group(run, n);
  wide_t sums[TERMS];
  for (int k = 0; k < TERMS; ++k) {
    for (int p = 0; p < PARTS; ++p) sums[k].at[p] = ZERO;
  }
  long i = first_of_item(run);
#pragma unroll READ_AHEAD
  for (; i + WIDE <= end; i += ITEM_STEP) {
    const wide_t b = load_wide(y + i);
#define ADD(k) take_product(load_wide(x##k + i), b, &sums[k]);
    FOR_TERMS(ADD)
#undef ADD
  }
  if (i < end) {
    const int count = (int)(end - i);
    const wide_t b = load_some(y + i, count);
#define ADD(k) take_product(load_some(x##k + i, count), b, &sums[k]);
    FOR_TERMS(ADD)
#undef ADD
  }
  for (int k = 0; k < TERMS; ++k) shared[k * GROUP_ITEMS + (int)get_local_id(0)] = sum_of_parts(sums[k]);
  add_up(TERMS, shared);
  put_sums(TERMS, shared, first, partial);
}
