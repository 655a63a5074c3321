// SPDX-License-Identifier: BSD-2-Clause
#include "plan.hpp"

#include <gtest/gtest.h>

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

}  // namespace
}  // namespace oclspkt
