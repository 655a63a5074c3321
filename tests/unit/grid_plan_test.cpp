// SPDX-License-Identifier: BSD-2-Clause
#include "grid_plan.hpp"

#include <gtest/gtest.h>

#include "grid_evidence.hpp"
#include "matrices.hpp"
#include "oclspkt/error.hpp"

namespace oclspkt {
namespace {

/// A GPU of many cores.
const DeviceTraits kGpu{.cores = 132, .group_items = 1024, .local_bytes = 48 << 10};

Plan streamed(const LineSet& lines, int word, const DeviceTraits& traits = kGpu, Index tile_rows = 0) {
  return make_grid_plan(lines, {.tile_rows = tile_rows}, word, traits);
}

TEST(GridPlan, TakesWholeLinesWhereATileHoldsThem) {
  for (const int word : {4, 8}) {
    for (const Index length : {1, 2, 63, 64}) {
      const Plan plan = streamed(LineSet::grid_axis(1, 512, length, 512), word);
      EXPECT_TRUE(plan.in_one_tile()) << length;
      EXPECT_EQ(plan.halo, 0);
      EXPECT_DOUBLE_EQ(plan.words_per_row(), 5);
    }
    EXPECT_FALSE(streamed(LineSet::grid_axis(1, 512, 257, 512), word).in_one_tile());
  }
  EXPECT_FALSE(streamed(LineSet::grid_axis(1, 512, 128, 512), 4).in_one_tile()) << "streamed tiles are faster";
  EXPECT_TRUE(streamed(LineSet::grid_axis(1, 512, 128, 512), 4, kGpu, 128).in_one_tile());
  EXPECT_TRUE(
      make_grid_plan(LineSet::grid_axis(1, 512, 256, 512), {.method = Method::exact_factored}, 4, kGpu).in_one_tile());
}

TEST(GridPlan, CutsFewLinesIntoLongRuns) {
  const Plan many = streamed(LineSet::grid_axis(1, 512, 4096, 512), 4);
  EXPECT_EQ(many.segments, 1);
  EXPECT_EQ(many.m, 4096);
  EXPECT_DOUBLE_EQ(many.words_per_row(), 5);
  const Plan few = streamed(LineSet::grid_axis(1, 64, 65536, 4), 4);
  EXPECT_GT(few.segments, 32);
  EXPECT_EQ(few.halo, few.grid_tile_rows());
  EXPECT_EQ(few.m % few.grid_tile_rows(), 0);
  EXPECT_GE(few.m, 16 * few.grid_tile_rows());
  EXPECT_GE(few.segments * few.m, 65536);
  EXPECT_LT((few.segments - 1) * few.m, 65536);
  EXPECT_GT(few.words_per_row(), 5);
  EXPECT_LE(few.words_per_row(), 5 + 6.0 / 16);
}

TEST(GridPlan, CountsTheWordsOfExactAndSharedFactors) {
  const LineSet lines = LineSet::grid_axis(1, 512, 4096, 512);
  GridDemand demand{.method = Method::exact_factored};
  const Plan exact = make_grid_plan(lines, demand, 8, kGpu);
  EXPECT_EQ(exact.segments, 1);
  EXPECT_NEAR(exact.words_per_row(), 7, 0.1);
  demand.form = Form::shared;
  EXPECT_NEAR(make_grid_plan(lines, demand, 8, kGpu).words_per_row(), 4, 0.1);
  demand.method = Method::truncated_streamed;
  EXPECT_DOUBLE_EQ(make_grid_plan(lines, demand, 8, kGpu).words_per_row(), 2);
}

TEST(GridPlan, FollowsTheLimitsOfTheDevice) {
  const LineSet lines = LineSet::grid_axis(1, 512, 4096, 512);
  for (const int word : {4, 8}) {
    for (const int most : {1, 4, 64, 256, 1024}) {
      for (const std::int64_t local : {1 << 10, 48 << 10}) {
        const Plan plan = streamed(lines, word, {.cores = 8, .group_items = most, .local_bytes = local});
        EXPECT_LE(plan.items, most);
        EXPECT_LE((6 * plan.items + 2 * plan.bundle) * word, local);
        EXPECT_EQ(plan.items % plan.bundle, 0);
        EXPECT_GE(plan.bundles * plan.bundle, 512);
      }
    }
  }
  EXPECT_EQ(make_grid_plan(lines, {.item_rows = 5}, 8, kGpu).item_rows, 6) << "whole vectors of shared factors";
  EXPECT_EQ(make_grid_plan(lines, {.item_rows = 500}, 8, kGpu).item_rows, 16);
  EXPECT_THROW(make_grid_plan(lines, {.item_rows = -1}, 8, kGpu), InvalidInput);
  EXPECT_EQ(streamed(LineSet::grid_axis(1, 3, 4096, 1), 8).bundle, 4) << "no more than the lines that there are";
  DeviceTraits small = kGpu;
  small.memory_bytes = 1 << 20;
  EXPECT_EQ(streamed(lines, 8, small).chunk_blocks, 0);
}

TEST(GridPlan, KnowsHowManyCoresItLeavesIdle) {
  EXPECT_DOUBLE_EQ(streamed(LineSet::grid_axis(1, 512, 4096, 512), 8).idle, 1);
  const GridDemand exact{.method = Method::exact_factored};
  EXPECT_GT(make_grid_plan(LineSet::grid_axis(1, 64, 65536, 1), exact, 8, kGpu).idle, 8);
}

template <typename T>
class GridEvidenceOf : public testing::Test {};
using Scalars = testing::Types<float, double>;
TYPED_TEST_SUITE(GridEvidenceOf, Scalars);

TYPED_TEST(GridEvidenceOf, LinesIsThatOfEachLineLaidEndToEnd) {
  using T = TypeParam;
  const LineSet lines = LineSet::grid_axis(1, 21, 700, 3);
  auto bands = test::random_dominant<T>(lines, 1.1);
  bands.close_lines();
  const Plan plan = streamed(lines, sizeof(T));
  const GridEvidence all = certify_grid(plan, lines, bands.view(), 0.0, 1e300);
  Plan one = make_stored_plan(700, 0, plan.item_rows, sizeof(T), {.lanes = plan.items / static_cast<int>(plan.bundle)});
  one.m = plan.item_rows;
  double bound = 0, growth = 1;
  for (Index l = 0; l < lines.count(); ++l) {
    Bands<T> line(LineSet::one(700));
    for (Index i = 0; i < 700; ++i) {
      const Index at = lines.first(l) + i * lines.row_stride();
      line.lower()[i] = bands.lower()[at];
      line.diag()[i] = bands.diag()[at];
      line.upper()[i] = bands.upper()[at];
    }
    const Certificate c = certify_stored(one, line.view());
    bound = std::max(bound, c.bound);
    growth = std::max(growth, c.growth);
  }
  EXPECT_EQ(all.worst.bound, bound);
  EXPECT_EQ(all.worst.growth, growth);
  EXPECT_EQ(static_cast<Index>(all.weak.size()), lines.count()) << "nothing is as good as 0";
}

TYPED_TEST(GridEvidenceOf, AWeakLineNamesIt) {
  using T = TypeParam;
  const LineSet lines = LineSet::grid_axis(2, 10, 3, 600);
  auto bands = test::random_dominant<T>(lines, 3.0);
  for (Index i = 0; i < 600; ++i) {
    const Index at = lines.first(17) + i * lines.row_stride();
    bands.lower()[at] = bands.upper()[at] = -1;
    bands.diag()[at] = 2;
  }
  bands.close_lines();
  const Plan plan = streamed(lines, sizeof(T));
  const double eps = std::numeric_limits<T>::epsilon();
  const GridEvidence evidence = certify_grid(plan, lines, bands.view(), eps, 5.0);
  EXPECT_EQ(evidence.weak, std::vector<Index>{17});
  EXPECT_EQ(evidence.line, 17);
  GridDemand exact{.method = Method::exact_factored};
  EXPECT_TRUE(certify_grid(make_grid_plan(lines, exact, sizeof(T), kGpu), lines, bands.view(), 0.0, 5.0).weak.empty())
      << "nothing is truncated";
}

}  // namespace
}  // namespace oclspkt
