// SPDX-License-Identifier: BSD-2-Clause
// Purpose: a pass of exact-factored on GPUs, for lines side by side: the right-hand side of the systems that are left
// of the first and the last row of every segment when the others are eliminated, again lines side by side.
// grid_whole.cl substitutes back. Source: SPIKE with Schur complements, as tile_fold.cl: a segment is solved for its
// first and last unknown with 0 around it; z, swept down, has settled what is large in y, and only then come the stored
// weights.
//
// Arguments (global memory)
//   multiplier, weight  of every row, at its place in y, or (SHARED_FACTORS) of one line; x_first = sum of weight z.
//                       Multipliers of first rows are their couplings; core/grid_factors. COUPLINGS_SERVE: the
//                       couplings in place of the multipliers
//   y                   right-hand sides
//   corners             shape [blocks][segments][4][block_lines], or [segments][4] of one line: what x_first and z_last
//                       add to the first row, and to the last
//   left                shape [blocks][2 segments][block_lines]: out, the right-hand side
//   blocks, block_stride, block_lines  line l of block o begins at place o block_stride + l
//   length, row_stride  rows of a line and places between them
//   bundles             of a block; the last may lack lines
//   segments            of a line, TILE_ROWS each; the last may lack rows
//   words               local, 4 GROUP_ITEMS
// Launch:  a work-group for each segment of each bundle, of GROUP_ITEMS work-items; neighbouring bundles are
// neighbours. Local:   those words, scalars. Per row: 4 multiply-adds, 1 multiplication; 3 words, 1 where factors are
// shared. Assumes: factors are finite (set-up has the evidence). NaN of y stays in its line. Valid:   left, for all
// lines.
#include "gpu/grid_rows.clh"

__kernel __attribute__((reqd_work_group_size(GROUP_ITEMS, 1, 1))) void grid_fold(
    __global const scalar_t* restrict multiplier, __global const scalar_t* restrict weight,
    __global const scalar_t* restrict y, __global const scalar_t* restrict corners, __global scalar_t* restrict left,
    const long blocks, const long block_stride, const long block_lines, const int length, const long row_stride,
    const int bundles, const int segments, __local scalar_t* words) {
  const int pieces = (int)get_group_id(0) / bundles, block = pieces / segments;
  if (block >= blocks) return;
  const int piece = remainder_of((int)get_group_id(0), pieces, bundles),
            segment = remainder_of(pieces, block, segments);
  const Home home = make_home(block * block_stride, piece, block_lines, length, row_stride);
  const Told down = part_of(words, 0), sums = part_of(words, 1);
  scalar_t m[ITEM_ROWS], g[ITEM_ROWS], z[ITEM_ROWS];
#ifdef COUPLINGS_SERVE
  fetch_above(multiplier, home, segment, m);
#else
  fetch_factor(multiplier, home, segment, m);
#endif
  fetch(y, home, segment, z);
  fetch_factor(weight, home, segment, g);
  if (home.item == 0) m[0] = 0;  // nothing enters
  tell_down(m, z, home, down);
  barrier(CLK_LOCAL_MEM_FENCE);
  const scalar_t leaves = sweep_down(m, pass_down_to(home.item, 0, down, home), z);
  scalar_t sum = 0;
#pragma unroll
  for (int i = 0; i < ITEM_ROWS; ++i) sum = mul_add(sum, g[i], z[i]);
  tell(sum, leaves, home, sums);
  barrier(CLK_LOCAL_MEM_FENCE);
  if (home.item > 0 || !home.there) return;
  for (int k = 1; k < ITEMS_DOWN; ++k) sum += sums.value[k * BUNDLE + home.lane];
  const scalar_t z_last = sums.through[(ITEMS_DOWN - 1) * BUNDLE + home.lane];
#ifdef SHARED_FACTORS
  __global const scalar_t* const corner = corners + 4 * segment;
  const long apart = 1;
#else
  __global const scalar_t* const corner = corners + place_of_segment(block, segment, segments, 4, block_lines, home);
  const long apart = block_lines;
#endif
  __global scalar_t* const to = left + place_of_segment(block, segment, segments, 2, block_lines, home);
  for (int i = 0; i < 2; ++i)
    to[i * block_lines] = mul_add(mul(corner[2 * i * apart], sum), corner[(2 * i + 1) * apart], z_last);
}
