// SPDX-License-Identifier: BSD-2-Clause
// A visit whose solvers repeat launches that met non-finite numbers, as those of large vectors do.
#include "visit.hpp"

#include "devices.hpp"

namespace oclspkt::test {
namespace {

/// Lines laid end to end, one of which gets right-hand sides with a number that is none: the others are right all the
/// same, and what such a solve met does not make the next one wrong.
template <typename T>
class OneBrokenLine {
 public:
  explicit OneBrokenLine(double dominance)
      : bands(closed(random_dominant<T>(LineSet::equal(kCount, kLength), dominance))),
        healthy_(random_vector<T>(kCount * kLength)),
        reference_(solve_by_reference(bands, healthy_)) {}

  /// @param solve  gives x of y
  /// @param place  row of the line whose number is none
  template <typename F>
  void expect_others_right(const F& solve, Index place = 30) const {
    const auto first = reference_.begin() + kBroken * kLength;
    for (const T poison : {std::numeric_limits<T>::quiet_NaN(), T(0), std::numeric_limits<T>::infinity()}) {
      auto y = healthy_;
      const auto at = static_cast<std::size_t>(kBroken * kLength + place);
      if (poison != 0) y[at] = poison;
      std::vector<T> x = solve(y);
      EXPECT_EQ(std::isfinite(x[at]), poison == 0);
      std::copy_n(first, kLength, x.begin() + kBroken * kLength);
      EXPECT_LE(relative_difference(x, reference_), 16 * kEps<T>) << poison << " in row " << place;
    }
  }

  static constexpr Index kCount = 90, kLength = 61, kBroken = 40;
  Bands<T> bands;

 private:
  std::vector<T> healthy_, reference_;
};

template <typename T>
class VisitOfLargeVectors : public ::testing::Test {};
using Scalars = ::testing::Types<float, double>;
TYPED_TEST_SUITE(VisitOfLargeVectors, Scalars);

TYPED_TEST(VisitOfLargeVectors, KeepsNonFiniteNumbersInTheirLines) {
  using T = TypeParam;
  const OneBrokenLine<T> first(4), second(5);
  const Index n = first.bands.lines().extent();
  std::vector<T> between(static_cast<std::size_t>(n));
  for (std::size_t i = 0; i < between.size(); ++i) between[i] = T(0.5) + T(i % 3);
  DeviceSettings settings = kOnDemand;
  settings.copy_vectors = true;
  on_every_device_for_gpus<T>([&](const DeviceInfo& info) {
    const Plan plan = plan_for<T>(info.index, n, {.halo = 60}, settings);
    const auto a = make_solver<T>(info.index, settings), b = make_solver<T>(info.index, settings);
    a->set_up(plan, first.bands);
    b->set_up(plan, second.bands);
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
      y[40 * 61 + 30] = poison;
      by_each(y);
      by_visit(y);
      Index wrong = 0, broken = 0;
      for (std::size_t i = 0; i < x.size(); ++i) {
        wrong += !(x[i] == expected[i] || (std::isnan(x[i]) && std::isnan(expected[i])));
        broken += !std::isfinite(x[i]);
      }
      EXPECT_EQ(wrong, 0) << poison;
      EXPECT_EQ(broken > 0, !std::isfinite(poison));
      EXPECT_LE(broken, 61) << "a number spread to other lines";
    }
  });
}

}  // namespace
}  // namespace oclspkt::test
