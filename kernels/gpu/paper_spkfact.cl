// SPDX-License-Identifier: BSD-2-Clause
// Purpose: first kernel of truncated SPIKE by work-items: sweep LU and UL over each partition, and store the tips of
// the spikes.
// Source: Macintosh, Banks and Kelson 2019, section 3.2.2 and figure 5 (spkfact).
//
// Arguments (global memory, marshalled as gpu/paper.clh says)
//   lower, diag, upper, y  shape [tiles * GROUP_ITEMS * m]
//   reciprocals, left      shape [tiles * GROUP_ITEMS * m], written here; reciprocal pivots and eliminated y. UL gives
//                          those of the first m / 2 rows of a partition, LU the others
//   v, f_bottom            shape [tiles * GROUP_ITEMS]; LU gives x = f_bottom - v x_below in the last row
//   w, f_top               shape [tiles * GROUP_ITEMS]; UL gives x = f_top - w x_above in the first row
//   words                  local, 4 * m * GROUP_ITEMS with STAGED 1, else not used
// Build parameters: PARTITION_ROWS is m. STAGED 1 keeps partitions in local memory between the two sweeps; STAGED 0
// reads them twice.
// Launch:  a work-item for each partition, in groups of GROUP_ITEMS.
// Local:   `words` scalars. Per row: 2 divisions, 4 multiply-adds, 2 multiplications; 6 words with STAGED 1, else 10.
//          Per partition: 4 words more.
// Assumes: rows are dominant, which keeps pivots from vanishing without pivoting.
// Valid:   all partitions of the tiles.
#include "gpu/paper.clh"

#if !defined(PARTITION_ROWS) || !defined(STAGED)
#error "build with -D PARTITION_ROWS=rows of a partition -D STAGED=0 or 1"
#endif

// KEPT is row i of array k in the second sweep. With STAGED, KEEP stores it in local memory in the first sweep.
#if STAGED
#define KEPT(k, array, i) words[((k) * m + (i)) * GROUP_ITEMS + (int)get_local_id(0)]
#define KEEP(k, i, value) (KEPT(k, words, i) = (value))
#else
#define KEPT(k, array, i) array[base + (long)(i) * GROUP_ITEMS]
#define KEEP(k, i, value) ((void)(value))
#endif

__kernel __attribute__((reqd_work_group_size(GROUP_ITEMS, 1, 1))) void paper_spkfact(
    __global const scalar_t* restrict lower, __global const scalar_t* restrict diag,
    __global const scalar_t* restrict upper, __global const scalar_t* restrict y,
    __global scalar_t* restrict reciprocals, __global scalar_t* restrict left, __global scalar_t* restrict v,
    __global scalar_t* restrict f_bottom, __global scalar_t* restrict w, __global scalar_t* restrict f_top,
    __local scalar_t* words) {
  enum { m = PARTITION_ROWS };
  const long partition = (long)get_global_id(0), base = marshalled(m, 0);
  const int half_rows = m / 2;
  scalar_t f = 0, r = 0, far = 0;
  // Unrolled, the loop loads several rows at once, although each pivot waits for the pivot before it.
#pragma unroll 4
  for (int i = 0; i < m; ++i) {
    const long at = base + (long)i * GROUP_ITEMS;
    const scalar_t a = lower[at], b = diag[at], c = upper[at], g = y[at];
    // The sweep ignores the coupling of a partition's first row to the row above it.
    const scalar_t t = i > 0 ? mul(a, r) : 0;
    r = reciprocal(mul_sub(b, t, far));
    f = take_off(true, g, t, f);
    far = c;
    if (i >= half_rows) {
      reciprocals[at] = r;
      left[at] = f;
    }
    KEEP(0, i, a);
    KEEP(1, i, b);
    KEEP(2, i, c);
    KEEP(3, i, g);
  }
  v[partition] = mul(far, r);
  f_bottom[partition] = mul(f, r);
  f = far = r = 0;
#pragma unroll 4
  for (int i = m - 1; i >= 0; --i) {
    const scalar_t t = i < m - 1 ? mul(KEPT(2, upper, i), r) : 0;
    r = reciprocal(mul_sub(KEPT(1, diag, i), t, far));
    f = take_off(true, KEPT(3, y, i), t, f);
    far = KEPT(0, lower, i);
    if (i < half_rows) {
      const long at = base + (long)i * GROUP_ITEMS;
      reciprocals[at] = r;
      left[at] = f;
    }
  }
  w[partition] = mul(far, r);
  f_top[partition] = mul(f, r);
}
