// SPDX-License-Identifier: BSD-2-Clause
// Lines side by side, and several right-hand sides in one call, on every device and the host.

#include <algorithm>

#include "device.hpp"
#include "every_device.hpp"
#include "oclspkt/error.hpp"
#include "solver_fixture.hpp"

namespace oclspkt {
namespace {

template <typename T>
class StridedLines : public test::SolverFixture<T> {};

SCALAR_TEST(StridedLines, AreSolvedWhereTheUserSays) {
  test::with_every_device([&](const Options& options) {
    for (const LineSet& lines : {LineSet::grid_axis(1, 40, 30, 20), LineSet::grid_axis(2, 5, 9, 20)}) {
      for (const bool shared : {true, false}) {
        const Bands<T> bands = shared ? test::constant<T>(lines, -1, 2, -1) : test::row_sums_zero<T>(lines);
        Solver<T> solver = test::solver_for(bands, options);
        const Report& report = solver.report();
        EXPECT_EQ(report.method, Method::exact_factored);
        EXPECT_EQ(report.form, shared ? Form::shared : Form::general);
        EXPECT_DOUBLE_EQ(report.words_per_row, shared ? 2 : 5);
        EXPECT_EQ(report.device.type == "host", options.devices == "host") << report.device.why;
        EXPECT_LE(this->backward_error(solver, bands), 20);
        const std::vector<T> y = test::random_vector<T>(lines.extent());
        std::vector<T> x(y.size());
        solver.apply_transpose(y.data(), x.data());
        EXPECT_EQ(solver.transposed().report().form, report.form);
      }
    }
  });
}

SCALAR_TEST(StridedLines, ThatNoStoredFactorsSolveLeaveTheOthersOnTheDevice) {
  test::with_every_device([&](const Options& options) {
    Solver<T> solver(options);
    Bands<T> bands = test::constant<T>(LineSet::grid_axis(1, 40, 30, 3), -1, 4, -1);
    test::replace_line(bands, 77, 1, 0, 1);  // a zero diagonal, 30 rows: not singular
    this->set_up(solver, bands);
    EXPECT_EQ(solver.report().method, Method::exact_factored);
    EXPECT_EQ(solver.report().form, options.devices == "host" ? Form::general : Form::symmetric) << "no longer shared";
    ASSERT_EQ(solver.report().groups.size(), 1u);
    EXPECT_EQ(solver.report().groups[0].first_line, 77);
    EXPECT_EQ(solver.report().groups[0].method, Method::pivot);
    EXPECT_EQ(solver.report().device.type == "host", options.devices == "host");
    EXPECT_LE(this->backward_error(solver, bands), 100);
  });
}

SCALAR_TEST(StridedLines, GoToTheHostWhereADeviceHasNoMemoryForABlock) {
  test::with_every_true_device([&](Options options) {
    options.use.device_memory = 100'000;
    const Bands<T> bands = test::diffusion<T>(LineSet::grid_axis(2, 100, 100, 10), 1);
    Solver<T> solver = test::solver_for(bands, options);
    EXPECT_EQ(solver.report().device.name, "host");
    EXPECT_NE(solver.report().device.why.find("does not hold a block"), std::string::npos)
        << solver.report().device.why;
    EXPECT_TRUE(solver.report().degraded.empty());
    EXPECT_LE(this->backward_error(solver, bands), 20);
  });
}

/// The candidate of a method, or null.
const Candidate* candidate_of(const Report& report, Method method) {
  for (const Candidate& c : report.candidates) {
    if (c.method == method) return &c;
  }
  return nullptr;
}

SCALAR_TEST(StridedLines, AreCutIntoSegmentsWhereTheUserNamesTruncation) {
  test::with_every_true_device([&](Options options) {
    for (const LineSet& lines : {LineSet::grid_axis(1, 8, 3000, 1), LineSet::grid_axis(2, 5, 4, 700)}) {
      for (const MethodChoice method : {MethodChoice::truncated, MethodChoice::truncated_halo}) {
        options.method = method;
        options.partition = method == MethodChoice::truncated ? 250 : 0;
        const Bands<T> bands = test::random_dominant<T>(lines, 3);
        Solver<T> solver = test::solver_for(bands, options);
        const Report& report = solver.report();
        EXPECT_EQ(report.method, Method::truncated_halo);
        EXPECT_NE(report.device.type, "host") << report.device.why;
        EXPECT_LE(report.certificate, report.tolerance);
        EXPECT_FALSE(report.certificate_above_tolerance);
        EXPECT_GT(report.partition.halo, 0);
        if (options.partition > 0) {
          EXPECT_EQ(report.partition.rows, 250);
          EXPECT_EQ(report.partition.count, lines.count() * (lines.length(0) == 3000 ? 12 : 3));
        }
        EXPECT_LE(this->backward_error(solver, bands), 20);
      }
    }
  });
}

SCALAR_TEST(StridedLines, AreNotCutWithoutStrictDominance) {
  test::with_every_device([&](Options options) {
    const Bands<T> bands = test::constant<T>(LineSet::grid_axis(1, 3, 5000, 1), -1, 2, -1);
    Solver<T> solver = test::solver_for(bands, options);
    EXPECT_EQ(solver.report().method, Method::exact_factored);
    if (options.devices == "host") return;  // solves exactly whatever is named
    options.method = MethodChoice::truncated;
    Solver<T> named(options);
    test::expect_refusal<Breakdown>([&] { this->set_up(named, bands); }, "row dominance 1.0000");
  });
}

SCALAR_TEST(StridedLines, AreCutUnaskedOnlyWhereTheyAreTooFewForTheCores) {
  test::with_every_true_device([&](const Options& options) {
    const Bands<T> many = test::random_dominant<T>(LineSet::grid_axis(1, 3000, 200, 1), 3);
    Solver<T> solver = test::solver_for(many, options);
    EXPECT_EQ(solver.report().method, Method::exact_factored);
    EXPECT_EQ(candidate_of(solver.report(), Method::truncated_halo), nullptr) << "it was not worth a look";

    const Bands<T> few = test::random_dominant<T>(LineSet::grid_axis(1, 8, 30'000, 1), 3);
    this->set_up(solver, few);
    // They are one bundle, which keeps one core busy.
    const auto& devices = open_device_module()->devices();
    const auto used = std::find_if(devices.begin(), devices.end(), [&](const DeviceInfo& d) {
      return d.name == solver.report().device.name && d.platform == solver.report().device.platform;
    });
    ASSERT_NE(used, devices.end());
    EXPECT_EQ(solver.report().method, used->cores > 1 ? Method::truncated_halo : Method::exact_factored);
    EXPECT_EQ(candidate_of(solver.report(), Method::truncated_halo)->taken, used->cores > 1);
    EXPECT_LE(this->backward_error(solver, few), 20);
  });
}

SCALAR_TEST(StridedLines, ThatAreNotNeighboursAreSolvedByTheHostWhateverIsNamed) {
  test::with_every_device([&](Options options) {
    options.method = MethodChoice::truncated_halo;
    Solver<T> solver(options);
    const Bands<T> apart = test::diffusion<T>(LineSet::strided(50, 40, 20, 2), 1);  // neighbours two places apart
    this->set_up(solver, apart);
    EXPECT_EQ(solver.report().device.name, "host");
    EXPECT_EQ(solver.report().method, Method::exact_factored) << solver.report().why;
    EXPECT_LE(this->backward_error(solver, apart), 20);
  });
}

// Several right-hand sides in one call, against one call for each.

template <typename T>
class SeveralRightHandSides : public test::SolverFixture<T> {
 protected:
  /// Columns of y, and what apply() makes of each; the places between columns are -7 and have to stay.
  struct Columns {
    Index count, stride;
    std::vector<T> y, expected;
    Columns(Solver<T>& solver, Index extent, Index number, Index gap) : count(number), stride(extent + gap) {
      y.assign(static_cast<std::size_t>(count * stride), T(-7));
      expected = y;
      for (Index k = 0; k < count; ++k) {
        for (Index i = 0; i < extent; ++i) y[static_cast<std::size_t>(k * stride + i)] = std::cos(T(i % 997 + 3 * k));
        solver.apply(y.data() + k * stride, expected.data() + k * stride);
      }
    }
  };

  static void expect_the_bits_of_each(Solver<T>& solver, Index extent) {
    for (const Index count : {1, 3, 4, 9}) {
      const Columns columns(solver, extent, count, count == 1 ? 0 : 5);
      std::vector<T> x(columns.y.size(), T(-7));
      const std::int64_t applies = solver.times().applies;
      solver.apply(columns.y.data(), columns.stride, x.data(), columns.stride, count);
      EXPECT_EQ(x, columns.expected) << count << " columns";
      EXPECT_EQ(solver.times().applies - applies, count);
    }
  }
};

SCALAR_TEST(SeveralRightHandSides, HaveTheBitsOfOneAfterTheOther) {
  test::with_every_device([&](const Options& options) {
    for (const LineSet& lines : {LineSet::one(1), LineSet::one(5000), LineSet::equal(70, 33),
                                 LineSet::unequal({0, 7, 7, 400, 401}), LineSet::grid_axis(1, 40, 30, 3)}) {
      SCOPED_TRACE(lines.describe());
      Solver<T> solver(options);
      for (const bool alike : {false, true}) {
        this->set_up(solver, alike ? test::constant<T>(lines, -1, 3, -1) : test::random_dominant<T>(lines, 1.5));
        this->expect_the_bits_of_each(solver, lines.extent());
      }
    }
  });
}

SCALAR_TEST(SeveralRightHandSides, ReachLinesThatAreSolvedSeparately) {
  test::with_every_device([&](const Options& options) {
    Solver<T> solver(options);
    Bands<T> bands = test::constant<T>(LineSet::equal(50, 20), -1, 4, -1);
    std::fill_n(bands.diag() + 140, 20, T(0));
    this->set_up(solver, bands);
    ASSERT_EQ(solver.report().groups.size(), 1u);
    this->expect_the_bits_of_each(solver, 1000);
  });
}

SCALAR_TEST(SeveralRightHandSides, AreRefusedWhereTheyDoNotFit) {
  Solver<T> solver({.devices = "host"});
  std::vector<T> y(300, T(1)), x(300, T(2));
  test::expect_refusal([&] { solver.apply(y.data(), 100, x.data(), 100, 3); }, "set_up");
  this->set_up(solver, test::constant<T>(LineSet::one(100), -1, 4, -1));
  test::expect_refusal([&] { solver.apply(y.data(), 100, x.data(), 100, -1); }, "-1 columns");
  test::expect_refusal([&] { solver.apply(y.data(), 99, x.data(), 100, 3); }, "99 places apart");
  test::expect_refusal([&] { solver.apply(y.data(), 100, x.data(), -100, 3); }, "-100 places apart");
  test::expect_refusal([&] { solver.apply(y.data(), 100, y.data() + 250, 100, 3); }, "overlap");
  test::expect_refusal([&] { solver.apply(y.data(), 100, nullptr, 100, 3); }, "null");
  EXPECT_EQ(x, std::vector<T>(300, T(2)));
  solver.apply(nullptr, 0, nullptr, 0, 0);
  solver.apply(y.data(), 0, y.data() + 100, 0, 1);  // the stride of one column is not used
  EXPECT_NE(y[100], T(1));
}

}  // namespace
}  // namespace oclspkt
