// SPDX-License-Identifier: BSD-2-Clause
#include "evidence.hpp"

#include <gtest/gtest.h>

#include "host_solver.hpp"
#include "matrices.hpp"
#include "reference.hpp"

namespace oclspkt {
namespace {

TEST(Evidence, OfAGoodMethodIsAtRounding) {
  Bands<double> bands = test::closed(test::constant<double>(LineSet::one(1000), -1, 2, -1));
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
  Bands<double> bands = test::closed(test::constant<double>(LineSet::one(10), -1, 4, -1));
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
  Bands<double> bands = test::closed(test::random_dominant<double>(LineSet::one(1000), 1));
  EXPECT_LE(elimination_growth(bands.view(), 1000, 0, 0, 1000), 3 + 1e-12);
  EXPECT_LE(elimination_growth(bands.view(), 31, 7, 0, 1000), 3 + 1e-12);
  bands.diag()[500] = 0;
  EXPECT_TRUE(std::isnan(elimination_growth(bands.view(), 500, 0, 0, 1000)));
}

TEST(Evidence, GrowthOfTwoPassesIsThatOfTheirOwnOrder) {
  Bands<double> bands = test::closed(test::random_dominant<double>(LineSet::one(1000), 1));
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

/// By all processors it is what one coin makes of one row after the other.
TEST(Trial, RightHandSidesAreTossedInOrder) {
  TrialCoin one, other;
  for (const Index tosses : {0, 1, 2, 3, 1000, 65'537}) {
    for (Index i = 0; i < tosses; ++i) one.toss();
    other.skip(tosses);
    for (int i = 0; i < 64; ++i) EXPECT_EQ(one.toss(), other.toss()) << tosses;
  }
  for (const LineSet& lines : {LineSet::one(200'003), LineSet::equal(50'000, 5), LineSet::unequal({0, 1, 1, 90'000}),
                               LineSet::grid_axis(1, 60, 50, 70)}) {
    SCOPED_TRACE(lines.describe());
    const Bands<double> bands = test::random_dominant<double>(lines, 1.5);
    const BandsView<double> b = bands.view();
    for (const TrialKind kind : {TrialKind::rough, TrialKind::smooth}) {
      std::vector<double> y(static_cast<std::size_t>(lines.extent())), expected(y.size());
      trial_right_hand_side(lines, b, kind, y.data());
      TrialCoin coin;
      const auto toss = [&coin] { return coin.toss() ? 1.0 : 2.0; };
      for (Index l = 0; l < lines.count(); ++l) {
        double above = 0, x = toss();
        for (Index i = 0, at = lines.first(l); i < lines.length(l); ++i, at += lines.row_stride()) {
          const double lower = i > 0 ? b.lower[at] : 0, upper = i + 1 < lines.length(l) ? b.upper[at] : 0;
          const double below = toss(), size = std::abs(lower) + std::abs(b.diag[at]) + std::abs(upper);
          expected[static_cast<std::size_t>(at)] = kind == TrialKind::smooth
                                                       ? lower * above + b.diag[at] * x + upper * below
                                                   : x > 1 ? size
                                                           : -size;
          above = x;
          x = below;
        }
      }
      EXPECT_EQ(y, expected);
    }
  }
}

}  // namespace
}  // namespace oclspkt
