// SPDX-License-Identifier: BSD-2-Clause
// Implicit diffusion with conductivities that differ from row to row: their interface systems could
// multiply rounding by as much as neighbours differ, and trial solves see whether it does.
#include <gtest/gtest.h>

#include "every_device.hpp"
#include "solver_fixture.hpp"

namespace oclspkt {
namespace {

template <typename T>
class Conduction : public test::SolverFixture<T> {
 protected:
  static constexpr Index kRows = 60'000;

  /// Backward error over eps of a random right-hand side, every row held against itself and the largest unknown.
  static double rowwise_error(Solver<T>& solver, const Bands<T>& bands) {
    const std::vector<T> y = test::random_vector<T>(bands.lines().extent());
    std::vector<T> x(y.size());
    solver.apply(y.data(), x.data());
    return line_rowwise_backward_error(bands.lines(), bands.view(), 0, x.data(), y.data()) /
           test::SolverFixture<T>::eps;
  }
};
using Scalars = ::testing::Types<float, double>;
TYPED_TEST_SUITE(Conduction, Scalars);

TYPED_TEST(Conduction, IsStreamedWhereNeighboursDifferAHundredTimes) {
  using T = TypeParam;
  const LineSet line = LineSet::one(this->kRows);
  for (const double lambda : {10.0, 1e3}) {
    const Bands<T> bands = test::wide_conduction<T>(line, {"", lambda, 2});
    test::with_every_device([&](const Options& options) {
      Solver<T> solver(options);
      this->set_up(solver, bands);
      const Report& report = solver.report();
      if (options.devices != "host" && options.variant != "gpu") {
        EXPECT_EQ(report.method, Method::truncated_streamed) << lambda;
        EXPECT_GT(report.rounding, 0);
        EXPECT_EQ(report.backward_error, 0) << "a bound needs no trial";
      }
      EXPECT_LE(this->rowwise_error(solver, bands), report.rounding) << lambda << ", " << report.why;
      EXPECT_LE(this->rowwise_error(solver, bands), 10) << lambda << ", " << report.why;
    });
  }
}

TYPED_TEST(Conduction, StreamsTilesWhereNothingIsStored) {
  using T = TypeParam;
  const Bands<T> bands = test::wide_conduction<T>(LineSet::one(this->kRows), {"", 10, 1});
  test::with_every_device([&](Options options) {
    options.method = MethodChoice::truncated_halo;
    options.variant = "lanes-tiles";
    Solver<T> solver(options);
    this->set_up(solver, bands);
    if (options.devices != "host") {
      EXPECT_NE(solver.report().shape.find("streamed tiles"), std::string::npos) << solver.report().shape;
    }
    EXPECT_FALSE(solver.report().certificate_above_tolerance);
    EXPECT_LE(this->rowwise_error(solver, bands), 10) << solver.report().why;
  });
}

TYPED_TEST(Conduction, IsRightWhateverTheRange) {
  using T = TypeParam;
  const LineSet line = LineSet::one(this->kRows);
  for (const test::Decades& range : test::kWideRanges) {
    const Bands<T> bands = test::wide_conduction<T>(line, range);
    test::with_every_device([&](const Options& options) {
      Solver<T> solver(options);
      this->set_up(solver, bands);
      EXPECT_LE(this->rowwise_error(solver, bands), 10) << range.what << ", " << solver.report().why;
    });
  }
}

}  // namespace
}  // namespace oclspkt
