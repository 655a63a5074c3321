// SPDX-License-Identifier: BSD-2-Clause
#include "host_solver.hpp"

#include <cstdio>

#include "backward_error.hpp"
#include "evidence.hpp"
#include "matrix_algebra.hpp"
#include "reference.hpp"
#include "scalar_test.hpp"

namespace oclspkt {
namespace {

template <typename T>
class StoredFactors : public ::testing::Test {
 protected:
  /// Backward error over eps, the larger of two: for a random right-hand side and for that of a random solution.
  static double backward_error(Bands<T>& bands) {
    bands.close_lines();
    HostSolver<T> solver;
    solver.factor(bands.lines(), bands.view());
    const std::vector<T> random = test::random_vector<T>(bands.lines().extent());
    std::vector<T> x(random.size());
    double worst = 0;
    for (const std::vector<T>& y : {random, test::product(bands, random)}) {
      solver.solve(y.data(), x.data());
      const double error = normwise_backward_error(bands.lines(), bands.view(), x.data(), y.data());
      worst = error <= worst ? worst : error;
    }
    return worst / std::numeric_limits<T>::epsilon();
  }
};
template <typename T>
Bands<T> poisson(Index n) {
  return test::closed(test::constant<T>(LineSet::one(n), -1, 2, -1));
}

SCALAR_TEST(StoredFactors, SolveEveryLayoutAndSize) {
  for (const LineSet& lines :
       {LineSet::one(0), LineSet::one(1), LineSet::one(2), LineSet::one(3), LineSet::one(997), LineSet::equal(5, 7),
        LineSet::unequal({0, 1, 1, 4}), LineSet::unequal({0, 7, 14, 21, 28, 30, 33}), LineSet::equal(11, 40),
        LineSet::grid_axis(1, 5, 7, 3), LineSet::grid_axis(2, 5, 7, 3), LineSet::grid_axis(1, 300, 7, 2),
        LineSet::grid_axis(2, 130, 131, 3), LineSet::strided(9, 50, 20, 1, 4, 500), LineSet::strided(6, 40, 5, 3)}) {
    for (const double d : {1.0, 1.2, 10.0}) {
      Bands<T> bands = test::random_dominant<T>(lines, d);
      EXPECT_LE(this->backward_error(bands), 5) << lines.describe() << " d " << d;
    }
  }
}

SCALAR_TEST(StoredFactors, SolveLinesOfEveryShortLengthLikeLapack) {
  for (Index n = 1; n <= 70; ++n) {
    for (const LineSet& lines : {LineSet::one(n), LineSet::equal(2, n), LineSet::equal(5, n)}) {
      Bands<T> bands = test::closed(test::random_dominant<T>(lines, 1.5));
      HostSolver<T> solver;
      solver.factor(lines, bands.view());
      const std::vector<T> y = test::random_vector<T>(lines.extent()), expected = solve_by_reference(bands, y);
      std::vector<T> x(y.size());
      solver.solve(y.data(), x.data());
      double scale = 0;
      for (const T value : expected) scale = std::max(scale, std::abs(static_cast<double>(value)));
      for (std::size_t i = 0; i < x.size(); ++i) {
        EXPECT_NEAR(x[i], expected[i], 20 * std::numeric_limits<T>::epsilon() * scale)
            << lines.describe() << " row " << i;
      }
    }
  }
}

SCALAR_TEST(StoredFactors, OfThreeRowsMeetInTheMiddleOne) {
  Bands<T> bands = test::closed(test::constant<T>(LineSet::one(3), 1, 4, 1));
  Factors<T> factors;
  factors.factor(bands.lines(), bands.view(), Form::general, Order::inwards);
  EXPECT_EQ(factors.meeting_row(0), 1);
  const FactorsView<T> f = factors.view();
  EXPECT_EQ(f.multiplier[0], 0);
  EXPECT_EQ(f.multiplier[1], T(0.25));  // from above
  EXPECT_EQ(f.multiplier[2], 0);
  EXPECT_EQ(f.coupling[0], T(0.25));
  EXPECT_EQ(f.coupling[1], T(0.25));  // from below
  EXPECT_EQ(f.coupling[2], T(0.25));
  EXPECT_EQ(f.reciprocal[0], T(0.25));
  EXPECT_EQ(f.reciprocal[1], T(1) / T(3.5));
  EXPECT_EQ(f.reciprocal[2], T(0.25));
  // Of the row in the middle, whose excess is 2 and its pivot 3.5.
  EXPECT_NEAR(factors.pivots().rounding, (3 * 3.5 + 6 * 0.5 + 3 * 2 + 0.5 * 2) / 4 + 0.5, 1e-6);
}

SCALAR_TEST(StoredFactors, MeetAtARowOfTheSystem) {
  const Bands<T> bands = test::closed(test::constant<T>(LineSet::unequal({0, 2, 5, 7}), 1, 4, 1));
  Factors<T> factors;
  factors.factor(bands.lines(), bands.view(), Form::general, Order::towards, 3);
  EXPECT_EQ(factors.meeting_row(0), 1);  // above: down to its last row
  EXPECT_EQ(factors.meeting_row(1), 1);
  EXPECT_EQ(factors.meeting_row(2), 0);  // below: up to its first row
  const FactorsView<T> f = factors.view();
  const T quarter = T(0.25), next = T(1) / T(3.75);
  const T multiplier[] = {0, quarter, 0, quarter, 0, quarter, 0},
          coupling[] = {quarter, 0, quarter, -1, quarter, 0, quarter},
          reciprocal[] = {quarter, next, quarter, 0, quarter, next, quarter};
  for (Index i = 0; i < 7; ++i) {
    EXPECT_EQ(f.multiplier[i], multiplier[i]) << i;
    EXPECT_EQ(f.coupling[i], coupling[i]) << i;
    EXPECT_EQ(f.reciprocal[i], reciprocal[i]) << i;
  }
  EXPECT_EQ(factors.meeting().from_above, quarter);
  EXPECT_EQ(factors.meeting().reciprocal, T(1) / T(3.5));
}

SCALAR_TEST(StoredFactors, TakeATinyPivotWhereTheSystemMeets) {
  const Index n = 1 << 18;
  Bands<T> bands = poisson<T>(n);
  Factors<T> factors;
  factors.factor(bands.lines(), bands.view(), Form::general, Order::towards, n / 3);
  EXPECT_TRUE(factors.pivots().sound());
  const double exact = 1 / (1 / (n / 3 + 1.0) + 1 / (n - n / 3 + 0.0));
  EXPECT_NEAR(factors.meeting().reciprocal, exact, 1e3 * std::numeric_limits<T>::epsilon() * exact);
  bands.diag()[n / 3] = bands.lower()[n / 3] = bands.upper()[n / 3] = 0;
  factors.factor(bands.lines(), bands.view(), Form::general, Order::towards, n / 3);
  EXPECT_FALSE(factors.pivots().sound());
}

SCALAR_TEST(StoredFactors, TakeATinyPivotInTheMiddle) {
  // Poisson: pivots are 1 + 1 / i from either end, and what both leave of the row in the middle is 4 / n.
  const Index n = 1 << 18;
  Bands<T> bands = poisson<T>(n);
  Factors<T> inwards;
  inwards.factor(bands.lines(), bands.view(), Form::general, Order::inwards);
  EXPECT_NEAR(inwards.view().reciprocal[n / 2], n / 4.0, 0.05 * n);
  EXPECT_TRUE(inwards.pivots().sound());
  EXPECT_LE(this->backward_error(bands), 5);
}

SCALAR_TEST(StoredFactors, OfOneLineServeAllThatAreAlike) {
  for (const LineSet& lines :
       {LineSet::equal(5, 7), LineSet::equal(4, 1000), LineSet::unequal({0, 3, 6, 9}), LineSet::grid_axis(1, 5, 7, 3),
        LineSet::grid_axis(2, 130, 131, 3), LineSet::grid_axis(1, 300, 4, 2), LineSet::strided(6, 40, 5, 3)}) {
    Bands<T> bands = test::closed(test::diffusion<T>(lines, 10));
    HostSolver<T> general, shared;
    general.factor(lines, bands.view());
    shared.factor(lines, bands.view(), Form::shared);
    const std::vector<T> y = test::random_vector<T>(lines.extent());
    std::vector<T> expected(y.size(), T(7)), x(y.size(), T(7));  // gaps as well
    general.solve(y.data(), expected.data());
    shared.solve(y.data(), x.data());
    EXPECT_EQ(x, expected) << lines.describe();
    EXPECT_NEAR(shared.pivots().rounding, general.pivots().rounding, 1e-5);
    EXPECT_LT(shared.bytes(), general.bytes());
  }
}

SCALAR_TEST(StoredFactors, ThatAllLinesShareAreDoubtedForAll) {
  Bands<T> bands = test::closed(test::constant<T>(LineSet::grid_axis(1, 5, 4, 1), 1, 0, 1));
  HostSolver<T> solver;
  solver.factor(bands.lines(), bands.view(), Form::shared);
  EXPECT_EQ(solver.doubtful(), (std::vector<Index>{0, 1, 2, 3, 4}));
}

SCALAR_TEST(StoredFactors, StayBackwardStableAtDominanceOne) {
  double worst = 0;
  for (const Index n : test::kLongLines) {
    test::at_dominance_one<T>(n, [&](const char* name, Bands<T> bands) {
      const double error = this->backward_error(bands);
      // Its excesses are within rounding of 0 and count for the solution: with their signs, growth asks for pivots.
      HostSolver<T> solver;
      solver.factor(bands.lines(), bands.view());
      if (!solver.doubtful().empty() && std::string(name) == "row sums 0") return;
      EXPECT_LE(error, 10) << name << ", n = " << n;
      worst = std::max(worst, error);
    });
  }
  std::printf("largest backward error: %.2f eps\n", worst);
}

SCALAR_TEST(StoredFactors, BoundTheirRounding) {
  HostSolver<T> solver;
  Bands<T> good = test::closed(test::constant<T>(LineSet::one(50), -1, 2, -1));
  solver.factor(good.lines(), good.view());
  EXPECT_GE(solver.pivots().rounding, 4);
  EXPECT_LE(solver.pivots().rounding, 10);

  Bands<T> grows = test::closed(test::constant<T>(LineSet::one(50), 1, 1e-3, 1));
  solver.factor(grows.lines(), grows.view());
  EXPECT_GT(solver.pivots().rounding, kRoundingLimit);

  Bands<T> zero = test::closed(test::constant<T>(LineSet::one(50), 1, 0, 1));
  solver.factor(zero.lines(), zero.view());
  EXPECT_FALSE(solver.pivots().sound());
}

}  // namespace
}  // namespace oclspkt
