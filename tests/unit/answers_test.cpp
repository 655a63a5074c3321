// SPDX-License-Identifier: BSD-2-Clause
// What only an answer shows: that it leaves the range of the numbers, or that pivoting cannot make it right.

#include <atomic>
#include <cmath>
#include <limits>

#include "matrices.hpp"
#include "oclspkt/cut_solver.hpp"
#include "oclspkt/solver.hpp"
#include "oclspkt/team.hpp"
#include "scalar_test.hpp"
#include "thrown.hpp"

namespace oclspkt {
namespace {

template <typename T>
class Answers : public ::testing::Test {
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
  static void set_up(Solver<T>& solver, const Bands<T>& bands) {
    solver.set_up(bands.lines(), bands.view().lower, bands.view().diag, bands.view().upper);
  }
  /// Solve with one large number in the last line: what is beyond the range is Inf, and told; other lines are right.
  static void expect_told(Solver<T>& solver, const Bands<T>& bands) {
    const LineSet& lines = bands.lines();
    set_up(solver, bands);
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
    Bands<T>& own = solver.bands(LineSet::one(kRows), cuts, team.exchange(member));
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

}  // namespace
}  // namespace oclspkt
