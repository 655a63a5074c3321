// SPDX-License-Identifier: BSD-2-Clause
// Purpose: truncated-streamed on GPUs, for lines laid end to end by stored factors: z_i = y_i - w_i z_(i-1) down,
// x_i = r_i z_i - c_i x_(i+1) up. A work-group streams a run of tiles: z is carried from tile to tile, and the sweep
// down is one tile ahead: x of a tile follows when what is below it has been condensed to its first unknown. Truncated
// are what is `reach` rows outside of a run and, between tiles of a run, what is a tile away. core/certificate bounds
// both.
// Source: sweeps are chains of affine maps, composed within a work-item and scanned over the work-group.
//   CORRECTED    rows are swept again from what enters the work-item; what that takes for it and what the one before it
//                arrives at differ by rounding, times products of multipliers. That is scanned in its turn and taken off
//                every row, which is not swept a third time. Without it what enters is taken off rows that were swept
//                from 0, by the products of the scan, so that neighbours differ by what the scan rounds. A reach is
//                a tile.
//   CORE_GROUPS  work-groups that a core is to have registers for at a time. OpenCL has no word for it, CUDA has: with
//                one register too many runs are two waves where they were cut for one, and take 1.5 times as long
//
// Arguments (global memory)
//   multiplier, reciprocal, coupling, y, x  shape [rows of the chunk]; x overlaps none of the others. With
//                SYMMETRIC multiplier is not read (see tile_factors.clh)
//   met_by, launch     of tile_non_finite.clh
//   n, origin    rows of the whole system; row of element 0 of the arrays, a multiple of VECTOR
//   run_begin, run_end  runs of this launch; run k keeps rows [k run_rows, (k + 1) run_rows)
//   length       rows of a line, with SHARED_FACTORS; see tile_factors.clh
//   run_rows, run_tiles, reach  run_rows + 2 reach = run_tiles TILE_ROWS; multiples of VECTOR
//   transposed       local, TRANSPOSED_WORDS scalars
// Launch:  a work-group a run, of GROUP_ITEMS work-items, on demand any number of them. The last runs come first.
// Local:   as many scalars.
// Per row: 4 multiply-adds, 5 multiplications, with CORRECTED 2 more and 1 multiplication and 3 additions; 5 words, 4
//          if symmetric, 2 if factors are shared; narrow ones take half a word.
// Assumes: couplings out of the system are 0.
// Valid:   x for the rows of the runs below n.
#include "gpu/tile_sweeps.clh"

static inline void stream_run(Lines of, long run, __local vector_t* transposed) {
  const int item = (int)get_local_id(0);
  __local scalar_t* const words = (__local scalar_t*)transposed;
  const long first = run * of.run_rows - of.origin, end = min(of.n, (run + 1) * of.run_rows) - of.origin;
  const scalar_t one = of.run_rows > 0 ? 1 : 0;
  scalar_t z = 0;
  Ahead before;
#ifdef CORRECTED
  // The tile above the cut, the last of its own, is swept once more, from where the next run begins.
  const int again = of.reach > 0 ? of.run_tiles - 1 : -1;
  const bool joins = again > 0 && end < of.n - of.origin;
#else
  const int again = -1;
  const bool joins = false;
  const bool shares = of.reach == TILE_ROWS && end < of.n - of.origin;
#endif
  TileRows rows;
  rows.n = of.n - of.origin;
  for (int k = 0; k < of.run_tiles + (joins ? 1 : 0); ++k) {
    rows.first = first - of.reach + (long)(again > 0 && k >= again ? k - 1 : k) * TILE_ROWS;
    rows.full = rows.first >= -of.origin && rows.first + TILE_ROWS <= rows.n;
    Ahead tile;
    tile.rows = rows;
    factor_t w[ITEM_ROWS], r[ITEM_ROWS];
    Affine map;
    fetch_tile(of, &tile, transposed, w, r);
#ifdef CORRECTED
    const scalar_t entering = k == again ? 0 : z;
#else
    // Above the cut the last work-item leaves out what has entered the tile, which gets there no more, and has the bits
    // that the next run begins with.
    const scalar_t entering = shares && rows.first + TILE_ROWS == end && item == GROUP_ITEMS - 1 ? 0 : z;
#endif
    const scalar_t leaving = sweep(&tile, entering, one, w, r, words, of.non_finite, &map);
    // From this tile to the next one down and to the one above.
    barrier(CLK_LOCAL_MEM_FENCE);
    if (item == GROUP_ITEMS - 1) words[0] = leaving;
#ifdef CORRECTED
    if (item == 0) words[1] = tile.v[0];
#else
    if (item == 0) words[1] = map_at(map, tile.behind.value);
#endif
    barrier(CLK_LOCAL_MEM_FENCE);
    z = words[0];
    const scalar_t below = words[1];
    if (k == again) continue;
    if (k > 0) finish(&before, below, one, first, end, transposed, of.non_finite, of.x);
    before = tile;
    if (rows.first + TILE_ROWS >= (again > 0 && !joins ? end : end + of.reach)) break;
  }
  finish(&before, 0, one, first, end, transposed, of.non_finite, of.x);
}

__kernel __attribute__((reqd_work_group_size(GROUP_ITEMS, 1, 1))) void tile_stored(
    __global const factor_t* restrict multiplier, __global const factor_t* restrict reciprocal,
    __global const factor_t* restrict coupling, __global const scalar_t* restrict y, __global scalar_t* restrict x,
    __global int* restrict met_by, const int launch, const long n, const long origin, const long run_begin,
    const long run_end, const long run_rows, const int run_tiles, const int reach, const int length,
    __local vector_t* transposed) {
  const Lines of = {multiplier, reciprocal, coupling, y,         x,     {met_by, launch},
                    n,          origin,     run_rows, run_tiles, reach, length};
  long run = run_end - 1 - (long)get_group_id(0);
  if (run < run_begin || !wanted(of.non_finite)) return;
#ifdef ON_DEMAND
  for (const long groups = (long)get_num_groups(0); run - groups >= run_begin; run -= groups) {
    stream_run(of, run, transposed);
    barrier(CLK_LOCAL_MEM_FENCE);
  }
#endif
  stream_run(of, run, transposed);
}
