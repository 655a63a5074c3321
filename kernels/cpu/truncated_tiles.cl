// SPDX-License-Identifier: BSD-2-Clause
// Purpose: method truncated-halo without a halo. A work-group sweeps its run of tiles down, one tile ahead of the
// substitution. The truncation is one tile below each tile and one tile above the run. No factors are stored.
//
//   down:  a lane eliminates the rows of its partition, x_i = d_i - c_i x_(i+1) - w_i a. a is the unknown above the
//          partition. The lane also updates D - C x_i - W a, an expression for the partition's first unknown
//   met:   the last unknowns of the partitions form a tridiagonal system in the lanes of a vector. Parallel cyclic
//          reduction gives its solution g - e a - f b. a and b are the unknowns above and below the tile
//   back:  compute x_i from a and x_(i+1), once the first unknown of the tile below is known
// Source: SPIKE with lanes as processes; core/certificate bounds the error as for a halo of one tile.
//
// Arguments (global memory)
//   lower, diag, upper, y, x, n, origin, tile_begin, tile_end, m  as for truncated_halo; m is a multiple of LANES. The
//                 arrays also hold the rows of one tile before and one tile behind these tiles
//   scratch       `slot` lanes_t for each work-group: LANES for edge tiles, then c, d, w of each row of two tiles
//   slot          LANES + 6 m
// Launch:  any number of work-groups of one work-item; each takes a run of consecutive tiles.
// Local:   none; private 9 LANES lanes_t.
// Per row: half a division, 6 multiplications, 8 multiply-adds; 5 words.
// Assumes: no pivot vanishes, and entries are within a factor 2^30 of 1 (2^120 in double), because the kernel
//          multiplies three of them. NaN of y stays in its line.
// Valid:   x for the rows of the tiles below n.
#include "cpu/shared_lines.clh"
#include "cpu/tile.clh"

#define ROW_VECTORS 3  // c, d and w of a row

// Returns y - coupling * unknown, or y where the coupling is 0.
static inline scalar_t take_off_one(scalar_t y, scalar_t coupling, scalar_t unknown) {
  return coupling == 0 ? y : y - coupling * unknown;
}

// State of a sweep down. Row i is the last eliminated row, and a is the unknown above the partition.
typedef struct {
  lanes_t c, d, w;
  lanes_t first_d, first_c, first_w;  // the first unknown is first_d - first_c x_(i+1) - first_w a
  lanes_t last_d, last_c, last_w;     // the first unknown is last_d - last_c x_i - last_w a
} Down;

static inline Down begin_down() {
  const Down down = {ZERO, ZERO, -ONE, ZERO, -ONE, ZERO, ZERO, ZERO, ZERO};
  return down;
}

// Eliminate row s of the block; r is the reciprocal of its pivot.
SPECIALISED static inline void take_row(const Block* block, int s, lanes_t r, bool nan_safe, Down* of,
                                        __global lanes_t* kept) {
  const lanes_t a = mul(block->lower[s], r);
  of->c = mul(block->upper[s], r);
  of->d = take_off(nan_safe, mul(block->y[s], r), a, of->d);
  of->w = -mul(a, of->w);
  kept[0] = of->c;
  kept[1] = of->d;
  kept[2] = of->w;
  of->last_d = of->first_d;
  of->last_c = of->first_c;
  of->last_w = of->first_w;
  of->first_d = take_off(nan_safe, of->first_d, of->first_c, of->d);
  of->first_w = mul_sub(of->first_w, of->first_c, of->w);
  of->first_c = -mul(of->first_c, of->c);
  if (s % PRODUCT_ROWS == PRODUCT_ROWS - 1) {
    of->w = drop_tiny(of->w);
    of->first_c = drop_tiny(of->first_c);
  }
}

// Eliminate rows s and s + 1 of the block with one division. Two divisions would have to wait for each other.
SPECIALISED static inline void take_two_rows(const Block* block, int s, bool nan_safe, Down* of,
                                             __global lanes_t* kept) {
  const lanes_t p = mul_sub(block->diag[s], block->lower[s], of->c);
  const lanes_t q = mul_sub(mul(block->diag[s + 1], p), block->lower[s + 1], block->upper[s]);  // p * next pivot
  const lanes_t r = reciprocal(mul(p, q));
  take_row(block, s, mul(q, r), nan_safe, of, kept + ROW_VECTORS * s);
  take_row(block, s + 1, mul(mul(p, p), r), nan_safe, of, kept + ROW_VECTORS * (s + 1));
}

// Sweep a tile down block by block, with tests for couplings of 0. The tile may lie anywhere in the system.
static inline Down sweep_checked(Rows rows, long first, System of, __global scalar_t* edge, Block* block,
                                 __global lanes_t* kept) {
  const bool full = first > 0 && first + LANES * rows.m < rows.n;
  Down down = begin_down();
  for (int at = 0; at < rows.m; at += LANES) {
    load_rows(of.lower, of.diag, of.upper, of.y, rows, first + at, full, edge, block);
    for (int s = 0; s < LANES; s += 2) take_two_rows(block, s, true, &down, kept + ROW_VECTORS * at);
  }
  return down;
}

// The arrays of a system and of a block by number, in the order in which load_bands() loads them.
static inline __global const scalar_t* array_of(System of, int array) {
  return array == 0 ? of.lower : array == 1 ? of.upper : array == 2 ? of.diag : of.y;
}
static inline lanes_t* block_of(Block* of, int array) {
  return array == 0 ? of->lower : array == 1 ? of->upper : array == 2 ? of->diag : of->y;
}

// Sweep a tile down without tests. On entry blocks[*now] is the tile's first block, on return the next tile's first
// block. The next block is loaded between rows, because rows wait for each other's divisions. Data of the tile after
// the next tile is prefetched in the order of memory.
static inline Down sweep_ahead(Rows rows, long first, System of, Block* blocks, int* now, __global lanes_t* kept) {
  const long tile_rows = LANES * rows.m, here = first - rows.origin;
  Down down = begin_down();
  for (int at = 0; at < rows.m; at += LANES) {
    const Block* const block = &blocks[*now];
    Block* const other = &blocks[1 - *now];
    const long next = at + LANES < rows.m ? here + at + LANES : here + tile_rows;
#pragma unroll
    for (int array = 0; array < 4; ++array) {
      __global const scalar_t* const p = array_of(of, array);
#pragma unroll
      for (int line = 0; line < LANES; ++line) PREFETCH(p + here + 2 * tile_rows + (long)(at + line) * LANES);
#pragma unroll
      for (int s = array * LANES / 4; s < (array + 1) * LANES / 4; s += 2) {
        take_two_rows(block, s, false, &down, kept + ROW_VECTORS * at);
      }
      load_block(p + next, rows.m, block_of(other, array));
    }
    *now = 1 - *now;
  }
  return down;
}

// The result of solve_interfaces(), with the unknowns a above and b below the tile. The last unknowns of the partitions
// are x = g - e a - f b. The tile's first unknown is first_d - first_c x_0 - first_w a, where x_0 is x of partition 0.
typedef struct {
  lanes_t g, e, f;
  scalar_t first_d, first_c, first_w;
} Met;

// Factors below LEAST_FACTOR are negligible against the truncation error, and their squares would be subnormal.
#if SCALAR == SCALAR_FLOAT
#define LEAST_FACTOR 0x1p-50f
#else
#define LEAST_FACTOR 0x1p-450
#endif
static inline lanes_t drop_small(lanes_t factor) { return drop_below(LEAST_FACTOR, factor); }

// A step of parallel cyclic reduction: eliminate from every row the rows k places above and below it.
#define REDUCE(k)                                                                                    \
  {                                                                                                  \
    const lanes_t r = reciprocal(pivot);                                                             \
    lower = mul(lower, r);                                                                           \
    upper = mul(upper, r);                                                                           \
    g = mul(g, r);                                                                                   \
    e = mul(e, r);                                                                                   \
    f = mul(f, r);                                                                                   \
    g = take_off(nan_safe, take_off(nan_safe, g, lower, FROM_ABOVE(g, k)), upper, FROM_BELOW(g, k)); \
    e = mul_sub(mul_sub(e, lower, FROM_ABOVE(e, k)), upper, FROM_BELOW(e, k));                       \
    f = mul_sub(mul_sub(f, lower, FROM_ABOVE(f, k)), upper, FROM_BELOW(f, k));                       \
    pivot = mul_sub(mul_sub(ONE, lower, FROM_ABOVE(upper, k)), upper, FROM_BELOW(lower, k));         \
    lower = drop_small(-mul(lower, FROM_ABOVE(lower, k)));                                           \
    upper = drop_small(-mul(upper, FROM_BELOW(upper, k)));                                           \
    e = drop_small(e);                                                                               \
    f = drop_small(f);                                                                               \
  }

SPECIALISED static inline Met solve_interfaces(Down down, bool nan_safe) {
  // The equation of each partition's last row, after substitution of the first unknown of the next partition.
  const lanes_t next_d = FROM_BELOW(down.last_d, 1), next_w = FROM_BELOW(down.last_w, 1);
  down.w = drop_small(down.w);
  lanes_t lower = with_lane(down.w, 0, 0), upper = drop_small(-mul(down.c, FROM_BELOW(down.last_c, 1)));
  lanes_t pivot = mul_sub(ONE, down.c, next_w), g = take_off(nan_safe, down.d, down.c, next_d);
  lanes_t e = with_lane(ZERO, 0, lane_of(down.w, 0)), f = with_lane(ZERO, LANES - 1, lane_of(down.c, LANES - 1));
  REDUCE(1)
  REDUCE(2)
#if LANES > 4
  REDUCE(4)
#endif
#if LANES > 8
  REDUCE(8)
#endif
  const lanes_t r = reciprocal(pivot);
  const Met met = {
      mul(g, r), mul(e, r), mul(f, r), lane_of(down.last_d, 0), lane_of(down.last_c, 0), lane_of(down.last_w, 0)};
  return met;
}

// Substitute one row of a swept tile. `below` is the unknown below the row, `enters` the unknown above the partition.
SPECIALISED static inline lanes_t row_back_from(__global const lanes_t* row, bool nan_safe, lanes_t enters,
                                                lanes_t below) {
  return take_off(nan_safe, take_off(nan_safe, row[1], row[2], enters), row[0], below);
}

// Substitute back in a swept tile, and store the tile in blocks that are aligned in x.
//   last  last unknowns of the tile's partitions;  above  the unknown above the tile
SPECIALISED static inline void substitute(Rows rows, long first, bool nan_safe, lanes_t last, scalar_t above,
                                          __global lanes_t* kept, Pending* pending, __global scalar_t* edge,
                                          __global scalar_t* x) {
  const bool full = first + LANES * rows.m <= rows.n;
  const int m = (int)rows.m, head = scalars_to_alignment(x + (first - rows.origin)), tail = (LANES - head) % LANES;
  const lanes_t enters = with_lane(FROM_ABOVE(last, 1), 0, above);
  __global lanes_t* const end_row = kept + ROW_VECTORS * (m - 1);
  lanes_t value = ZERO, block[LANES], line[LANES];
  end_row[0] = end_row[2] = ZERO;
  end_row[1] = last;
  for (int s = tail - 1; s >= 0; --s) {
    line[s] = value = row_back_from(kept + ROW_VECTORS * (m - tail + s), nan_safe, enters, value);
  }
  for (int at = m - tail - LANES; at >= head; at -= LANES) {
    __global const lanes_t* const from = kept + ROW_VECTORS * at;
#pragma unroll
    for (int s = LANES - 1; s >= 0; --s) {
      block[s] = value = row_back_from(from + ROW_VECTORS * s, nan_safe, enters, value);
    }
    store_rows(block, LANES, rows, first + at, full, true, edge, x);
  }
  if (head == 0) return;
  for (int s = head - 1; s >= 0; --s) {
    line[tail + s] = value = row_back_from(kept + ROW_VECTORS * s, nan_safe, enters, value);
  }
  store_shared_lines(true, rows, first, full, tail, line, pending, edge, x);
}

// A tile that waits for the sweep of the tile below it.
typedef struct {
  Met met;
  bool nan_safe;
} Before;

// Returns the last unknowns of the partitions of `tile`. `below` is the tile below. *above is the unknown above the
// tile on entry, and the tile's last unknown on return.
static inline lanes_t close_tile(Met tile, Met below, scalar_t* above) {
  // The first unknown of the tile below is shift - slope * (last unknown of this tile).
  const scalar_t shift = take_off_one(below.first_d, below.first_c, lane_of(below.g, 0));
  const scalar_t slope = below.first_w - below.first_c * lane_of(below.e, 0), f = lane_of(tile.f, LANES - 1);
  const scalar_t own = take_off_one(lane_of(tile.g, LANES - 1), lane_of(tile.e, LANES - 1), *above);
  const scalar_t last = take_off_one(own, f, shift) / (1 - f * slope);
  const scalar_t first_below = take_off_one(shift, slope, last);
  const lanes_t all = take_off(true, take_off(true, tile.g, tile.e, (lanes_t)*above), tile.f, (lanes_t)first_below);
  *above = last;
  return with_lane(all, LANES - 1, last);
}

static inline void stream_run(Rows rows, long begin, long end, System of, __global scalar_t* x, __global lanes_t* own) {
  const int m = (int)rows.m;
  const long tile_rows = LANES * rows.m, tiles = (rows.n + tile_rows - 1) / tile_rows, start = max(begin - 1, 0L);
  __global scalar_t* const edge = (__global scalar_t*)own;
  const Met nothing = {ZERO, ZERO, ZERO, 0, 0, 0};
  Block blocks[2];
  int now = 0;
  bool loaded = false;
  scalar_t above = 0;
  Before before = {nothing, false};
  Pending pending = nothing_pending();
  // The loop begins in the tile above the run and ends in the tile below the run, if these exist.
  for (long t = start; t <= end; ++t) {
    const long first = t * tile_rows;
    __global lanes_t* const kept = own + LANES + (t & 1) * ROW_VECTORS * m;
    Before here = {nothing, false};
    if (t < tiles) {
      const bool ahead = t < end && first > 0 && first + 2 * tile_rows < rows.n;
      here.nan_safe = !ahead;
      if (ahead) {
        if (!loaded) load_rows(of.lower, of.diag, of.upper, of.y, rows, first, true, edge, &blocks[now]);
        here.met = solve_interfaces(sweep_ahead(rows, first, of, blocks, &now, kept), false);
        here.nan_safe = !all_finite(here.met.g);
      }
      loaded = ahead;
      if (here.nan_safe) {
        here.met = solve_interfaces(sweep_checked(rows, first, of, edge, &blocks[1 - now], kept), true);
      }
    }
    if (t > start) {
      const scalar_t entered = above;
      const lanes_t last = close_tile(before.met, here.met, &above);
      if (t > begin) {
        __global lanes_t* const back = own + LANES + ((t - 1) & 1) * ROW_VECTORS * m;
        if (before.nan_safe || !all_finite(last) || !isfinite(entered)) {
          substitute(rows, first - tile_rows, true, last, entered, back, &pending, edge, x);
        } else {
          substitute(rows, first - tile_rows, false, last, entered, back, &pending, edge, x);
        }
      }
    }
    before = here;
  }
  store_pending(&pending);
}

__kernel __attribute__((reqd_work_group_size(1, 1, 1))) void truncated_tiles(
    __global const scalar_t* restrict lower, __global const scalar_t* restrict diag,
    __global const scalar_t* restrict upper, __global const scalar_t* restrict y, __global scalar_t* restrict x,
    __global lanes_t* restrict scratch, const long n, const long origin, const long tile_begin, const long tile_end,
    const int m, const int slot) {
  const long run = (long)get_group_id(0), runs = (long)get_num_groups(0);
  const long begin = run_begin(tile_begin, tile_end, run, runs), end = run_begin(tile_begin, tile_end, run + 1, runs);
  const Rows rows = {n, origin, m};
  const System of = {lower, diag, upper, y};
  if (begin == end) return;
  stream_run(rows, begin, end, of, x, scratch + run * slot);
}
