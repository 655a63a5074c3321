// SPDX-License-Identifier: BSD-2-Clause
// Lines side by side through the public solver, on every device and the host.
#include <gtest/gtest.h>

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
        EXPECT_EQ(solver.transpose_report().form, report.form);
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
  test::with_every_device([&](Options options) {
    if (options.devices == "host") return;
    options.device_memory = 100'000;
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
  test::with_every_device([&](Options options) {
    if (options.devices == "host") return;  // truncates nothing
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
  test::with_every_device([&](const Options& options) {
    if (options.devices == "host") return;
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

}  // namespace
}  // namespace oclspkt
