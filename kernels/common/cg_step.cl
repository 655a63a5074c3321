// SPDX-License-Identifier: BSD-2-Clause
// Purpose: the step of an iteration of conjugate gradients: alpha = rho / (p . A p), x += unit alpha p, r -= alpha w;
// with a diagonal preconditioner z = inverse r; and partial sums of r . z and of the squares of a norm. Where the
// method does not go on (common/cg.clh), x, r and z stay. Source:  Hestenes and Stiefel 1952.
//
// Build parameters: CG  PLAIN: z is r. DIAGONAL_Z, DIAGONAL_R: z = inverse r, norm of z or of r. OTHERS: z is left to
//                       another preconditioner, and nothing is summed
//                   and those of common/wide.clh; GROUP_ITEMS is a power of two
// Arguments: x, r     shape [n], global; read and written; all vectors are aligned as common/wide.clh says
//            p, w     shape [n], global; the direction and A p
//            z        shape [n], global; written with DIAGONAL_Z and DIAGONAL_R; may be w
//            inverse  shape [n], global; read with DIAGONAL_Z and DIAGONAL_R
//            partial  global; read: `parts` parts of p . w; written: the parts of r . z by work-group from element
//                     first on, behind them those of the squares unless PLAIN
//            parts, first
//            records  global, see common/cg.clh
//            before, now  the records of the last iteration and of this one, which receives p . w
//            least, most  the limits of the norm
//            unit     1 in the scale of p and r is this number in the scale of x
//            n, run   elements, and elements of a work-group (common/wide.clh)
// Launch:    groups of GROUP_ITEMS work-items for all elements.
// Local:     2 GROUP_ITEMS scalars. Per element: 4 flops and 6 words; with PLAIN 2 flops more, with a diagonal 5 flops
//            and 2 words more.
// Valid:     x, r, z everywhere; `partial` and the record at the elements named.
#include "common/cg.clh"

#define PLAIN 0
#define DIAGONAL_Z 1
#define DIAGONAL_R 2
#define OTHERS 3

#ifndef CG
#error "CG: PLAIN, DIAGONAL_Z, DIAGONAL_R or OTHERS"
#endif

#define SUMS (CG == OTHERS ? 0 : CG == PLAIN ? 1 : 2)
#define HAS_DIAGONAL (CG == DIAGONAL_Z || CG == DIAGONAL_R)

typedef struct {
  __global scalar_t *x, *r, *z;
  __global const scalar_t *p, *w, *inverse;
} Vectors;

// Take the elements of one wide_t, at element i.
// @param of_x  alpha in the scale of x
// @param sums  of r . z, and of the squares of a norm
SPECIALISED static inline void step(bool whole, int count, const Vectors* v, long i, lanes_t alpha, lanes_t of_x,
                                    wide_t sums[2]) {
  wide_t x = LOAD_PART(whole, v->x + i, count), r = LOAD_PART(whole, v->r + i, count);
  const wide_t p = LOAD_PART(whole, v->p + i, count), w = LOAD_PART(whole, v->w + i, count);
#if HAS_DIAGONAL
  wide_t z = LOAD_PART(whole, v->inverse + i, count);
#endif
  for (int k = 0; k < PARTS; ++k) {
    x.at[k] = mul_add(x.at[k], of_x, p.at[k]);
    r.at[k] = mul_sub(r.at[k], alpha, w.at[k]);
#if HAS_DIAGONAL
    z.at[k] = mul(z.at[k], r.at[k]);
    sums[0].at[k] = mul_add(sums[0].at[k], r.at[k], z.at[k]);
    const lanes_t of_norm = CG == DIAGONAL_Z ? z.at[k] : r.at[k];
    sums[1].at[k] = mul_add(sums[1].at[k], of_norm, of_norm);
#elif CG == PLAIN
    sums[0].at[k] = mul_add(sums[0].at[k], r.at[k], r.at[k]);
#endif
  }
  store_part(whole, x, v->x + i, count);
  store_part(whole, r, v->r + i, count);
#if HAS_DIAGONAL
  store_part(whole, z, v->z + i, count);
#endif
}

__kernel void cg_step(__global scalar_t* x, __global scalar_t* r, __global const scalar_t* p,
                      __global const scalar_t* w, __global scalar_t* z, __global const scalar_t* inverse,
                      __global scalar_t* partial, const long parts, const long first, __global scalar_t* records,
                      const int before, const int now, const scalar_t least, const scalar_t most, const scalar_t unit,
                      const long n, const long run) {
  __local scalar_t shared[2 * GROUP_ITEMS];
  __global const scalar_t* const old = records + before * RECORD;
  const scalar_t curvature = sum_of_all(partial, parts, shared);
  const bool on = goes_on(old, least, most);
  if (get_global_id(0) == 0) records[now * RECORD + CURVATURE] = on ? curvature : old[CURVATURE];
  const long end = on && is_curved(curvature, old[CURVATURE]) ? end_of_group(run, n) : 0;
  const scalar_t factor = old[RHO] / curvature;
  const lanes_t alpha = (lanes_t)factor, of_x = (lanes_t)(unit * factor);
  const Vectors v = {x, r, z, p, w, inverse};
  wide_t sums[2];
  for (int k = 0; k < PARTS; ++k) sums[0].at[k] = sums[1].at[k] = ZERO;
  long i = first_of_item(run);
  for (; i + WIDE <= end; i += ITEM_STEP) step(true, WIDE, &v, i, alpha, of_x, sums);
  if (i < end) step(false, (int)(end - i), &v, i, alpha, of_x, sums);
  for (int k = 0; k < SUMS; ++k) shared[k * GROUP_ITEMS + (int)get_local_id(0)] = sum_of_parts(sums[k]);
  add_up(SUMS, shared);
  put_sums(SUMS, shared, first, partial);
}
