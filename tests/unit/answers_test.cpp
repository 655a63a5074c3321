// SPDX-License-Identifier: BSD-2-Clause
// What only an answer shows: that it leaves the range of the numbers, or that pivoting cannot make it right.

#include <atomic>

#include "evidence.hpp"
#include "host_solver.hpp"
#include "oclspkt/cut_solver.hpp"
#include "oclspkt/team.hpp"
#include "reference.hpp"
#include "solver_fixture.hpp"

namespace oclspkt {
namespace {

template <typename T>
class Answers : public test::SolverFixture<T> {
 protected:
  static constexpr bool kFloat = sizeof(T) == sizeof(float);
  /// Of rows and of right-hand sides, each well within the range, the unknowns beyond it.
  static constexpr double kRow = kFloat ? 1e-20 : 1e-200, kSide = kFloat ? 1e30 : 1e200;

  /// tridiag(-1, diag, -1), times kRow.
  static Bands<T> bands(const LineSet& lines, double diag = 4) {
    Bands<T> all(lines);
    for (Index i = 0; i < lines.extent(); ++i) {
      all.lower()[i] = all.upper()[i] = static_cast<T>(-kRow);
      all.diag()[i] = static_cast<T>(kRow * (diag + 0.001 * static_cast<double>(i % 7)));
    }
    all.close_lines();
    return all;
  }
  /// kRow, so that unknowns are some 1/2; but `value` in the middle of a line.
  static std::vector<T> side(const LineSet& lines, Index line, double value) {
    std::vector<T> y(static_cast<std::size_t>(lines.extent()), static_cast<T>(kRow));
    y[static_cast<std::size_t>(lines.first(line) + lines.length(line) / 2 * lines.row_stride())] =
        static_cast<T>(value);
    return y;
  }
  /// Solve with one large number in the last line: what is beyond the range is Inf, and told; other lines are right.
  static void expect_told(Solver<T>& solver, const Bands<T>& bands) {
    const LineSet& lines = bands.lines();
    test::set_up(solver, bands);
    const double bound = solver.report().rounding;
    SCOPED_TRACE(lines.describe() + " by " + name(solver.report().method) + ", " + solver.report().why);
    EXPECT_LE(bound, 100);
    std::vector<T> y = side(lines, lines.count() - 1, kRow), x(y.size());
    solver.apply(y.data(), x.data());
    EXPECT_EQ(solver.report().rounding, bound);
    EXPECT_EQ(solver.report().above_bound, "");
    const T first = x[static_cast<std::size_t>(lines.first(0))];
    for (const double given : {std::numeric_limits<double>::quiet_NaN(), std::numeric_limits<double>::infinity()}) {
      y = side(lines, lines.count() - 1, given);
      solver.apply(y.data(), x.data());
      EXPECT_EQ(solver.report().above_bound, "") << "what was given is not finite";
    }
    y = side(lines, lines.count() - 1, kSide);
    solver.apply(y.data(), x.data());
    EXPECT_TRUE(std::any_of(x.begin(), x.end(), [](T value) { return !std::isfinite(value); }));
    if (lines.count() > 1) {
      EXPECT_EQ(x[static_cast<std::size_t>(lines.first(0))], first);
    }
    EXPECT_EQ(solver.report().rounding, std::numeric_limits<double>::infinity());
    EXPECT_EQ(solver.report().above_bound, "an answer is not finite: it leaves the range of the numbers");
  }
};

SCALAR_TEST(Answers, BeyondTheRangeOfNumbersAreToldInEveryLayout) {
  for (const LineSet& lines :
       {LineSet::one(1), LineSet::one(2), LineSet::one(997), LineSet::equal(5, 7), LineSet::equal(6, 64),
        LineSet::unequal({0, 7, 14, 21, 28, 30, 33}), LineSet::grid_axis(1, 300, 7, 2), LineSet::grid_axis(2, 5, 7, 3),
        LineSet::grid_axis(1, 2500, 5, 1), LineSet::strided(9, 50, 20, 1, 4, 500), LineSet::strided(6, 40, 5, 3)}) {
    Solver<T> solver({.devices = "host"});
    this->expect_told(solver, this->bands(lines));
  }
}

SCALAR_TEST(Answers, BeyondTheRangeOfNumbersAreToldByPivotingAndByFallbackLines) {
  for (const LineSet& lines : {LineSet::one(32), LineSet::equal(7, 32), LineSet::equal(16, 32)}) {
    Solver<T> solver({.devices = "host"});
    this->expect_told(solver, this->bands(lines, 0));
    EXPECT_EQ(solver.report().method, Method::pivot) << solver.report().why;
  }
  Bands<T> mixed = this->bands(LineSet::equal(40, 32)), tiny = this->bands(LineSet::equal(40, 32));
  for (Index i = 39 * 32; i < 40 * 32; ++i) {
    mixed.diag()[i] = 0;
    for (T* band : {tiny.lower(), tiny.diag(), tiny.upper()}) band[i] *= static_cast<T>(this->kFloat ? 1e-17 : 1e-100);
  }
  for (const Bands<T>* bands : {&mixed, &tiny}) {
    Solver<T> solver({.devices = "host"});
    this->expect_told(solver, *bands);
    EXPECT_EQ(solver.report().groups.size(), 1U) << "fallback lines";
  }
}

SCALAR_TEST(Answers, OfSeveralRightHandSidesAreToldWhicheverItIs) {
  const Bands<T> bands = this->bands(LineSet::one(100));
  const std::vector<T> good = this->side(bands.lines(), 0, this->kRow), bad = this->side(bands.lines(), 0, this->kSide);
  for (std::size_t column = 0; column < 6; ++column) {  // four go together
    Solver<T> solver({.devices = "host"});
    this->set_up(solver, bands);
    std::vector<T> y, x(600);
    for (std::size_t k = 0; k < 6; ++k)
      y.insert(y.end(), k == column ? bad.begin() : good.begin(), k == column ? bad.end() : good.end());
    solver.apply(y.data(), 100, x.data(), 100, 6);
    EXPECT_NE(solver.report().above_bound, "") << "column " << column;
  }
}

SCALAR_TEST(Answers, ThatMethodAutoMayNotGiveAreThrown) {
  const Bands<T> bands = this->bands(LineSet::one(100));
  const std::vector<T> good = this->side(bands.lines(), 0, this->kRow), bad = this->side(bands.lines(), 0, this->kSide);
  std::vector<T> x(100), again(100);
  for (const MethodChoice method : {MethodChoice::automatic, MethodChoice::pivot, MethodChoice::exact}) {
    Solver<T> solver({.devices = "host", .method = method, .above_bound = AboveBound::error});
    this->set_up(solver, bands);
    solver.apply(good.data(), x.data());
    if (method == MethodChoice::automatic) {
      test::expect_refusal<Breakdown>([&] { solver.apply(bad.data(), again.data()); }, "an answer is not finite");
      EXPECT_THROW(solver.apply_transpose(bad.data(), again.data()), Breakdown);
    } else {
      EXPECT_NO_THROW(solver.apply(bad.data(), again.data())) << "a method that is named";
      EXPECT_EQ(solver.report().rounding, std::numeric_limits<double>::infinity());
    }
    EXPECT_NO_THROW(solver.apply(good.data(), again.data())) << "another right-hand side";
    EXPECT_EQ(again, x);
  }
}

/// Lines cut among two members of a team: the sweeps of one of them meet it, in the first of three columns.
SCALAR_TEST(Answers, ThatOneOfSeveralProcessesMayNotGiveLeaveNobodyWaiting) {
  constexpr Index kRows = 60;
  const Bands<T> whole = this->bands(LineSet::one(2 * kRows));
  Team team(2);
  std::atomic<int> thrown = 0;
  std::vector<std::vector<T>> x(2, std::vector<T>(3 * kRows));
  team.run([&](int member) {
    CutSolver<T> solver({.devices = "host", .above_bound = AboveBound::error});
    Cuts cuts;
    cuts.chains = {{0, 1}};
    Bands<T>& own = solver.bands({LineSet::one(kRows), cuts, team.exchange(member)});
    for (Index i = 0; i < kRows; ++i) {
      own.lower()[i] = own.upper()[i] = static_cast<T>(-this->kRow);
      own.diag()[i] = whole.view().diag[member * kRows + i];
    }
    solver.set_up();
    std::vector<T> y(3 * kRows, static_cast<T>(this->kRow));
    if (member == 1) y[kRows / 2] = static_cast<T>(this->kSide);
    try {
      solver.apply(y.data(), kRows, x[static_cast<std::size_t>(member)].data(), kRows, 3);
    } catch (const Breakdown&) {
      ++thrown;
    }
  });
  EXPECT_EQ(thrown, 2) << "neither part of the first column is finite";
  for (const auto& part : x) {
    EXPECT_NEAR(part[2 * kRows + kRows / 2], 0.5, 0.01) << "the last column, which all can answer";
  }
}

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
  std::vector<double> y(150);
  trial_right_hand_side(bands.lines(), bands.view(), TrialKind::smooth, y.data());
  for (const double value : solve_by_reference(bands, y)) EXPECT_NEAR(std::abs(value - 1.5), 0.5, 1e-13);
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
  bands = test::closed(test::constant<double>(LineSet::one(40), -1, 4, -1));
  bands.diag()[11] = 1e-6;
  EXPECT_LE(elimination_growth(bands.view(), 10, 0, 0, 11), kGrowthLimit);
  EXPECT_GT(twopass_growth(bands.view(), 10, 0, 40), 1e4) << "row 12 and the top row take 1 / 1e-6";
  EXPECT_TRUE(std::isnan([&] {
    bands.diag()[11] = 0;
    return twopass_growth(bands.view(), 10, 0, 40);
  }()));
  // A solution that grows downwards: plain sweeps do not mind, inner rows get ever larger couplings to the top row.
  bands = test::closed(test::constant<double>(LineSet::one(40), -2, 1, 1e-300));
  EXPECT_LE(elimination_growth(bands.view(), 20, 0, 0, 40), 3);
  EXPECT_GT(twopass_growth(bands.view(), 20, 0, 40), 1e5);
  bands = test::closed(test::constant<double>(LineSet::one(40), -1, 4, -1));
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
