// SPDX-License-Identifier: BSD-2-Clause
// Purpose: method truncated-halo for few long lines side by side. Lines are cut into segments. The kernel solves each
// segment of a bundle separately, extended by `halo` rows on either side; the unknowns beyond these rows count as 0.
// The solver is Thomas' algorithm without pivoting, one pass over the rows.
//
//   down:  r_i = 1 / (b_i - a_i c'_(i-1)),  c'_i = c_i r_i,  d'_i = (y_i - a_i d'_(i-1)) r_i,  from c' = d' = 0
//   back:  x_i = d'_i - c'_i x_(i+1),  from 0;   a, b, c: lower, diag, upper
// Source: core/certificate bounds the error, tests/support/model computes x in C++.
//
// Arguments (global memory)
//   lower, diag, upper  bands in the layout of y and x, written by the host; lower of a line's first row and upper of
//                       its last row are 0
//   y                   right-hand sides, written by the host
//   x                   solutions, written here; overlaps no other array. Elements between lines keep their values
//   scratch             `slot` lanes_t for each work-group: a row for the sweeps, then c', d' of every row of a segment
//   blocks, block_stride, block_lines  line l of block o begins at element o block_stride + l
//   length, row_stride  rows of a line, and distance between its rows in elements
//   width, bundles      lines of a bundle (whole lanes), bundles of a block; the last bundle takes the remaining lines,
//                       fewer than width + LANES
//   m, halo, segments   rows of a segment, rows of a halo, segments of a line; the last segment may be shorter
//   slot                2 (min(length, m + 2 halo) + 1) times the vectors of a row of the widest bundle
// Launch:  any number of work-groups of one work-item; each takes a run of consecutive segments, bundle by bundle.
// Local:   none.
// Per row: 1 division, 6 multiply-adds; 5 words if c', d' of a segment stay in the cache, else 9. Reads and arithmetic
//          take (m + 2 halo) / m of this.
// Assumes: every row is dominant, which core/certificate needs. No pivot vanishes then. NaN of y stays in its line.
// Valid:   x for the rows of all lines.
#include "cpu/bundle.clh"

typedef struct {
  __global const scalar_t *lower, *diag, *upper;
} Bands;

// Row numbers of a segment; row 0 is the first row of the line.
typedef struct {
  int first, end;      // the rows that are swept
  int kept, kept_end;  // the rows that are stored
} Segment;

static inline Segment make_segment(int k, int m, int halo, int length) {
  Segment s;
  s.kept = k * m;
  s.kept_end = min(m, length - s.kept) + s.kept;
  s.first = max(s.kept - halo, 0);
  s.end = min(halo, length - s.kept_end) + s.kept_end;
  return s;
}

// Solve a segment of a bundle of at least LANES lines. `carried`, and each row of `swept`, has shape [2 vectors of a
// row].
static inline void segment_of_lanes(Bundle b, Segment s, Bands bands, __global const scalar_t* y,
                                    __global lanes_t* carried, __global lanes_t* swept, __global scalar_t* x) {
  const int vectors = (b.width + LANES - 1) / LANES;
  const long ahead = rows_ahead(b) * b.row_stride;
  for (int j = 0; j < 2 * vectors; ++j) carried[j] = ZERO;
  for (int i = s.first; i < s.end; ++i) {
    const long row = b.first + i * b.row_stride;
    __global lanes_t* const out = swept + (long)(i - s.first) * 2 * vectors;
    for (int j = 0; j < vectors; ++j) {
      const long at = row + place_of(j, b.width);
      PREFETCH(bands.lower + at + ahead);
      PREFETCH(bands.diag + at + ahead);
      PREFETCH(bands.upper + at + ahead);
      PREFETCH(y + at + ahead);
      const lanes_t a = from_storage(bands.lower + at);
      const lanes_t r = reciprocal(mul_sub(from_storage(bands.diag + at), a, carried[2 * j]));
      const lanes_t c = mul(from_storage(bands.upper + at), r);
      const lanes_t d = mul(mul_sub(from_storage(y + at), a, carried[2 * j + 1]), r);
      carried[2 * j] = out[2 * j] = c;
      carried[2 * j + 1] = out[2 * j + 1] = d;
    }
  }
  const bool aligned = is_aligned(b, x);
  for (int j = 0; j < vectors; ++j) carried[j] = ZERO;
  for (int i = s.end - 1; i >= s.kept; --i) {
    const long row = b.first + i * b.row_stride;
    __global const lanes_t* const in = swept + (long)(i - s.first) * 2 * vectors;
    for (int j = 0; j < vectors; ++j) {
      const long at = row + place_of(j, b.width);
      const lanes_t value = mul_sub(in[2 * j + 1], in[2 * j], carried[j]);
      carried[j] = value;
      if (aligned && i < s.kept_end) STORE_PAST_CACHE(value, x + at);
    }
    if (!aligned && i < s.kept_end) store_row(carried, b.width, x + row);
  }
}

// Solve a segment of fewer than LANES lines. `carried`, and each row of `swept`, has shape [2 width].
static inline void segment_of_few(Bundle b, Segment s, Bands bands, __global const scalar_t* y,
                                  __global scalar_t* carried, __global scalar_t* swept, __global scalar_t* x) {
  for (int j = 0; j < 2 * b.width; ++j) carried[j] = 0;
  for (int i = s.first; i < s.end; ++i) {
    const long row = b.first + i * b.row_stride;
    __global scalar_t* const out = swept + (long)(i - s.first) * 2 * b.width;
    for (int j = 0; j < b.width; ++j) {
      const scalar_t a = bands.lower[row + j], r = 1 / (bands.diag[row + j] - a * carried[2 * j]);
      carried[2 * j] = out[2 * j] = bands.upper[row + j] * r;
      carried[2 * j + 1] = out[2 * j + 1] = (y[row + j] - a * carried[2 * j + 1]) * r;
    }
  }
  for (int j = 0; j < b.width; ++j) carried[j] = 0;
  for (int i = s.end - 1; i >= s.kept; --i) {
    const long row = b.first + i * b.row_stride;
    __global const scalar_t* const in = swept + (long)(i - s.first) * 2 * b.width;
    for (int j = 0; j < b.width; ++j) {
      carried[j] = in[2 * j + 1] - in[2 * j] * carried[j];
      if (i < s.kept_end) x[row + j] = carried[j];
    }
  }
}

__kernel __attribute__((reqd_work_group_size(1, 1, 1))) void strided_halo(
    __global const scalar_t* restrict lower, __global const scalar_t* restrict diag,
    __global const scalar_t* restrict upper, __global const scalar_t* restrict y, __global scalar_t* restrict x,
    __global lanes_t* restrict scratch, const long blocks, const long block_stride, const long block_lines,
    const int length, const long row_stride, const int width, const int bundles, const int m, const int halo,
    const int segments, const long slot) {
  const Bands bands = {lower, diag, upper};
  const long run = (long)get_group_id(0), runs = (long)get_num_groups(0), all = blocks * bundles * segments;
  __global lanes_t* const own = scratch + run * slot;
  __global scalar_t* const few = (__global scalar_t*)own;
  const long begin = run * all / runs, end = (run + 1) * all / runs;
  // `before` counts the segments of earlier bundles. The loops avoid divisions, as solve_bundles() does.
  long before = 0;
  for (long block = 0; block < blocks && before < end; ++block) {
    for (int piece = 0; piece < bundles; ++piece, before += segments) {
      const Bundle b = make_bundle(block * block_stride, piece, bundles, width, block_lines, length, row_stride);
      const int last = (int)clamp(end - before, 0L, (long)segments);
      for (int k = (int)clamp(begin - before, 0L, (long)segments); k < last; ++k) {
        const Segment s = make_segment(k, m, halo, length);
        if (b.width >= LANES) {
          segment_of_lanes(b, s, bands, y, own, own + 2 * ((b.width + LANES - 1) / LANES), x);
        } else {
          segment_of_few(b, s, bands, y, few, few + 2 * b.width, x);
        }
      }
    }
  }
}
