// SPDX-License-Identifier: BSD-2-Clause
#include "schemes/grids/grid_plan.hpp"
#include "geometry.hpp"

#include "certificate.hpp"
#include "device_traits.hpp"
#include "evidence.hpp"
#include "matrices.hpp"
#include "oclspkt/error.hpp"
#include "scalar_test.hpp"
#include "schemes/grids/grid_factors.hpp"
#include "schemes/lanes/lane_plans.hpp"

namespace oclspkt {
namespace {

Plan streamed(const LineSet& lines, int word, const DeviceTraits& traits = kGpu, Index reach = 0) {
  return make_grid_plan(lines, {.reach = reach}, word, traits);
}

TEST(GridPlan, TakesWholeLinesWhereATileHoldsThem) {
  for (const int word : {4, 8}) {
    for (const Index length : {1, 2, 63, 64}) {
      const Plan plan = streamed(LineSet::grid_axis(1, 512, length, 512), word);
      EXPECT_TRUE(in_one_tile(plan)) << length;
      EXPECT_EQ(plan.halo, 0);
      EXPECT_DOUBLE_EQ(plan.words_per_row(), 5);
    }
    EXPECT_FALSE(in_one_tile(streamed(LineSet::grid_axis(1, 512, 257, 512), word)));
  }
  EXPECT_FALSE(in_one_tile(streamed(LineSet::grid_axis(1, 512, 128, 512), 4))) << "streamed tiles are faster";
  EXPECT_TRUE(in_one_tile(streamed(LineSet::grid_axis(1, 512, 128, 512), 4, kGpu, 128)));
  EXPECT_TRUE(
      in_one_tile(make_grid_plan(LineSet::grid_axis(1, 512, 256, 512), {.method = Method::exact_factored}, 4, kGpu)));
}

TEST(GridPlan, CutsFewLinesIntoLongRuns) {
  const Plan many = streamed(LineSet::grid_axis(1, 512, 4096, 512), 4);
  EXPECT_EQ(many.as<Beside>().segments, 1);
  EXPECT_EQ(many.m, 4096);
  EXPECT_DOUBLE_EQ(many.words_per_row(), 5);
  const Plan few = streamed(LineSet::grid_axis(1, 64, 65536, 4), 4);
  EXPECT_GT(few.as<Beside>().segments, 32);
  EXPECT_EQ(few.halo, grid_tile_rows(few));
  EXPECT_EQ(few.m % grid_tile_rows(few), 0);
  EXPECT_GE(few.m, 16 * grid_tile_rows(few));
  EXPECT_GE(few.as<Beside>().segments * few.m, 65536);
  EXPECT_LT((few.as<Beside>().segments - 1) * few.m, 65536);
  EXPECT_GT(few.words_per_row(), 5);
  EXPECT_LE(few.words_per_row(), 5 + 6.0 / 16);
}

TEST(GridPlan, LetsTilesWaitWhereReachIsAsked) {
  const LineSet many = LineSet::grid_axis(1, 512, 1024, 512), few = LineSet::grid_axis(1, 64, 65536, 4);
  for (const int word : {4, 8}) {
    for (const Form form : {Form::general, Form::symmetric}) {
      const GridDemand demand{.form = form, .reach = 192};
      const Plan plan = make_grid_plan(many, demand, word, kGpu);
      EXPECT_GE(grid_reach(plan), 192);
      EXPECT_EQ(grid_reach(plan), plan.as<GridTiles>().in_flight * grid_tile_rows(plan));
      EXPECT_GT(plan.as<GridTiles>().in_flight, 1);
      EXPECT_EQ(plan.halo, 0) << "lines are streamed whole";
      EXPECT_DOUBLE_EQ(plan.words_per_row(), form == Form::symmetric ? 4 : 5);
      const Plan cut = make_grid_plan(few, demand, word, kGpu);
      EXPECT_GT(cut.as<Beside>().segments, 1);
      EXPECT_EQ(cut.halo, grid_reach(cut));
      EXPECT_GE(cut.m, 8 * grid_reach(cut));
      EXPECT_LE(cut.words_per_row(), plan.words_per_row() * 1.25);
      EXPECT_EQ(make_grid_plan(many, {.form = form}, word, kGpu).as<GridTiles>().in_flight, 1);
      EXPECT_EQ(make_grid_plan(LineSet::grid_axis(1, 512, 64, 512), demand, word, kGpu).as<GridTiles>().in_flight, 1)
          << "whole lines";
    }
  }
}

TEST(GridPlan, ConcurrentSegmentsGoThroughManyBundles) {
  GridDemand demand{.method = Method::exact_factored, .form = Form::shared, .segments = true};
  for (const int word : {4, 8}) {
    for (const auto& [lines, length] : {std::pair<Index, Index>{512 * 3, 16384}, {448, 65536}}) {
      demand.in_turn = false;
      const LineSet set = LineSet::grid_axis(2, lines, 1, length);
      const Plan plan = make_grid_plan(set, demand, word, kGpu);
      ASSERT_TRUE(grid_condenses_at_once(plan));
      EXPECT_EQ(plan.items * plan.as<GridTiles>().item_lines, plan.as<Beside>().bundle * grid_items_down(plan));
      const Index runs = quotient_up(plan.as<Beside>().bundles * plan.as<Beside>().segments, plan.run_tiles);
      EXPECT_LE(runs, 2 * kGpu.cores) << "no second turn";
      EXPECT_GE(runs, kGpu.cores);
      EXPECT_DOUBLE_EQ(plan.words_per_row(), 3);
      demand.in_turn = true;
      const Plan in_turn = make_grid_plan(set, demand, word, kGpu);
      EXPECT_TRUE(grid_condenses(in_turn) && !grid_condenses_at_once(in_turn));
    }
  }
}

TEST(GridPlan, CountsTheWordsOfExactAndSharedFactors) {
  const LineSet lines = LineSet::grid_axis(1, 512, 4096, 512);
  GridDemand demand{.method = Method::exact_factored};
  const Plan exact = make_grid_plan(lines, demand, 8, kGpu);
  EXPECT_EQ(exact.as<Beside>().segments, 1);
  EXPECT_NEAR(exact.words_per_row(), 7, 0.1);
  demand.form = Form::shared;
  EXPECT_NEAR(make_grid_plan(lines, demand, 8, kGpu).words_per_row(), 4, 0.1);
  demand.method = Method::truncated_streamed;
  EXPECT_NEAR(make_grid_plan(lines, demand, 8, kGpu).words_per_row(), 2, 0.01);
}

TEST(GridPlan, CutsTheTilesOfSharedFactorsIntoRunsThroughAllLines) {
  for (const int word : {4, 8}) {
    const GridDemand demand{.form = Form::shared};
    for (const auto& [count, length] : {std::pair<Index, Index>{29'184, 1024}, {512, 65'536}, {40, 300}, {5, 5000}}) {
      const LineSet lines = LineSet::grid_axis(2, count, 1, length);
      const Plan plan = make_grid_plan(lines, demand, word, kGpu);
      ASSERT_TRUE(goes_through_tiles(plan));
      EXPECT_EQ(plan.as<Beside>().segments, 1);
      EXPECT_EQ(plan.as<Beside>().bundle % plan.as<GridTiles>().item_lines, 0);
      EXPECT_EQ(plan.items * plan.as<GridTiles>().item_lines, plan.as<Beside>().bundle * grid_items_down(plan));
      const Index of_line = quotient_up(length, grid_tile_rows(plan)),
                  runs = quotient_up(plan.as<Beside>().bundles * of_line, plan.run_tiles);
      EXPECT_LE(runs, 2 * kGpu.cores) << "no second turn for a few of them";
      EXPECT_GE(plan.run_tiles, std::min<Index>(of_line, 8));
      EXPECT_LE(plan.words_per_row(), 2.25);
    }
    const Plan whole = make_grid_plan(LineSet::grid_axis(1, 512, 64, 512), demand, word, kGpu);
    EXPECT_TRUE(goes_through_tiles(whole) && in_one_tile(whole));
    EXPECT_DOUBLE_EQ(whole.words_per_row(), 2);
    const GridDemand exact{.method = Method::exact_factored, .form = Form::shared};
    const Plan streamed = make_grid_plan(LineSet::grid_axis(1, 512, 1025, 512), exact, word, kGpu);
    EXPECT_FALSE(goes_through_tiles(streamed));
    EXPECT_EQ(streamed.as<GridTiles>().item_lines, 1);
  }
}

TEST(GridPlan, HoldsLongLinesOfSharedFactorsThatSweepConcurrently) {
  GridDemand demand{.method = Method::exact_factored, .form = Form::shared};
  for (const int word : {4, 8}) {
    for (const Index length : {257, 512, 513, 1024}) {
      const LineSet lines = LineSet::grid_axis(1, 512, length, 32);
      demand.in_turn = demand.segments = false;
      const Plan plan = make_grid_plan(lines, demand, word, kGpu);
      EXPECT_TRUE(goes_through_tiles(plan) && in_one_tile(plan)) << length;
      EXPECT_FALSE(reads_ahead(plan));
      EXPECT_EQ(plan.as<Beside>().bundle * word, 128);
      EXPECT_DOUBLE_EQ(plan.words_per_row(), 2);
      EXPECT_LE(quotient_up(plan.as<Beside>().bundles * lines.blocks(), plan.run_tiles), 2 * kGpu.cores)
          << "no second turn";
      EXPECT_FALSE(grid_condenses(make_exact_grid_plans(lines, demand, word, kGpu).front()));
      demand.in_turn = true;
      EXPECT_FALSE(in_one_tile(make_grid_plan(lines, demand, word, kGpu)));
    }
    DeviceTraits small = kGpu;
    small.group_items = 256;
    demand.in_turn = false;
    EXPECT_FALSE(in_one_tile(make_grid_plan(LineSet::grid_axis(1, 512, 512, 32), demand, word, small)));
  }
}

TEST(GridPlan, FollowsTheLimitsOfTheDevice) {
  const LineSet lines = LineSet::grid_axis(1, 512, 4096, 512);
  for (const int word : {4, 8}) {
    for (const int most : {1, 4, 64, 256, 1024}) {
      for (const std::int64_t local : {1 << 10, 48 << 10}) {
        const Plan plan = streamed(lines, word, {.cores = 8, .group_items = most, .local_bytes = local});
        EXPECT_LE(plan.items, most);
        EXPECT_LE((4 * plan.items + 2 * plan.as<Beside>().bundle) * word, local);
        EXPECT_EQ(plan.items % plan.as<Beside>().bundle, 0);
        EXPECT_GE(plan.as<Beside>().bundles * plan.as<Beside>().bundle, 512);
      }
    }
  }
  EXPECT_EQ(make_grid_plan(lines, {.item_rows = 5}, 8, kGpu).item_rows, 6) << "whole vectors of shared factors";
  EXPECT_EQ(make_grid_plan(lines, {.item_rows = 500}, 8, kGpu).item_rows, 16);
  EXPECT_THROW(make_grid_plan(lines, {.item_rows = -1}, 8, kGpu), InvalidInput);
  EXPECT_EQ(streamed(LineSet::grid_axis(1, 3, 4096, 1), 8).as<Beside>().bundle, 4)
      << "no more than the lines that there are";
  DeviceTraits small = kGpu;
  small.memory_bytes = 1 << 20;
  EXPECT_EQ(streamed(lines, 8, small).as<Beside>().chunk_blocks, 0);
}

TEST(GridPlan, CutsFewLongLinesIntoSegmentsOfATile) {
  GridDemand demand{.method = Method::exact_factored, .segments = true};
  for (const int word : {4, 8}) {
    const Plan few = make_grid_plan(LineSet::grid_axis(1, 512, 16385, 2), demand, word, kGpu);
    EXPECT_TRUE(grid_condenses(few));
    EXPECT_EQ(few.m, grid_tile_rows(few));
    EXPECT_EQ(few.as<Beside>().segments, quotient_up(16385, few.m));
    EXPECT_EQ(few.as<Beside>().chunk_blocks, 2);
    EXPECT_DOUBLE_EQ(few.idle, 1);
    EXPECT_DOUBLE_EQ(few.words_per_row(), 8);
    EXPECT_FALSE(grid_condenses(make_grid_plan(LineSet::grid_axis(1, 512, few.m, 2), demand, word, kGpu)))
        << "a tile holds whole lines";
  }
  demand.form = Form::shared;
  EXPECT_DOUBLE_EQ(make_grid_plan(LineSet::grid_axis(1, 512, 16384, 2), demand, 8, kGpu).words_per_row(), 3);
  DeviceTraits small = kGpu;
  small.memory_bytes = 7 * 512 * 16384 * 8;
  EXPECT_EQ(make_grid_plan(LineSet::grid_axis(1, 512, 16384, 2), demand, 8, small).as<Beside>().chunk_blocks, 0)
      << "all at once";
  EXPECT_EQ(make_grid_plan(LineSet::grid_axis(1, 512, 16384, 1), demand, 8, small).as<Beside>().chunk_blocks, 1);
  demand.item_rows = 2;
  EXPECT_FALSE(
      grid_condenses(make_grid_plan(LineSet::grid_axis(1, 512, 64, 1), demand, 8, {.cores = 8, .group_items = 1})))
      << "two rows are two when they are condensed";
}

TEST(GridPlan, CutsOnlyLinesThatLeaveCoresIdle) {
  const auto cuts = [](const LineSet& lines, int word, Form form = Form::general, const DeviceTraits& traits = kGpu) {
    const std::vector<Plan> plans = make_exact_grid_plans(lines, {.form = form}, word, traits);
    EXPECT_LE(plans.size(), 2U);
    for (const Plan& plan : plans) EXPECT_GT(plan.as<Beside>().chunk_blocks, 0);
    if (plans.size() == 2) {
      EXPECT_NE(grid_condenses(plans[0]), grid_condenses(plans[1]));
    }
    return grid_condenses(plans[0]);
  };
  for (const int word : {4, 8}) {
    for (const Form form : {Form::general, Form::symmetric, Form::shared}) {
      EXPECT_TRUE(cuts(LineSet::grid_axis(1, 512, 16384, 2), word, form));
      EXPECT_TRUE(cuts(LineSet::grid_axis(2, 16, 16, 65536), word, form));
    }
    EXPECT_FALSE(cuts(LineSet::grid_axis(1, 512, 1024, 32), word));
    EXPECT_FALSE(cuts(LineSet::grid_axis(1, 512, 300, 1), word)) << "launches would take longer";
    EXPECT_FALSE(cuts(LineSet::grid_axis(1, 512, 64, 1), word)) << "a tile holds whole lines";
  }
  const Plan tall = make_exact_grid_plans(LineSet::grid_axis(1, 512, 4096, 8), {}, 4, kGpu).front();
  EXPECT_FALSE(grid_condenses(tall));
  EXPECT_EQ(grid_tile_rows(tall), 256) << "with twice the work-items a line, fewer lines keep cores busy";
  EXPECT_EQ(grid_tile_rows(make_exact_grid_plans(LineSet::grid_axis(1, 512, 1024, 32), {}, 4, kGpu).front()), 128);
  DeviceTraits small = kGpu;
  small.memory_bytes = std::int64_t{6} * 1024 * 16384 * 8;
  EXPECT_FALSE(cuts(LineSet::grid_axis(1, 512, 16384, 2), 8, Form::general, small)) << "not all at once";
}

TEST(GridPlan, KnowsHowManyCoresItLeavesIdle) {
  EXPECT_DOUBLE_EQ(streamed(LineSet::grid_axis(1, 512, 4096, 512), 8).idle, 1);
  const GridDemand exact{.method = Method::exact_factored};
  EXPECT_GT(make_grid_plan(LineSet::grid_axis(1, 64, 65536, 1), exact, 8, kGpu).idle, 8);
}

template <typename T>
class GridEvidenceOf : public testing::Test {};

SCALAR_TEST(GridEvidenceOf, LinesIsThatOfEachLineLaidEndToEnd) {
  const LineSet lines = LineSet::grid_axis(1, 21, 700, 3);
  auto bands = test::closed(test::random_dominant<T>(lines, 1.1));
  const Plan plan = streamed(lines, sizeof(T));
  const GridEvidence all = certify_grid(plan, lines, bands.view(), 0.0, 1e300);
  Plan one = make_stored_plan(700, 0, plan.item_rows, sizeof(T),
                              {.lanes = plan.items / static_cast<int>(plan.as<Beside>().bundle)});
  one.m = plan.item_rows;
  double bound = 0;
  for (Index l = 0; l < lines.count(); ++l) {
    bound = std::max(bound, certify_stored(one, test::alone(bands, l).view()).bound);
  }
  EXPECT_EQ(all.worst.bound, bound);
  EXPECT_EQ(static_cast<Index>(all.weak.size()), lines.count()) << "nothing is as good as 0";
}

SCALAR_TEST(GridEvidenceOf, TilesThatWaitIsOfAllTheirRows) {
  const LineSet lines = LineSet::grid_axis(1, 5, 2000, 3);
  auto bands = test::closed(test::random_dominant<T>(lines, 1.02));
  const auto evidence = [&](Index reach, Index item_rows) {
    const Plan plan = make_grid_plan(lines, {.reach = reach, .item_rows = item_rows}, sizeof(T), kGpu);
    return certify_grid(plan, lines, bands.view(), 0.0, 1e300).worst;
  };
  const Certificate one = evidence(1, 4), in_flight = evidence(192, 4);
  EXPECT_LT(in_flight.bound, one.bound / 10);
  EXPECT_LT(evidence(384, 8).bound, in_flight.bound);
}

SCALAR_TEST(GridEvidenceOf, SegmentsTakesMatricesThatEliminationIsStableFor) {
  const LineSet lines = LineSet::grid_axis(1, 5, 700, 3);
  const GridDemand demand{.method = Method::exact_factored, .segments = true};
  const Plan plan = make_grid_plan(lines, demand, sizeof(T), kGpu);
  ASSERT_TRUE(grid_condenses(plan));
  const auto sound = [&](Bands<T>&& bands) {
    bands.close_lines();
    return certify_grid(plan, lines, bands.view(), 0.0, kRoundingLimit).weak.empty();
  };
  EXPECT_TRUE(sound(test::constant<T>(lines, -1, 2, -1)));
  for (const test::Decades& range : test::kWideRanges) EXPECT_TRUE(sound(test::wide_conduction<T>(lines, range)));
  EXPECT_TRUE(sound(test::random_dominant<T>(lines, 1.1)));
  EXPECT_FALSE(sound(test::constant<T>(lines, 1, 0.01, 1))) << "pivots that grow";
  auto one_line = test::constant<T>(lines, -1, 2, -1);
  for (Index i = 0; i < 700; ++i) one_line.diag()[lines.first(7) + i * lines.row_stride()] = T(0.01);
  EXPECT_FALSE(sound(std::move(one_line)));
  EXPECT_FALSE(sound(test::column_sums_zero<T>(lines, 0.1))) << "unknowns that grow upwards";
}

SCALAR_TEST(GridEvidenceOf, LinesSweptInTurnTakesMatricesThatEliminationIsStableFor) {
  for (const Index length : {60, 700}) {
    const LineSet lines = LineSet::grid_axis(1, 5, length, 3);
    const auto weak = [&](Bands<T>&& bands, bool in_turn) {
      bands.close_lines();
      const GridDemand demand{.method = Method::exact_factored, .in_turn = in_turn};
      const Plan plan = make_grid_plan(lines, demand, sizeof(T), kGpu);
      return static_cast<Index>(certify_grid(plan, lines, bands.view(), 0.0, kRoundingLimit).weak.size());
    };
    for (const test::Decades& range : test::kWideRanges) {
      EXPECT_EQ(weak(test::wide_conduction<T>(lines, range), true), 0) << range.what;
    }
    const Index weak_at_once = weak(test::wide_conduction<T>(lines, test::kWideRanges[0]), false);
    EXPECT_EQ(weak_at_once > 5, length <= kMostGridRows) << "longer ones are swept in turn";
    EXPECT_EQ(weak(test::constant<T>(lines, 1, 0.01, 1), true), 15) << "pivots that grow";
    EXPECT_GT(weak(test::column_sums_zero<T>(lines, 0.1), true), 0) << "unknowns that grow upwards";
  }
}

SCALAR_TEST(GridEvidenceOf, AWeakLineNamesIt) {
  const LineSet lines = LineSet::grid_axis(2, 10, 3, 600);
  auto bands = test::random_dominant<T>(lines, 3.0);
  test::replace_line(bands, 17, -1, 2, -1);
  bands.close_lines();
  const Plan plan = streamed(lines, sizeof(T));
  const double eps = std::numeric_limits<T>::epsilon();
  const GridEvidence evidence = certify_grid(plan, lines, bands.view(), eps, kRoundingLimit);
  EXPECT_EQ(evidence.weak, std::vector<Index>{17});
  EXPECT_EQ(evidence.line, 17);
  GridDemand exact{.method = Method::exact_factored};
  EXPECT_TRUE(certify_grid(make_grid_plan(lines, exact, sizeof(T), kGpu), lines, bands.view(), 0.0, kRoundingLimit)
                  .weak.empty())
      << "nothing is truncated";
}

}  // namespace
}  // namespace oclspkt
