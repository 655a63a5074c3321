// SPDX-License-Identifier: BSD-2-Clause
#include "evidence.hpp"

#include <gtest/gtest.h>

#include "host_solver.hpp"
#include "matrices.hpp"
#include "reference.hpp"

namespace oclspkt {
namespace {

TEST(Evidence, OfAGoodMethodIsAtRounding) {
  Bands<double> bands = test::constant<double>(LineSet::one(1000), -1, 2, -1);
  bands.close_lines();
  HostSolver<double> solver;
  solver.factor(bands.lines(), bands.view());
  const Trial trial = trial_solve<double>(bands.lines(), bands.view(), TrialKind::rough,
                                          [&](const double* y, double* x) { solver.solve(y, x); });
  EXPECT_TRUE(trial.failed.empty());
  EXPECT_LE(trial.worst, kTrialLimitEps * std::numeric_limits<double>::epsilon());
}

TEST(Evidence, SeesOneWrongRowOfAMillionTinyOnes) {
  // One line with tiny numbers among 1000: a norm over all lines would not see it.
  const LineSet lines = LineSet::equal(1000, 10);
  Bands<double> bands = test::constant<double>(lines, -1, 4, -1);
  for (Index i = 5000; i < 5010; ++i) {
    bands.lower()[i] = bands.upper()[i] = 1e-9;
    bands.diag()[i] = 1e-20;
  }
  bands.close_lines();
  HostSolver<double> solver;
  solver.factor(lines, bands.view());
  const Trial trial = trial_solve<double>(lines, bands.view(), TrialKind::rough,
                                          [&](const double* y, double* x) { solver.solve(y, x); });
  EXPECT_EQ(trial.failed, (std::vector<Index>{500}));
  EXPECT_FALSE(elimination_growth(bands.view(), 10, 0, 0, lines.rows()) <= kGrowthLimit);
}

TEST(Evidence, IsNaNForASolutionThatWasNotWritten) {
  Bands<double> bands = test::constant<double>(LineSet::one(10), -1, 4, -1);
  bands.close_lines();
  EXPECT_TRUE(std::isnan(
      trial_solve<double>(bands.lines(), bands.view(), TrialKind::rough, [](const double*, double*) {}).worst));
}

TEST(Evidence, UsesBothSignsOnTheRightHandSide) {
  const Bands<double> bands = test::constant<double>(LineSet::one(1000), -1, 4, -1);
  std::vector<double> y(1000);
  trial_right_hand_side(bands.lines(), bands.view(), TrialKind::rough, y.data());
  int positive = 0;
  for (std::size_t i = 1; i < 999; ++i) {
    EXPECT_EQ(std::abs(y[i]), 6);
    positive += y[i] > 0;
  }
  EXPECT_GT(positive, 400);
  EXPECT_LT(positive, 600);
}

TEST(Evidence, OfASmoothTrialSolvesForOnesAndTwos) {
  const Bands<double> bands = test::random_dominant<double>(LineSet::equal(3, 50), 2);
  std::vector<double> y(150), x(150);
  trial_right_hand_side(bands.lines(), bands.view(), TrialKind::smooth, y.data());
  Reference<double> reference;
  reference.factor(bands.lines(), bands.view());
  reference.solve(y.data(), x.data());
  for (const double value : x) EXPECT_NEAR(std::abs(value - 1.5), 0.5, 1e-13);
}

TEST(Evidence, GrowthStaysBelowThreeUnderDominance) {
  Bands<double> bands = test::random_dominant<double>(LineSet::one(1000), 1);
  bands.close_lines();
  EXPECT_LE(elimination_growth(bands.view(), 1000, 0, 0, 1000), 3 + 1e-12);
  EXPECT_LE(elimination_growth(bands.view(), 31, 7, 0, 1000), 3 + 1e-12);
  bands.diag()[500] = 0;
  EXPECT_TRUE(std::isnan(elimination_growth(bands.view(), 500, 0, 0, 1000)));
}

TEST(Evidence, GrowthOfTwoPassesIsThatOfTheirOwnOrder) {
  Bands<double> bands = test::random_dominant<double>(LineSet::one(1000), 1);
  bands.close_lines();
  for (const Index m : {1, 2, 3, 31, 999, 1000}) EXPECT_LE(twopass_growth(bands.view(), m, 0, 1000), 3 + 1e-12) << m;
  EXPECT_LE(twopass_growth(bands.view(), 31, 100, 1000), 3 + 1e-12);
  // Row 11 is the first inner row of its partition: nothing is eliminated before it, where a sweep from the top row has
  // a coupling to take off its diagonal.
  bands = test::constant<double>(LineSet::one(40), -1, 4, -1);
  bands.close_lines();
  bands.diag()[11] = 1e-6;
  EXPECT_LE(elimination_growth(bands.view(), 10, 0, 0, 11), kGrowthLimit);
  EXPECT_GT(twopass_growth(bands.view(), 10, 0, 40), 1e4) << "row 12 and the top row take 1 / 1e-6";
  EXPECT_TRUE(std::isnan([&] {
    bands.diag()[11] = 0;
    return twopass_growth(bands.view(), 10, 0, 40);
  }()));
  // A solution that grows downwards: plain sweeps do not mind, inner rows get ever larger couplings to the top row.
  bands = test::constant<double>(LineSet::one(40), -2, 1, 1e-300);
  bands.close_lines();
  EXPECT_LE(elimination_growth(bands.view(), 20, 0, 0, 40), 3);
  EXPECT_GT(twopass_growth(bands.view(), 20, 0, 40), 1e5);
  bands = test::constant<double>(LineSet::one(40), -1, 4, -1);
  bands.close_lines();
  bands.diag()[10] = 1e-6;  // a top row: eliminated last, when its inner rows have filled its diagonal
  EXPECT_GT(elimination_growth(bands.view(), 10, 0, 0, 40), 1e4);
}

}  // namespace
}  // namespace oclspkt
