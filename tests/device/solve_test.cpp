// SPDX-License-Identifier: BSD-2-Clause
// Solvers of one device: what they read, keep and refuse, whatever the scheme.

#include "devices.hpp"
#include "factors.hpp"
#include "schemes/tiles/tile_plans.hpp"

namespace oclspkt::test {
namespace {

template <typename T>
class Solve : public testing::Test {};

/// All of a line, or one row: the first that a work-item has, one between, the last of the line.
SCALAR_TEST(Solve, ASingularLineIsKeptToItself) {
  const Index count = 90, length = 61, broken = 40;
  const auto whole = closed(random_dominant<T>(LineSet::equal(count, length), 3.0));
  const auto y = random_vector<T>(count * length);
  const auto reference = solve_by_reference(whole, y);
  for (const Index begin : {0, 32, 37, 60}) {
    auto bands = closed(random_dominant<T>(LineSet::equal(count, length), 3.0));
    for (Index i = begin; i < (begin == 0 ? length : begin + 1); ++i) {
      const Index at = broken * length + i;
      bands.lower()[at] = bands.diag()[at] = bands.upper()[at] = 0;
    }
    on_every_device_for_gpus<T>([&](const DeviceInfo& info) {
      DeviceTraits traits = module().traits(info.index, sizeof(T) == sizeof(double), kForGpus);
      for (const Index partition : {0, 4}) {
        if (partition > 0) traits.group_items = std::min(traits.group_items, 8);
        auto x = solve_for_gpus(info.index, make_reduce_plan(count * length, partition, sizeof(T), traits), bands, y);
        EXPECT_FALSE(std::isfinite(x[broken * length + begin]));
        std::copy_n(reference.begin() + broken * length, length, x.begin() + broken * length);
        EXPECT_LE(relative_difference(x, reference), 16 * kEps<T>) << begin;
      }
    });
  }
}

SCALAR_TEST(Solve, NeverReadsTheOuterCouplings) {
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

SCALAR_TEST(Solve, FactorsThatTheHostMadeAreKeptOnce) {
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

SCALAR_TEST(Solve, RefusesPlansThatItHasNoKernelsFor) {
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
