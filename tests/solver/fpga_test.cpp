// SPDX-License-Identifier: BSD-2-Clause
// Kernels for FPGAs, on every device: which lines they take, in which blocks, and what the others get.
#include <string>
#include <vector>

#include "every_device.hpp"
#include "solver_fixture.hpp"

namespace oclspkt {
namespace {

template <typename T>
class ForFpgas : public test::SolverFixture<T> {
 protected:
  /// Call f(options) for every device, whose kernels for FPGAs are named.
  template <typename F>
  static void on_devices(const F& f) {
    test::with_every_device([&](Options options) {
      if (options.devices == "host") return;
      options.variant = "fpga";
      f(options);
    });
  }
  /// Set up, expect a part of the plan's shape, and small residuals.
  static Report expect_shape(const Options& options, const Bands<T>& bands, const std::string& shape) {
    Solver<T> solver(options);
    ForFpgas::set_up(solver, bands);
    EXPECT_NE(solver.report().shape.find(shape), std::string::npos)
        << solver.report().shape << " on " << solver.report().device.name << ": " << solver.report().why;
    EXPECT_LE(ForFpgas::backward_error(solver, bands), 20);
    return solver.report();
  }
  static constexpr bool kDouble = sizeof(T) == sizeof(double);
};

SCALAR_TEST(ForFpgas, StreamLinesWhoseTruncationDoesNotShow) {
  this->on_devices([&](const Options& options) {
    for (const double d : {10.0, 2.0, 1.2}) {
      const Report report = this->expect_shape(options, test::random_dominant<T>(LineSet::one(20'011), d),
                                               "blocks of 32 rows from both cuts, solved twice");
      EXPECT_EQ(report.method, Method::truncated_streamed);
      EXPECT_EQ(report.words_per_row, 5);
      EXPECT_LE(report.rounding, kRoundingLimit);
      EXPECT_FALSE(report.certificate_above_tolerance);
    }
    const Report symmetric =
        this->expect_shape(options, test::random_symmetric<T>(LineSet::equal(300, 61), 2), "solved twice, symmetric");
    EXPECT_EQ(symmetric.words_per_row, 4);
  });
}

SCALAR_TEST(ForFpgas, AreThoseOfDevicesOfThatType) {
  const Bands<T> bands = test::random_dominant<T>(LineSet::one(5'003), 3);
  this->on_devices([&](Options options) {
    const bool fpga = device_module(nullptr)->devices().at(std::stoul(options.devices)).type == DeviceType::fpga;
    options.variant = "default";
    Solver<T> solver = test::solver_for(bands, options);
    EXPECT_EQ(solver.report().shape.find("one work-item") != std::string::npos, fpga) << solver.report().shape;
    EXPECT_LE(this->backward_error(solver, bands), 20);
    options.variant = "lanes-halo";
    Solver<T> named = test::solver_for(bands, options);
    EXPECT_NE(named.report().device.name, "host") << named.report().device.why;
  });
}

SCALAR_TEST(ForFpgas, LengthenBlocksUntilTheCertificateHolds) {
  // An unknown of these lines decays by d from row to row, in one direction only.
  const auto one_sided = [](double d) { return test::constant<T>(LineSet::one(20'011), 0, d, -1); };
  const double d = this->kDouble ? 1.5 : 1.25;
  this->on_devices([&](Options options) {
    this->expect_shape(options, one_sided(2), "blocks of 32 rows");
    this->expect_shape(options, one_sided(d), "blocks of 64 rows");
    options.partition = 100;
    this->expect_shape(options, one_sided(d), "blocks of 128 rows");
  });
}

SCALAR_TEST(ForFpgas, AreNamedOneByOne) {
  this->on_devices([&](Options options) {
    const Bands<T> bands = test::random_dominant<T>(LineSet::one(5'003), 5);
    options.variant = "fpga-spktrunc";
    this->expect_shape(options, bands, "each half from its own cut");
    options.variant = "fpga-spkboth";
    this->expect_shape(options, bands, "32 rows from both cuts");
    options.variant = "fpga-spkjac";
    this->expect_shape(options, bands, "solved twice");
  });
}

SCALAR_TEST(ForFpgas, LeaveToExactKernelsWhatTruncationDoesNotHold) {
  this->on_devices([&](const Options& options) {
    for (const Bands<T>& bands :
         {test::constant<T>(LineSet::one(5'003), -1, 2, -1), test::diffusion<T>(LineSet::one(5'003), 1000),
          test::random_dominant<T>(LineSet::grid_axis(1, 20, 30, 3), 3),
          test::constant<T>(LineSet::grid_axis(2, 37, 3, 31), -1, 2, -1)}) {
      EXPECT_EQ(this->expect_shape(options, bands, "one work-item").method, Method::exact_factored);
    }
    // A line of many that decays too slowly.
    const LineSet lines = LineSet::equal(100, 60);
    Bands<T> bands = test::random_dominant<T>(lines, 3);
    test::replace_line(bands, 40, -1, 2, -1);
    const Report report = this->expect_shape(options, bands, "one work-item");
    ASSERT_EQ(report.groups.size(), 1U);
    EXPECT_EQ(report.groups.front().lines, 1);
  });
}

SCALAR_TEST(ForFpgas, ThatAreExactAreNamedOneByOne) {
  const Bands<T> bands = test::random_dominant<T>(LineSet::equal(70, 29), 1.5);
  this->on_devices([&](Options options) {
    options.variant = "fpga-tdma";
    EXPECT_EQ(this->expect_shape(options, bands, "one work-item, blocks of 32 rows").method, Method::exact_factored);
    options.variant = "fpga-batch";
    this->expect_shape(options, bands,
                       std::string(this->kDouble ? "64" : "32") + " lines in turn, kept in local memory");
  });
}

SCALAR_TEST(ForFpgas, ThatAreExactReadNoLowerCouplingsOfSymmetricMatrices) {
  this->on_devices([&](Options options) {
    options.method = MethodChoice::exact;
    for (const LineSet& lines : {LineSet::one(1000), LineSet::equal(70, 29), LineSet::grid_axis(1, 37, 31, 3)}) {
      Solver<T> solver = test::solver_for(test::random_symmetric<T>(lines, 1.2), options);
      EXPECT_EQ(solver.report().form, Form::symmetric);
      EXPECT_EQ(solver.report().words_per_row, lines.count() > 1 ? 4 : 8);
      this->set_up(solver, test::random_dominant<T>(lines, 1.2));
      EXPECT_EQ(solver.report().form, Form::general);
      EXPECT_EQ(solver.report().words_per_row, lines.count() > 1 ? 5 : 9);
    }
  });
}

SCALAR_TEST(ForFpgas, GiveWayToPivotingWhereRowsAreNotDominant) {
  this->on_devices([&](Options options) {
    for (const LineSet& lines : {LineSet::one(100), LineSet::equal(70, 38), LineSet::grid_axis(1, 37, 36, 3)}) {
      const Bands<T> weak = test::constant<T>(lines, 1, 0, 1);
      Solver<T> solver = test::solver_for(weak, options);
      EXPECT_EQ(solver.report().method, Method::pivot) << lines.describe();
      EXPECT_LE(this->backward_error(solver, weak), 20) << lines.describe();
      // Rows that grow, and diagonals that rounding loses: the host's factors tell how far that comes true.
      Bands<T> grows = test::constant<T>(lines, -1, 20, -1);
      for (Index l = 0; l < lines.count(); ++l) grows.diag()[lines.first(l) + 8 * lines.row_stride()] = T(0.01);
      Bands<T> columns = test::column_sums_zero<T>(lines, 0.1);
      for (Bands<T>* hard : {&grows, &columns}) {
        this->set_up(solver, *hard);
        EXPECT_EQ(solver.report().device.name, "host") << lines.describe();
        EXPECT_LE(this->backward_error(solver, *hard), 20) << lines.describe();
      }
    }
  });
}

SCALAR_TEST(ForFpgas, TakeRowsThatAreNotDominantIfTheyDoNotGrow) {
  this->on_devices([&](Options options) {
    for (const LineSet& lines : {LineSet::one(203), LineSet::equal(70, 38), LineSet::grid_axis(1, 37, 36, 3)}) {
      Solver<T> solver(options);
      // The Jacobian of u'' + u^2 on a fine grid, whose diagonals are a bit less than their couplings.
      const Bands<T> weak = test::constant<T>(lines, -1, T(2 - 1e-6), -1);
      this->set_up(solver, weak);
      EXPECT_NE(solver.report().device.name, "host") << lines.describe() << ": " << explain(solver.report()).front();
      EXPECT_EQ(solver.report().method, Method::exact_factored);
      EXPECT_LT(solver.report().dominance, 1);
      EXPECT_LE(solver.report().rounding, kRoundingLimit);
      EXPECT_LE(this->backward_error(solver, weak), 20) << lines.describe();
    }
  });
}

SCALAR_TEST(ForFpgas, TakeNoSingularLine) {
  this->on_devices([&](Options options) {
    for (const LineSet& lines : {LineSet::one(100), LineSet::equal(70, 38), LineSet::grid_axis(1, 37, 36, 3)}) {
      Bands<T> bands = test::constant<T>(lines, -1, 2, -1);
      for (Index l = 0; l < lines.count(); ++l) {
        bands.diag()[lines.first(l)] = 1;
        bands.diag()[lines.first(l) + (lines.length(l) - 1) * lines.row_stride()] = 1;
      }
      Solver<T> solver(options);
      EXPECT_THROW(this->set_up(solver, bands), Breakdown) << lines.describe();
    }
  });
}

SCALAR_TEST(ForFpgas, SayWhyTheHostSolvesWhatTheMemoryDoesNotHold) {
  this->on_devices([&](Options options) {
    options.device_memory = 100'000;
    for (const MethodChoice method : {MethodChoice::automatic, MethodChoice::exact, MethodChoice::exact_factored}) {
      options.method = method;
      const auto expect = [&](const LineSet& lines, const char* why) {
        const Bands<T> bands = test::random_dominant<T>(lines, 1.5);
        Solver<T> solver = test::solver_for(bands, options);
        EXPECT_EQ(solver.report().device.name, "host");
        EXPECT_NE(solver.report().device.why.find(why), std::string::npos) << solver.report().device.why;
        EXPECT_LE(this->backward_error(solver, bands), 20);
      };
      if (method != MethodChoice::automatic) expect(LineSet::one(100'003), "does not hold all rows at once");
      expect(LineSet::grid_axis(1, 300, 300, 2), "does not hold a block of 90000 places at once");
    }
  });
}

}  // namespace
}  // namespace oclspkt
