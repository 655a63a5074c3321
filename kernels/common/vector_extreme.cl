// SPDX-License-Identifier: BSD-2-Clause
// Purpose: find the least or greatest element of a vector and its first index, or the greatest magnitude without an
// index. Each work-group finds the best of its elements; the host compares the groups' results in order.
//
// Build parameters: EXTREME  LEAST, GREATEST or GREATEST_MAGNITUDE
//                   and those of common/wide.clh; GROUP_ITEMS is a power of two
// Arguments: x        shape [n], global; aligned as common/wide.clh says
//            partial  global; partial[first + g] receives the value of work-group g
//            places   global; places[first_place + g] receives the index of this value, or LONG_MAX if the group found
//                     no number. GREATEST_MAGNITUDE writes no index. May be the memory of `partial`
//            n, run   elements, and elements of a work-group (common/wide.clh)
// Launch:    groups of GROUP_ITEMS work-items for all elements.
// Local:     a scalar and 8 bytes for each work-item. Per element: 1 word.
// Valid:     the elements of `partial` and `places` named above. LEAST and GREATEST give NaN and index 0 if x_0 is NaN;
//            they skip every other NaN. GREATEST_MAGNITUDE gives NaN if x contains NaN.
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

// Returns the better candidate. NaN is better than any number. Of equal numbers, the smaller index is better.
static inline Best best_of(Best a, Best b) {
  const bool b_is_better = isnan(a.value) || isnan(b.value)
                               ? isnan(b.value) && (!isnan(a.value) || b.place < a.place)
                               : IS_BETTER(b.value, a.value) || (b.value == a.value && b.place < a.place);
  return b_is_better ? b : a;
}

// Compare the WIDE numbers from element i on with the best so far. The noted index is i; find() makes it exact.
static inline void take_numbers(wide_t x, long i, Best* best) {
  scalar_t number[WIDE], value = WORST;
#if GROUP_ITEMS == 1
  OCLSPKT_JOIN(vstore, LANES)(x.at[0], 0, number);
#else
  for (int k = 0; k < WIDE; ++k) number[k] = x.at[k];
#endif
  for (int k = 0; k < WIDE; ++k) {
    const scalar_t of = EXTREME == GREATEST_MAGNITUDE ? fabs(number[k]) : number[k];
    value = IS_BETTER(of, value) ? of : value;
  }
  if (IS_BETTER(value, best->value)) {
    best->value = value;
    best->place = i;
  }
}

// Compare elements [i, end) one by one.
static inline void take_some(__global const scalar_t* x, long i, long end, Best* best) {
  for (; i < end; ++i) {
    const scalar_t of = EXTREME == GREATEST_MAGNITUDE ? fabs(x[i]) : x[i];
    if (IS_BETTER(of, best->value)) {
      best->value = of;
      best->place = i;
    }
  }
}

#if EXTREME != GREATEST_MAGNITUDE
// Returns the index of this work-item's first element that equals WORST. Called if no element is better than WORST.
static inline long place_of_worst(__global const scalar_t* x, long run, long end) {
  for (long i = first_of_item(run); i < end; i += ITEM_STEP) {
    for (long k = i; k < min(i + WIDE, end); ++k) {
      if (x[k] == (scalar_t)WORST) return k;
    }
  }
  return LONG_MAX;
}

// Find the exact index of the best element; it is one of the WIDE elements from best->place on.
static inline void find(__global const scalar_t* x, long end, Best* best) {
  if (isnan(best->value) || best->place == LONG_MAX) return;
  while (best->place < end - 1 && x[best->place] != best->value) ++best->place;
  best->value = x[best->place];  // copy the element, because a zero may have a sign
}
#endif

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
  for (; fits_ahead(i, end); i += READ_AHEAD * ITEM_STEP) {
    wide_t ahead[READ_AHEAD];
    load_ahead(x + i, ahead);
#pragma unroll
    for (int a = 0; a < READ_AHEAD; ++a) take_numbers(ahead[a], i + a * ITEM_STEP, &best);
  }
  for (; i + WIDE <= end; i += ITEM_STEP) take_numbers(load_wide(x + i), i, &best);
  take_some(x, i, end, &best);
#if EXTREME != GREATEST_MAGNITUDE
  if (best.place == LONG_MAX) best.place = place_of_worst(x, run, end);
#endif
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
#if EXTREME != GREATEST_MAGNITUDE
  find(x, end, &best);
  places[first_place + group] = best.place;
#endif
  partial[first + group] = best.value;
}
