// SPDX-License-Identifier: BSD-2-Clause
// Operations and words of schemes whose work-groups have many work-items: tiles, stored factors and grids.
#include "count_kernels.hpp"
#include "geometry.hpp"
#include "schemes/grids/grid_plan.hpp"
#include "schemes/scheme.hpp"
#include "schemes/tiles/tile_plans.hpp"
// Behind all other headers: it gives words of OpenCL a meaning of their own.
#include "count_scalar.hpp"

namespace oclspkt::bench::paper {
namespace counting {

#define BUNDLE 2

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

Plan plan_of(const char* scheme, const auto& k, Method method, Index rows, Index halo) {
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
CountedScheme tiles_halo(const auto& k) {
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
  return counted_scheme("tiles-halo", kept, count(kFewGroups + 1) - count(kFewGroups), formula,
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
CountedScheme tiles_streamed(const auto& k, bool corrects) {
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
  return counted_scheme(corrects ? "tiles-streamed, corrected" : "tiles-streamed", rows, counted, formula, plan);
}

/// Whole lines, by the factors that work-groups keep; finding the products of the scan is no part of a tile.
CountedScheme tiles_kept(const auto& k) {
  constexpr Index kTogether = 2, kSteps = 2;
  const Index tile = k.items * k.rows;
  const auto count = [&](Index tiles) {
    const Array line(static_cast<std::size_t>(tile / 2), 0.25);
    int met = 0;
    return count_launch(tiles * tile, 1, k.items, [&](auto*, auto*, auto*, auto* y, auto* x) {
      k.kept(line.data(), line.data(), line.data(), y, x, &met, 1, tiles * tile, 0, 0, tiles, static_cast<int>(tile), 0,
             static_cast<int>(tile / 2));
    });
  };
  Plan plan = plan_of("tiles-kept", k, Method::truncated_halo, tile, 0);
  plan.form = Form::shared;
  plan.add<KeptTiles>({.item_tiles = static_cast<int>(kTogether)});
  const Index scans = 6 * kSteps * k.items;
  return counted_scheme("tiles-kept", kTogether * tile, count(3 * kTogether) - count(2 * kTogether),
                        {kTogether * (4 * tile + scans), kTogether * (5 * tile + scans), 0}, plan);
}

/// Both passes over a tile. A row is made of the bands in both, and is a pivot in both.
CountedScheme tiles_twopass(const auto& k, bool symmetric) {
  const Index tile = k.items * k.rows, g = k.items, r = k.rows;
  const auto count = [&](Index tiles) {
    std::vector<Vector4> local(static_cast<std::size_t>(2 * tile));
    Array left(static_cast<std::size_t>(6 * tiles)), outer(static_cast<std::size_t>(tiles), 1);
    Memory memory(false);
    Scalar *lower = memory.make(tiles * tile, 1), *diag = memory.make(tiles * tile, 4),
           *upper = memory.make(tiles * tile, 1), *y = memory.make(tiles * tile, 1), *x = memory.make(tiles * tile),
           *kept = memory.make(3 * g * tiles);
    groups = tiles;
    for (group = 0; group < tiles; ++group) {
      Group::run(g, [&] {
        (symmetric ? k.reduce_symmetric : k.reduce)(lower, diag, upper, y, left.data(), kept, tiles * tile, tiles,
                                                    local.data());
      });
    }
    for (group = 0; group < tiles; ++group) {
      Group::run(g, [&] {
        (symmetric ? k.substitute_symmetric : k.substitute)(lower, diag, upper, y, kept, x, outer.data(), tiles * tile,
                                                            tiles, local.data());
      });
    }
    return book.take_executed();
  };
  Counts counted = count(kFewGroups + 1) - count(kFewGroups);
  counted.reads -= 2 * 2 * g;  // of the row above the tile, by all work-items, which that row's tile reads
  const Operations reduce{g * (14 * r - 10) + 12 * (g - 1), g * (9 * r - 5) + 8 * (g - 1), g * (r - 1) + g - 1},
      substitute{g * (12 * r - 16) + 2 * (g - 1), g * (9 * r - 14) + 2 * (g - 1), g * (r - 1)};
  Plan plan = plan_of("tiles-twopass", k, Method::exact_twopass, tile, 0);
  plan.form = symmetric ? Form::symmetric : Form::general;
  return counted_scheme(symmetric ? "tiles-twopass, symmetric" : "tiles-twopass", tile, counted,
                        {reduce.add + substitute.add, reduce.mul + substitute.mul, reduce.div + substitute.div}, plan);
}

Plan plan_of_grid(const auto& k, Method method, Index rows, Index halo, Index segments) {
  Plan plan = plan_of("grids", k, method, rows, halo);
  plan.items = static_cast<int>(k.items * BUNDLE);
  plan.add<Beside>({.segments = segments, .bundle = BUNDLE});
  plan.add<GridTiles>().in_flight = static_cast<int>(k.in_flight);
  return plan;
}

/// A bundle of whole lines. @param in_turn  work-items sweep down one after the other
CountedScheme grids_whole(const auto& k, bool in_turn, bool symmetric) {
  const Index down = k.items, tile = down * k.rows, passes = down * (down - 1) / 2;
  Array local(static_cast<std::size_t>(4 * down * BUNDLE));
  Counts counted = count_launch(tile * BUNDLE, 1, down * BUNDLE, [&](auto* m, auto* p, auto* c, auto* y, auto* x) {
    (symmetric ? k.whole_symmetric
     : in_turn ? k.in_turn
               : k.whole)(m, p, c, y, x, 1, 0, BUNDLE, static_cast<int>(tile), BUNDLE, 1, 1, y, y, local.data());
  });
  if (symmetric) counted.reads -= BUNDLE * (down - 1);  // of the row above a work-item's, which its neighbour reads
  const Operations formula = in_turn
                                 ? Operations{BUNDLE * (3 * tile + passes), BUNDLE * (5 * tile + passes), 0}
                                 : Operations{BUNDLE * (4 * tile + 2 * passes), BUNDLE * (7 * tile + 2 * passes), 0};
  Plan plan = plan_of_grid(k, Method::exact_factored, tile, 0, 1);
  plan.form = symmetric ? Form::symmetric : Form::general;
  return counted_scheme(std::string("grids-whole") + (in_turn ? ", in turn" : "") + (symmetric ? ", symmetric" : ""),
                        tile * BUNDLE, counted, formula, plan);
}

/// Lines that share their factors, which stay in the cache: one more bundle of whole lines, or one more run inside of a
/// long line, for which a tile before it and one behind it are swept too.
CountedScheme grids_shared(const auto& k, bool whole) {
  constexpr Index kRun = 3;
  const Index down = k.items, tile = down * k.rows, passes = down * (down - 1) / 2, length = whole ? tile : 40 * tile;
  const auto count = [&](Index more) {
    const Array line(static_cast<std::size_t>(length), 0.25);
    const Index blocks = whole ? more : 1, runs = whole ? 1 : more;
    return count_launch(blocks * length * BUNDLE, runs, down * BUNDLE, [&](auto*, auto*, auto*, auto* y, auto* x) {
      (whole ? k.shared_whole : k.shared)(line.data(), line.data(), line.data(), y, x, blocks, length * BUNDLE, BUNDLE,
                                          static_cast<int>(length), BUNDLE, 1, 0, static_cast<int>(kRun));
    });
  };
  const Index tiles = whole ? 1 : kRun, ahead = whole ? 0 : 2, below = whole ? 0 : down * down;
  const Operations formula{BUNDLE * ((tiles + ahead) * (3 * tile + passes) + tiles * (tile + passes + below)),
                           BUNDLE * ((tiles + ahead) * (6 * tile + passes) + tiles * (tile + passes + below)), 0};
  Plan plan = plan_of_grid(k, Method::truncated_streamed, length, 0, 1);
  plan.form = Form::shared;
  plan.run_tiles = static_cast<int>(tiles);
  return counted_scheme(whole ? "grids-shared, whole lines" : "grids-shared", tiles * tile * BUNDLE,
                        count(kFewGroups + 1) - count(kFewGroups), formula, plan);
}

/// One more segment of a bundle, condensed and solved. What is left of segments, a level of few rows, is not in it.
CountedScheme grids_condensed(const auto& k, bool symmetric) {
  const Index down = k.items, tile = down * k.rows, passes = down * (down - 1) / 2;
  const auto count = [&](Index segments) {
    const Index n = segments * tile * BUNDLE;
    Memory memory(false);
    Scalar *m = memory.make(n, 0.25), *p = memory.make(n, 0.25), *c = memory.make(n, 0.25), *w = memory.make(n, 0.25),
           *y = memory.make(n, 1), *x = memory.make(n);
    Array left(static_cast<std::size_t>(segments * BUNDLE), 1), taken = left,
                                                                local(static_cast<std::size_t>(4 * down * BUNDLE));
    const auto length = static_cast<int>(segments * tile), all = static_cast<int>(segments);
    groups = segments;
    for (group = 0; group < segments; ++group) {
      Group::run(down * BUNDLE, [&] {
        (symmetric ? k.condense_symmetric : k.condense)(symmetric ? c : m, w, y, y, left.data(), taken.data(), 1, 0,
                                                        BUNDLE, length, BUNDLE, 1, all, local.data());
      });
    }
    for (group = 0; group < segments; ++group) {
      Group::run(down * BUNDLE, [&] {
        (symmetric ? k.segments_symmetric : k.segments)(symmetric ? left.data() : m, p, c, y, x, 1, 0, BUNDLE, length,
                                                        BUNDLE, 1, all, left.data(), y, local.data());
      });
    }
    return book.take_executed();
  };
  Counts counted = count(kFewGroups + 1) - count(kFewGroups);
  // Multipliers of the next segment's first row, and of the rows above those of work-items, which others read as well.
  counted.reads -= BUNDLE * (1 + (symmetric ? 2 * (down - 1) : 0));
  Plan plan = plan_of_grid(k, Method::exact_factored, tile, 0, kFewGroups);
  plan.form = symmetric ? Form::symmetric : Form::general;
  plan.as<GridTiles>().in_turn = true;
  return counted_scheme(symmetric ? "grids-condensed, symmetric" : "grids-condensed", tile * BUNDLE, counted,
                        {BUNDLE * (6 * tile + down - 1 + passes), BUNDLE * (10 * tile + 1 + 2 * passes), 0}, plan);
}

/// The same of lines that share their factors: one more bundle, all segments of it.
CountedScheme grids_condensed_shared(const auto& k) {
  constexpr Index kSegments = 3;
  const Index down = k.items, tile = down * k.rows, passes = down * (down - 1) / 2, length = kSegments * tile;
  const auto count = [&](Index blocks) {
    const Array line(static_cast<std::size_t>(length), 0.25);
    Array known(static_cast<std::size_t>(blocks * kSegments * BUNDLE), 1), taken = known;
    const auto rows = static_cast<int>(length), run = static_cast<int>(blocks * kSegments);
    return count_launch(blocks * length * BUNDLE, 1, down * BUNDLE, [&](auto*, auto*, auto*, auto* y, auto* x) {
      k.shared_condense(line.data(), line.data(), y, known.data(), taken.data(), blocks, length * BUNDLE, BUNDLE, rows,
                        BUNDLE, 1, kSegments, run);
      barrier(0);  // a launch of its own
      k.shared_back(line.data(), line.data(), line.data(), y, x, known.data(), blocks, length * BUNDLE, BUNDLE, rows,
                    BUNDLE, 1, kSegments, run);
    });
  };
  Plan plan = plan_of_grid(k, Method::exact_factored, tile, 0, kSegments);
  plan.form = Form::shared;
  const Operations formula{BUNDLE * kSegments * (8 * tile + 3 * passes + down - 1),
                           BUNDLE * (kSegments * (12 * tile + 3 * passes) + kSegments - 1), 0};
  return counted_scheme("grids-condensed, at once", length * BUNDLE, count(kFewGroups + 1) - count(kFewGroups), formula,
                        plan);
}

/// All rows of a bundle. Work-items sweep down in turn, and each passes through what those below it make of theirs.
CountedScheme grids_factored(const auto& k) {
  constexpr Index kTiles = 5;
  const Index tile = k.items * k.rows, length = kTiles * tile, passes = k.items * (k.items - 1) / 2;
  Array local(static_cast<std::size_t>(4 * k.items * BUNDLE + 2 * BUNDLE));
  const Counts counted =
      count_launch(length * BUNDLE, 1, k.items * BUNDLE, [&](auto* m, auto* p, auto* c, auto* y, auto* x) {
        k.factored(m, p, c, y, x, 1, 0, BUNDLE, static_cast<int>(length), BUNDLE, 1, local.data());
      });
  const Operations formula{BUNDLE * kTiles * (3 * tile + passes), BUNDLE * kTiles * (5 * tile + passes), 0};
  const Plan plan = plan_of_grid(k, Method::exact_factored, length, 0, 1);
  CountedScheme s = counted_scheme("grids-factored", length * BUNDLE, counted, formula, plan);
  return s;
}

/// All runs of a bundle. Tiles are swept ahead of those that are finished, and before each run but the first some more
/// for what leaves them.
CountedScheme grids_streamed(const auto& k) {
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
  return counted_scheme("grids-streamed", length * BUNDLE, counted, formula, plan);
}

}  // namespace

std::vector<CountedScheme> count_group_schemes() {
  std::vector<CountedScheme> all;
  const auto count = [&](const auto& k) {
    for (CountedScheme& scheme : std::vector{
             tiles_halo(k), tiles_streamed(k, false), tiles_streamed(k, true), tiles_kept(k), tiles_twopass(k, false),
             tiles_twopass(k, true), grids_factored(k), grids_streamed(k), grids_whole(k, false, false),
             grids_whole(k, true, false), grids_whole(k, false, true), grids_shared(k, true), grids_shared(k, false),
             grids_condensed(k, false), grids_condensed(k, true), grids_condensed_shared(k)})
      all.push_back(std::move(scheme));
  };
  count(of8x12::Kernels());
  count(of16x8::Kernels());
  return all;
}

}  // namespace oclspkt::bench::paper
