// SPDX-License-Identifier: BSD-2-Clause
// The kernels on every device, against LAPACK, against the model in C++ and against residuals.
#include <cstdio>
#include <utility>

#include "certificate.hpp"
#include "devices.hpp"
#include "evidence.hpp"
#include "geometry.hpp"
#include "residual.hpp"
#include "schemes/lanes/rounding_joints.hpp"

namespace oclspkt::test {
namespace {

template <typename T>
class Solve : public testing::Test {};
using Scalars = testing::Types<float, double>;
TYPED_TEST_SUITE(Solve, Scalars);

TYPED_TEST(Solve, StoredFactorsSolvePartitionsThatDoNotDecay) {
  using T = TypeParam;
  // Every tile holds the ends of lines, and nothing else decays: d = 1.
  on_every_device<T>([&](const DeviceInfo& info) {
    const Plan usual = plan_for<T>(info.index, 1'000'000, {Method::truncated_streamed, 0, 48});
    std::vector<Index> starts{0};
    while (starts.back() < 20'000) {
      for (const Index length : {usual.tile_rows(), Index{1}, usual.m, usual.m + 1, usual.tile_rows() - 1, Index{0},
                                 2 * usual.m - 1, Index{2}}) {
        starts.push_back(starts.back() + length);
      }
    }
    const auto bands = closed(constant<T>(LineSet::unequal(starts), -1, 2, -1));
    const auto random = random_vector<T>(bands.lines().extent());
    auto smooth = random;
    multiply(bands.lines(), bands.view(), random.data(), smooth.data());
    const Shape streamed{Method::truncated_streamed, 0, 48};
    ASSERT_EQ(certify_stored(plan_for<T>(info.index, starts.back(), streamed), bands.view()).bound, 0);
    for (const std::vector<T>* y : std::initializer_list<const std::vector<T>*>{&random, &smooth}) {
      for (const Shape& shape : {streamed, Shape{Method::exact_factored, 0, 48}}) {
        const auto x = solve<T>(info.index, bands, *y, shape);
        EXPECT_LE(normwise_backward_error(bands.lines(), bands.view(), x.data(), y->data()), 10 * kEps<T>)
            << name(shape.method);
      }
    }
  });
}

TYPED_TEST(Solve, ExactStaysBackwardStableWithoutAnyDominance) {
  using T = TypeParam;
  double worst = 0;
  for (const Index n : kLongLines) {
    const auto random = random_vector<T>(n);
    at_dominance_one<T>(n, [&](const char* name, Bands<T> open) {
      const auto bands = closed(std::move(open));
      // A random right-hand side has a huge solution, which hides what a random solution shows.
      auto smooth = random;
      multiply(bands.lines(), bands.view(), random.data(), smooth.data());
      on_every_device<T>([&](const DeviceInfo& info) {
        for (const std::vector<T>* y : std::initializer_list<const std::vector<T>*>{&random, &smooth}) {
          for (const Shape& shape : {Shape{Method::exact_twopass}, Shape{Method::exact_factored}}) {
            const Plan plan = plan_for<T>(info.index, n, shape);
            if (plan.has<StoredFactors>() && !(bound_taken_off(plan, bands.view()).eps <= kRoundingLimit)) continue;
            const auto x = solve<T>(info.index, bands, *y, shape);
            const double error = normwise_backward_error(bands.lines(), bands.view(), x.data(), y->data());
            EXPECT_LE(error, 10 * kEps<T>) << name << ", n = " << n << (y == &smooth ? ", random x" : ", random y")
                                           << ", " << oclspkt::name(shape.method);
            worst = std::max(worst, error / kEps<T>);
          }
        }
      });
    });
  }
  std::printf("largest backward error: %.2f eps\n", worst);
}

TYPED_TEST(Solve, KnownSolutionOfOneFourOne) {
  using T = TypeParam;
  const auto bands = closed(constant<T>(LineSet::one(3), 1, 4, 1));
  on_every_device<T>([&](const DeviceInfo& info) {
    for (const Method method :
         {Method::truncated_halo, Method::truncated_streamed, Method::exact_twopass, Method::exact_factored}) {
      const auto x = solve<T>(info.index, bands, {1, 1, 1}, {method});
      EXPECT_NEAR(x[0], 3.0 / 14, kEps<T>);
      EXPECT_NEAR(x[1], 1.0 / 7, kEps<T>);
      EXPECT_NEAR(x[2], 3.0 / 14, kEps<T>);
    }
  });
}

TYPED_TEST(Solve, NeverReadsTheOuterCouplings) {
  using T = TypeParam;
  for (const Index n : {1, 2, 1000, 30'000}) {
    const auto open = random_dominant<T>(LineSet::one(n), 3.0);  // NaN in lower[0] and upper[n - 1]
    const auto y = random_vector<T>(n);
    const auto reference = solve_by_reference(open, y);
    on_every_device<T>([&](const DeviceInfo& info) {
      for (const Shape shape : {Shape{Method::truncated_halo, 40, 0}, Shape{Method::exact_twopass}}) {
        EXPECT_LE(relative_difference(solve<T>(info.index, open, y, shape), reference), forward_limit(3) * kEps<T>)
            << name(shape.method) << ", n = " << n;
      }
    });
  }
}

TYPED_TEST(Solve, OneLineOfNonFiniteNumbersChangesNoBitOfTheOthers) {
  using T = TypeParam;
  // Tiles are swept again, NaN-safe, for the sake of one line.
  const Index count = 90, length = 61, odd = 40;
  const LineSet lines = LineSet::equal(count, length);
  const auto bands = closed(random_dominant<T>(lines, 1.5));
  auto weak = closed(random_dominant<T>(lines, 1.5));
  for (Index i = 0; i < length; ++i) weak.diag()[odd * length + i] *= T(0.6);
  const auto y = random_vector<T>(count * length);
  auto poisoned = y;
  poisoned[odd * length + 30] = std::numeric_limits<T>::quiet_NaN();
  on_every_device<T>([&](const DeviceInfo& info) {
    for (const Shape shape : {Shape{Method::truncated_halo, 40, 48}, Shape{Method::exact_twopass, 0, 48}}) {
      auto expected = solve<T>(info.index, bands, y, shape);
      std::fill_n(expected.begin() + odd * length, length, T(0));
      for (auto x : {solve<T>(info.index, bands, poisoned, shape), solve<T>(info.index, weak, y, shape)}) {
        std::fill_n(x.begin() + odd * length, length, T(0));
        EXPECT_EQ(x, expected) << name(shape.method);
      }
    }
  });
}

TYPED_TEST(Solve, ASecondSetUpTakesOtherSizesAndMethods) {
  using T = TypeParam;
  on_every_device<T>([&](const DeviceInfo& info) {
    for (const bool copies : {false, true}) {
      const auto solver = make_solver<T>(info.index, {.copy_vectors = copies});
      for (const Index n : {1000, 60'000, 0, 17, 30'000}) {
        const auto bands = closed(random_dominant<T>(LineSet::one(n), 3.0));
        const auto y = random_vector<T>(n);
        const auto reference = solve_by_reference(bands, y);
        for (const Shape shape : {Shape{Method::truncated_halo, 40, 0}, Shape{Method::truncated_streamed, 40, 0},
                                  Shape{Method::exact_twopass}, Shape{Method::exact_factored}}) {
          solver->set_up(plan_for<T>(info.index, n, shape), bands);
          std::vector<T> x(y.size());
          solver->apply(y.data(), x.data());
          EXPECT_LE(relative_difference(x, reference), forward_limit(3) * kEps<T>)
              << name(shape.method) << ", n = " << n;
        }
      }
      EXPECT_EQ(solver->times().applies, 16);  // those with rows
      EXPECT_GT(solver->times().kernel_seconds, 0);
      EXPECT_GT(solver->times().total_seconds, 0);
      EXPECT_GT(solver->bytes(), 0);
    }
  });
}

TYPED_TEST(Solve, FactorsThatTheHostMadeAreKeptOnce) {
  using T = TypeParam;
  const Index n = 400'000;
  const auto bands = closed(random_dominant<T>(LineSet::one(n), 3.0));
  on_every_device<T>([&](const DeviceInfo& info) {
    const Shape shape{Method::truncated_streamed, 40, 0};
    const auto solver = make_solver<T>(info.index);
    solver->set_up(plan_for<T>(info.index, n, shape), bands);
    ASSERT_NE(solver->factors(), nullptr) << "made by the host";
    EXPECT_EQ(solver->factors()->bytes(), 0);
    EXPECT_TRUE(solver->factors()->pivots().sound());
  });
}

TYPED_TEST(Solve, RefusesPlansThatItHasNoKernelsFor) {
  using T = TypeParam;
  const auto bands = closed(random_dominant<T>(LineSet::one(100), 3.0));
  const auto strided = closed(random_dominant<T>(LineSet::grid_axis(1, 10, 10, 1), 3.0));
  on_every_device<T>([&](const DeviceInfo& info) {
    const auto solver = make_solver<T>(info.index);
    EXPECT_THROW(solver->set_up(plan_for<T>(info.index, 100, {Method::pivot}), bands), InvalidInput);
    const Plan plan = plan_for<T>(info.index, 100, {Method::exact_twopass});
    EXPECT_THROW(solver->set_up(plan, strided), InvalidInput);
    Plan other = plan;
    other.lanes = 3;
    EXPECT_THROW(solver->set_up(other, bands), InvalidInput);
    other = plan;
    other.made_by = nullptr;
    EXPECT_THROW(solver->set_up(other, bands), InvalidInput);
    other = plan;
    other.n = 99;
    EXPECT_THROW(solver->set_up(other, bands), InvalidInput);
  });
}

}  // namespace
}  // namespace oclspkt::test
