// SPDX-License-Identifier: BSD-2-Clause
// Purpose: method truncated-streamed on GPUs, for lines end to end by stored factors: down z_i = y_i - w_i z_(i-1), up
// x_i = r_i z_i - c_i x_(i+1). A work-group streams a run of tiles, and z goes on from tile to tile. x of a tile is
// computed once the first unknown of the tile below is known. The truncation is `reach` rows outside a run, and one
// tile away inside a run. core/certificate bounds both errors.
// Source: sweeps are chains of affine maps, composed within a work-item and scanned over the work-group. The value that
// enters a group of rows is the result of the row before the group in the sweep. The value that leaves the group is the
// result of its last row.
//
// Build parameters, besides those of tile_factors.clh:
//   CORRECTED    defined: a work-item sweeps its rows from the value that the scan gives. The sweep of the previous
//                work-item ends at a slightly different value. A second scan passes on the differences, and every row
//                is corrected for them; reach is a tile. Not defined: rows are swept from 0, and products correct them
//                for the entering value. Neighbours then differ by the rounding of the scan
//   CORE_GROUPS  how many work-groups' registers must fit into a multiprocessor. CUDA needs it; OpenCL stays below that
//                limit by itself. With one register too many, runs take two waves and 1.5 times as long
//
// Arguments (global memory)
//   multiplier, reciprocal, coupling   w, r and c, shape [rows of the chunk], or with SHARED_FACTORS of one line
//                (tile_factors.clh). With SYMMETRIC, multiplier is not read
//   y, x         shape [rows of the chunk]; x overlaps no other array
//   met_by, launch     members of NonFinite (tile_non_finite.clh)
//   n, origin    rows of the whole system; row that element 0 of the arrays holds, a multiple of VECTOR
//   run_begin, run_end  runs of this launch; run k stores rows [k run_rows, (k + 1) run_rows)
//   length       with SHARED_FACTORS, rows of a line (tile_factors.clh)
//   run_rows, run_tiles, reach  run_rows + 2 reach = run_tiles TILE_ROWS; run_rows, reach: multiples of VECTOR
//   transposed       local, TRANSPOSED_WORDS scalars
// Launch:  a work-group of GROUP_ITEMS work-items for each run; any number with ON_DEMAND. The last runs come first.
// Local:   `transposed`.
// Per row: 4 multiply-adds, 5 multiplications; CORRECTED adds 2 multiply-adds, 1 multiplication and 3 additions. 5
//          words, 4 if symmetric, 2 with shared factors; a narrow factor counts half a word.
// Assumes: couplings out of the system are 0.
// Valid:   x for the rows of the runs below n.
#define ROWS_IN_STEP
#include "gpu/tile_factors.clh"
#include "gpu/tile_scan.clh"

// A swept tile. v holds the unknowns that result from an unknown 0 below the work-item (CORRECTED: below the tile). c
// holds couplings. `behind` maps the unknown below the tile to the unknown below the work-item's rows.
typedef struct {
  TileRows rows;
  scalar_t v[ITEM_ROWS];
  factor_t c[ITEM_ROWS];
  Affine behind;
} Ahead;

// Sweep the rows of a work-item from 0. @param[out] map  maps the entering value to the value that leaves
static inline void sweep_from_zero(scalar_t* v, const factor_t* coupling, bool back, Affine* map) {
  map->factor = 1;
  map->value = 0;
#pragma unroll
  for (int k = 0; k < ITEM_ROWS; ++k) {
    const int i = back ? ITEM_ROWS - 1 - k : k;
    map->value = take_off(NAN_SAFE, v[i], coupling[i], map->value);
    map->factor = -mul(coupling[i], map->factor);
#ifndef CORRECTED
    v[i] = map->value;
#endif
  }
}

#ifdef CORRECTED
// Correct the rows of a work-item for an error `off` of the entering value. @param back  true: it enters from below
static inline void take_off_all(scalar_t* v, const factor_t* coupling, scalar_t off, bool back) {
#pragma unroll
  for (int k = 0; k < ITEM_ROWS; ++k) {
    const int i = back ? ITEM_ROWS - 1 - k : k;
    off = NAN_SAFE && is_zero(coupling[i]) ? 0 : -mul(coupling[i], off);
    v[i] = add(v[i], off);
  }
}

// Returns the error of the value from which a work-item swept its rows. Begins with a barrier.
// @param through        product of -coupling (down: -multiplier) of these rows
// @param entered, left  the value at which the sweep began, and the value at which it ended
static inline scalar_t find_mismatch(scalar_t through, scalar_t entered, scalar_t left, bool back,
                                     __local scalar_t* words) {
  const int item = (int)get_local_id(0), next = back ? item - 1 : item + 1;
  barrier(CLK_LOCAL_MEM_FENCE);
  words[item] = entered;
  barrier(CLK_LOCAL_MEM_FENCE);
  const bool more = next >= 0 && next < GROUP_ITEMS;
  const Affine mine = {through, more ? left - words[next] : 0};
  return scan(mine, back, words).value;
}
#else
// Add the influence of the entering value to rows that were swept from 0.
// @param one  1; the compiler must not know this, because it would then keep all products in registers
static inline void let_enter(scalar_t* v, const factor_t* coupling, scalar_t entering, bool back, scalar_t one) {
  Affine row = {one, 0};
#pragma unroll
  for (int k = 0; k < ITEM_ROWS; ++k) {
    const int i = back ? ITEM_ROWS - 1 - k : k;
    row.factor = -mul(coupling[i], row.factor);
    row.value = v[i];
    v[i] = map_at(row, entering);
  }
}
#endif

typedef struct {
  __global const factor_t *multiplier, *reciprocal, *coupling;
  __global const scalar_t* y;
  __global scalar_t* x;
  NonFinite non_finite;
  long n, origin, run_rows;
  int run_tiles, reach, length;
} Lines;

// Solve a swept tile from `below`, the unknown below it. Store its rows in [first, end). @param one  as for let_enter()
static inline void finish(Ahead* tile, scalar_t below, scalar_t one, long first, long end, __local vector_t* transposed,
                          NonFinite non_finite, __global scalar_t* x) {
#ifdef CORRECTED
  // If the factor is 0, the rows need no correction, and a product would let in a NaN of the line below.
  if (!is_zero(tile->behind.factor)) take_off_all(tile->v, tile->c, mul(tile->behind.factor, below), true);
#else
  let_enter(tile->v, tile->c, map_at(tile->behind, below), true, one);
#endif
  note_unless_finite(tile->v[0], non_finite);
  const long kept = max(first - tile->rows.first, 0L), kept_end = min(end - tile->rows.first, (long)TILE_ROWS);
  store_kept(tile->v, transposed, tile->rows, (int)kept, (int)kept_end, x);
}

// Load a tile: y and couplings go to *tile, other factors to w and r. All loads come before any use of a result.
static inline void fetch_tile(Lines of, Ahead* tile, __local vector_t* transposed, factor_t* w, factor_t* r) {
  const TileRows rows = tile->rows;
  factors_t fr[ITEM_FACTORS], fc[ITEM_FACTORS];
  vector_t fy[ITEM_VECTORS];
#ifdef SYMMETRIC
  const factor_t outer = fetch_above(of.coupling, rows);
#else
  factors_t fw[ITEM_FACTORS];
  fetch_factors(of.multiplier, rows, 0, of.origin, of.length, fw);
#endif
  fetch(of.y, rows, 0, fy);
  fetch_factors(of.reciprocal, rows, 0, of.origin, of.length, fr);
  fetch_factors(of.coupling, rows, 0, of.origin, of.length, fc);
#ifndef SYMMETRIC
  transpose_factors(fw, transposed, w);
#endif
  transpose_to_rows(fy, transposed, tile->v);
  transpose_factors(fr, transposed, r);
  transpose_factors(fc, transposed, tile->c);
#ifdef SYMMETRIC
  take_from_above(outer, transposed, tile->c, w);
#endif
}

// Sweep a tile down from `entering` and up from 0, and compute tile->behind.
// @param[out] map  map of the sweep up over the work-item's rows;   one  as for let_enter()
// @return the value that leaves the work-item's rows in the sweep down
static inline scalar_t sweep(Ahead* tile, scalar_t entering, scalar_t one, const factor_t* w, const factor_t* r,
                             __local scalar_t* words, NonFinite non_finite, Affine* map) {
  sweep_from_zero(tile->v, w, false, map);
  note_unless_finite(map->value, non_finite);
  scalar_t z = map_at(scan(*map, false, words), entering);
#ifdef CORRECTED
  const scalar_t down = z;
#pragma unroll
  for (int i = 0; i < ITEM_ROWS; ++i) tile->v[i] = z = take_off(NAN_SAFE, tile->v[i], w[i], z);
  take_off_all(tile->v, w, find_mismatch(map->factor, down, z, false, words), false);
#else
  let_enter(tile->v, w, z, false, one);
#endif
  z = tile->v[ITEM_ROWS - 1];
#pragma unroll
  for (int i = 0; i < ITEM_ROWS; ++i) tile->v[i] = mul(tile->v[i], r[i]);
  sweep_from_zero(tile->v, tile->c, true, map);
  note_unless_finite(map->value, non_finite);
  tile->behind = scan(*map, true, words);
#ifdef CORRECTED
  scalar_t x = tile->behind.value;
#pragma unroll
  for (int i = ITEM_ROWS - 1; i >= 0; --i) tile->v[i] = x = take_off(NAN_SAFE, tile->v[i], tile->c[i], x);
  take_off_all(tile->v, tile->c, find_mismatch(map->factor, tile->behind.value, x, true, words), true);
#endif
  return z;
}

static inline void stream_run(Lines of, long run, __local vector_t* transposed) {
  const int item = (int)get_local_id(0);
  __local scalar_t* const words = (__local scalar_t*)transposed;
  transposed = own_part(transposed);
  const long first = run * of.run_rows - of.origin, end = min(of.n, (run + 1) * of.run_rows) - of.origin;
  const scalar_t one = of.run_rows > 0 ? 1 : 0;
  scalar_t z = 0;
  Ahead before;
#ifdef CORRECTED
  // Sweep the run's last tile once more, from 0 like the next run. The result is the value that enters the tile below.
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
    // In the run's last tile, the last work-item starts from 0, as it does in the next run, which begins with this
    // tile. Both runs then compute the same bits. The influence of the entering value has decayed there.
    const scalar_t entering = shares && rows.first + TILE_ROWS == end && item == GROUP_ITEMS - 1 ? 0 : z;
#endif
    const scalar_t leaving = sweep(&tile, entering, one, w, r, words, of.non_finite, &map);
    // Pass on two numbers: the value that enters the next tile, and the first unknown for the tile above.
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
#if TOGETHER < GROUP_ITEMS
    barrier(CLK_LOCAL_MEM_FENCE);  // the next transposition overwrites `words`
#endif
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
