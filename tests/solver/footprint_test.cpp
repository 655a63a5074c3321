// SPDX-License-Identifier: BSD-2-Clause
// An apply allocates nothing, compiles nothing and keeps nothing, however many there are and whatever vectors they
// take.
#include "footprint.hpp"

#include <cfloat>

#include "every_device.hpp"
#include "rotating.hpp"
#include "solver_fixture.hpp"

namespace oclspkt {
namespace {

template <typename T>
class Footprints : public test::SolverFixture<T> {
 protected:
  struct Case {
    const char* name;
    LineSet lines;
    double dominance;
    MethodChoice method;
    int applies = 1000;
    Precision precision = Precision::same;
  };

  static std::vector<Case> cases() {
    const LineSet one = LineSet::one(5003), beside = LineSet::grid_axis(1, 30, 40, 4);
    return {{"one line, truncated", one, 3, MethodChoice::truncated_halo},
            {"one line, two passes", one, 1, MethodChoice::exact_twopass},
            {"one line, stored factors", one, 1, MethodChoice::exact_factored},
            {"lines end to end", LineSet::equal(50, 101), 3, MethodChoice::automatic, 10'000},
            {"one line, narrow", one, 3, MethodChoice::automatic, 1000, Precision::narrow},
            {"lines side by side, stored factors", beside, 1, MethodChoice::exact_factored},
            {"lines side by side, truncated", beside, 3, MethodChoice::truncated_halo}};
  }

  static void expect_steady(Options options, const Case& c, int applies) {
    SCOPED_TRACE(c.name);
    options.precision = c.precision;
    const Bands<T> bands = test::random_dominant<T>(c.lines, c.dominance);
    Solver<T> solver = test::solver_for(bands, options);
    test::RotatingVectors<T> vectors(c.lines.extent());
    const auto apply = [&](int times) {
      for (int i = 0; i < times; ++i) vectors.next([&](const T* y, T* x) { solver.apply(y, x); });
      return test::footprint();
    };
    apply(10);
    ::testing::internal::CaptureStdout();
    ::testing::internal::CaptureStderr();
    const test::Footprint early = apply(0), late = apply(applies);
    EXPECT_EQ(::testing::internal::GetCapturedStderr() + ::testing::internal::GetCapturedStdout(), "");
    EXPECT_EQ(late, early);
    const double rounding = c.precision == Precision::narrow ? FLT_EPSILON : std::numeric_limits<T>::epsilon();
    EXPECT_LE(test::backward_error(solver, bands) * std::numeric_limits<T>::epsilon(), 100 * rounding);
  }
};

SCALAR_TEST(Footprints, AreTheSameAfterTenAppliesAndAfterManyThousand) {
  test::with_every_device([&](Options options) {
    const std::int64_t before = test::buffers_made();
    for (const auto& c : this->cases()) {
      options.method = c.method;
      // Thousands on the first device and on the host: what would grow is ours, and counted one by one.
      this->expect_steady(options, c, options.devices == "0" || options.devices == "host" ? c.applies : 200);
    }
    EXPECT_EQ(test::buffers_made() > before, options.devices != "host") << "what is counted is not what is called";
  });
}

SCALAR_TEST(Footprints, AreTheSameForDevicesThatCopy) {
  test::with_every_true_device([&](Options options) {
    options.use.transfer = Transfer::copy;
    for (const auto& c : this->cases()) {
      options.method = c.method;
      this->expect_steady(options, c, 200);
    }
  });
}

TEST(FootprintsOf, AllocationsAreSeen) {
  const test::Footprint before = test::footprint();
  Solver<double> solver({.devices = "host"});
  const std::vector<double> ones(100, 1.0), fours(100, 4.0);
  solver.set_up(LineSet::one(100), ones.data(), fours.data(), ones.data());
  EXPECT_GT(test::footprint().allocations, before.allocations + 3) << "bands and factors, at least";
}

}  // namespace
}  // namespace oclspkt
