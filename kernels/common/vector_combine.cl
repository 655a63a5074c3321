// SPDX-License-Identifier: BSD-2-Clause
// Purpose: compute z = factor_0 x_0 + factor_1 x_1 + ... if KEEP is 0. If KEEP is 1, `number` times the old z is added.
// Without terms, KEEP 0 fills z with `number`.
//
// Build parameters: TERMS  0 to 8
//                   KEEP   0 or 1
//                   and those of common/wide.clh
// Arguments: z         shape [n], global; written, read with KEEP 1; aligned as common/wide.clh says
//            number    factor of the old z with KEEP 1, and the value of z without terms
//            n, run    elements, and elements of a work-group (common/wide.clh)
//            x_k, factor_k  a vector of shape [n], global, and its factor, for each term; x_k may be z
// Launch:    groups of GROUP_ITEMS work-items for all elements.
// Local:     none. Per element: 2 flops and 1 word for each term; 1 word for z, or 2 words with KEEP 1.
// Valid:     all of z.
#include "common/terms.clh"
#include "common/wide.clh"

#ifndef KEEP
#error "KEEP: 1 if z is a term, too"
#endif

#define PARAMETER(k) , __global const scalar_t *x##k, const scalar_t factor##k

// The first term is stored, not added to 0, because 0 + -0 is 0.
static inline wide_t scaled(scalar_t factor, wide_t x) {
  for (int p = 0; p < PARTS; ++p) x.at[p] = mul((lanes_t)factor, x.at[p]);
  return x;
}
static inline wide_t added(wide_t sum, scalar_t factor, wide_t x) {
  for (int p = 0; p < PARTS; ++p) sum.at[p] = mul_add(sum.at[p], (lanes_t)factor, x.at[p]);
  return sum;
}
static inline wide_t everywhere(scalar_t number) {
  wide_t w;
  for (int p = 0; p < PARTS; ++p) w.at[p] = (lanes_t)number;
  return w;
}

#if KEEP
#define BEGIN scaled(number, LOAD(z))
#else
#define BEGIN everywhere(number)
#endif
#define ADD(k) sum = k == 0 && !KEEP ? scaled(factor##k, LOAD(x##k)) : added(sum, factor##k, LOAD(x##k));

__kernel void vector_combine(__global scalar_t* z, const scalar_t number, const long n,
                             const long run FOR_TERMS(PARAMETER)) {
  const long end = end_of_group(run, n);
  long i = first_of_item(run);
  for (; i + WIDE <= end; i += ITEM_STEP) {
#define LOAD(x) load_wide(x + i)
    wide_t sum = BEGIN;
    FOR_TERMS(ADD) store_wide(sum, z + i);
#undef LOAD
  }
  if (i < end) {
    const int count = (int)(end - i);
#define LOAD(x) load_some(x + i, count)
    wide_t sum = BEGIN;
    FOR_TERMS(ADD) store_some(sum, z + i, count);
#undef LOAD
  }
}
