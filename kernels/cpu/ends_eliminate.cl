// SPDX-License-Identifier: BSD-2-Clause
// Purpose: first pass of method exact-twopass from both ends of the system to the meeting: make the pivots and
// eliminate, on the side below the meeting from the row below. Each row is divided by its pivot.
//
//   p_i = diag_i - near_i c_(i-1),   c_i = far_i / p_i,   d_i = (y_i - near_i d_(i-1)) / p_i
//
// Rows are scaled to positive diagonals; near couples to where the sweep comes from, far to where it goes. Pivots are
// carried as h_i = 1 - |c_i|, with the excess s of every row, so that nothing cancels at dominance 1:
//   p_i = |far_i| + g_i,   g_i = s_i + |near_i| h,   h_i = g_i / p_i
// with h = h_(i-1) where near_i and c_(i-1) have one sign and 2 - h_(i-1) where they have not. All terms are >= 0. As a
// fraction h = a / b a row takes no division, a' = s b + |near| a, b' = a' + |far| b, and is linear: what a partition
// makes of any h is what it makes of 0 and of 1. So the lanes settle what h they start from before anything is divided,
// and then sweep alone. What of d has entered them is taken off at last, times the products of near_i / p_i, not swept
// again: see cpu/twisted.clh. That waits for the next tile, whose loads it goes along with. A partition is two pieces,
// one half each, whose chains of divisions do not wait for each other. Source: twisted factorisation; cpu/excess.clh
// for the excess.
//
// Arguments (global memory)
//   lower, diag, upper, y  bands and right-hand side, all n rows
//   coupling     c of all rows in the order of the lanes (cpu/turned.clh), shape [tiles m] lanes_t; written here
//   swept        d of all rows, the same
//   met          shape [2][MET_WORDS], written here: what either side leaves of its last row (cpu/ends.clh)
//   scratch      `slot` lanes_t for each work-group: LANES for edge tiles, then 7 m
//   n            rows
//   meeting      first tile of the side below
//   m            rows a partition, a multiple of LANES
//   slot         LANES + 7 m
// Launch:  one work-item a group; group 0 takes the tiles above the meeting, group 1 those from it on.
// Local:   none; private 4 LANES lanes_t.
// Per row: 1 division, about 45 additions, multiplications and changes of sign; 6 words.
// Assumes: rows are dominant, up to one rounding of the diagonal; RESCALE times in turn their largest numbers stay in
//          half of the exponents. NaN of y stays in its line.
// Valid:   coupling, swept and met of all tiles.
#include "cpu/ends.clh"

// h as a fraction a / b times 2^exponent.
typedef struct {
  lanes_t a, b;
  mask_t exponent;
} Fraction;

// What a piece makes of h = 0 and of h = 1.
typedef struct {
  Fraction of_zero, of_one;
} Map;

#if SCALAR == SCALAR_FLOAT
#define EXPONENT_BITS 0x7f800000
#define EXPONENT_SHIFT 23
#define EXPONENT_BIAS 127
#define RESCALE 4  // rows between two changes of scale
#else
#define EXPONENT_BITS 0x7ff0000000000000L
#define EXPONENT_SHIFT 52
#define EXPONENT_BIAS 1023
#define RESCALE 8
#endif

// 2^k; 0 below the exponents of normal numbers.
static inline lanes_t power_of_two(mask_t k) {
  return AS_LANES((k <= -EXPONENT_BIAS ? (mask_t)0 : k + EXPONENT_BIAS) << EXPONENT_SHIFT);
}

// Bring b to [1, 2).
static inline void rescale(Fraction* h) {
  const mask_t k = ((AS_MASK(h->b) & EXPONENT_BITS) >> EXPONENT_SHIFT) - EXPONENT_BIAS;
  const lanes_t scale = AS_LANES((EXPONENT_BIAS - k) << EXPONENT_SHIFT);
  h->a = mul(h->a, scale);
  h->b = mul(h->b, scale);
  h->exponent += k;
}

// Take a row. opposed: where near and the far coupling of the row before have different signs, if they may.
static inline void advance(Fraction* h, bool careful, mask_t opposed, lanes_t near, lanes_t excess, lanes_t far) {
  const lanes_t from = careful ? choose(opposed, sub(TWO * h->b, h->a), h->a) : h->a;
  h->a = mul_add(mul(near, from), excess, h->b);
  h->b = mul_add(h->a, far, h->b);
}

// What a piece makes of h, lane by lane, for scalars.
typedef struct {
  scalar_t a_zero[LANES], b_zero[LANES], a_one[LANES], b_one[LANES], h_zero[LANES];
} LaneMap;

static inline LaneMap by_lane(const Map* map) {
  const mask_t lead = map->of_one.exponent - map->of_zero.exponent;
  const lanes_t zero = power_of_two(lead > 0 ? -lead : (mask_t)0), one = power_of_two(lead < 0 ? lead : (mask_t)0);
  LaneMap by;
  to_private(mul(map->of_zero.a, zero), by.a_zero);
  to_private(mul(map->of_zero.b, zero), by.b_zero);
  to_private(mul(map->of_one.a, one), by.a_one);
  to_private(mul(map->of_one.b, one), by.b_one);
  to_private(map->of_zero.a / map->of_zero.b, by.h_zero);
  return by;
}

static inline scalar_t map_lane(const LaneMap* by, int j, scalar_t h) {
  // What h = 0 becomes may have vanished in the scale of the other.
  if (h == 0) return by->h_zero[j];
  const scalar_t a = (1 - h) * by->a_zero[j] + h * by->a_one[j], b = (1 - h) * by->b_zero[j] + h * by->b_one[j];
  return a / b;
}

// The far couplings of the rows that are met before the partitions of a tile, for their signs; 0 where there is none.
FOR_EACH_GUARD static inline lanes_t far_before(bool down, Rows rows, long t, System of) {
  scalar_t far[LANES];
  for (int j = 0; j < LANES; ++j) {
    const long partition = t * LANES + j, row = down ? partition * rows.m - 1 : (partition + 1) * rows.m;
    far[j] = 0;
    if (row >= 0 && row < rows.n)
      far[j] = of.diag[row] < 0 ? -(down ? of.upper : of.lower)[row] : (down ? of.upper : of.lower)[row];
  }
  return OCLSPKT_JOIN(vload, LANES)(0, far);
}

// Rows of the tile before, what entered their partitions being known by now.
typedef struct {
  __global const lanes_t* alone;  // d and its share of what entered, by rows; null: there is none
  __global lanes_t* swept;
  lanes_t entered[2];  // the two pieces
} Before;

static inline void settle_row(__global const lanes_t* alone, lanes_t entered, __global lanes_t* swept) {
  store_lanes_past_cache(take_off(true, alone[0], -alone[1], entered), swept);
}

// Keep near, far and excess of every row of a piece, the rows `begin` to `end` in the order of the sweep, and find what
// it makes of h. The excess has the sign of the diagonal. Unless careful, *signs becomes negative where it should have
// been.
FOR_EACH_GUARD static inline Map keep_rows(bool down, bool careful, Tile tile, int begin, int end, System of,
                                           lanes_t* far_above, mask_t* signs, const Before* before,
                                           __global lanes_t* rows_kept, __global scalar_t* edge) {
  const Rows rows = tile.rows;
  const long ahead = down ? LANES * rows.m : -LANES * rows.m;
  Map map = {{ZERO, ONE, 0}, {ONE, ONE, 0}};
  lanes_t lower[LANES], diag[LANES], upper[LANES], last_far = *far_above;
  for (int done = begin; done < end; done += LANES) {
    const int at = down ? done : (int)rows.m - LANES - done;
    load_bands(of.lower, of.diag, of.upper, rows, tile.base + at, tile.full, edge, lower, diag, upper);
    if (before->alone != 0) {
#pragma unroll
      for (int s = 0; s < LANES; ++s) {
        settle_row(before->alone + 2 * (at + s), before->entered[begin > 0], before->swept + at + s);
      }
    }
#pragma unroll
    for (int k = 0; k < LANES; ++k) {
      const int s = down ? k : LANES - 1 - k;
      PREFETCH(of.lower + (tile.base + ahead + at + k * rows.m));
      PREFETCH(of.diag + (tile.base + ahead + at + k * rows.m));
      const lanes_t near = with_sign(down ? lower[s] : upper[s], diag[s]);
      const lanes_t far = with_sign(down ? upper[s] : lower[s], diag[s]);
      const lanes_t near_size = magnitude(near), far_size = magnitude(far);
      const lanes_t excess = (magnitude(diag[s]) - near_size) - far_size,
                    forgiven = choose(is_negative(excess), ZERO, excess);
      __global lanes_t* const out = rows_kept + ROW_VECTORS * (at + s);
      out[0] = near;
      out[1] = far;
      out[2] = with_sign(forgiven, diag[s]);
      const mask_t against = AS_MASK(last_far) ^ AS_MASK(near);
      last_far = far;
      *signs |= against;
      advance(&map.of_zero, careful, against < (mask_t)0, near_size, forgiven, far_size);
      advance(&map.of_one, careful, against < (mask_t)0, near_size, forgiven, far_size);
      if (k % RESCALE == RESCALE - 1) {
        rescale(&map.of_zero);
        rescale(&map.of_one);
      }
    }
  }
  *far_above = last_far;
  return map;
}

// Where a sweep of a piece stands.
typedef struct {
  lanes_t h, coupling, d;  // of the last row
  lanes_t share;           // of what entered d in the last row
  lanes_t pivot;
} Sweep;

static inline Sweep begin_sweep(lanes_t h, lanes_t far_above) {
  const Sweep sweep = {h, with_sign(ONE - h, far_above), ZERO, ONE, ONE};
  return sweep;
}

static inline void sweep_row(Sweep* sweep, bool careful, lanes_t y, __global const lanes_t* row,
                             __global lanes_t* alone, __global lanes_t* coupling) {
  const lanes_t near = row[0], far = row[1], excess = row[2];
  // h or, where the couplings oppose each other, 2 - h.
  const lanes_t beyond = sub(magnitude(sweep->coupling), with_sign(sweep->coupling, near));
  const lanes_t h = careful ? add(sweep->h, beyond) : sweep->h;
  const lanes_t g = mul_add(magnitude(excess), magnitude(near), h);
  sweep->pivot = add(g, magnitude(far));
  const lanes_t r = reciprocal(sweep->pivot);
  sweep->h = mul(g, r);
  sweep->coupling = mul(far, r);
  sweep->d = mul(take_off(true, with_sign(y, excess), near, sweep->d), r);
  sweep->share = -mul(mul(near, r), sweep->share);
  alone[0] = sweep->d;
  alone[1] = sweep->share;
  store_lanes_past_cache(sweep->coupling, coupling);
}

typedef struct {
  __global const lanes_t* rows_kept;
  __global lanes_t *alone, *coupling;
} Kept;

// Sweep the rows [begin, begin + LANES) of a piece in the order of the sweep, and `other` further for the second.
FOR_EACH_GUARD static inline void sweep_block(bool down, bool careful, bool both, Tile tile, int begin, int other,
                                              System of, Sweep* first, Sweep* second, Kept to,
                                              __global scalar_t* edge) {
  const Rows rows = tile.rows;
  const bool full = tile.base + LANES * rows.m <= rows.n;
  const int at = down ? begin : (int)rows.m - LANES - begin, at_other = down ? at + other : at - other;
  const long next = tile.base + (down ? LANES * rows.m : -LANES * rows.m);
  lanes_t y[LANES], y_other[LANES];
  load_checked(of.y, rows, tile.base + at, full, 0, rows.n, 0, edge, y);
  if (both) load_checked(of.y, rows, tile.base + at_other, full, 0, rows.n, 0, edge, y_other);
#pragma unroll
  for (int k = 0; k < LANES; ++k) {
    const int s = down ? k : LANES - 1 - k, i = at + s, i_other = at_other + s;
    PREFETCH(of.y + (next + at + k * rows.m));
    PREFETCH(of.upper + (next + at + k * rows.m));
    sweep_row(first, careful, y[s], to.rows_kept + ROW_VECTORS * i, to.alone + 2 * i, to.coupling + i);
    if (k % PRODUCT_ROWS == 0) first->share = drop_tiny(first->share);
    if (!both) continue;
    PREFETCH(of.y + (next + at_other + k * rows.m));
    PREFETCH(of.upper + (next + at_other + k * rows.m));
    sweep_row(second, careful, y_other[s], to.rows_kept + ROW_VECTORS * i_other, to.alone + 2 * i_other,
              to.coupling + i_other);
    if (k % PRODUCT_ROWS == 0) second->share = drop_tiny(second->share);
  }
}

// What goes from tile to tile.
typedef struct {
  scalar_t h, d;
} Carried;

// Pass what `carried` says through the pieces of a tile. Returns h that enters either.
FOR_EACH_GUARD static inline void pass_h(bool down, const Map* first, const Map* second, Carried* carried,
                                         lanes_t h[2]) {
  const LaneMap by_first = by_lane(first), by_second = by_lane(second);
  scalar_t entered[2][LANES];
  for (int k = 0; k < LANES; ++k) {
    const int j = down ? k : LANES - 1 - k;
    entered[0][j] = carried->h;
    entered[1][j] = map_lane(&by_first, j, carried->h);
    carried->h = map_lane(&by_second, j, entered[1][j]);
  }
  h[0] = OCLSPKT_JOIN(vload, LANES)(0, entered[0]);
  h[1] = OCLSPKT_JOIN(vload, LANES)(0, entered[1]);
}

static inline scalar_t pass_scalar(scalar_t alone, scalar_t share, scalar_t entered) {
  return share == 0 ? alone : alone + share * entered;
}

FOR_EACH_GUARD static inline void pass_d(bool down, const Sweep* first, const Sweep* second, Carried* carried,
                                         lanes_t d[2]) {
  scalar_t alone[2][LANES], share[2][LANES], entered[2][LANES];
  to_private(first->d, alone[0]);
  to_private(first->share, share[0]);
  to_private(second->d, alone[1]);
  to_private(second->share, share[1]);
  for (int k = 0; k < LANES; ++k) {
    const int j = down ? k : LANES - 1 - k;
    entered[0][j] = carried->d;
    entered[1][j] = pass_scalar(alone[0][j], share[0][j], carried->d);
    carried->d = pass_scalar(alone[1][j], share[1][j], entered[1][j]);
  }
  d[0] = OCLSPKT_JOIN(vload, LANES)(0, entered[0]);
  d[1] = OCLSPKT_JOIN(vload, LANES)(0, entered[1]);
}

// Sweep a tile alone. Returns false, and nothing of it counts, where couplings oppose each other and that takes care.
FOR_EACH_GUARD static inline bool sweep_tile(bool down, bool careful, Tile tile, System of, const Before* before,
                                             Kept to, __global scalar_t* edge, Carried* carried, Sweep sweeps[2],
                                             lanes_t* far) {
  const int m = (int)tile.rows.m, middle = m / LANES / 2 * LANES;
  lanes_t far_above[2], h[2];
  mask_t signs = 0;
  Map maps[2];
  *far = far_before(down, tile.rows, tile.base / (LANES * tile.rows.m), of);
  for (int p = 0; p < 2; ++p) {
    far_above[p] = *far;
    maps[p] =
        keep_rows(down, careful, tile, p * middle, p == 0 ? middle : m, of, far, &signs, before, to.rows_kept, edge);
  }
  if (!careful && any(signs < (mask_t)0)) return false;
  pass_h(down, &maps[0], &maps[1], carried, h);
  Sweep first = begin_sweep(h[0], far_above[0]), second = begin_sweep(h[1], far_above[1]);
  for (int i = 0; i < middle; i += LANES) {
    sweep_block(down, careful, true, tile, i, middle, of, &first, &second, to, edge);
  }
  for (int i = 2 * middle; i < m; i += LANES) sweep_block(down, careful, false, tile, i, 0, of, &second, 0, to, edge);
  sweeps[0] = first;
  sweeps[1] = second;
  return true;
}

FOR_EACH_GUARD static inline void eliminate(bool down, Side side, Rows rows, System of, __global lanes_t* coupling,
                                            __global lanes_t* swept, __global scalar_t* met, __global lanes_t* own) {
  const int m = (int)rows.m;
  __global scalar_t* const edge = (__global scalar_t*)own;
  __global lanes_t* const rows_kept = own + LANES;
  Carried carried = {1, 0};
  Before before = {0, 0, {ZERO, ZERO}};
  Sweep sweeps[2];
  lanes_t far = ZERO;
  bool easy = true;
  for (long k = 0; k < side.count; ++k) {
    const Tile tile = make_tile(rows, down ? side.first + k : side.first - k, 0);
    const long vectors = tile.base / LANES;
    const Kept to = {rows_kept, rows_kept + (ROW_VECTORS + 2 * (k & 1)) * m, coupling + vectors};
    if (easy) easy = sweep_tile(down, false, tile, of, &before, to, edge, &carried, sweeps, &far);
    if (!easy) sweep_tile(down, true, tile, of, &before, to, edge, &carried, sweeps, &far);
    before.alone = to.alone;
    before.swept = swept + vectors;
    pass_d(down, &sweeps[0], &sweeps[1], &carried, before.entered);
  }
  for (int i = 0; i < m; ++i) {
    const int at = down ? i : m - 1 - i;
    settle_row(before.alone + 2 * at, before.entered[i >= m / LANES / 2 * LANES], before.swept + at);
  }
  __global scalar_t* const out = met + (down ? 0 : MET_WORDS);
  scalar_t lanes[LANES];
  const int last = down ? LANES - 1 : 0;
  to_private(sweeps[1].pivot, lanes);
  out[MET_PIVOT] = lanes[last];
  to_private(far, lanes);
  out[MET_FAR] = lanes[last];
  out[MET_H] = carried.h;
  out[MET_D] = carried.d;
}

__kernel __attribute__((reqd_work_group_size(1, 1, 1))) void ends_eliminate(
    __global const scalar_t* restrict lower, __global const scalar_t* restrict diag,
    __global const scalar_t* restrict upper, __global const scalar_t* restrict y, __global lanes_t* restrict coupling,
    __global lanes_t* restrict swept, __global scalar_t* restrict met, __global lanes_t* restrict scratch, const long n,
    const long meeting, const int m, const int slot) {
  const Rows rows = {n, 0, m};
  const bool below = get_group_id(0) > 0;
  __global lanes_t* const own = scratch + (long)get_group_id(0) * slot;
  const Side side = side_of(below, !below, meeting, tiles_of(rows));
  const System of = {lower, diag, upper, y};
  if (side.count == 0) return;
  // Each direction is a text of its own for the compiler.
  if (below) {
    eliminate(false, side, rows, of, coupling, swept, met, own);
  } else {
    eliminate(true, side, rows, of, coupling, swept, met, own);
  }
}
