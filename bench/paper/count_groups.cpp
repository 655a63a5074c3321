// SPDX-License-Identifier: BSD-2-Clause
// Operations and words of schemes whose work-groups have many work-items: tiles, stored factors and grids.
#include "count_kernels.hpp"
#include "geometry.hpp"
#include "schemes/grids/grid_plan.hpp"
#include "schemes/scheme.hpp"
// Behind all other headers: it gives words of OpenCL a meaning of their own.
#include "count_scalar.hpp"

namespace oclspkt::bench::paper {
namespace counting {

#define BUNDLE 2

/// The kernels for one size of work-groups, `items` down a line, of `rows` rows each.
struct GroupKernels {
  Index items, rows, in_flight;
  decltype(+[](const Scalar*, const Scalar*, const Scalar*, const Scalar*, Scalar*, int*, int, long, long, long, long,
               int, int, int, int, vector_t*) {}) halo;
  decltype(+[](const Scalar*, const Scalar*, const Scalar*, const Scalar*, Scalar*, int*, int, long, long, long, long,
               long, int, int, int, vector_t*) {}) stored,
      corrected;
  decltype(+[](const Scalar*, const Scalar*, const Scalar*, const Scalar*, Scalar*, long, long, long, int, long, int,
               int, int, Scalar*) {}) streamed;
  decltype(+[](const Scalar*, const Scalar*, const Scalar*, const Scalar*, Scalar*, long, long, long, int, long, int,
               Scalar*) {}) factored;
};

#define NAN_SAFE 0
#define COUNTED_ITEMS 8
#define ITEMS_DOWN 8
#define ITEM_ROWS 12
#define IN_FLIGHT 1
namespace of8x12 {
#include "count_group_kernels.hpp"
}
#undef COUNTED_ITEMS
#undef ITEMS_DOWN
#undef ITEM_ROWS
#undef IN_FLIGHT
#define COUNTED_ITEMS 16
#define ITEMS_DOWN 16
#define ITEM_ROWS 8
#define IN_FLIGHT 3
namespace of16x8 {
#include "count_group_kernels.hpp"
}

}  // namespace counting

namespace {

using namespace counting;

/// A launch of `count` work-groups on arrays of n rows. @param call  of a work-item, with three factors, y and x
Counts count_launch(Index n, Index count, Index items,
                    const std::function<void(Scalar*, Scalar*, Scalar*, Scalar*, Scalar*)>& call) {
  Memory memory(false);
  Scalar *first = memory.make(n, 1), *second = memory.make(n, 4), *third = memory.make(n, 1), *y = memory.make(n, 1),
         *x = memory.make(n);
  book.take_executed();
  groups = count;
  for (group = 0; group < count; ++group) Group::run(items, [&] { call(first, second, third, y, x); });
  return book.take_executed();
}

constexpr Index kFewGroups = 4;  ///< what one more takes is counted

CountedScheme of_plan(const char* name, Index rows, const Counts& counted, const Operations& operations,
                      const Plan& plan) {
  CountedScheme s;
  s.scheme = name;
  s.m = rows;
  s.counted = counted;
  s.operations = operations;
  s.words = scheme_of(plan).words(plan) * static_cast<double>(rows);
  return s;
}

Plan plan_of(const char* scheme, const GroupKernels& k, Method method, Index rows, Index halo) {
  Plan plan;
  plan.made_by = scheme;
  plan.method = method;
  plan.n = 64 * rows;
  plan.m = rows;
  plan.halo = halo;
  plan.items = static_cast<int>(k.items);
  plan.item_rows = static_cast<int>(k.rows);
  return plan;
}

/// A work-item eliminates its rows and tells the partition above, then takes part in each step of the reduction.
CountedScheme tiles_halo(const GroupKernels& k) {
  constexpr int kHalo = 8, kSteps = 3;
  const Index tile = k.items * k.rows, kept = tile - 2 * kHalo;
  const auto count = [&](Index tiles) {
    std::vector<Vector4> local(static_cast<std::size_t>(2 * tile));
    int met = 0;
    return count_launch(tiles * kept, tiles, k.items, [&](auto* lower, auto* diag, auto* upper, auto* y, auto* x) {
      k.halo(lower, diag, upper, y, x, &met, 1, tiles * kept, 0, 0, tiles, static_cast<int>(kept), kHalo, kSteps, 0,
             local.data());
    });
  };
  const Operations formula{k.items * (6 * k.rows - 3 + 4 * kSteps), k.items * (12 * k.rows - 2 + 9 * kSteps),
                           k.items * (k.rows + 1 + kSteps)};
  return of_plan("tiles-halo", kept, count(kFewGroups + 1) - count(kFewGroups), formula,
                 plan_of("tiles-halo", k, Method::truncated_halo, kept, kHalo));
}

/// Maps that a scan joins: in each step by fours one, two or three of those before.
Index joins_of_scan(Index items) {
  Index joins = 0;
  for (Index distance = 1; distance < items; distance *= 4) {
    for (Index item = 0; item < items; ++item) joins += item / distance % 4;
  }
  return joins;
}

/// Two scans a tile, four where what differs is found and taken off; a tile more is swept then, which was just read and
/// is in the cache.
CountedScheme tiles_streamed(const GroupKernels& k, bool corrects) {
  constexpr int kTiles = 5;
  const Index tile = k.items * k.rows, rows = (kTiles - 2) * tile, joins = joins_of_scan(k.items), g = k.items;
  const auto count = [&](Index runs) {
    std::vector<Vector4> local(static_cast<std::size_t>(2 * tile));
    int met = 0;
    return count_launch(
        runs * rows, runs, g, [&](auto* multiplier, auto* reciprocal, auto* coupling, auto* y, auto* x) {
          (corrects ? k.corrected : k.stored)(multiplier, reciprocal, coupling, y, x, &met, 1, runs * rows, 0, 0, runs,
                                              rows, kTiles, static_cast<int>(tile), 0, local.data());
        });
  };
  Counts counted = count(kFewGroups + 1) - count(kFewGroups);
  Operations formula{kTiles * (4 * tile + 2 * joins + 2 * g + 1), kTiles * (9 * tile + 4 * joins + 2 * g + 1), 0};
  if (corrects) {
    counted.reads -= 4 * tile;
    formula = {(kTiles + 1) * (7 * tile + 4 * joins + 3 * g - 2) - tile,
               (kTiles + 1) * (10 * tile + 8 * joins + 2 * g) - tile - g, 0};
  }
  Plan plan = plan_of("tiles-streamed", k, Method::truncated_streamed, rows, tile);
  plan.add<StoredFactors>({.reach = tile, .corrects = corrects});
  return of_plan(corrects ? "tiles-streamed, corrected" : "tiles-streamed", rows, counted, formula, plan);
}

Plan plan_of_grid(const GroupKernels& k, Method method, Index rows, Index halo, Index segments) {
  Plan plan = plan_of("grids", k, method, rows, halo);
  plan.items = static_cast<int>(k.items * BUNDLE);
  plan.add<Beside>({.segments = segments, .bundle = BUNDLE});
  plan.add<GridTiles>().in_flight = static_cast<int>(k.in_flight);
  return plan;
}

/// All rows of a bundle. Work-items sweep down in turn, and each passes through what those below it make of theirs.
CountedScheme grids_factored(const GroupKernels& k) {
  constexpr Index kTiles = 5;
  const Index tile = k.items * k.rows, length = kTiles * tile, passes = k.items * (k.items - 1) / 2;
  Array local(static_cast<std::size_t>(4 * k.items * BUNDLE + 2 * BUNDLE));
  const Counts counted =
      count_launch(length * BUNDLE, 1, k.items * BUNDLE, [&](auto* m, auto* p, auto* c, auto* y, auto* x) {
        k.factored(m, p, c, y, x, 1, 0, BUNDLE, static_cast<int>(length), BUNDLE, 1, local.data());
      });
  const Operations formula{BUNDLE * kTiles * (3 * tile + passes), BUNDLE * kTiles * (5 * tile + passes), 0};
  const Plan plan = plan_of_grid(k, Method::exact_factored, length, 0, 1);
  CountedScheme s = of_plan("grids-factored", length * BUNDLE, counted, formula, plan);
  return s;
}

/// All runs of a bundle. Tiles are swept ahead of those that are finished, and before each run but the first some more
/// for what leaves them.
CountedScheme grids_streamed(const GroupKernels& k) {
  constexpr Index kRuns = 4, kTiles = 6;
  const Index down = k.items, tile = down * k.rows, all = kRuns * kTiles, length = all * tile, f = k.in_flight,
              more = (kRuns - 1) * f, passes = down * (down - 1) / 2;
  Array local(static_cast<std::size_t>(4 * down * BUNDLE + 2 * BUNDLE));
  const Counts counted =
      count_launch(length * BUNDLE, kRuns, down * BUNDLE, [&](auto* m, auto* p, auto* c, auto* y, auto* x) {
        k.streamed(m, p, c, y, x, 1, 0, BUNDLE, static_cast<int>(length), BUNDLE, 1, kRuns, kTiles, local.data());
      });
  const Index through = all * down + (all - f) * (f - 1) * down + down * (f - 1) * (f - 2) / 2;
  const Operations formula{
      BUNDLE * ((all + more) * (3 * tile + passes + down * down) + all * tile + through + more * (tile + down * down)),
      BUNDLE * ((all + more) * (6 * tile + passes + 2 * down * down) + all * tile + through +
                more * (2 * tile + down * down)),
      0};
  const Plan plan = plan_of_grid(k, Method::truncated_streamed, kTiles * tile, f * tile, kRuns);
  return of_plan("grids-streamed", length * BUNDLE, counted, formula, plan);
}

}  // namespace

std::vector<CountedScheme> count_group_schemes() {
  std::vector<CountedScheme> all;
  for (const GroupKernels& k : {of8x12::kernels(), of16x8::kernels()}) {
    for (CountedScheme& scheme : std::vector{tiles_halo(k), tiles_streamed(k, false), tiles_streamed(k, true),
                                             grids_factored(k), grids_streamed(k)})
      all.push_back(std::move(scheme));
  }
  return all;
}

}  // namespace oclspkt::bench::paper
