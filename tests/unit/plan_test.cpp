// SPDX-License-Identifier: BSD-2-Clause
#include "plan.hpp"
#include "geometry.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <string>

#include "device_traits.hpp"
#include "oclspkt/error.hpp"
#include "schemes/halos.hpp"
#include "schemes/lanes/lane_plans.hpp"
#include "schemes/tiles/tile_plans.hpp"

namespace oclspkt {
namespace {

TEST(Plan, StreamsTilesWhereRegistersHoldARowOfOne) {
  DeviceTraits traits{.lanes = 8, .tile_lanes = 8, .cores = 2};
  for (const Index halo : {0, 40, 256, 257, 512}) {
    Plan plan = make_plan(Method::truncated_halo, 1'000'000, halo, 0, 8, traits);
    ASSERT_TRUE(stream_tiles(plan, halo, 8, traits)) << halo;
    EXPECT_GE(plan.tile_rows(), halo) << "truncated a tile away";
    EXPECT_EQ(plan.tile_rows(), halo > 256 ? 512 : 256);
    EXPECT_DOUBLE_EQ(plan.words_per_row(), 5) << "nothing is read again";
  }
  const auto streams = [](Index n, Index halo, const DeviceTraits& t) {
    Plan plan = make_plan(Method::truncated_halo, n, halo, 0, 8, t);
    return stream_tiles(plan, halo, 8, t);
  };
  EXPECT_FALSE(streams(1'000'000, 513, traits)) << "a tile is too short";
  EXPECT_FALSE(streams(511, 40, traits)) << "there is no tile below";
  traits.lanes = 4;
  EXPECT_FALSE(streams(1'000'000, 40, traits)) << "a row of a tile takes two registers";
}

TEST(Plan, CoversAllRowsWithPartitionsAndTiles) {
  constexpr Index kWord = Index{1} << 31;
  for (const Index n : std::initializer_list<Index>{1, 2, 3, 495, 496, 497, 993, 7919, 1000000, kWord - 1, kWord,
                                                    2 * kWord + 1, 1'000'000'000'000}) {
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

TEST(Plan, OfMoreRowsThan32BitsCountLeavesNoneOut) {
  const DeviceTraits groups{.group_items = 256, .local_bytes = 48 << 10};
  for (const Index n : {Index{1} << 31, (Index{1} << 32) + 7, Index{3'000'000'000'000}}) {
    for (const Plan& plan :
         {make_plan(Method::exact_twopass, n, 0, 0, 8, kTraits), make_stored_plan(n, 0, 0, 8, kTraits),
          make_reduce_plan(n, 0, 8, groups), make_reduce_plan(n, 0, 4, groups)}) {
      EXPECT_EQ(plan.n, n);
      EXPECT_GE(plan.tiles() * plan.tile_rows(), n);
      EXPECT_LT((plan.tiles() - 1) * plan.tile_rows(), n);
      EXPECT_GE(plan.runs, 1);
      EXPECT_GE(plan.run_tiles, 1);
      EXPECT_GE(plan.chunk_tiles, 1);
      EXPECT_LE(plan.chunk_tiles, plan.tiles());
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
  plan = make_plan(Method::exact_twopass, 1000000, 0, 0, 8, kTraits);
  EXPECT_DOUBLE_EQ(plan.words_per_row(), 9);
  plan = make_stored_plan(1000000, 0, 0, 8, kTraits);
  EXPECT_DOUBLE_EQ(plan.words_per_row(), 5);
  plan.narrow = true;
  EXPECT_DOUBLE_EQ(plan.words_per_row(), 3.5);
  ASSERT_TRUE(make_symmetric(plan, 8, kTraits));
  EXPECT_DOUBLE_EQ(plan.words_per_row(), 3);
}

TEST(Plan, ReducesTilesWithNothingStored) {
  DeviceTraits traits{.group_items = 256, .local_bytes = 48 << 10};
  Plan plan = make_reduce_plan(1'000'000, 0, 4, traits);
  EXPECT_TRUE(plan.has<Levels>());
  EXPECT_DOUBLE_EQ(plan.words_per_row(), 9 + 6.0 / plan.item_rows);
  EXPECT_EQ(plan.chunk_tiles, plan.tiles());
  plan.form = Form::symmetric;
  EXPECT_DOUBLE_EQ(plan.words_per_row(), 7 + 6.0 / plan.item_rows);
  // 869 rows are left, which are one tile by more work-items.
  plan = make_reduce_plan(1'000'000, 0, 8, traits, Form::symmetric);
  EXPECT_EQ(plan.group_rows(), 64 * 18);
  EXPECT_EQ(plan.as<Levels>().items, 256);
  EXPECT_EQ(make_reduce_plan(100'000'000, 0, 8, traits).as<Levels>().items, 128) << "three levels either way";
  traits.local_bytes = 20 * 32 * 8;
  EXPECT_EQ(make_reduce_plan(1'000'000, 16, 4, traits).items, 64);
  EXPECT_EQ(make_reduce_plan(1'000'000, 16, 8, traits).items, 32);
  // Levels are double, whatever the rows are.
  for (const int word : {4, 8}) EXPECT_EQ(make_reduce_plan(1'000'000, 16, word, traits).as<Levels>().items, 64);
  traits.group_items = 1;
  EXPECT_THROW(make_reduce_plan(1000, 2, 8, traits), InvalidInput) << "tiles of two rows never get fewer";
  EXPECT_THROW(make_reduce_plan(1000, -1, 8, traits), InvalidInput);
  traits = {.memory_bytes = 1 << 20, .group_items = 256, .local_bytes = 48 << 10};
  EXPECT_EQ(make_reduce_plan(1'000'000, 0, 8, traits).chunk_tiles, 0);
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

TEST(Plan, HoldsWholeLinesWhereAPartitionOfThemFits) {
  const DeviceTraits traits{.lanes = 8, .cores = 2, .cache_bytes = 1 << 20};
  for (const Index length : {1, 3, 16, 100, 128, 496, 1000, 4096}) {
    const Index m = partition_of_whole_lines(LineSet::equal(1'000'000 / length, length), 8, traits);
    EXPECT_GT(m, 0) << length;
    EXPECT_EQ(m % length, 0);
    EXPECT_EQ(m % 16, 0) << "stored in whole cache lines";
  }
  EXPECT_EQ(partition_of_whole_lines(LineSet::equal(128 * 128, 128), 8, traits), 512);
  EXPECT_EQ(partition_of_whole_lines(LineSet::equal(1000, 4097), 8, traits), 0) << "does not stay in the cache";
  EXPECT_EQ(partition_of_whole_lines(LineSet::equal(1000, 4095), 8, traits), 0) << "nor do 16 of them";
  EXPECT_EQ(partition_of_whole_lines(LineSet::equal(10, 128), 8, traits), 0) << "leaves a core idle";
  EXPECT_EQ(partition_of_whole_lines(LineSet::unequal({0, 100'000, 200'001}), 8, traits), 0);
  EXPECT_EQ(partition_of_whole_lines(LineSet::grid_axis(1, 128, 128, 128), 8, traits), 0);
  EXPECT_EQ(partition_of_whole_lines(LineSet{}, 8, traits), 0);
  DeviceTraits small = traits;
  small.memory_bytes = 5 * 511 * 8 * 8;
  EXPECT_EQ(partition_of_whole_lines(LineSet::equal(128 * 128, 128), 8, small), 0) << "the memory holds no tile";
}

TEST(StoredPlan, CoversAllRowsWithPartitionsOfWholeLanes) {
  for (const Index n : {1, 2, 3, 47, 48, 49, 495, 496, 497, 7919, 1'000'000}) {
    for (const int cores : {1, 2, 16}) {
      for (const int lanes : {1, 4, 8, 16}) {
        for (const Index partition : {0, 1, 37, 48, 5000}) {
          SCOPED_TRACE(std::to_string(n) + " rows, " + std::to_string(cores) + " cores, " + std::to_string(lanes) +
                       " lanes, partition " + std::to_string(partition));
          const DeviceTraits traits{.lanes = lanes, .cores = cores, .cache_bytes = 1 << 20};
          const Plan plan = make_stored_plan(n, 0, partition, 8, traits);
          EXPECT_EQ(plan.method, Method::truncated_streamed);
          EXPECT_TRUE(plan.has<StoredFactors>());
          EXPECT_EQ(plan.m % lanes, 0);
          EXPECT_GE(plan.m, std::min(partition, n));
          EXPECT_LT(plan.m, (partition > 0 ? std::min(partition, n) : std::min<Index>(n, 496)) + lanes);
          EXPECT_EQ(plan.as<StoredFactors>().reach, plan.m);
          EXPECT_GE(plan.tiles() * plan.tile_rows(), n);
          EXPECT_LT((plan.tiles() - 1) * plan.tile_rows(), n);
          EXPECT_GE(plan.runs, 1);
          EXPECT_LE(plan.runs, std::min<Index>(plan.tiles(), 4 * cores));
          EXPECT_GE(plan.runs, std::min<Index>(plan.tiles(), cores)) << "a core has nothing to do";
          EXPECT_EQ(plan.chunk_tiles, plan.tiles());
          EXPECT_DOUBLE_EQ(plan.words_per_row(), 5);
        }
      }
    }
  }
}

TEST(StoredPlan, GivesEveryCoreATileAndKeepsItInTheCache) {
  const Plan usual = make_stored_plan(100'000'000, 0, 0, 8, kTraits);
  EXPECT_EQ(usual.m, 496);
  EXPECT_LE(3 * usual.tile_rows() * 8, kTraits.cache_bytes / 2);
  const DeviceTraits small{.lanes = 8, .cores = 2, .cache_bytes = 1 << 17};
  EXPECT_LE(3 * make_stored_plan(100'000'000, 0, 0, 8, small).tile_rows() * 8, small.cache_bytes / 2);
  const DeviceTraits many{.lanes = 8, .cores = 64, .cache_bytes = 1 << 20};
  EXPECT_GE(make_stored_plan(100'000, 0, 0, 8, many).tiles(), 64);
}

TEST(StoredPlan, TakesTheReachAtMostAsLongAsAPartition) {
  EXPECT_EQ(make_stored_plan(10'000, 40, 64, 8, kTraits).as<StoredFactors>().reach, 40);
  EXPECT_EQ(make_stored_plan(10'000, 64, 64, 8, kTraits).as<StoredFactors>().reach, 64);
  EXPECT_EQ(make_stored_plan(10'000, 65, 64, 8, kTraits).as<StoredFactors>().reach, 64);
  EXPECT_EQ(make_stored_plan(10'000, 0, 64, 8, kTraits).as<StoredFactors>().reach, 64);
}

TEST(StoredPlan, CutsChunksThatLeaveRoomForTheTilesBesideThem) {
  DeviceTraits traits = kTraits;
  traits.memory_bytes = 5 << 20;
  const Plan plan = make_stored_plan(1'000'000, 0, 496, 8, traits);
  EXPECT_GE(plan.chunk_tiles, 1);
  EXPECT_LE((plan.chunk_tiles + 2) * plan.tile_rows() * 8, 1 << 20);
  traits.memory_bytes = 5 * 3 * 496 * 8 * 8;
  EXPECT_EQ(make_stored_plan(1'000'000, 0, 496, 8, traits).chunk_tiles, 1);
  --traits.memory_bytes;
  EXPECT_THROW(make_stored_plan(1'000'000, 0, 496, 8, traits), InvalidInput);
  EXPECT_THROW(make_stored_plan(1'000'000, 0, -1, 8, kTraits), InvalidInput);
  EXPECT_EQ(make_stored_plan(0, 0, 0, 8, traits).tiles(), 0);
}

TEST(StoredPlan, HoldsWholeLinesInTheTilesThatItShares) {
  for (const Index length : {1, 3, 16, 100, 127, 128, 1000, 4096}) {
    const Index n = 10'000'000 / length * length;
    Plan plan = make_stored_plan(n, 0, 0, 8, kTraits);
    ASSERT_TRUE(share_lines(plan, length, true, 8, kTraits)) << length;
    EXPECT_EQ(shared_tiles(plan).period, 1) << length;
    EXPECT_EQ(plan.tile_rows() % length, 0) << length;
    EXPECT_EQ(plan.m % plan.lanes, 0);
    EXPECT_EQ(factor_tiles(plan), 1);
    EXPECT_GE(plan.tiles() * plan.tile_rows(), n);
    EXPECT_DOUBLE_EQ(plan.words_per_row(), 2);
  }
}

TEST(StoredPlan, SharesNothingThatLeavesTheCacheOrIsNoLessThanAll) {
  const auto shares = [](Index n, Index length, Index partition, const DeviceTraits& traits) {
    Plan plan = make_stored_plan(n, 0, partition, 8, traits);
    const bool shared = share_lines(plan, length, partition == 0, 8, traits);
    EXPECT_EQ(plan.form, shared ? Form::shared : Form::general);
    return shared;
  };
  EXPECT_FALSE(shares(10'000'019, 10'000'019, 0, kTraits));  // a prime
  EXPECT_TRUE(shares(1'000'000, 100, 80, kTraits));          // five tiles hold whole lines
  EXPECT_FALSE(shares(1'000'000, 997, 496, kTraits));
  EXPECT_FALSE(shares(640, 64, 80, kTraits));  // one tile is all
  DeviceTraits tight = kTraits;
  tight.memory_bytes = 5 * 3 * 504 * 8 * 8;
  EXPECT_FALSE(shares(4096 * 100, 4096, 0, tight)) << "tiles of 4096 rows and more than three of them";
}

TEST(StoredPlan, FindsPartitionsThatFillLines) {
  const Plan plan = make_stored_plan(10'000'000, 0, 0, 8, kTraits);
  for (const Index length : {65'536, 40'000, 51'200, 8 * 200 * 7}) {
    const Index m = partition_that_fills(length, plan);
    ASSERT_GT(m, 0) << length;
    EXPECT_LE(m, plan.m);
    EXPECT_EQ(m % plan.lanes, 0);
    EXPECT_EQ(length % (m * plan.lanes), 0);
  }
  EXPECT_EQ(partition_that_fills(65'537, plan), 0);
  EXPECT_EQ(partition_that_fills(plan.lanes * 7919, plan), 0) << "a prime";
}

TEST(StoredPlan, KeepsTheFirstTileOneForAllAndTheLast) {
  Plan plan = make_stored_plan(1'000'000, 0, 80, 8, kTraits);
  EXPECT_FALSE(share_rows(plan, plan.n)) << "pivots may change for ever";
  plan.as<StoredFactors>().lead_in = 40;
  ASSERT_TRUE(share_rows(plan, plan.n));
  EXPECT_EQ(factor_tiles(plan), 3);
  EXPECT_DOUBLE_EQ(plan.words_per_row(), 2);
  Plan lines = make_stored_plan(1'000'000, 0, 80, 8, kTraits);
  lines.as<StoredFactors>().lead_in = 40;
  EXPECT_FALSE(share_rows(lines, 5 * lines.tile_rows() + 1)) << "lines that begin within a tile";
  ASSERT_TRUE(share_rows(lines, 5 * lines.tile_rows()));
  EXPECT_EQ(factor_tiles(lines), 3);
  Plan few = make_stored_plan(3 * 80 * plan.lanes, 0, 80, 8, kTraits);
  few.as<StoredFactors>().lead_in = 40;
  EXPECT_FALSE(share_rows(few, few.n));
}

TEST(StoredPlan, KeepsARowMoreWhereCouplingsServe) {
  DeviceTraits traits = kTraits;
  Plan plan = make_stored_plan(1'000'000, 0, 80, 8, traits);
  ASSERT_TRUE(make_symmetric(plan, 8, traits));
  EXPECT_EQ(factor_words(plan), 81 * plan.lanes);
  EXPECT_DOUBLE_EQ(plan.words_per_row(), 4);
  traits.memory_bytes = 5 * 3 * 80 * 8 * plan.lanes;
  plan = make_stored_plan(1'000'000, 0, 80, 8, traits);
  EXPECT_FALSE(make_symmetric(plan, 8, traits));
  EXPECT_EQ(plan.form, Form::general);
}

TEST(StoredPlan, SharesNothingOfLinesWithoutRows) {
  Plan plan = make_stored_plan(0, 0, 0, 8, kTraits);
  EXPECT_FALSE(share_lines(plan, 0, true, 8, kTraits));
  EXPECT_EQ(plan.form, Form::general);
}

TEST(TwistedPlan, MeetsAtATileAndWantsAllRowsAtOnce) {
  DeviceTraits traits = kTraits;
  traits.cores = 2;
  for (const Index n : {0, 1, 100, 5'000, 1'000'000}) {
    const Plan plan = make_twisted_plan(n, 48, 8, traits);
    EXPECT_TRUE(plan.has<Sides>());
    EXPECT_EQ(plan.m % plan.lanes, 0);
    EXPECT_EQ(plan.chunk_tiles, plan.tiles());
    EXPECT_EQ(plan.runs, plan.tiles() > 1 ? 2 : 1);
    EXPECT_TRUE(plan.tiles() > 1 ? plan.as<Sides>().meeting > 0 && plan.as<Sides>().meeting < plan.tiles()
                                 : plan.as<Sides>().meeting == plan.tiles());
    EXPECT_EQ(plan.words_per_row(), 7);
  }
  traits.memory_bytes = 6 * 8 * 1'000'000;
  EXPECT_EQ(make_twisted_plan(1'000'000, 48, 8, traits).chunk_tiles, 0);
  EXPECT_THROW(make_twisted_plan(10, -1, 8, traits), InvalidInput);
}

TEST(GroupPlan, FollowsTheLimitsOfTheDevice) {
  for (const int word : {4, 8}) {
    DeviceTraits traits{.group_items = 64, .local_bytes = 1 << 15};
    const Index quantum = 16 / word;
    const auto make = [&](Index halo, Index partition) {
      return make_plan(Method::truncated_halo, 1'000'000, halo, partition, word, traits);
    };
    EXPECT_EQ(make(8, 0).items, 64);
    EXPECT_EQ(make(1, 0).halo, quantum);
    EXPECT_EQ(make(8, 5).item_rows, word == 4 ? 8 : 6);
    traits.local_bytes = 20 * 32 * word;
    EXPECT_EQ(make(8, 16).items, 32);
    EXPECT_EQ(make(8, 48).item_rows, 32);
    EXPECT_THROW(make(256, 16), InvalidInput);
    EXPECT_EQ(make_run_plan(1'000'000, 100, 16, word, traits).group_rows(), 512);
    EXPECT_THROW(make_run_plan(1'000'000, 513, 16, word, traits), InvalidInput);
    const Index longest = longest_halo(16, word, traits);
    EXPECT_GT(make(longest / quantum * quantum, 16).m, 2 * longest);
  }
}

TEST(GroupPlan, RunsAreAsLongAsFillsTheDevice) {
  const DeviceTraits traits{.cores = 132, .group_items = 1024, .local_bytes = 48 << 10};
  for (const Index n : {Index{1}, Index{100'000}, Index{1'000'000}, Index{30'000'000}, Index{100'000'000}}) {
    for (const Index reach : {16, 216, 1024, 2048}) {
      const Plan plan = make_run_plan(n, reach, 0, sizeof(float), traits);
      ASSERT_GT(plan.m, 0);
      EXPECT_LE(2 * plan.halo, plan.m) << "half of what is solved at most is swept for neighbours";
      // Waves of four work-groups a core, each as long as a run: the last of them is not much emptier than it must be.
      const double waves = static_cast<double>(quotient_up(plan.tiles(), Index{4} * 132)) * plan.run_tiles;
      const double least = static_cast<double>(n) / static_cast<double>(plan.group_rows()) / (4 * 132);
      if (n < 30'000'000) continue;
      EXPECT_LE(waves, 1.6 * least) << n << " rows, reach " << reach;
    }
  }
}

TEST(GroupPlan, RunsAreLinesWhoseTilesTheyFill) {
  const DeviceTraits traits{.cores = 132, .group_items = 1024, .local_bytes = 48 << 10};
  const auto made = [&](Index count, Index length, int word, Form form = Form::general) {
    return make_line_runs_plans(count * length, length, form, word, traits);
  };
  for (const int word : {4, 8}) {
    for (const Index length : {2112, 3000, 3200, 4096}) {
      const std::vector<Plan> plans = made(5280, length, word);
      ASSERT_FALSE(plans.empty()) << length;
      const Plan& plan = plans.front();
      EXPECT_TRUE(runs_are_lines(plan));
      EXPECT_EQ(plan.run_tiles, 2);
      EXPECT_EQ(plan.m, length);
      EXPECT_EQ(plan.run_tiles * plan.group_rows(), length);
      EXPECT_EQ(plan.runs, 5280);
    }
    EXPECT_TRUE(made(5280, 2048, word).empty()) << "a tile holds them";
    EXPECT_TRUE(made(5280, 4099, word).empty()) << "no tile of theirs is filled";
    EXPECT_TRUE(made(20, 4096, word).empty()) << "cores would be idle";
  }
  EXPECT_TRUE(made(1056, 16'384, 4).empty());
  EXPECT_EQ(made(1056, 16'384, 8).front().items, 128);
  EXPECT_EQ(made(1056, 16'384, 8, Form::symmetric).front().items, 64);
  EXPECT_EQ(made(1056, 16'384, 8, Form::symmetric).front().form, Form::symmetric);
  EXPECT_EQ(made(792, 16'384, 8, Form::symmetric).front().items, 128) << "half of the last turn would be empty";
}

TEST(GroupPlan, TilesHoldWholeLines) {
  const DeviceTraits traits{.cores = 132, .group_items = 1024, .local_bytes = 48 << 10};
  const auto held = [&](Index length, int word) {
    return partition_of_whole_lines(LineSet::equal(10, length), word, traits);
  };
  EXPECT_EQ(held(64, 4), 2048);
  EXPECT_EQ(held(61, 4), 1952);
  EXPECT_EQ(held(61, 8), 1952);
  EXPECT_EQ(held(1000, 8), 2000);
  EXPECT_EQ(held(1366, 4), 4096 / 2732 * 2732) << "one of them leaves a third of the smaller tile empty";
  EXPECT_EQ(held(4096, 8), 4096);
  EXPECT_EQ(held(4097, 8), 0);
  const Plan plan = make_whole_lines_plan(LineSet::equal(10, 1000), 2000, 8, traits);
  EXPECT_EQ(plan.halo, 0);
  EXPECT_EQ(plan.m, 2000);
  EXPECT_EQ(plan.tiles(), 5);
  EXPECT_GE(((Index{1} << plan.as<Scan>().steps) - 1) * plan.item_rows, 1000);
}

}  // namespace
}  // namespace oclspkt
