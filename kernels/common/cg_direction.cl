// SPDX-License-Identifier: BSD-2-Clause
// Purpose: the end of an iteration of conjugate gradients: rho = r . z and the norm from partial sums, beta = rho /
// rho of the last iteration, p = z + beta p. Where the method does not go on (common/cg.clh), p stays.
// Source:  Hestenes and Stiefel 1952.
//
// Build parameters: those of common/wide.clh; GROUP_ITEMS is a power of two
// Arguments: p        shape [n], global; read and written; aligned as common/wide.clh says
//            z        shape [n], global; the preconditioned residual
//            partial  global; `parts` parts of r . z from element first on, and as many of a square from `first_square`
//                     on: the norm is the root of its magnitude
//            parts, first, first_square
//            records  global, see common/cg.clh
//            before, now  the records of the last iteration and of this one, which is completed
//            least, most  the limits of the norm
//            n, run   elements, and elements of a work-group (common/wide.clh)
// Launch:    groups of GROUP_ITEMS work-items for all elements.
// Local:     GROUP_ITEMS scalars. Per element: 2 flops and 3 words.
// Valid:     p everywhere, and the record.
#include "common/cg.clh"

SPECIALISED static inline void turn(bool whole, int count, __global scalar_t* p, __global const scalar_t* z,
                                    lanes_t beta) {
  wide_t sum = LOAD_PART(whole, z, count);
  const wide_t old = LOAD_PART(whole, p, count);
  for (int k = 0; k < PARTS; ++k) sum.at[k] = mul_add(sum.at[k], beta, old.at[k]);
  store_part(whole, sum, p, count);
}

__kernel void cg_direction(__global scalar_t* p, __global const scalar_t* z, __global const scalar_t* partial,
                           const long parts, const long first, const long first_square, __global scalar_t* records,
                           const int before, const int now, const scalar_t least, const scalar_t most, const long n,
                           const long run) {
  __local scalar_t shared[GROUP_ITEMS];
  __global const scalar_t* const old = records + before * RECORD;
  __global scalar_t* const record = records + now * RECORD;
  const scalar_t rho = sum_of_all(partial + first, parts, shared);
  const scalar_t square = sum_of_all(partial + first_square, parts, shared);
  const bool on = goes_on(old, least, most), stepped = on && is_curved(record[CURVATURE], old[CURVATURE]);
  if (get_global_id(0) == 0) {
    record[RHO] = stepped ? rho : old[RHO];
    record[NORM] = stepped ? sqrt(fabs(square)) : old[NORM];
    const bool sound = stepped ? isfinite(rho) && rho != 0 && !(rho * old[RHO] < 0) : !on && old[SOUND] != 0;
    record[SOUND] = sound ? 1 : 0;
  }
  const long end = stepped ? end_of_group(run, n) : 0;
  const lanes_t beta = (lanes_t)(rho / old[RHO]);
  long i = first_of_item(run);
  for (; i + WIDE <= end; i += ITEM_STEP) turn(true, WIDE, p + i, z + i, beta);
  if (i < end) turn(false, (int)(end - i), p + i, z + i, beta);
}
