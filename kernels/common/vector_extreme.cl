// SPDX-License-Identifier: BSD-2-Clause
// Purpose: the least or greatest number of a vector, or the greatest magnitude, of each work-group, and the first place
// that has it; the host takes the best of them in order.
//
// Build parameters: EXTREME  LEAST, GREATEST or GREATEST_MAGNITUDE
//                   and those of common/wide.clh; GROUP_ITEMS is a power of two
// Arguments: x        shape [n], global; aligned as common/wide.clh says
//            partial  global; the value of group g is written at first + g
//            places   global; its place is written at first_place + g, LONG_MAX where the group has met no number
//            first, first_place
//            n, run   places, and places of a work-group (common/wide.clh)
// Launch:    groups of GROUP_ITEMS work-items for all places.
// Local:     a scalar and 8 bytes for each work-item. Per place: 1 word.
// Valid:     its part of `partial`, and `places`. LEAST, GREATEST: NaN at place 0 if x_0 is NaN; others are passed
// over.
//            GREATEST_MAGNITUDE: NaN if there is one.
#include "common/wide.clh"

#define LEAST 0
#define GREATEST 1
#define GREATEST_MAGNITUDE 2

#ifndef EXTREME
#error "EXTREME: LEAST, GREATEST or GREATEST_MAGNITUDE"
#endif

#if EXTREME == LEAST
#define WORST INFINITY
#define IS_BETTER(a, b) ((a) < (b))
#elif EXTREME == GREATEST
#define WORST -INFINITY
#define IS_BETTER(a, b) ((a) > (b))
#else
#define WORST -1
#define IS_BETTER(a, b) ((a) > (b) || isnan(a))
#endif

typedef struct {
  scalar_t value;
  long place;
} Best;

// NaN is the best, and of equals the one before.
static inline Best best_of(Best a, Best b) {
  const bool b_is_better = isnan(a.value) || isnan(b.value)
                               ? isnan(b.value) && (!isnan(a.value) || b.place < a.place)
                               : IS_BETTER(b.value, a.value) || (b.value == a.value && b.place < a.place);
  return b_is_better ? b : a;
}

// Take the first `count` numbers from place i on.
static inline void take_numbers(wide_t x, long i, int count, Best* best) {
  scalar_t number[WIDE];
#if GROUP_ITEMS == 1
  OCLSPKT_JOIN(vstore, LANES)(x.at[0], 0, number);
#else
  for (int k = 0; k < WIDE; ++k) number[k] = x.at[k];
#endif
  for (int k = 0; k < WIDE; ++k) {
    const scalar_t of = EXTREME == GREATEST_MAGNITUDE ? fabs(number[k]) : number[k];
    if (k < count && !isnan(best->value) && IS_BETTER(of, best->value)) {
      best->value = of;
      best->place = i + k;
    }
  }
}

__kernel void vector_extreme(__global const scalar_t* x, __global scalar_t* partial, __global long* places,
                             const long first, const long first_place, const long n, const long run) {
  __local scalar_t values[GROUP_ITEMS];
  __local long at[GROUP_ITEMS];
  const int item = (int)get_local_id(0);
  const long group = (long)get_group_id(0), end = end_of_group(run, n);
  Best best;
  best.value = WORST;
  best.place = LONG_MAX;
#if EXTREME != GREATEST_MAGNITUDE
  if (group == 0 && item == 0 && isnan(x[0])) {
    best.value = x[0];
    best.place = 0;
  }
#endif
  long i = first_of_item(run);
#pragma unroll READ_AHEAD
  for (; i + WIDE <= end; i += ITEM_STEP) take_numbers(load_wide(x + i), i, WIDE, &best);
  if (i < end) take_numbers(load_some(x + i, (int)(end - i)), i, (int)(end - i), &best);
  // Nothing was better than the worst: look for that.
  if (best.place == LONG_MAX) {
    for (long place = first_of_item(run); place < end && best.place == LONG_MAX; place += ITEM_STEP) {
      for (long k = place; k < min(place + WIDE, end); ++k)
        best.place = x[k] == (scalar_t)WORST ? min(best.place, k) : best.place;
    }
  }
  values[item] = best.value;
  at[item] = best.place;
  for (int distance = GROUP_ITEMS / 2; distance > 0; distance /= 2) {
    barrier(CLK_LOCAL_MEM_FENCE);
    if (item < distance) {
      Best other;
      other.value = values[item + distance];
      other.place = at[item + distance];
      best = best_of(best, other);
      values[item] = best.value;
      at[item] = best.place;
    }
  }
  if (item > 0) return;
  partial[first + group] = best.value;
  places[first_place + group] = best.place;
}
