// SPDX-License-Identifier: BSD-2-Clause
// Kernels for GPUs that are NaN-safe on demand, by a queue of the caller: nobody looks at what they met.
#include "enqueued.hpp"
#include "geometry.hpp"
#include "schemes/tiles/tile_plans.hpp"

namespace oclspkt::test {
namespace {

template <typename T>
class OnDemand : public testing::Test {};
using Scalars = testing::Types<float, double>;
TYPED_TEST_SUITE(OnDemand, Scalars);

// A line whose rows all couple is solved once. A single coupling of 0 makes it wait for the repetition.
TYPED_TEST(OnDemand, RunsOfOneLineAreRepeatedWhereACouplingIsZero) {
  using T = TypeParam;
  constexpr Index kRows = 20'000;
  constexpr std::size_t kCut = 12'000;  // the row that does not couple to the one above it, or below it
  on_every_device_for_gpus<T>([&](const DeviceInfo& info) {
    const DeviceTraits traits = module().traits(info.index, sizeof(T) == sizeof(double), kForGpus);
    const Plan plan = make_run_plan(kRows, 64, 8, sizeof(T), traits);
    const auto make = [&] { return closed(random_dominant<T>(LineSet::one(kRows), 40)); };
    const auto healthy = random_vector<T>(kRows);
    const auto solve = [&](const Bands<T>& bands, std::size_t broken) {
      auto poisoned = healthy;
      poisoned[broken] = std::numeric_limits<T>::quiet_NaN();
      const auto solver = make_solver<T>(info.index, kOnDemand);
      solver->set_up(plan, bands);
      const auto x = Enqueued<T>(*solver, kRows).solve({healthy, poisoned, healthy});
      EXPECT_TRUE(std::isnan(x[1][broken]));
      EXPECT_TRUE(same_bits(x[2], x[0])) << "what the apply before met still shows";
      EXPECT_LE(relative_difference(x[0], solve_for_gpus(info.index, plan, bands, healthy)), 16 * kEps<T>);
      return x[1];
    };
    EXPECT_TRUE(std::isnan(solve(make(), kCut - 1)[kCut]));
    for (const bool above : {true, false}) {
      Bands<T> cut = make();
      (above ? cut.lower() : cut.upper())[kCut] = 0;
      const auto x = solve(cut, above ? kCut - 1 : kCut + 1);
      EXPECT_TRUE(std::isfinite(x[kCut])) << "a row that couples with none of NaN";
    }
  });
}

}  // namespace
}  // namespace oclspkt::test
