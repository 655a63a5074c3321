// SPDX-License-Identifier: BSD-2-Clause
// Kernels for GPUs that are NaN-safe on demand, as they are for large vectors: by a queue of the caller, where nobody
// looks at what they met, and in a visit.
#include "enqueued.hpp"
#include "geometry.hpp"
#include "schemes/tiles/tile_plans.hpp"
#include "visit.hpp"

namespace oclspkt::test {
namespace {

template <typename T>
class OnDemand : public testing::Test {};

// A line whose rows all couple is solved once. A single coupling of 0 makes it wait for the repetition.
SCALAR_TEST(OnDemand, RunsOfOneLineAreRepeatedWhereACouplingIsZero) {
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

/// A visit repeats such launches, too, and what one of its solvers met does not make the next one wrong.
template <typename T>
class VisitOfLargeVectors : public ::testing::Test {};

SCALAR_TEST(VisitOfLargeVectors, KeepsNonFiniteNumbersInTheirLines) {
  constexpr Index kCount = 90, kLength = 61, kBroken = 40;
  const LineSet lines = LineSet::equal(kCount, kLength);
  const Bands<T> first = closed(random_dominant<T>(lines, 4)), second = closed(random_dominant<T>(lines, 5));
  const Index n = lines.extent();
  std::vector<T> between(static_cast<std::size_t>(n));
  for (std::size_t i = 0; i < between.size(); ++i) between[i] = T(0.5) + T(i % 3);
  DeviceSettings settings = kOnDemand;
  settings.use.transfer = Transfer::copy;
  on_every_device_for_gpus<T>([&](const DeviceInfo& info) {
    const Plan plan = plan_for<T>(info.index, n, {.halo = 60}, settings);
    const auto a = make_solver<T>(info.index, settings), b = make_solver<T>(info.index, settings);
    a->set_up(plan, first);
    b->set_up(plan, second);
    const auto visit = a->visit({.solvers = {a.get(), b.get(), a.get()}, .sum = false, .between = between.data()});
    ASSERT_NE(visit, nullptr);
    std::vector<T> x(static_cast<std::size_t>(n)), expected = x;
    const auto by_visit = [&](const std::vector<T>& y) {
      for (std::size_t step = 0; step < 3; ++step) visit->take(step, y.data(), x.data());
      return x;
    };
    const auto by_each = [&](std::vector<T> y) {
      for (DeviceSolver<T>* solver : {a.get(), b.get(), a.get()}) {
        solver->apply(y.data(), expected.data());
        for (std::size_t i = 0; i < y.size(); ++i) y[i] = expected[i] * between[i];
      }
      return expected;
    };
    for (const T poison : {T(1), std::numeric_limits<T>::quiet_NaN(), T(2), std::numeric_limits<T>::infinity()}) {
      std::vector<T> y = random_vector<T>(n);
      y[kBroken * kLength + 30] = poison;
      by_each(y);
      by_visit(y);
      Index wrong = 0, broken = 0;
      for (std::size_t i = 0; i < x.size(); ++i) {
        wrong += !(x[i] == expected[i] || (std::isnan(x[i]) && std::isnan(expected[i])));
        broken += !std::isfinite(x[i]);
      }
      EXPECT_EQ(wrong, 0) << poison;
      EXPECT_EQ(broken > 0, !std::isfinite(poison));
      EXPECT_LE(broken, kLength) << "a number spread to other lines";
    }
  });
}

}  // namespace
}  // namespace oclspkt::test
