// SPDX-License-Identifier: BSD-2-Clause
#include "oclspkt/solver.hpp"

#include <gtest/gtest.h>

#include "matrices.hpp"
#include "residual.hpp"

namespace oclspkt {
namespace {

template <typename T>
class SolverOnHost : public ::testing::Test {
 protected:
  static constexpr double eps = std::numeric_limits<T>::epsilon();

  static Solver<T> make(MethodChoice method = MethodChoice::automatic) {
    Options options;
    options.devices = "host";
    options.method = method;
    return Solver<T>(options);
  }

  static void set_up(Solver<T>& solver, const Bands<T>& bands) {
    solver.set_up(bands.lines(), bands.view().lower, bands.view().diag, bands.view().upper);
  }

  static double backward_error(Solver<T>& solver, const Bands<T>& bands) {
    const std::vector<T> y = test::random_vector<T>(bands.lines().extent());
    std::vector<T> x(y.size());
    solver.apply(y.data(), x.data());
    return componentwise_backward_error(bands.lines(), bands.view(), x.data(), y.data()) / eps;
  }
};
using Scalars = ::testing::Types<float, double>;
TYPED_TEST_SUITE(SolverOnHost, Scalars);

TYPED_TEST(SolverOnHost, SolvesAnySizeWithAnyMethod) {
  using T = TypeParam;
  for (const MethodChoice method :
       {MethodChoice::automatic, MethodChoice::truncated, MethodChoice::truncated_streamed, MethodChoice::exact,
        MethodChoice::exact_twopass, MethodChoice::exact_factored, MethodChoice::pivot}) {
    for (const Index n : {0, 1, 2, 3, 100, 7919}) {
      auto solver = this->make(method);
      const Bands<T> bands = test::random_dominant<T>(LineSet::one(n), 3);
      this->set_up(solver, bands);
      EXPECT_LE(this->backward_error(solver, bands), 20) << name(method) << " n " << n;
      EXPECT_TRUE(solver.report().ready);
      EXPECT_EQ(solver.report().device, "host");
      EXPECT_FALSE(solver.report().certificate_above_tolerance) << solver.report().why;
    }
  }
}

TYPED_TEST(SolverOnHost, EscalatesToPivotingForZeroDiagonals) {
  using T = TypeParam;
  auto solver = this->make();
  const Bands<T> bands = test::constant<T>(LineSet::one(100), 1, 0, 1);
  this->set_up(solver, bands);
  EXPECT_EQ(solver.report().method, Method::pivot);
  ASSERT_EQ(solver.report().candidates.size(), 2u);
  EXPECT_FALSE(solver.report().candidates[0].taken);
  EXPECT_LE(this->backward_error(solver, bands), 10);
}

TYPED_TEST(SolverOnHost, ReportsASingularLineAndHeals) {
  using T = TypeParam;
  auto solver = this->make();
  Bands<T> neumann = test::constant<T>(LineSet::one(100), -1, 2, -1);
  neumann.diag()[0] = neumann.diag()[99] = 1;
  try {
    this->set_up(solver, neumann);
    ADD_FAILURE() << "a singular matrix was taken: " << solver.report().why;
  } catch (const Breakdown& error) {
    EXPECT_NE(std::string(error.what()).find("singular: line 0"), std::string::npos) << error.what();
  }
  std::vector<T> y(100, T(1)), x(100);
  EXPECT_THROW(solver.apply(y.data(), x.data()), InvalidInput);
  const Bands<T> good = test::constant<T>(LineSet::one(100), -1, 2, -1);
  this->set_up(solver, good);
  EXPECT_LE(this->backward_error(solver, good), 10);
}

TYPED_TEST(SolverOnHost, RefusesNaNAndInfInTheBands) {
  using T = TypeParam;
  for (const T bad : {std::numeric_limits<T>::quiet_NaN(), std::numeric_limits<T>::infinity()}) {
    for (const Index row : {0, 50, 99}) {
      auto solver = this->make();
      Bands<T> bands = test::constant<T>(LineSet::one(100), -1, 4, -1);
      bands.diag()[row] = bad;
      EXPECT_THROW(this->set_up(solver, bands), Breakdown);
    }
  }
}

TYPED_TEST(SolverOnHost, NamesAMethodThatItsCertificateDoesNotCover) {
  using T = TypeParam;
  auto solver = this->make(MethodChoice::truncated);
  const Bands<T> bands = test::constant<T>(LineSet::one(5000), -1, 2, -1);
  this->set_up(solver, bands);
  EXPECT_EQ(solver.report().method, Method::truncated_halo);
  EXPECT_TRUE(solver.report().certificate_above_tolerance);
  EXPECT_GT(solver.report().certificate, solver.report().tolerance);
}

TYPED_TEST(SolverOnHost, SolvesTheTransposedSystem) {
  using T = TypeParam;
  for (const LineSet& lines : {LineSet::one(200), LineSet::grid_axis(1, 5, 6, 7)}) {
    auto solver = this->make();
    Bands<T> bands = test::random_dominant<T>(lines, 1.5), transposed;
    this->set_up(solver, bands);
    bands.close_lines();
    transpose(lines, bands.view(), transposed);
    const std::vector<T> y = test::random_vector<T>(lines.extent());
    std::vector<T> x(y.size());
    solver.apply_transpose(y.data(), x.data());
    EXPECT_LE(componentwise_backward_error(lines, transposed.view(), x.data(), y.data()), 1000 * this->eps);
    EXPECT_TRUE(solver.transpose_report().ready);
  }
}

TYPED_TEST(SolverOnHost, GivesTheSameBitsAgain) {
  using T = TypeParam;
  auto solver = this->make();
  const Bands<T> bands = test::random_dominant<T>(LineSet::one(1000), 1);
  this->set_up(solver, bands);
  const std::vector<T> y = test::random_vector<T>(1000);
  std::vector<T> first(1000), second(1000);
  solver.apply(y.data(), first.data());
  this->set_up(solver, bands);
  solver.apply(y.data(), second.data());
  EXPECT_EQ(first, second);
}

TYPED_TEST(SolverOnHost, RefusesMisuse) {
  using T = TypeParam;
  auto solver = this->make();
  std::vector<T> y(100, T(1)), x(100);
  EXPECT_THROW(solver.apply(y.data(), x.data()), InvalidInput);
  EXPECT_THROW(solver.apply_transpose(y.data(), x.data()), InvalidInput);
  this->set_up(solver, test::constant<T>(LineSet::one(100), -1, 4, -1));
  EXPECT_THROW(solver.apply(y.data(), y.data()), InvalidInput);
  EXPECT_THROW(solver.apply(y.data(), nullptr), InvalidInput);
  EXPECT_THROW(solver.set_up(LineSet::one(5), y.data(), nullptr, x.data()), InvalidInput);
}

TEST(SolverOptions, OutOfRangeAreRefusedWithTheirName) {
  const auto refused = [](auto change, const char* word) {
    Options options;
    change(options);
    try {
      Solver<double> solver(options);
      ADD_FAILURE() << word << " was taken";
    } catch (const InvalidInput& error) {
      EXPECT_NE(std::string(error.what()).find(word), std::string::npos) << error.what();
    }
  };
  refused([](Options& o) { o.rtol = -1; }, "rtol");
  refused([](Options& o) { o.rtol = std::nan(""); }, "rtol");
  refused([](Options& o) { o.partition = -1; }, "partition");
  refused([](Options& o) { o.device_memory = -1; }, "device_memory");
  refused([](Options& o) { o.timeout = -1; }, "timeout");
  refused([](Options& o) { o.variant = "fast"; }, "variant");
  refused([](Options& o) { o.precision = Precision::narrow; }, "precision");
}

TEST(SolverTimes, CountApplies) {
  Options options;
  options.devices = "host";
  Solver<double> solver(options);
  const Bands<double> bands = test::constant<double>(LineSet::one(10), -1, 4, -1);
  solver.set_up(bands.lines(), bands.view().lower, bands.view().diag, bands.view().upper);
  const auto trials = solver.times().applies;
  std::vector<double> y(10, 1.0), x(10);
  for (int i = 0; i < 3; ++i) solver.apply(y.data(), x.data());
  EXPECT_EQ(solver.times().applies, trials + 3);
  EXPECT_GE(solver.bytes(), 6 * 10 * 8);
}

}  // namespace
}  // namespace oclspkt
