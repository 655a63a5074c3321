// SPDX-License-Identifier: BSD-2-Clause
// Columns in unlike units: unknowns of one line that are measured in meters and in nanometers, say.
#include <gtest/gtest.h>

#include <cmath>
#include <functional>
#include <random>

#include "every_device.hpp"
#include "matrices.hpp"
#include "oclspkt/error.hpp"
#include "oclspkt/solver.hpp"
#include "residual.hpp"
#include "solver_fixture.hpp"

namespace oclspkt {
namespace {

template <typename T>
class Units : public ::testing::Test {
 protected:
  static constexpr double eps = std::numeric_limits<T>::epsilon();

  /// tridiag(-1, diag, -1) whose column j is multiplied by unit(j).
  static Bands<T> in_units(Index n, double diag, const std::function<double(Index)>& unit) {
    Bands<T> bands(LineSet::one(n));
    for (Index i = 0; i < n; ++i) {
      bands.lower()[i] = i > 0 ? static_cast<T>(-unit(i - 1)) : T(0);
      bands.diag()[i] = static_cast<T>(diag * unit(i));
      bands.upper()[i] = i + 1 < n ? static_cast<T>(-unit(i + 1)) : T(0);
    }
    return bands;
  }

  /// What auto makes of y = 1 is right by component, and its report promises that.
  static void expect_right(const Bands<T>& bands, const Options& options, double most_eps) {
    const LineSet& lines = bands.lines();
    Solver<T> solver(options);
    solver.set_up(lines, bands.view().lower, bands.view().diag, bands.view().upper);
    const Report& report = solver.report();
    EXPECT_NE(report.method, Method::pivot) << report.why;
    const bool on_host = report.device.name == "host";
    EXPECT_EQ(report.promise == Promise::by_component, on_host) << name(report.method);
    EXPECT_LE(report.rounding, kRoundingLimit);
    const std::vector<T> y(static_cast<std::size_t>(lines.extent()), T(1));
    std::vector<T> x(y.size());
    solver.apply(y.data(), x.data());
    const double error = componentwise_backward_error(lines, bands.view(), x.data(), y.data()) / eps;
    EXPECT_LE(error, most_eps);
    EXPECT_LE(error, report.rounding) << "the bound";
  }
};
using Scalars = ::testing::Types<float, double>;
TYPED_TEST_SUITE(Units, Scalars);

constexpr double kFar = 1e14;

TYPED_TEST(Units, OfBlocksOfColumnsAreSolvedWithoutPivoting) {
  for (const double unit : {1e5, 1e12, kFar, 1 / kFar}) {
    SCOPED_TRACE(unit);
    const auto bands = this->in_units(3000, 2.01, [&](Index j) { return j % 600 < 300 ? 1 : unit; });
    test::with_every_device([&](const Options& options) { this->expect_right(bands, options, 3); });
  }
}

TYPED_TEST(Units, OfEveryColumnAreSolvedWithoutPivoting) {
  // Of thin layers, and of variables that are multiplied by a potential's exponential.
  const auto layers = this->in_units(1000, 2.0, [](Index j) { return j / 10 % 2 == 0 ? 1 : 1e-13; });
  const auto decaying = this->in_units(200, 2.0, [](Index j) { return std::exp(-0.3 * static_cast<double>(j)); });
  const auto random =
      this->in_units(1000, 2.5, [](Index j) { return std::ldexp(1.0, static_cast<int>(j * 7919 % 53 - 26)); });
  for (const auto* bands : {&layers, &decaying, &random}) {
    test::with_every_device([&](const Options& options) { this->expect_right(*bands, options, 3); });
  }
}

TYPED_TEST(Units, OfTheBlocksThatLinesAreDoNotMatter) {
  // Rows of plain units keep the method that they had.
  const auto bands = this->in_units(3000, 3.0, [](Index) { return kFar; });
  Solver<TypeParam> plain, far;
  const auto one = this->in_units(3000, 3.0, [](Index) { return 1.0; });
  plain.set_up(one.lines(), one.view().lower, one.view().diag, one.view().upper);
  far.set_up(bands.lines(), bands.view().lower, bands.view().diag, bands.view().upper);
  EXPECT_EQ(plain.report().method, far.report().method);
  EXPECT_NEAR(plain.report().rounding, far.report().rounding, 1e-4);
}

/// Numbers of 1e-60 to 1, each drawn by itself: no scaling makes such rows alike, and pivoting is not good for all.
TEST(AboveBound, IsToldOrFailsTheSetUp) {
  const LineSet lines = LineSet::equal(300, 300);
  std::mt19937 random(test::kSeed);
  std::uniform_real_distribution<double> size(-60, 0);
  const auto draw = [&] { return std::pow(10, size(random)) * (random() % 2 == 0 ? 1 : -1); };
  Bands<double> bands(lines);
  for (Index i = 0; i < lines.rows(); ++i)
    bands.lower()[i] = draw(), bands.diag()[i] = draw(), bands.upper()[i] = draw();
  bands.close_lines();
  Options options;
  options.devices = "host";
  Solver<double> solver(options);
  test::set_up(solver, bands);
  EXPECT_NE(solver.report().above_bound, "") << solver.report().why;
  options.above_bound = AboveBound::error;
  solver.set_options(options);
  try {
    test::set_up(solver, bands);
    ADD_FAILURE() << "was taken: " << solver.report().why;
  } catch (const Breakdown& error) {
    EXPECT_NE(std::string(error.what()).find("above_bound warn"), std::string::npos) << error.what();
  }
  const Bands<double> good = test::random_dominant<double>(lines, 1.5);
  test::set_up(solver, good);
  EXPECT_EQ(solver.report().above_bound, "");
}

}  // namespace
}  // namespace oclspkt
