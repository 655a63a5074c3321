// SPDX-License-Identifier: BSD-2-Clause
// Which storage form set-up finds in the values of lines laid end to end, and that answers do not suffer from it.
#include <gtest/gtest.h>

#include <cmath>
#include <utility>

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
    test::with_every_device([&](Options options) {
      if (options.devices == "host") return;  // its stored factors are another method's
      options.method = method;
      Solver<T> solver(options);
      FoundForms::set_up(solver, bands);
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
  test::with_every_device([&](Options options) {
    if (options.devices == "host") return;
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

}  // namespace
}  // namespace oclspkt
