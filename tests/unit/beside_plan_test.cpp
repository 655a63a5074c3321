// SPDX-License-Identifier: BSD-2-Clause
// Plans for lines side by side by vectors of lanes: whole by stored factors, and cut into segments.
#include <gtest/gtest.h>

#include <algorithm>

#include "device_traits.hpp"
#include "geometry.hpp"
#include "matrices.hpp"
#include "oclspkt/error.hpp"
#include "plan.hpp"
#include "rounding.hpp"
#include "schemes/beside/beside_plans.hpp"
#include "schemes/beside_scheme.hpp"
#include "survey.hpp"

namespace oclspkt {
namespace {

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
        EXPECT_EQ(plan.as<Beside>().bundle % lanes, 0);
        const Index last = lines.block_lines() - (plan.as<Beside>().bundles - 1) * plan.as<Beside>().bundle;
        EXPECT_GE(last, std::min<Index>(lanes, lines.block_lines()));
        EXPECT_LT(last, plan.as<Beside>().bundle + lanes);
        EXPECT_GE(plan.as<Beside>().window,
                  (lines.length(0) + 1) * std::max(last, plan.as<Beside>().bundles > 1 ? plan.as<Beside>().bundle : 0));
        EXPECT_TRUE(!plan.as<Beside>().windowed || lines.length(0) * plan.as<Beside>().bundle * 8 <= 1 << 19);
        EXPECT_EQ(plan.as<Beside>().chunk_blocks, lines.blocks());
        EXPECT_GE(plan.runs, 1);
        EXPECT_GE(plan.idle, 1);
      }
    }
  }
}

TEST(FactoredPlan, GivesEveryCoreABundleWhereThereAreLinesForIt) {
  const DeviceTraits traits{.lanes = 8, .cores = 64, .cache_bytes = 1 << 20};
  const Plan plan = make_factored_plan(LineSet::grid_axis(2, 128, 128, 128), Form::general, 8, traits);
  EXPECT_GE(plan.as<Beside>().bundles, 64);
  EXPECT_DOUBLE_EQ(plan.idle, 1);
  // 5 lines have one bundle between them, and fill 5 of 8 lanes one by one.
  EXPECT_DOUBLE_EQ(make_factored_plan(LineSet::grid_axis(1, 5, 3000, 1), Form::general, 8, traits).idle, 8 * 64);
}

TEST(FactoredPlan, CountsTheWordsOfARow) {
  const LineSet lines = LineSet::grid_axis(1, 128, 128, 128);
  EXPECT_DOUBLE_EQ(make_factored_plan(lines, Form::general, 8, kTraits).words_per_row(), 5);
  EXPECT_DOUBLE_EQ(make_factored_plan(lines, Form::shared, 8, kTraits).words_per_row(), 2);
  EXPECT_DOUBLE_EQ(make_factored_plan(lines, Form::symmetric, 8, kTraits).words_per_row(), 4);
  const auto narrow_words = [](const LineSet& of, Form form) {
    Plan plan = make_factored_plan(of, form, 8, kTraits);
    plan.narrow = true;
    return plan.words_per_row();
  };
  EXPECT_DOUBLE_EQ(narrow_words(lines, Form::general), 3.5);
  EXPECT_DOUBLE_EQ(narrow_words(lines, Form::symmetric), 3);
  const LineSet tall = LineSet::grid_axis(1, 128, 1'000'000, 1);
  EXPECT_DOUBLE_EQ(narrow_words(tall, Form::general), 5.5);
  EXPECT_DOUBLE_EQ(make_factored_plan(tall, Form::general, 8, kTraits).words_per_row(), 7);
  EXPECT_DOUBLE_EQ(make_factored_plan(tall, Form::symmetric, 8, kTraits).words_per_row(), 7) << "couplings leave it";
  const Plan shared = make_factored_plan(tall, Form::shared, 8, kTraits);
  EXPECT_DOUBLE_EQ(shared.words_per_row(), 4 + 3.0 / static_cast<double>(shared.as<Beside>().bundle));
  EXPECT_DOUBLE_EQ(make_factored_plan(LineSet::one(1'000'000), Form::general, 8, kHostTraits).words_per_row(), 7);
  EXPECT_DOUBLE_EQ(make_factored_plan(LineSet::equal(1000, 1000), Form::shared, 8, kHostTraits).words_per_row(), 2);
}

TEST(FactoredPlan, ServesCouplingsOnlyOfLinesSideBySideOnDevices) {
  const LineSet lines = LineSet::grid_axis(1, 128, 128, 128);
  EXPECT_EQ(make_factored_plan(lines, Form::symmetric, 8, kTraits).form, Form::symmetric);
  EXPECT_EQ(make_factored_plan(lines, Form::symmetric, 8, kHostTraits).form, Form::general);
  EXPECT_EQ(make_factored_plan(LineSet::equal(1000, 1000), Form::symmetric, 8, kTraits).form, Form::general);
}

TEST(FactoredPlan, CutsChunksBetweenBlocksOrNotAtAll) {
  DeviceTraits traits = kTraits;
  traits.chunk_bytes = 1 << 20;
  const LineSet blocks = LineSet::grid_axis(1, 128, 128, 128);
  EXPECT_EQ(make_factored_plan(blocks, Form::general, 8, traits).as<Beside>().chunk_blocks, 8);
  EXPECT_EQ(
      make_factored_plan(LineSet::grid_axis(2, 128, 128, 128), Form::general, 8, traits).as<Beside>().chunk_blocks, 0);
  traits.chunk_bytes = 8 * 2000;  // of 2600 places, 2420 a block
  EXPECT_EQ(
      make_factored_plan(LineSet::strided(9, 300, 20, 1, 4, 60), Form::general, 8, traits).as<Beside>().chunk_blocks,
      0);
  traits.chunk_bytes = 8 * 2500;  // one block, but the others stand between its rows
  EXPECT_EQ(
      make_factored_plan(LineSet::strided(9, 300, 20, 1, 4, 60), Form::general, 8, traits).as<Beside>().chunk_blocks,
      0);
}

/// Few long lines, blocks of them, many lines, lines shorter than a halo.
const LineSet kFewLong[] = {LineSet::grid_axis(1, 8, 20'000, 1),      LineSet::grid_axis(2, 3, 1, 3000),
                            LineSet::grid_axis(1, 20, 100'000, 2),    LineSet::strided(5000, 3, 1, 1),
                            LineSet::grid_axis(1, 128, 1'000'000, 1), LineSet::grid_axis(1, 17, 33, 9)};

TEST(SegmentPlan, CoversTheLinesAndKeepsTheWindowInTheCache) {
  for (const LineSet& lines : kFewLong) {
    for (const int cores : {1, 2, 64}) {
      for (const Index halo : {0, 40, 96}) {
        const DeviceTraits traits{.lanes = 8, .cores = cores, .cache_bytes = 1 << 20};
        const Plan plan = make_strided_halo_plan(lines, halo, 0, 8, traits);
        SCOPED_TRACE(lines.describe() + ", " + std::to_string(cores) + " cores, halo " + std::to_string(halo));
        EXPECT_GE(plan.as<Beside>().segments * plan.m, lines.length(0));
        EXPECT_LT((plan.as<Beside>().segments - 1) * plan.m, lines.length(0));
        EXPECT_TRUE(plan.as<Beside>().segments == 1 || plan.m >= 3 * halo) << plan.m;
        EXPECT_TRUE(plan.as<Beside>().windowed);
        EXPECT_LE(plan.as<Beside>().window * 8, 1 << 19);
        const Index swept = std::min(lines.length(0), plan.m + 2 * plan.halo);
        EXPECT_GE(plan.as<Beside>().window, 2 * (swept + 1) * std::min(plan.as<Beside>().bundle, lines.block_lines()));
        EXPECT_EQ(plan.as<Beside>().chunk_blocks, lines.blocks());
        EXPECT_EQ(plan.words_per_row(), 4 * overlap_of_segments(plan) + 1);
      }
    }
  }
}

TEST(SegmentPlan, GivesEveryCoreSegmentsWhereLinesAreLongEnough) {
  const DeviceTraits traits{.lanes = 8, .cores = 64, .cache_bytes = 1 << 20};
  const Plan plan = make_strided_halo_plan(LineSet::grid_axis(1, 8, 100'000, 1), 40, 0, 8, traits);
  EXPECT_GE(plan.as<Beside>().segments, 4 * 64);
  EXPECT_LT(plan.idle, 1.3);
  // 20 lines fill 20 of 24 lanes; 300 rows are one segment, since shorter ones would be mostly halo.
  const Plan shorter = make_strided_halo_plan(LineSet::grid_axis(1, 20, 300, 1), 96, 0, 8, traits);
  EXPECT_EQ(shorter.as<Beside>().segments, 1);
  EXPECT_DOUBLE_EQ(shorter.idle, 1.2 * 32) << "two bundles of whole lines";
  EXPECT_DOUBLE_EQ(shorter.words_per_row(), 5);
}

TEST(SegmentPlan, TakesWholeRowsThatAdjoinWhereAllCoresHaveBlocks) {
  const auto plan = [](const LineSet& lines, const DeviceTraits& traits, Index partition = 0) {
    return make_strided_halo_plan(lines, 104, partition, 8, traits);
  };
  for (const Index n : {128, 256}) {  // the window of 256 is a row more than the cache
    const Plan whole = plan(LineSet::grid_axis(1, n, n, n), kTraits);
    EXPECT_EQ(whole.as<Beside>().bundle, n);
    EXPECT_EQ(whole.as<Beside>().bundles * whole.as<Beside>().segments, 1);
    EXPECT_EQ(whole.words_per_row(), 5);
  }
  const LineSet lines = LineSet::grid_axis(1, 256, 256, 256);
  EXPECT_LE(plan(LineSet::grid_axis(2, 128, 128, 128), kTraits).as<Beside>().bundle, 256) << "one block for all cores";
  EXPECT_LT(plan(LineSet::grid_axis(1, 512, 512, 64), kTraits).as<Beside>().bundle, 512) << "leaves the cache";
  EXPECT_LT(plan(lines, {.lanes = 8, .cores = 128, .cache_bytes = 1 << 20}).as<Beside>().bundle, 256)
      << "cores without a block";
  EXPECT_LT(plan(lines, kTraits, 64).as<Beside>().bundle, 256) << "the user's segments";
}

TEST(SegmentPlan, TakesTheSegmentOfTheUser) {
  const LineSet lines = LineSet::grid_axis(1, 8, 3000, 1);
  EXPECT_EQ(make_strided_halo_plan(lines, 40, 37, 8, kTraits).m, 37);
  EXPECT_EQ(make_strided_halo_plan(lines, 40, 37, 8, kTraits).as<Beside>().segments, 82);
  EXPECT_EQ(make_strided_halo_plan(lines, 40, 5000, 8, kTraits).m, 3000);
  EXPECT_EQ(make_strided_halo_plan(lines, 5000, 37, 8, kTraits).halo, 3000);
  EXPECT_THROW(make_strided_halo_plan(lines, 40, -1, 8, kTraits), InvalidInput);
}

TEST(SegmentPlan, CutsLinesOnlyWhereCoresWouldBeIdle) {
  const auto pays = [](const LineSet& lines, Index halo, Form form, int cores) {
    const DeviceTraits traits{.lanes = 8, .cores = cores, .cache_bytes = 1 << 20};
    const Plan cut = make_strided_halo_plan(lines, halo, 0, 8, traits),
               whole = make_factored_plan(lines, form, 8, traits);
    return scheme_of(cut).stream_words(cut, 8) < scheme_of(whole).stream_words(whole, 8);
  };
  const LineSet few = LineSet::grid_axis(1, 8, 20'000, 1);
  EXPECT_TRUE(pays(few, 40, Form::general, 2));
  EXPECT_TRUE(pays(few, 40, Form::shared, 64));
  EXPECT_FALSE(pays(few, 40, Form::general, 1));
  EXPECT_FALSE(pays(few, 20'000, Form::general, 64)) << "nothing is left to cut";
  EXPECT_FALSE(pays(LineSet::grid_axis(1, 512, 512, 1), 40, Form::general, 64)) << "a bundle for every core";
}

/// Sweeping down multiplies an error by 10 in each row, so that errors of rounding may leave the range of numbers,
/// while pivots are what the diagonals are.
template <typename T>
double bound_of_stored_factors(Index rows) {
  Bands<T> bands = test::closed(test::constant<T>(LineSet::one(rows), -10, 1, 1e-3));
  const Plan plan = make_factored_plan(bands.lines(), Form::general, sizeof(T), {.host = true});
  return bound_rounding(plan, bands.lines(), bands.view(), survey(bands.lines(), bands.view())).eps;
}

TEST(RoundingOfStoredFactors, IsNotBoundedWhereItAloneOverflows) {
  EXPECT_LE(bound_of_stored_factors<float>(20), 100);
  EXPECT_EQ(bound_of_stored_factors<float>(90), std::numeric_limits<double>::infinity());
  EXPECT_LE(bound_of_stored_factors<double>(90), 100);
  EXPECT_EQ(bound_of_stored_factors<double>(400), std::numeric_limits<double>::infinity());
}

}  // namespace
}  // namespace oclspkt
