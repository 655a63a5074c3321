// SPDX-License-Identifier: BSD-2-Clause
// Several right-hand sides in one call, against one call for each.
#include <gtest/gtest.h>

#include <cmath>

#include "every_device.hpp"
#include "solver_fixture.hpp"

namespace oclspkt {
namespace {

template <typename T>
class SeveralRightHandSides : public test::SolverFixture<T> {
 protected:
  /// Columns of y, and what apply() makes of each; the places between columns are -7 and have to stay.
  struct Columns {
    Index count, stride;
    std::vector<T> y, expected;
    Columns(Solver<T>& solver, Index extent, Index number, Index gap) : count(number), stride(extent + gap) {
      y.assign(static_cast<std::size_t>(count * stride), T(-7));
      expected = y;
      for (Index k = 0; k < count; ++k) {
        for (Index i = 0; i < extent; ++i) y[static_cast<std::size_t>(k * stride + i)] = std::cos(T(i % 997 + 3 * k));
        solver.apply(y.data() + k * stride, expected.data() + k * stride);
      }
    }
  };

  static void expect_the_bits_of_each(Solver<T>& solver, Index extent) {
    for (const Index count : {1, 3, 4, 9}) {
      const Columns columns(solver, extent, count, count == 1 ? 0 : 5);
      std::vector<T> x(columns.y.size(), T(-7));
      const std::int64_t applies = solver.times().applies;
      solver.apply(columns.y.data(), columns.stride, x.data(), columns.stride, count);
      EXPECT_EQ(x, columns.expected) << count << " columns";
      EXPECT_EQ(solver.times().applies - applies, count);
    }
  }
};

SCALAR_TEST(SeveralRightHandSides, HaveTheBitsOfOneAfterTheOther) {
  test::with_every_device([&](const Options& options) {
    for (const LineSet& lines : {LineSet::one(1), LineSet::one(5000), LineSet::equal(70, 33),
                                 LineSet::unequal({0, 7, 7, 400, 401}), LineSet::grid_axis(1, 40, 30, 3)}) {
      SCOPED_TRACE(lines.describe());
      Solver<T> solver(options);
      for (const bool alike : {false, true}) {
        this->set_up(solver, alike ? test::constant<T>(lines, -1, 3, -1) : test::random_dominant<T>(lines, 1.5));
        this->expect_the_bits_of_each(solver, lines.extent());
      }
    }
  });
}

SCALAR_TEST(SeveralRightHandSides, ReachLinesThatAreSolvedSeparately) {
  test::with_every_device([&](const Options& options) {
    Solver<T> solver(options);
    Bands<T> bands = test::constant<T>(LineSet::equal(50, 20), -1, 4, -1);
    std::fill_n(bands.diag() + 140, 20, T(0));
    this->set_up(solver, bands);
    ASSERT_EQ(solver.report().groups.size(), 1u);
    this->expect_the_bits_of_each(solver, 1000);
  });
}

SCALAR_TEST(SeveralRightHandSides, AreRefusedWhereTheyDoNotFit) {
  Solver<T> solver({.devices = "host"});
  std::vector<T> y(300, T(1)), x(300, T(2));
  test::expect_refusal([&] { solver.apply(y.data(), 100, x.data(), 100, 3); }, "set_up");
  this->set_up(solver, test::constant<T>(LineSet::one(100), -1, 4, -1));
  test::expect_refusal([&] { solver.apply(y.data(), 100, x.data(), 100, -1); }, "-1 columns");
  test::expect_refusal([&] { solver.apply(y.data(), 99, x.data(), 100, 3); }, "99 places apart");
  test::expect_refusal([&] { solver.apply(y.data(), 100, x.data(), -100, 3); }, "-100 places apart");
  test::expect_refusal([&] { solver.apply(y.data(), 100, y.data() + 250, 100, 3); }, "overlap");
  test::expect_refusal([&] { solver.apply(y.data(), 100, nullptr, 100, 3); }, "null");
  EXPECT_EQ(x, std::vector<T>(300, T(2)));
  solver.apply(nullptr, 0, nullptr, 0, 0);
  solver.apply(y.data(), 0, y.data() + 100, 0, 1);  // the stride of one column is not used
  EXPECT_NE(y[100], T(1));
}

}  // namespace
}  // namespace oclspkt
