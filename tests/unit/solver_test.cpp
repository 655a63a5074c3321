// SPDX-License-Identifier: BSD-2-Clause
#include "oclspkt/solver.hpp"

#include <new>

#include "backward_error.hpp"
#include "oclspkt/error.hpp"
#include "selection.hpp"
#include "solver_fixture.hpp"

namespace oclspkt {
namespace {

template <typename T>
class SolverOnHost : public test::SolverFixture<T> {
 protected:
  static Solver<T> make(const Bands<T>& bands, MethodChoice method = MethodChoice::automatic) {
    return test::solver_for(bands, {.devices = "host", .method = method});
  }
};

SCALAR_TEST(SolverOnHost, SolvesAnySizeWithAnyMethod) {
  for (const MethodChoice method :
       {MethodChoice::automatic, MethodChoice::truncated, MethodChoice::truncated_streamed, MethodChoice::exact,
        MethodChoice::exact_twopass, MethodChoice::exact_factored, MethodChoice::pivot}) {
    for (const Index n : {0, 1, 2, 3, 100, 7919}) {
      const Bands<T> bands = test::random_dominant<T>(LineSet::one(n), 3);
      auto solver = this->make(bands, method);
      EXPECT_LE(this->backward_error(solver, bands), 20) << name(method) << " n " << n;
      EXPECT_TRUE(solver.report().ready);
      EXPECT_EQ(solver.report().device.name, "host");
      EXPECT_FALSE(solver.report().certificate_above_tolerance) << solver.report().why;
    }
  }
}

SCALAR_TEST(SolverOnHost, EscalatesToPivotingForZeroDiagonals) {
  const Bands<T> bands = test::constant<T>(LineSet::one(100), 1, 0, 1);
  auto solver = this->make(bands);
  EXPECT_EQ(solver.report().method, Method::pivot);
  ASSERT_EQ(solver.report().candidates.size(), 2u);
  EXPECT_FALSE(solver.report().candidates[0].taken);
  EXPECT_LE(this->backward_error(solver, bands), 10);
}

SCALAR_TEST(SolverOnHost, ExplainsEachCandidateInALine) {
  auto solver = this->make(test::constant<T>(LineSet::one(5000), -1, 4, -1));
  const std::vector<std::string> lines = explain(solver.report());
  ASSERT_EQ(lines.size(), 1u);
  EXPECT_EQ(lines[0].find("exact-factored"), 0u) << lines[0];
  EXPECT_NE(lines[0].find(": taken, row dominance 2.0000"), std::string::npos) << lines[0];
  EXPECT_NE(lines[0].find(" words a row"), std::string::npos) << lines[0];
}

SCALAR_TEST(SolverOnHost, SolvesByStoredFactorsWhateverMethodIsNamed) {
  // Laid end to end, side by side, and with gaps between them.
  for (const LineSet& lines :
       {LineSet::one(997), LineSet::equal(7, 20), LineSet::grid_axis(1, 5, 6, 7), LineSet::strided(3, 20, 5, 2)}) {
    const Bands<T> bands = test::random_dominant<T>(lines, 1.5);
    const std::vector<T> y = test::random_vector<T>(lines.extent());
    auto factored = this->make(bands, MethodChoice::exact_factored);
    const std::vector<T> expected = test::answer(factored, y);
    for (const MethodChoice method : {MethodChoice::truncated, MethodChoice::truncated_halo,
                                      MethodChoice::truncated_streamed, MethodChoice::exact_twopass}) {
      SCOPED_TRACE(std::string(name(method)) + ", " + lines.describe());
      auto solver = this->make(bands, method);
      const Report& report = solver.report();
      EXPECT_EQ(report.method, Method::exact_factored);
      EXPECT_EQ(report.why,
                std::string("the host solves exactly by stored factors, which cost no more than ") + name(method));
      EXPECT_EQ(report.certificate, 0);
      EXPECT_FALSE(report.certificate_above_tolerance);
      EXPECT_EQ(test::answer(solver, y), expected);
    }
  }
}

SCALAR_TEST(SolverOnHost, FailsWithAnyNamedMethodWhereStoredFactorsDo) {
  const Bands<T> zeros = test::constant<T>(LineSet::one(100), 1, 0, 1);
  for (const MethodChoice method : {MethodChoice::exact_factored, MethodChoice::truncated,
                                    MethodChoice::truncated_streamed, MethodChoice::exact_twopass}) {
    EXPECT_THROW(this->make(zeros, method), Breakdown) << name(method);
  }
}

SCALAR_TEST(SolverOnHost, ReportsASingularLineAndHeals) {
  Solver<T> solver({.devices = "host"});
  test::expect_refusal<Breakdown>([&] { this->set_up(solver, test::neumann<T>(LineSet::one(100))); },
                                  "singular: line 0");
  EXPECT_THROW(test::answer(solver, std::vector<T>(100, T(1))), InvalidInput);
  const Bands<T> good = test::constant<T>(LineSet::one(100), -1, 2, -1);
  this->set_up(solver, good);
  EXPECT_LE(this->backward_error(solver, good), 10);
}

SCALAR_TEST(SolverOnHost, SolvesTheTransposedSystem) {
  for (const LineSet& lines : {LineSet::one(200), LineSet::grid_axis(1, 5, 6, 7)}) {
    const Bands<T> bands = test::random_dominant<T>(lines, 1.5);
    auto solver = this->make(bands);
    EXPECT_LE(test::transposed_error(solver, bands), 1000);
    EXPECT_TRUE(solver.transposed().report().ready);
  }
}

SCALAR_TEST(SolverOnHost, SharesFactorsOnlyWhereEveryRowOfEveryLineIsAlike) {
  const auto form_of = [&](Bands<T> bands) {
    auto solver = this->make(bands);
    EXPECT_LE(this->backward_error(solver, bands), 20);
    return solver.report().form;
  };
  for (const LineSet& lines :
       {LineSet::equal(100, 10), LineSet::grid_axis(1, 10, 10, 10), LineSet::grid_axis(2, 10, 10, 10),
        LineSet::unequal({0, 10, 20, 30}), LineSet::strided(6, 40, 5, 3)}) {
    SCOPED_TRACE(lines.describe());
    const auto alike = [&] { return test::diffusion<T>(lines, 1); };  // NaN in the couplings that lead out
    EXPECT_EQ(form_of(alike()), Form::shared);
    const Index middle = lines.first(lines.count() / 2) + 3 * lines.row_stride();
    for (const auto band : {&Bands<T>::lower, &Bands<T>::diag, &Bands<T>::upper}) {
      Bands<T> other = alike();
      T& number = (other.*band)()[middle];
      number = std::nextafter(number, T(0));
      EXPECT_EQ(form_of(std::move(other)), Form::general);
    }
  }
  EXPECT_EQ(form_of(test::diffusion<T>(LineSet::one(1000), 1)), Form::general) << "one line has nobody to share with";
  EXPECT_EQ(form_of(test::diffusion<T>(LineSet::unequal({0, 10, 20, 29}), 1)), Form::general);
}

SCALAR_TEST(SolverOnHost, DecidesAnewWhichFormTheBandsHave) {
  const LineSet lines = LineSet::grid_axis(1, 50, 40, 30);
  Bands<T> bands = test::diffusion<T>(lines, 1);
  auto solver = this->make(bands);
  EXPECT_EQ(solver.report().form, Form::shared);
  EXPECT_DOUBLE_EQ(solver.report().words_per_row, 2);
  const std::int64_t bytes = solver.bytes();
  bands.diag()[777] += T(1);
  this->set_up(solver, bands);
  EXPECT_EQ(solver.report().form, Form::general);
  EXPECT_DOUBLE_EQ(solver.report().words_per_row, 5);
  EXPECT_LE(this->backward_error(solver, bands), 20);
  EXPECT_GT(solver.bytes(), bytes);
  bands.diag()[777] -= T(1);
  this->set_up(solver, bands);
  EXPECT_EQ(solver.report().form, Form::shared);
  EXPECT_LE(this->backward_error(solver, bands), 20);
}

class SharedBands : public test::SolverFixture<float> {};

TEST_F(SharedBands, OneLineOfManyThatDiffersIsSeen) {
  const Index count = 200'000, length = 4, broken = 154'321;
  for (const LineSet& lines : {LineSet::equal(count, length), LineSet::grid_axis(1, count, length, 1)}) {
    Bands<float> bands = test::diffusion<float>(lines, 1);
    Options options{.devices = "host"};
    Solver<float> solver = test::solver_for(bands, options);
    EXPECT_EQ(solver.report().form, Form::shared);
    const Index at = lines.first(broken) + 2 * lines.row_stride();
    bands.diag()[at] = 100;
    set_up(solver, bands);
    EXPECT_EQ(solver.report().form, Form::general);
    EXPECT_LE(test::backward_error(solver, bands), 100);
  }
}

SCALAR_TEST(SolverOnHost, GivesTheSameBitsAgain) {
  const Bands<T> bands = test::random_dominant<T>(LineSet::one(1000), 1);
  auto solver = this->make(bands);
  const std::vector<T> y = test::random_vector<T>(1000);
  const std::vector<T> first = test::answer(solver, y);
  this->set_up(solver, bands);
  EXPECT_EQ(test::answer(solver, y), first);
}

/// 1000 lines of 10 rows of which some are replaced.
template <typename T>
class LinesByFallback : public SolverOnHost<T> {
 protected:
  static constexpr Index kLines = 1000, kRows = 10;

  static Bands<T> lines() { return test::constant<T>(LineSet::equal(kLines, kRows), -1, 4, -1); }
};

SCALAR_TEST(LinesByFallback, OneWeakLineDoesNotMoveTheOthers) {
  Bands<T> bands = this->lines();
  auto solver = this->make(bands);
  const std::vector<T> y = test::random_vector<T>(10000), before = test::answer(solver, y);
  EXPECT_TRUE(solver.report().groups.empty());

  test::replace_line(bands, 500, T(1e-9), T(1e-20), T(1e-9));
  this->set_up(solver, bands);
  EXPECT_EQ(solver.report().method, Method::exact_factored);
  ASSERT_EQ(solver.report().groups.size(), 1u);
  EXPECT_EQ(solver.report().groups[0].method, Method::pivot);
  EXPECT_EQ(solver.report().groups[0].lines, 1);
  EXPECT_EQ(solver.report().groups[0].first_line, 500);
  const std::vector<T> after = test::answer(solver, y);
  for (std::size_t i = 0; i < 10000; ++i) EXPECT_TRUE(i / 10 == 500 || after[i] == before[i]) << i;
  EXPECT_LE(this->backward_error(solver, bands), 20);
}

SCALAR_TEST(LinesByFallback, AreFoundInOneGluedMatrix) {
  Bands<T> lines = this->lines();
  test::replace_line(lines, 7, 1, 0, 1);
  Bands<T> glued = test::closed(std::move(lines));
  glued.relabel(LineSet::one(10000));
  auto solver = this->make(glued);
  EXPECT_EQ(solver.report().lines, 1000);
  EXPECT_EQ(solver.report().method, Method::exact_factored);
  ASSERT_EQ(solver.report().groups.size(), 1u);
  EXPECT_EQ(solver.report().groups[0].first_line, 7);
  EXPECT_LE(this->backward_error(solver, glued), 20);
}

SCALAR_TEST(LinesByFallback, ComeBackWhenTheBandsAreAskedFor) {
  Bands<T> bands = this->lines();
  test::replace_line(bands, 500, 1, 0, 1);
  auto solver = this->make(bands);
  ASSERT_EQ(solver.report().groups.size(), 1u);
  const Bands<T>& own = solver.bands(bands.lines());
  EXPECT_EQ(own.view().diag[5005], T(0));
  solver.set_up();
  EXPECT_EQ(solver.report().groups.size(), 1u);
  EXPECT_LE(this->backward_error(solver, bands), 20);
}

SCALAR_TEST(LinesByFallback, ThatAreAllLinesAreWhatTheReportTellsOf) {
  Bands<T> bands = test::constant<T>(LineSet::equal(3, 10), 1, 4, 1);
  const T huge = std::numeric_limits<T>::max() / 8;
  for (T* band : {bands.lower(), bands.diag(), bands.upper()}) {
    for (Index i = 0; i < 30; i += 2) band[i] *= huge;
  }
  auto solver = this->make(bands);
  const Report& report = solver.report();
  ASSERT_FALSE(report.groups.empty());
  EXPECT_EQ(report.groups[0].lines, 3);
  EXPECT_EQ(report.method, report.groups[0].method);
  EXPECT_EQ(report.device.why, "all lines are fallback lines");
  EXPECT_NE(report.why.find("scaled by powers of two"), std::string::npos) << report.why;
  for (const std::string& line : explain(report)) EXPECT_EQ(line.find("inf"), std::string::npos) << line;
  EXPECT_LE(this->backward_error(solver, bands), 20);
}

SCALAR_TEST(LinesByFallback, AreNamedWithTheRowThatIsZero) {
  const auto why = [](const LineSet& lines, Index at) {
    Bands<T> bands = test::constant<T>(lines, -1, 2, -1);
    bands.lower()[at] = bands.diag()[at] = bands.upper()[at] = 0;
    return test::thrown_text<Breakdown>([&] { test::solver_for(bands, {.devices = "host"}); });
  };
  EXPECT_EQ(why(LineSet::one(5000), 777), "the matrix is singular: all numbers of row 777 are 0");
  const std::string of_one = why(LineSet::equal(1000, 10), 7775);
  EXPECT_NE(of_one.find("line 777 of 1000"), std::string::npos) << of_one;
  EXPECT_NE(of_one.find("all numbers of row 5 of line 777 are 0"), std::string::npos) << of_one;
}

SCALAR_TEST(LinesByFallback, AreTransposedToo) {
  Bands<T> bands = test::random_dominant<T>(LineSet::equal(this->kLines, this->kRows), 2);
  test::replace_line(bands, 500, T(1e-9), T(1e-20), T(2e-9));
  auto solver = this->make(bands);
  EXPECT_LE(test::transposed_error(solver, bands), 100);
}

TEST(SolverTimes, CountApplies) {
  Options options{.devices = "host"};
  const Bands<double> bands = test::constant<double>(LineSet::one(10), -1, 4, -1);
  Solver<double> solver = test::solver_for(bands, options);
  EXPECT_EQ(solver.times().applies, 0);  // the trial solve does not count
  std::vector<double> y(10, 1.0), x(10);
  for (int i = 0; i < 3; ++i) solver.apply(y.data(), x.data());
  EXPECT_EQ(solver.times().applies, 3);
  EXPECT_GE(solver.bytes(), 6 * 10 * 8);
}

// What fuzzing found, each as small as it could be made.

TEST(Found, ACommaAtTheEndIsAnEmptyWordAsAtTheBeginning) {
  for (const std::string language : {"host,", ",host", "host, "}) {
    EXPECT_THROW(select_devices(language, {}, {}), InvalidInput) << "'" << language << "'";
    EXPECT_FALSE(needs_no_device(language)) << "'" << language << "'";
  }
}

TEST(Found, LineSetsThatReachBeyondSixtyFourBitsAreRefused) {
  constexpr Index kMost = std::numeric_limits<Index>::max();
  EXPECT_THROW(LineSet::strided(3, 1, 2, kMost), InvalidInput);
  EXPECT_THROW(LineSet::strided(2, kMost / 2, 2, kMost - 5), InvalidInput);
  EXPECT_THROW(LineSet::equal(kMost, 2), InvalidInput);
  EXPECT_EQ(LineSet::strided(3, 1, 2, kMost - 3).extent(), kMost);
}

TEST(Found, BandsOfMoreBytesThanThereAreFailToAllocate) {
  // 2^61 doubles are 2^64 bytes, which is 0 to an unsigned 64-bit number.
  for (const Index rows : {Index{1} << 61, (Index{1} << 61) + 1, Index{1} << 62, std::numeric_limits<Index>::max()}) {
    EXPECT_THROW(Bands<double>(LineSet::one(rows)), std::bad_alloc) << rows;
    EXPECT_THROW(Bands<float>(LineSet::one(rows)), std::bad_alloc) << rows;
  }
}

}  // namespace
}  // namespace oclspkt
