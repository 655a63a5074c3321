// SPDX-License-Identifier: BSD-2-Clause
#include <gtest/gtest.h>

#include "every_device.hpp"
#include "solver_fixture.hpp"

namespace oclspkt {
namespace {

/// Lines with d = 4, longer than any halo, of which some are replaced.
template <typename T>
class Groups : public test::SolverFixture<T> {
 protected:
  static constexpr Index kLines = 30, kRows = 30000;

  static Bands<T> lines() { return test::constant<T>(LineSet::equal(kLines, kRows), -1, 8, -1); }
};

SCALAR_TEST(Groups, KeepTheOthersTruncated) {
  test::with_every_device([&](const Options& options) {
    if (options.devices == "host") return;  // truncates nothing by itself
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
  test::with_every_device([&](const Options& options) {
    if (options.devices == "host") return;
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
    std::vector<T> y(static_cast<std::size_t>(extent), T(1)), before(y.size()), after(y.size());
    this->set_up(solver, bands);
    solver.apply(y.data(), before.data());
    test::replace_line(bands, bad, -1, 2, -1);
    bands.diag()[bad * this->kRows] = bands.diag()[(bad + 1) * this->kRows - 1] = 1;
    Solver<T> again = test::solver_for(bands, options);
    ASSERT_EQ(again.report().groups.size(), 1u);
    EXPECT_TRUE(again.report().groups[0].pinned);
    for (Index i = bad * this->kRows; i < (bad + 1) * this->kRows; ++i) {
      y[static_cast<std::size_t>(i)] = i % 2 == 0 ? 1 : -1;
    }
    again.apply(y.data(), after.data());
    for (Index i = 0; i < extent; ++i) {
      if (i / this->kRows == bad) continue;
      ASSERT_EQ(after[static_cast<std::size_t>(i)], before[static_cast<std::size_t>(i)]) << "row " << i;
    }
    EXPECT_LE(componentwise_backward_error(bands.lines(), bands.view(), after.data(), y.data()), 100 * this->eps);
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
