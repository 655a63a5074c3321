// SPDX-License-Identifier: BSD-2-Clause
#include "model.hpp"

#include <gtest/gtest.h>

#include <cstdio>

#include "certificate.hpp"
#include "matrices.hpp"
#include "reference.hpp"
#include "residual.hpp"
#include "schemes/lanes/lane_plans.hpp"

namespace oclspkt {
namespace {

template <typename T>
class Model : public ::testing::Test {
 protected:
  static constexpr double eps = std::numeric_limits<T>::epsilon();

  static Plan plan(Method method, Index n, Index m, Index halo = 0) {
    return make_plan(method, n, halo, m, sizeof(T), DeviceTraits{.lanes = 4, .cores = 2});
  }

  static Plan streamed_plan(Index n, Index m) {
    return make_stored_plan(n, 0, m, sizeof(T), DeviceTraits{.lanes = 4, .cores = 2});
  }

  static std::vector<T> solve(const Plan& p, Bands<T>& bands, const std::vector<T>& y) {
    bands.close_lines();
    ModelSolver<T> model;
    model.set_up(p, bands);
    std::vector<T> x(y.size(), std::numeric_limits<T>::quiet_NaN());
    model.apply(y.data(), x.data());
    return x;
  }

  /// Backward error of a method over eps, the larger of two: for a random right-hand side, and for that of a random
  /// solution, which is small against what ill-conditioned segments make of it by themselves.
  static double backward_error(const Plan& p, Bands<T>& bands) {
    const std::vector<T> random = test::random_vector<T>(bands.lines().extent());
    std::vector<T> smooth(random.size());
    multiply(bands.lines(), bands.view(), random.data(), smooth.data());
    double worst = 0;
    for (const std::vector<T>& y : {random, smooth}) {
      const std::vector<T> x = solve(p, bands, y);
      const double error = normwise_backward_error(bands.lines(), bands.view(), x.data(), y.data()) / eps;
      worst = error <= worst ? worst : error;
    }
    return worst;
  }

  static std::vector<Index> sizes(Index m) { return {1, 2, 3, m - 1, m, m + 1, 2 * m + 1, 997}; }
};
using Scalars = ::testing::Types<float, double>;
TYPED_TEST_SUITE(Model, Scalars);

TYPED_TEST(Model, TruncatesWithinRoundingWhereTheHaloIsLongEnough) {
  using T = TypeParam;
  for (const Index n : this->sizes(32)) {
    for (const double d : {1.5, 3.0, 10.0}) {
      Bands<T> bands = test::random_dominant<T>(LineSet::one(n), d);
      const Index halo = halo_from_dominance(d, this->eps);
      EXPECT_LE(this->backward_error(this->plan(Method::truncated_halo, n, 32, halo), bands), 5)
          << "n " << n << " d " << d << " halo " << halo;
      EXPECT_LE(this->backward_error(this->streamed_plan(n, 32), bands), 5) << "n " << n << " d " << d;
    }
  }
}

TYPED_TEST(Model, IsExactAtDominanceOne) {
  using T = TypeParam;
  for (const Index n : {1, 2, 3, 31, 32, 33, 65, 4096, 7919}) {
    const LineSet lines = LineSet::one(n);
    Bands<T> poisson = test::constant<T>(lines, -1, 2, -1), stiff = test::diffusion<T>(lines, 1e8),
             sums = test::row_sums_zero<T>(lines), any = test::random_dominant<T>(lines, 1);
    for (Bands<T>* bands : {&poisson, &stiff, &sums, &any}) {
      EXPECT_LE(this->backward_error(this->plan(Method::exact_twopass, n, 32), *bands), 10) << "n " << n;
    }
  }
}

TYPED_TEST(Model, IsExactAtDominanceOneForManyRows) {
  using T = TypeParam;
  double worst = 0;
  for (const Index n : test::kLongLines) {
    test::at_dominance_one<T>(n, [&](const char* name, Bands<T> bands) {
      const double error = this->backward_error(this->plan(Method::exact_twopass, n, 496), bands);
      EXPECT_LE(error, 10) << name << ", n = " << n;
      worst = std::max(worst, error);
    });
  }
  std::printf("largest backward error: %.2f eps\n", worst);
}

TYPED_TEST(Model, StreamsThroughWeakDominance) {
  // Implicit diffusion: 0.730^m at lambda = 10, so that tiles of 512 rows are far below rounding.
  using T = TypeParam;
  Bands<T> bands = test::diffusion<T>(LineSet::one(5000), 10);
  EXPECT_LE(this->backward_error(this->streamed_plan(5000, 512), bands), 5);
}

TYPED_TEST(Model, TakesEverySign) {
  using T = TypeParam;
  Bands<T> skew = test::constant<T>(LineSet::one(500), -1, 4, 1);
  EXPECT_LE(this->backward_error(this->plan(Method::exact_twopass, 500, 31), skew), 5);
  Bands<T> indefinite = test::constant<T>(LineSet::one(500), 1, T(0.7), 1);
  EXPECT_LE(this->backward_error(this->plan(Method::exact_twopass, 500, 31), indefinite), 1000);
}

TYPED_TEST(Model, SolvesGluedLinesApart) {
  using T = TypeParam;
  const LineSet lines = LineSet::unequal({0, 1, 40, 40, 103, 200});
  for (const Method method : {Method::truncated_halo, Method::truncated_streamed, Method::exact_twopass}) {
    Bands<T> bands = test::random_dominant<T>(lines, 4);
    std::vector<T> y = test::random_vector<T>(200);
    y[50] = std::numeric_limits<T>::quiet_NaN();
    const bool streamed = method == Method::truncated_streamed;
    const std::vector<T> x =
        this->solve(streamed ? this->streamed_plan(200, 32) : this->plan(method, 200, 32, 24), bands, y);
    for (Index i = 0; i < 200; ++i) {
      const bool same_line = i >= 40 && i < 103;
      if (!same_line) {
        EXPECT_TRUE(std::isfinite(x[static_cast<std::size_t>(i)])) << name(method) << " row " << i;
      }
    }
  }
}

}  // namespace
}  // namespace oclspkt
