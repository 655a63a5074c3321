// SPDX-License-Identifier: BSD-2-Clause
// Purpose: compute z = A x, with PLUS z = y + A x, by slices of rows of A.
// Source:  SELL-C-sigma; Kreutzer, Hager, Wellein, Fehske, Bishop 2014.
//
// Arguments: values   global; slice s begins at element begin[s] and has shape [its width][SLICE]; written by the host
//            columns  shape as `values`, global; column of each entry, negative for padding; written by the host
//            begin    shape [slices + 1], global; written by the host
//            row_of   shape [rows], global; read only with SORTED: the row of A for each row of the slices
//            x        shape [columns of A], global; read
//            y        shape [rows], global; read only with PLUS
//            z        shape [rows], global; written; may be y
//            rows     number of rows of the matrix
//            span     rows of a work-group, a multiple of LANES
//            partial, first  with DOT, the parts of x . z from element `first` on are written, see product.clh
// Launch:    work-groups for all rows: of many work-items with LANES 1, of one work-item with LANES == SLICE.
// Local:     none, with DOT GROUP_ITEMS scalars. Per stored entry: 2 flops; reads one value, one column index and one
//            element of x. Per row: 1 word, with PLUS 2.
// Valid:     z in all rows. Its bits depend only on SLICE, LANES, A, x and y.
//
// Build parameters: SLICE: rows of a slice. SORTED, optional: the slices hold the rows in the order of `row_of`.
#include "common/product.clh"

#ifndef SLICE
#error "build with -D SLICE=rows of a slice"
#endif

#if LANES == 1
#define AT_ONCE 4  // independent loads in flight

// Add the products of AT_ONCE entries of a row to `sum`. The entries begin at element `at` and stop before `end`. No
// load is conditional, because the compiler can then issue all loads at once.
static inline scalar_t add_places(scalar_t sum, __global const scalar_t* values, __global const place_t* columns,
                                  __global const scalar_t* x, long at, long end) {
  scalar_t value[AT_ONCE], unknown[AT_ONCE];
  place_t column[AT_ONCE];
#pragma unroll
  for (int i = 0; i < AT_ONCE; ++i) {
    const bool inside = at + i * SLICE < end;
    const long place = inside ? at + i * SLICE : at;
    const place_t there = columns[place];
    value[i] = values[place];
    column[i] = inside ? there : -1;
  }
#pragma unroll
  for (int i = 0; i < AT_ONCE; ++i) unknown[i] = x[column[i] < 0 ? 0 : column[i]];
#pragma unroll
  for (int i = 0; i < AT_ONCE; ++i) sum = column[i] < 0 ? sum : mul_add(sum, value[i], unknown[i]);
  return sum;
}
#else
#define AT_ONCE 1

static inline lanes_t unknowns_at(__global const scalar_t* x, __global const place_t* column) {
  scalar_t unknowns[LANES];
  place_t least = 0;  // one test for all lanes, because a branch in each lane takes a third longer
#pragma unroll
  for (int l = 0; l < LANES; ++l) least = min(least, column[l]);
  if (least == 0) {
#pragma unroll
    for (int l = 0; l < LANES; ++l) unknowns[l] = x[column[l]];
  } else {
    for (int l = 0; l < LANES; ++l) unknowns[l] = column[l] < 0 ? 0 : x[column[l]];
  }
  return from_private(unknowns);
}

static inline lanes_t add_places(lanes_t sum, __global const scalar_t* values, __global const place_t* columns,
                                 __global const scalar_t* x, long at, long end) {
  return mul_add(sum, lanes_of(values + at), unknowns_at(x, columns + at));
}
#endif

__kernel void product_sell(__global const scalar_t* restrict values, __global const place_t* restrict columns,
                           __global const long* restrict begin, __global const place_t* restrict row_of,
                           __global const scalar_t* restrict x, __global const scalar_t* y, __global scalar_t* z,
                           const long rows, const long span, __global scalar_t* partial, const long first) {
#ifdef DOT
  __local scalar_t parts[GROUP_ITEMS];
  lanes_t dot = ZERO;
#endif
  FOR_ROWS(row, rows, span) {
    const long slice = row / SLICE, end = begin[slice + 1];
    lanes_t sum = ZERO;
    for (long at = begin[slice] + (row - slice * SLICE); at < end; at += AT_ONCE * SLICE) {
      sum = add_places(sum, values, columns, x, at, end);
    }
#ifdef SORTED
#if LANES == 1
    put_row(y, z, row_of[row], sum);
#ifdef DOT
    dot = mul_add(dot, x[row_of[row]], sum);
#endif
#else
    scalar_t sums[LANES];
    to_private(sum, sums);
    for (int l = 0; l < LANES && row + l < rows; ++l) {
      put_row(y, z, row_of[row + l], sums[l]);
#ifdef DOT
      sums[l] *= x[row_of[row + l]];
#endif
    }
#ifdef DOT
    dot = add(dot, from_private(sums));
#endif
#endif
#else
    put_rows(y, z, row, rows, sum);
#ifdef DOT
    dot = mul_add(dot, unknowns_of_rows(x, row, rows), sum);
#endif
#endif
  }
#ifdef DOT
  put_dot(sum_of_lanes(dot), parts, partial, first);
#endif
}
