// SPDX-License-Identifier: BSD-2-Clause
// Purpose: compute z = A x, with PLUS z = y + A x, by diagonals of A. Entry k of row i is in column i + diagonals_k.
//
// Arguments: values     shape [slices][width][SLICE], global; NO_ENTRY in places without an entry; written by the host
//            diagonals  shape [width], global; column minus row, ascending; written by the host
//            x          shape [columns], global; read
//            y          shape [rows], global; read only with PLUS
//            z          shape [rows], global; written; may be y
//            rows       number of rows of the matrix
//            width      number of diagonals
//            span       rows of a work-group, a multiple of LANES
//            partial, first_part  with DOT, the parts of x . z are written from that element on, see product.clh
// Launch:    work-groups for all rows. With LANES 1, a group has many work-items, and consecutive rows of a work-item
//            are a group's size apart. With LANES == SLICE, a group has one work-item, which takes slice after slice.
// Local:     none, with DOT GROUP_ITEMS scalars. Per stored entry: 2 flops, 1 word and x; per row: 1 word, with PLUS 2.
// Valid:     z in all rows. Its bits depend only on SLICE, LANES, A, x and y.
//
// Build parameters: SLICE: rows of a slice. NO_ENTRY: the bits of a NaN (kNoEntry).
#include "common/product.clh"

#if !defined(SLICE) || !defined(NO_ENTRY)
#error "build with -D SLICE=rows of a slice and -D NO_ENTRY=bits"
#endif

#if SCALAR == SCALAR_FLOAT
#define AS_INTEGER(value) as_int(value)
#else
#define AS_INTEGER(value) as_long(value)
#endif

// Returns sum + value * x. The function reads x only for real entries; for padding, x may point outside the array.
static inline lanes_t add_product(lanes_t sum, lanes_t value, __global const scalar_t* x) {
#if LANES == 1
  const bool there = AS_INTEGER(value) != NO_ENTRY;
  return mul_add(sum, there ? value : ZERO, there ? *x : ZERO);
#else
  const mask_t missing = AS_MASK(value) == (mask_t)NO_ENTRY;
  if (!any(missing)) return mul_add(sum, value, from_storage(x));
  scalar_t values[LANES], unknowns[LANES];
  to_private(value, values);
  for (int l = 0; l < LANES; ++l) unknowns[l] = AS_INTEGER(values[l]) != NO_ENTRY ? x[l] : 0;
  return mul_add(sum, choose(missing, ZERO, value), from_private(unknowns));
#endif
}

#if LANES == 1
#define AT_ONCE 8  // loads in flight, enough for all entries of a 5- or 7-point stencil
#else
#define AT_ONCE 1
#endif

__kernel void product_dia(__global const scalar_t* restrict values, __global const long* restrict diagonals,
                          __global const scalar_t* restrict x, __global const scalar_t* y, __global scalar_t* z,
                          const long rows, const int width, const long span, __global scalar_t* partial,
                          const long first_part) {
#ifdef DOT
  __local scalar_t parts[GROUP_ITEMS];
  lanes_t dot = ZERO;
#endif
  FOR_ROWS(row, rows, span) {
    const long first = row / SLICE * SLICE;
    __global const scalar_t* const entries = values + first * width + (row - first);
    lanes_t sum = ZERO;
    for (int k = 0; k < width; k += AT_ONCE) {
      lanes_t value[AT_ONCE];
#pragma unroll
      for (int i = 0; i < AT_ONCE; ++i) {
        value[i] = k + i < width ? lanes_of(entries + (long)(k + i) * SLICE) : AS_LANES((mask_t)NO_ENTRY);
      }
#pragma unroll
      for (int i = 0; i < AT_ONCE; ++i) {
        sum = add_product(sum, value[i], x + (row + (k + i < width ? diagonals[k + i] : 0)));
      }
    }
    put_rows(y, z, row, rows, sum);
#ifdef DOT
    dot = mul_add(dot, unknowns_of_rows(x, row, rows), sum);
#endif
  }
#ifdef DOT
  put_dot(sum_of_lanes(dot), parts, partial, first_part);
#endif
}
