// SPDX-License-Identifier: BSD-2-Clause
// Purpose: compute z = A x row by row, with PLUS z = y + A x, in blocks of equal work. A block has whole rows of A
//          with at most BLOCK_ENTRIES entries, or a segment of a long row. product_segments adds up such segments.
//
// Arguments: values   shape [entries], global; written by the host
//            columns  shape [entries], global; written by the host
//            blocks   shape [count + 1][3], global; first row, first entry, segment or -1; written by the host
//            row_end  shape [rows], global; entries of the row's block up to the end of the row; written by the host
//            x        shape [columns of A], global; read
//            y        shape [rows], global; read only with PLUS
//            z        shape [rows], global; written except in long rows; may be y
//            sums     shape [segments], global; written
//            count    number of blocks
//            span     blocks of a work-group
//            partial, first  written with DOT, see product.clh; without the rows cut into segments
// Launch:    work-groups of GROUP_ITEMS work-items for all blocks.
// Local:     with GROUP_ITEMS > 1, BLOCK_ENTRIES + GROUP_ITEMS words. Per entry: 2 flops, 1 word, a column and x.
// Valid:     z except in long rows, and sums. Bits depend only on GROUP_ITEMS, LANES, A, x and y.
//
// Build parameters: GROUP_ITEMS is a power of two. BLOCK_ENTRIES is a multiple of GROUP_ITEMS.
#include "common/product.clh"

#if !defined(GROUP_ITEMS) || !defined(BLOCK_ENTRIES)
#error "build with -D GROUP_ITEMS=work-items and -D BLOCK_ENTRIES=entries of a block"
#endif

typedef struct {
  long row, entry, segment;  // first row, first entry, and number of the segment; -1 for a block of whole rows
  int rows, entries;
} Block;

static inline Block block_of(__global const long* blocks, long at) {
  __global const long* const words = blocks + 3 * at;
  Block block;
  block.row = words[0];
  block.entry = words[1];
  block.segment = words[2];
  block.rows = block.segment >= 0 ? 1 : (int)(words[3] - words[0]);
  block.entries = (int)(words[4] - words[1]);
  return block;
}

// first_entry() and end_entry() bound the entries of row r of a block, counted from the block's first entry.
static inline int first_entry(Block block, __global const ushort* row_end, int r) {
  return r == 0 ? 0 : row_end[block.row + r - 1];
}
static inline int end_entry(Block block, __global const ushort* row_end, int r) {
  return block.segment >= 0 ? block.entries : row_end[block.row + r];
}

// @param dot  with DOT, receives the row's part of x . z in addition
static inline void put_sum(Block block, int r, scalar_t sum, __global const scalar_t* x, __global const scalar_t* y,
                           __global scalar_t* z, __global scalar_t* sums, scalar_t* dot) {
  if (block.segment >= 0) {
    sums[block.segment] = sum;
  } else {
    put_row(y, z, block.row + r, sum);
#ifdef DOT
    *dot += x[block.row + r] * sum;
#endif
  }
}

#if GROUP_ITEMS > 1

static inline void multiply(Block block, __global const scalar_t* values, __global const place_t* columns,
                            __global const scalar_t* x, __local scalar_t* products) {
  const int item = (int)get_local_id(0);
#pragma unroll
  for (int i = 0; i < BLOCK_ENTRIES; i += GROUP_ITEMS) {
    const int k = i + item;
    if (k < block.entries) products[k] = mul(values[block.entry + k], x[columns[block.entry + k]]);
  }
}

static inline void add_rows(Block block, __global const ushort* row_end, __local const scalar_t* products,
                            __local scalar_t* parts, __global const scalar_t* x, __global const scalar_t* y,
                            __global scalar_t* z, __global scalar_t* sums, scalar_t* dot) {
  const int item = (int)get_local_id(0);
  int lanes = 1, at_once = GROUP_ITEMS;  // `lanes` work-items share a row; `at_once` rows are summed at once
  for (; 2 * lanes * block.rows <= GROUP_ITEMS; at_once /= 2) lanes *= 2;
  const int lane = item & (lanes - 1);
  // The loop repeats only if each row has a single work-item.
  for (int r = (item - lane) / lanes, before = 0; before < block.rows; before += at_once, r += at_once) {
    scalar_t sum = 0;
    if (r < block.rows) {
      const int behind = end_entry(block, row_end, r);
      for (int k = first_entry(block, row_end, r) + lane; k < behind; k += lanes) sum = add(sum, products[k]);
    }
    if (lanes > 1) sum = sum_of_items(sum, lanes, parts);
    if (r < block.rows && lane == 0) put_sum(block, r, sum, x, y, z, sums, dot);
  }
}

#else

#define AT_ONCE 4  // independent partial sums; in a single sum, each addition waits for the previous addition

static inline void multiply_rows(Block block, __global const scalar_t* values, __global const place_t* columns,
                                 __global const ushort* row_end, __global const scalar_t* x,
                                 __global const scalar_t* y, __global scalar_t* z, __global scalar_t* sums,
                                 scalar_t* dot) {
  int k = 0;
  for (int r = 0; r < block.rows; ++r) {
    const int behind = end_entry(block, row_end, r);
    scalar_t part[AT_ONCE] = {0};
    for (; k + AT_ONCE <= behind; k += AT_ONCE) {
#pragma unroll
      for (int i = 0; i < AT_ONCE; ++i) part[i] += values[block.entry + k + i] * x[columns[block.entry + k + i]];
    }
    scalar_t sum = (part[0] + part[1]) + (part[2] + part[3]);
    for (; k < behind; ++k) sum += values[block.entry + k] * x[columns[block.entry + k]];
    put_sum(block, r, sum, x, y, z, sums, dot);
  }
}

#endif

__kernel __attribute__((reqd_work_group_size(GROUP_ITEMS, 1, 1))) void product_rows(
    __global const scalar_t* restrict values, __global const place_t* restrict columns,
    __global const long* restrict blocks, __global const ushort* restrict row_end, __global const scalar_t* restrict x,
    __global const scalar_t* y, __global scalar_t* z, __global scalar_t* sums, const long count, const long span,
    __global scalar_t* partial, const long first) {
  __local scalar_t parts[GROUP_ITEMS];
#if GROUP_ITEMS > 1
  __local scalar_t products[BLOCK_ENTRIES];
#endif
  scalar_t dot = 0;
  const long end = min(count, ((long)get_group_id(0) + 1) * span);
  for (long at = (long)get_group_id(0) * span; at < end; ++at) {
    const Block block = block_of(blocks, at);
#if GROUP_ITEMS > 1
    multiply(block, values, columns, x, products);
    barrier(CLK_LOCAL_MEM_FENCE);
    add_rows(block, row_end, products, parts, x, y, z, sums, &dot);
    barrier(CLK_LOCAL_MEM_FENCE);  // the next block overwrites the products
#else
    multiply_rows(block, values, columns, row_end, x, y, z, sums, &dot);
#endif
  }
#ifdef DOT
  put_dot(dot, parts, partial, first);
#endif
}
