// SPDX-License-Identifier: BSD-2-Clause
#include "plan.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <string>

#include "oclspkt/error.hpp"

namespace oclspkt {
namespace {

const DeviceTraits kTraits{.lanes = 8, .cores = 2, .cache_bytes = 1 << 20};

TEST(Plan, CoversAllRowsWithPartitionsAndTiles) {
  for (const Index n : {1, 2, 3, 495, 496, 497, 993, 7919, 1000000}) {
    for (const Index halo : {0, 32, 300}) {
      const Plan plan = make_plan(Method::truncated_halo, n, halo, 0, 8, kTraits);
      EXPECT_GE(plan.partitions() * plan.m, n);
      EXPECT_LT((plan.partitions() - 1) * plan.m, n);
      EXPECT_GE(plan.tiles() * plan.tile_rows(), n);
      EXPECT_GE(plan.runs, 1);
      EXPECT_LE(plan.runs, plan.tiles());
      EXPECT_GE(plan.chunk_tiles, 1);
    }
  }
}

TEST(Plan, KeepsATileAndItsHaloInTheCache) {
  for (const Index halo : {0, 32, 300, 600}) {
    const Plan plan = make_plan(Method::truncated_halo, 100000000, halo, 0, 8, kTraits);
    EXPECT_LE(2 * (plan.m + 2 * halo) * plan.lanes * 8, kTraits.cache_bytes) << "halo " << halo;
    EXPECT_GE(plan.m, 2 * halo);
  }
}

TEST(Plan, TakesThePartitionOfTheUser) {
  EXPECT_EQ(make_plan(Method::exact_twopass, 1000, 0, 37, 8, kTraits).m, 37);
  EXPECT_EQ(make_plan(Method::exact_twopass, 10, 0, 37, 8, kTraits).m, 10);
  EXPECT_THROW(make_plan(Method::exact_twopass, 10, 0, -1, 8, kTraits), InvalidInput);
}

TEST(Plan, CountsTheWordsOfARow) {
  Plan plan = make_plan(Method::truncated_halo, 1000000, 32, 320, 8, kTraits);
  EXPECT_DOUBLE_EQ(plan.words_per_row(), 4 * 1.2 + 1);
  plan.method = Method::exact_twopass;
  EXPECT_DOUBLE_EQ(plan.words_per_row(), 9);
}

TEST(Plan, CutsChunksToWhatOneAllocationHolds) {
  DeviceTraits traits = kTraits;
  traits.chunk_bytes = 1 << 20;
  const Plan plan = make_plan(Method::truncated_halo, 1000000, 32, 496, 8, traits);
  EXPECT_GE(plan.chunk_tiles, 1);
  EXPECT_LE((plan.chunk_tiles * plan.tile_rows() + 2 * plan.halo) * 8, traits.chunk_bytes);
  traits.chunk_bytes = 1 << 10;
  EXPECT_THROW(make_plan(Method::truncated_halo, 1000000, 32, 496, 8, traits), InvalidInput);
  traits.chunk_bytes = INT64_MAX;
  traits.memory_bytes = 5 << 20;
  EXPECT_LE(make_plan(Method::exact_twopass, 1000000, 0, 496, 8, traits).chunk_tiles * 496 * 8 * 8, 1 << 20);
}

/// Line sets side by side: planes, blocks, a few lines, long ones, blocks that interleave.
const LineSet kBeside[] = {LineSet::grid_axis(1, 128, 128, 128), LineSet::grid_axis(2, 128, 128, 128),
                           LineSet::grid_axis(1, 17, 33, 9),     LineSet::grid_axis(1, 5, 3000, 1),
                           LineSet::grid_axis(1, 129, 10, 1),    LineSet::grid_axis(1, 100, 1'000'000, 1),
                           LineSet::grid_axis(2, 1000, 1000, 2), LineSet::strided(9, 300, 20, 1, 4, 60)};

TEST(FactoredPlan, CoversTheLinesOfABlockWithBundlesOfWholeLanes) {
  for (const LineSet& lines : kBeside) {
    for (const int cores : {1, 2, 64}) {
      for (const int lanes : {4, 8, 16}) {
        const Plan plan =
            make_factored_plan(lines, Form::general, 8, {.lanes = lanes, .cores = cores, .cache_bytes = 1 << 20});
        SCOPED_TRACE(lines.describe() + ", " + std::to_string(cores) + " cores, " + std::to_string(lanes) + " lanes");
        EXPECT_EQ(plan.bundle % lanes, 0);
        const Index last = lines.block_lines() - (plan.bundles - 1) * plan.bundle;
        EXPECT_GE(last, std::min<Index>(lanes, lines.block_lines()));
        EXPECT_LT(last, plan.bundle + lanes);
        EXPECT_GE(plan.window, (lines.length(0) + 1) * std::max(last, plan.bundles > 1 ? plan.bundle : 0));
        EXPECT_TRUE(!plan.windowed || lines.length(0) * plan.bundle * 8 <= 1 << 19);
        EXPECT_EQ(plan.chunk_blocks, lines.blocks());
        EXPECT_GE(plan.runs, 1);
        EXPECT_GE(plan.idle, 1);
      }
    }
  }
}

TEST(FactoredPlan, GivesEveryCoreABundleWhereThereAreLinesForIt) {
  const DeviceTraits traits{.lanes = 8, .cores = 64, .cache_bytes = 1 << 20};
  const Plan plan = make_factored_plan(LineSet::grid_axis(2, 128, 128, 128), Form::general, 8, traits);
  EXPECT_GE(plan.bundles, 64);
  EXPECT_DOUBLE_EQ(plan.idle, 1);
  // 5 lines have one bundle between them, and fill 5 of 8 lanes one by one.
  EXPECT_DOUBLE_EQ(make_factored_plan(LineSet::grid_axis(1, 5, 3000, 1), Form::general, 8, traits).idle, 8 * 64);
}

TEST(FactoredPlan, CountsTheWordsOfARow) {
  const LineSet lines = LineSet::grid_axis(1, 128, 128, 128);
  EXPECT_DOUBLE_EQ(make_factored_plan(lines, Form::general, 8, kTraits).words_per_row(), 5);
  EXPECT_DOUBLE_EQ(make_factored_plan(lines, Form::shared, 8, kTraits).words_per_row(), 2);
  const LineSet tall = LineSet::grid_axis(1, 128, 1'000'000, 1);
  EXPECT_DOUBLE_EQ(make_factored_plan(tall, Form::general, 8, kTraits).words_per_row(), 7);
  const Plan shared = make_factored_plan(tall, Form::shared, 8, kTraits);
  EXPECT_DOUBLE_EQ(shared.words_per_row(), 4 + 3.0 / static_cast<double>(shared.bundle));
  EXPECT_DOUBLE_EQ(make_factored_plan(LineSet::one(1'000'000), Form::general, 8, kHostTraits).words_per_row(), 7);
  EXPECT_DOUBLE_EQ(make_factored_plan(LineSet::equal(1000, 1000), Form::shared, 8, kHostTraits).words_per_row(), 2);
}

TEST(FactoredPlan, CutsChunksBetweenBlocksOrNotAtAll) {
  DeviceTraits traits = kTraits;
  traits.chunk_bytes = 1 << 20;
  const LineSet blocks = LineSet::grid_axis(1, 128, 128, 128);
  EXPECT_EQ(make_factored_plan(blocks, Form::general, 8, traits).chunk_blocks, 8);
  EXPECT_EQ(make_factored_plan(LineSet::grid_axis(2, 128, 128, 128), Form::general, 8, traits).chunk_blocks, 0);
  traits.chunk_bytes = 8 * 2000;  // of 2600 places, 2420 a block
  EXPECT_EQ(make_factored_plan(LineSet::strided(9, 300, 20, 1, 4, 60), Form::general, 8, traits).chunk_blocks, 0);
  traits.chunk_bytes = 8 * 2500;  // one block, but the others stand between its rows
  EXPECT_EQ(make_factored_plan(LineSet::strided(9, 300, 20, 1, 4, 60), Form::general, 8, traits).chunk_blocks, 0);
}

}  // namespace
}  // namespace oclspkt
