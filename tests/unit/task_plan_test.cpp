// SPDX-License-Identifier: BSD-2-Clause
// Plans by the one work-item of an FPGA, and what truncation does to them.
#include "schemes/fpga/task_plan.hpp"

#include <gtest/gtest.h>

#include "geometry.hpp"
#include "matrices.hpp"
#include "oclspkt/error.hpp"
#include "schemes/fpga/task_form.hpp"
#include "schemes/scheme.hpp"
#include "survey.hpp"

namespace oclspkt {
namespace {

using test::closed;

/// What dominance alone tells of truncation is never less than what the rows tell.
TEST(TaskCertificate, IsBelowWhatDominanceTells) {
  const LineSet lines = LineSet::one(10'007);
  for (const double d : {1.05, 1.1, 1.2, 1.5, 2.0, 3.0, 10.0}) {
    for (const auto& bands :
         {closed(test::random_dominant<double>(lines, d)), closed(test::constant<double>(lines, -1, 2 * d, -1)),
          closed(test::constant<double>(lines, 0, d, -1))}) {
      const double decay = survey(lines, bands.view()).decay();
      for (const Index m : {32, 64}) {
        for (const auto& [sweep, scheme] : {std::pair(CutSweep::half, "fpga-spktrunc"),
                                            {CutSweep::both, "fpga-spkboth"},
                                            {CutSweep::jacobi, "fpga-spkjac"}}) {
          const Plan plan = make_task_plan(lines.rows(), m, scheme, 8, {});
          EXPECT_LE(certify_task(plan, sweep, bands.view()).bound, (1 + 1e-9) * bound_task(sweep, decay, m))
              << scheme << ", d " << d;
        }
      }
    }
  }
}

/// A board whose local memory holds 128 rows of 32 lines in float.
constexpr DeviceTraits kBoard{.lanes = 1, .local_bytes = 32 << 10, .task = true};

double stream_words(const Plan& plan, int word) { return scheme_of(plan).stream_words(plan, word); }

TEST(TdmaPlan, HasBlocksOfWholeBurstsAndTakesAllRowsAtOnce) {
  EXPECT_EQ(make_tdma_plan(1000, 0, 4, kBoard).m, 32);
  EXPECT_EQ(make_tdma_plan(1000, 33, 4, kBoard).m, 64);
  EXPECT_EQ(make_tdma_plan(1000, 33, 8, kBoard).m, 48);
  EXPECT_EQ(make_tdma_plan(1000, 1'000'000, 4, kBoard).m, 256);
  EXPECT_EQ(make_tdma_plan(1000, 0, 4, kBoard).chunk_tiles, 32);
  EXPECT_EQ(make_tdma_plan(0, 0, 4, kBoard).tiles(), 0);
  EXPECT_THROW(make_tdma_plan(1000, -1, 4, kBoard), InvalidInput);
}

TEST(TdmaPlan, SaysThatTheMemoryDoesNotHoldAllRows) {
  DeviceTraits little = kBoard;
  little.memory_bytes = 6 * 1024 * 4 + 4;  // six arrays in whole blocks, and a word of scratch
  EXPECT_GT(make_tdma_plan(1000, 0, 4, little).chunk_tiles, 0);
  EXPECT_EQ(make_tdma_plan(1025, 0, 4, little).chunk_tiles, 0);
  DeviceTraits small_buffers = kBoard;
  small_buffers.chunk_bytes = 1023 * 4;
  EXPECT_EQ(make_tdma_plan(1000, 0, 4, small_buffers).chunk_tiles, 0);
}

TEST(BatchPlan, LetsAsManyLinesTakeTurnsAsAPivotTakesCycles) {
  for (const int word : {4, 8}) {
    const int slots = word == 4 ? 32 : 64;
    for (const Index count : {2, 31, 32, 33, 64, 65}) {
      for (const LineSet& lines : {LineSet::equal(count, 20), LineSet::grid_axis(1, count, 20, 1)}) {
        const auto plan = make_batch_plan(lines, word, kBoard);
        ASSERT_TRUE(plan) << lines.describe();
        EXPECT_EQ(plan->as<LineBatch>().slots, slots);
        EXPECT_DOUBLE_EQ(plan->idle, static_cast<double>(round_up(count, slots)) / static_cast<double>(count));
        EXPECT_EQ(plan->has<Beside>(), lines.beside());
      }
    }
  }
}

TEST(BatchPlan, KeepsShortLinesInLocalMemory) {
  const auto at = [](Index length, int word) { return *make_batch_plan(LineSet::equal(50, length), word, kBoard); };
  EXPECT_EQ(at(128, 4).as<LineBatch>().kept_rows, 128);
  EXPECT_EQ(at(128, 4).as<LineBatch>().window, 0);
  EXPECT_EQ(at(128, 4).words_per_row(), 5);
  EXPECT_EQ(at(129, 4).as<LineBatch>().kept_rows, 0);
  EXPECT_EQ(at(129, 4).as<LineBatch>().window, 2 * 129 * 32);
  EXPECT_EQ(at(129, 4).words_per_row(), 9);
  EXPECT_EQ(at(32, 8).as<LineBatch>().kept_rows, 32);
  EXPECT_EQ(at(33, 8).as<LineBatch>().kept_rows, 0);
  Plan symmetric = at(100, 4);
  symmetric.form = Form::symmetric;
  EXPECT_EQ(symmetric.words_per_row(), 4);
}

TEST(BatchPlan, CostsTwoCyclesARow) {
  const Plan full = *make_batch_plan(LineSet::equal(64, 20), 4, kBoard);
  EXPECT_DOUBLE_EQ(stream_words(full, 4), 2 * 170 / 4.0);
  const Plan half = *make_batch_plan(LineSet::equal(32, 20), 8, kBoard);
  EXPECT_DOUBLE_EQ(stream_words(half, 8), 2 * 2 * 170 / 8.0);
  EXPECT_DOUBLE_EQ(stream_words(make_tdma_plan(1280, 0, 4, kBoard), 4), 32 * stream_words(full, 4));
}

TEST(BatchPlan, CutsLinesAndBlocksIntoChunks) {
  DeviceTraits little = kBoard;
  little.memory_bytes = 5 * 4 * (10 * 100 + 32);  // ten lines of 100 rows, and a burst before them
  const auto lines = make_batch_plan(LineSet::equal(50, 100), 4, little);
  ASSERT_TRUE(lines);
  EXPECT_EQ(lines->chunk_tiles, 10);
  EXPECT_EQ(lines->m, 100);
  const auto blocks = make_batch_plan(LineSet::grid_axis(1, 4, 50, 20), 4, little);
  ASSERT_TRUE(blocks);
  EXPECT_GE(blocks->as<Beside>().chunk_blocks, 4);
  EXPECT_LT(blocks->as<Beside>().chunk_blocks, 6);
  EXPECT_FALSE(make_batch_plan(LineSet::grid_axis(1, 40, 50, 20), 4, little));
  EXPECT_FALSE(make_batch_plan(LineSet::equal(50, 2000), 4, little));
}

TEST(BatchPlan, TakesLinesThatDifferInLengthUnlessOneIsMostOfAll) {
  std::vector<Index> starts{0};
  for (Index l = 0; l < 40; ++l) starts.push_back(starts.back() + l % 5);
  const LineSet many = LineSet::unequal(starts);
  const auto plan = make_batch_plan(many, 4, kBoard);
  ASSERT_TRUE(plan);
  EXPECT_TRUE(plan->as<LineBatch>().unequal);
  EXPECT_EQ(plan->as<LineBatch>().longest, 4);
  EXPECT_DOUBLE_EQ(plan->idle * static_cast<double>(many.rows()), 2 * 32 * 4);
  EXPECT_FALSE(make_batch_plan(LineSet::unequal({0, 1, 2, 3, 1000}), 4, kBoard));
  EXPECT_FALSE(make_batch_plan(LineSet::one(100), 4, kBoard));
  EXPECT_FALSE(make_batch_plan(LineSet(), 4, kBoard));
  DeviceTraits little = kBoard;
  little.memory_bytes = 5 * 4 * many.rows();  // but no table
  EXPECT_FALSE(make_batch_plan(many, 4, little));
}

}  // namespace
}  // namespace oclspkt
