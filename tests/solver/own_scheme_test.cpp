// SPDX-License-Identifier: BSD-2-Clause
// A scheme from outside: registered, named, chosen, checked, described, and right on every device.

#include "every_device.hpp"
#include "solver_fixture.hpp"
#include "thomas_scheme.hpp"

namespace oclspkt {
namespace {

template <typename T>
class SchemeOfOnesOwn : public test::SolverFixture<T> {
 protected:
  void SetUp() override { test::add_thomas(); }

  /// On every device whose kernels are by lanes, in place and through copies.
  template <typename F>
  static void on_devices(const F& f) {
    test::with_every_transfer([&](Options options) {
      options.variant = test::kThomas;
      f(options);
    });
  }
};

SCALAR_TEST(SchemeOfOnesOwn, IsChosenWhereItIsNamedAndTellsOfItself) {
  this->on_devices([&](const Options& options) {
    Solver<T> solver = test::solver_for(test::random_dominant<T>(LineSet::equal(7, 100), 1.5), options);
    const Report& report = solver.report();
    EXPECT_EQ(report.method, Method::exact_factored) << report.why;
    EXPECT_EQ(report.shape, "7 lines by one work-item");
    EXPECT_NE(report.device.name, "host");
    EXPECT_EQ(report.words_per_row, 9);
    EXPECT_LE(report.rounding, kRoundingLimit);
    EXPECT_GT(report.rounding, 0);
    ASSERT_EQ(report.candidates.size(), 1u);
    EXPECT_TRUE(report.candidates.front().taken);
  });
}

SCALAR_TEST(SchemeOfOnesOwn, SolvesEverySizeAndLineSetLaidEndToEnd) {
  this->on_devices([&](const Options& options) {
    for (const LineSet& lines : {LineSet::one(1), LineSet::one(2), LineSet::one(3), LineSet::one(4099),
                                 LineSet::equal(11, 40), LineSet::unequal({0, 1, 8, 8, 300})}) {
      for (const double d : {10.0, 1.05}) {
        const Bands<T> bands = test::random_dominant<T>(lines, d);
        Solver<T> solver = test::solver_for(bands, options);
        EXPECT_EQ(solver.report().shape, std::to_string(lines.count()) + " lines by one work-item");
        EXPECT_LE(this->backward_error(solver, bands), 20) << lines.describe() << " d " << d;
      }
    }
  });
}

SCALAR_TEST(SchemeOfOnesOwn, GivesWayWhereItDoesNotHoldOrIsForOtherLines) {
  this->on_devices([&](const Options& options) {
    const Bands<T> weak = test::constant<T>(LineSet::one(100), 1, 0, 1);
    Solver<T> solver = test::solver_for(weak, options);
    EXPECT_EQ(solver.report().method, Method::pivot);
    EXPECT_LE(this->backward_error(solver, weak), 20);
    const Bands<T> grid = test::random_dominant<T>(LineSet::grid_axis(1, 6, 7, 3), 2);
    this->set_up(solver, grid);
    EXPECT_LE(this->backward_error(solver, grid), 20);
    const Bands<T> again = test::random_dominant<T>(LineSet::one(500), 2);
    this->set_up(solver, again);
    EXPECT_EQ(solver.report().shape, "1 lines by one work-item");
    EXPECT_LE(this->backward_error(solver, again), 20);
  });
}

SCALAR_TEST(SchemeOfOnesOwn, NeedsANameOfItsOwn) {
  static const test::ThomasScheme second;
  test::expect_refusal([] { add_scheme(second); }, "thomas-serial");
  test::expect_refusal([] { ocl::add_carrier(ocl::carrier<test::ThomasWorker>(test::kThomas)); }, test::kThomas);
  test::expect_refusal([] { Solver<T> solver({.variant = "thomas-parallel"}); }, "thomas-serial");
}

}  // namespace
}  // namespace oclspkt
