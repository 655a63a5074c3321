// SPDX-License-Identifier: BSD-2-Clause

#include <cmath>
#include <limits>

#include "cut_parts.hpp"
#include "device_traits.hpp"
#include "matrices.hpp"
#include "oclspkt/report.hpp"
#include "plan.hpp"
#include "reference.hpp"
#include "rounding.hpp"
#include "scalar_test.hpp"
#include "schemes/tiles/tile_plans.hpp"
#include "survey.hpp"

namespace oclspkt {
namespace {

TEST(CutRounding, StaysWithinTheLimitForWhatInnerRowsAreAllowed) {
  for (const double d : {1.0, 1 + 1e-12, 1.00005, 1.05, 1.25, 1.5, 10.0, 1e17}) {
    const CutPartErrors errors{inner_rounding_limit(d), 1 / d, 4};
    EXPECT_LE(rounding_of_part(errors, d), kRoundingLimit * (1 + 1e-12)) << d;
    EXPECT_GE(inner_rounding_limit(d), 46) << d;
  }
}

TEST(CutRounding, LeavesGrowthToTheLimit) {
  EXPECT_GT(rounding_of_part({4, 30, 1}, 0.5), kRoundingLimit);
  EXPECT_GT(rounding_of_part({4, 0.5, 200}, 2), kRoundingLimit);
  EXPECT_GT(rounding_of_part({110, 0.1, 1}, 10), kRoundingLimit);
  EXPECT_EQ(inner_rounding_limit(0.999), inner_rounding_limit(0));
}

TEST(CutRounding, IsUnknownIfAPartIs) {
  constexpr double kNaN = std::numeric_limits<double>::quiet_NaN(), kInf = std::numeric_limits<double>::infinity();
  for (const CutPartErrors& errors :
       {CutPartErrors{kNaN, 0.5, 1}, {1, kNaN, 1}, {1, 0.5, kNaN}, {kInf, 0.5, 1}, {1, kInf, 1}, {1, 0.5, kInf}}) {
    EXPECT_FALSE(rounding_of_part(errors, 2) <= kRoundingLimit);
    EXPECT_FALSE(rounding_of_part(errors, 0.5) <= kRoundingLimit);
  }
}

template <typename T>
void expect_room_for_corrected_runs() {
  constexpr Index kLong = 100'000;
  for (const double lambda : {100.0, 300.0}) {
    Bands<T> bands = test::closed(test::diffusion<T>(LineSet::one(kLong), lambda));
    const Survey seen = survey(bands.lines(), bands.view());
    Plan plan = make_run_plan(kLong, 512, 0, sizeof(T), kGpu);
    correct_runs(plan, sizeof(T), kGpu);
    EXPECT_LE(bound_rounding(plan, bands.lines(), bands.view(), seen).eps, inner_rounding_limit(seen.dominance))
        << lambda;
  }
}

TEST(CutRounding, LeavesRoomForRunsThatAreCorrected) {
  expect_room_for_corrected_runs<float>();
  expect_room_for_corrected_runs<double>();
}

/// The spikes of lines with a part above and below, by LAPACK with an error in one row.
template <typename T>
std::vector<SpikeFacts> spikes_of(const LineSet& lines, double wrong) {
  Bands<T> bands = test::closed(test::random_dominant<T>(lines, 1.01));
  CutParts<T> parts;
  const std::vector<char> cut(static_cast<std::size_t>(lines.count()), 1);
  parts.reset(lines, cut, cut);
  parts.uncouple_cuts(bands.view(), [&](Index at, T lower, T diag, T upper) {
    bands.lower()[at] = lower;
    bands.diag()[at] = diag;
    bands.upper()[at] = upper;
  });
  Reference<T> reference;
  reference.factor(lines, bands.view());
  const std::vector<char> none(cut.size(), 0);
  parts.find_spikes(
      [&](const T* y, T* x) {
        reference.solve(y, x);
        x[lines.first(1) + 5 * lines.row_stride()] += static_cast<T>(wrong);
      },
      none);
  parts.measure_spikes(bands.view(), none);
  std::vector<SpikeFacts> facts;
  for (Index s = 0; s < parts.slots(); ++s) facts.push_back(parts.spikes(s));
  return facts;
}

template <typename T>
class CutSpikeFacts : public testing::Test {};

SCALAR_TEST(CutSpikeFacts, TellWhatASolveLeavesInTheRows) {
  constexpr double eps = std::numeric_limits<T>::epsilon();
  for (const LineSet& lines : {LineSet::equal(3, 40), LineSet::grid_axis(1, 3, 40, 1)}) {
    for (const SpikeFacts& facts : spikes_of<T>(lines, 0)) {
      EXPECT_LE(facts.size, 1 / 1.01 + 10 * eps);
      EXPECT_LE(facts.error, 4);
    }
    const std::vector<SpikeFacts> wrong = spikes_of<T>(lines, 1e3 * eps);
    EXPECT_LE(wrong[0].error, 4);
    EXPECT_GT(wrong[1].error, 300);
    EXPECT_LE(wrong[2].error, 4);
    EXPECT_FALSE(spikes_of<T>(lines, NAN)[1].error <= kRoundingLimit);
  }
}

}  // namespace
}  // namespace oclspkt
