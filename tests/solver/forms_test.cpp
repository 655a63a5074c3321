// SPDX-License-Identifier: BSD-2-Clause
// What set-up finds lines to have in common: storage forms, and groups that are solved otherwise than the rest.

#include "every_device.hpp"
#include "solver_fixture.hpp"

namespace oclspkt {
namespace {

template <typename T>
class FoundForms : public test::SolverFixture<T> {
 protected:
  /// Expect a form on every device, and an answer that is right.
  static void expect(Form form, double words, const Bands<T>& bands, const std::string& what,
                     MethodChoice method = MethodChoice::truncated_streamed) {
    SCOPED_TRACE(what);
    test::with_every_true_device([&](Options options) {
      options.method = method;
      Solver<T> solver = test::solver_for(bands, options);
      EXPECT_STREQ(name(solver.report().form), name(form));
      EXPECT_EQ(solver.report().words_per_row, words);
      EXPECT_FALSE(solver.report().certificate_above_tolerance) << solver.report().why;
      EXPECT_LE(FoundForms::backward_error(solver, bands), 20);
    });
  }

  /// A number in the middle of a band, changed by as little as possible.
  static void nudge(T& number) { number = std::nextafter(number, T(100)); }

  static constexpr Index n = 100'000, length = 128;
};

SCALAR_TEST(FoundForms, ARandomMatrixIsGeneral) {
  this->expect(Form::general, 5, test::random_dominant<T>(LineSet::one(this->n), 2.0), "one line");
  this->expect(Form::general, 5, test::random_dominant<T>(LineSet::equal(800, this->length), 2.0), "lines");
}

SCALAR_TEST(FoundForms, SymmetryIsSeenToTheBit) {
  for (const LineSet& lines : {LineSet::one(this->n), LineSet::equal(800, this->length),
                               LineSet::grid_axis(1, 40, 50, 30), LineSet::grid_axis(2, 40, 50, 30)}) {
    const MethodChoice method = lines.contiguous() ? MethodChoice::truncated_streamed : MethodChoice::exact_factored;
    Bands<T> bands = test::random_symmetric<T>(lines, 2.0);
    this->expect(Form::symmetric, 4, bands, "symmetric", method);
    this->nudge(bands.lower()[lines.rows() - 1]);
    this->expect(Form::general, 5, bands, "the last coupling is one bit off", method);
  }
}

SCALAR_TEST(FoundForms, LinesThatAreAlikeShareTheirFactors) {
  const LineSet lines = LineSet::equal(800, this->length);
  Bands<T> bands = test::constant<T>(lines, -1, 4, -2);
  this->expect(Form::shared, 2, bands, "alike");
  this->nudge(bands.diag()[lines.rows() - 1]);
  this->expect(Form::general, 5, bands, "one bit off");
  bands = test::diffusion<T>(lines, 1);
  this->nudge(bands.diag()[lines.rows() / 2]);
  this->expect(Form::symmetric, 4, bands, "symmetric, one bit off");
}

SCALAR_TEST(FoundForms, RowsThatAreAlikeShareTheirFactors) {
  Bands<T> bands = test::constant<T>(LineSet::one(this->n), -1, 4, -2);
  bands.diag()[0] = 7;
  bands.upper()[0] = T(0.5);
  bands.diag()[this->n - 1] = -9;
  this->expect(Form::shared, 2, bands, "alike but for the ends");
  for (const Index row : {Index{1}, this->n / 2, this->n - 2}) {
    const T before = bands.diag()[row];
    this->nudge(bands.diag()[row]);
    this->expect(Form::general, 5, bands, "row " + std::to_string(row) + " one bit off");
    bands.diag()[row] = before;
  }
  this->expect(Form::general, 5, test::constant<T>(LineSet::one(100), -1, 4, -2), "fewer than four tiles");
}

SCALAR_TEST(FoundForms, NewValuesGetTheirOwnForm) {
  const LineSet lines = LineSet::equal(800, this->length);
  const Bands<T> shared = test::diffusion<T>(lines, 1), symmetric = test::random_symmetric<T>(lines, 2.0),
                 general = test::random_dominant<T>(lines, 2.0);
  test::with_every_true_device([&](Options options) {
    options.method = MethodChoice::truncated_streamed;
    Solver<T> solver(options);
    using Case = std::pair<const Bands<T>*, Form>;
    for (const auto& [bands, form] :
         {Case{&shared, Form::shared}, Case{&general, Form::general}, Case{&symmetric, Form::symmetric},
          Case{&shared, Form::shared}, Case{&symmetric, Form::symmetric}, Case{&general, Form::general}}) {
      this->set_up(solver, *bands);
      EXPECT_STREQ(name(solver.report().form), name(form));
      EXPECT_LE(this->backward_error(solver, *bands), 20);
    }
  });
}

/// Lines with d = 4, longer than any halo, of which some are replaced.
template <typename T>
class Groups : public test::SolverFixture<T> {
 protected:
  static constexpr Index kLines = 30, kRows = 30000;

  static Bands<T> lines() { return test::constant<T>(LineSet::equal(kLines, kRows), -1, 8, -1); }
};

SCALAR_TEST(Groups, KeepTheOthersTruncated) {
  test::with_every_true_device([&](const Options& options) {
    Solver<T> solver(options);
    Bands<T> bands = this->lines();
    test::replace_line(bands, 7, -1, 2, -1);  // wants the exact method
    test::replace_line(bands, 13, 1, 0, 1);   // wants pivoting
    this->set_up(solver, bands);
    const Report& report = solver.report();
    EXPECT_EQ(report.method, Method::truncated_streamed) << report.why;
    ASSERT_EQ(report.groups.size(), 2u);
    EXPECT_EQ(report.groups[0].method, Method::exact_factored);
    EXPECT_EQ(report.groups[0].first_line, 7);
    EXPECT_EQ(report.groups[1].method, Method::pivot);
    EXPECT_EQ(report.groups[1].first_line, 13);
    EXPECT_LE(this->backward_error(solver, bands), 100);
  });
}

SCALAR_TEST(Groups, MakeRoomForTheExactMethodWhereManyLinesAreWeak) {
  test::with_every_true_device([&](const Options& options) {
    Solver<T> solver(options);
    // No tile is as long as these lines: one that holds the end of a line needs no decay.
    Bands<T> bands = test::constant<T>(LineSet::equal(5, 200'000), -1, 8, -1);
    for (Index line = 0; line < bands.lines().count(); line += 2) test::replace_line(bands, line, -1, 2, -1);
    this->set_up(solver, bands);
    EXPECT_TRUE(test::is_exact(solver.report())) << solver.report().why;
    EXPECT_TRUE(solver.report().groups.empty());
    EXPECT_LE(this->backward_error(solver, bands), 100);
  });
}

SCALAR_TEST(Groups, LeaveTheOthersTheirBitsWhenOneLineIsPinned) {
  test::with_every_device([&](Options options) {
    options.singular = Singular::pin;
    Solver<T> solver(options);
    Bands<T> bands = this->lines();
    const Index extent = bands.lines().extent(), bad = 12;
    std::vector<T> y(static_cast<std::size_t>(extent), T(1));
    this->set_up(solver, bands);
    const std::vector<T> before = test::answer(solver, y);
    test::replace_line(bands, bad, -1, 2, -1);
    bands.diag()[bad * this->kRows] = bands.diag()[(bad + 1) * this->kRows - 1] = 1;
    Solver<T> again = test::solver_for(bands, options);
    ASSERT_EQ(again.report().groups.size(), 1u);
    EXPECT_TRUE(again.report().groups[0].pinned);
    for (Index i = bad * this->kRows; i < (bad + 1) * this->kRows; ++i) {
      y[static_cast<std::size_t>(i)] = i % 2 == 0 ? 1 : -1;
    }
    const std::vector<T> after = test::answer(again, y);
    for (Index i = 0; i < extent; ++i) {
      if (i / this->kRows == bad) continue;
      ASSERT_EQ(after[static_cast<std::size_t>(i)], before[static_cast<std::size_t>(i)]) << "row " << i;
    }
    EXPECT_LE(test::componentwise_error(bands, after, y), 100);
  });
}

SCALAR_TEST(Groups, SolveRowsThatNoScalingKeepsInRangeInWiderNumbers) {
  const T large = std::numeric_limits<T>::max() / 64, small = 16 * std::numeric_limits<T>::min();
  test::with_every_device([&](const Options& options) {
    Solver<T> solver(options);
    Bands<T> bands = this->lines();
    // Every other row of line 9 spans more than the range; rows scaled by their largest number would lose `small`, and
    // with it the couplings that make the answer.
    for (Index i = 9 * this->kRows; i < 10 * this->kRows; ++i) {
      const bool wide = i % 2 == 0;
      bands.lower()[i] = wide ? small : 1;
      bands.diag()[i] = wide ? small : 4;
      bands.upper()[i] = wide ? large : 1;
    }
    this->set_up(solver, bands);
    ASSERT_EQ(solver.report().groups.size(), 1u);
    EXPECT_EQ(solver.report().groups[0].first_line, 9);
    EXPECT_EQ(solver.report().groups[0].method, Method::pivot);
    EXPECT_NE(solver.report().groups[0].why.find("wider"), std::string::npos) << solver.report().groups[0].why;
    EXPECT_LE(this->backward_error(solver, bands), 100);
  });
}

}  // namespace
}  // namespace oclspkt
