// SPDX-License-Identifier: BSD-2-Clause
// Kernels by variant: those made for GPUs are chosen, hold what auto promises, and give way where they do not.

#include "backward_error.hpp"
#include "every_device.hpp"
#include "oclspkt/error.hpp"
#include "oclspkt/solver.hpp"
#include "solver_fixture.hpp"

namespace oclspkt {
namespace {

template <typename T>
class Variants : public ::testing::Test {
 protected:
  /// Solve, check the backward error, and give the report.
  static Report solve(const Options& options, Bands<T> bands) {
    Solver<T> solver = test::solver_for(bands, options);
    const std::vector<T> y = test::random_vector<T>(bands.lines().extent()), x = test::answer(solver, y);
    bands.close_lines();
    EXPECT_LE(normwise_backward_error(bands.lines(), bands.view(), x.data(), y.data()),
              10 * std::numeric_limits<T>::epsilon());
    return solver.report();
  }
};

SCALAR_TEST(Variants, ForGpusSolveByWorkGroups) {
  test::with_every_device_for_gpus<T>("gpu", [&](Options options) {
    const auto expect = [&](Method method, Bands<T> bands) {
      const Report report = this->solve(options, std::move(bands));
      ASSERT_FALSE(report.candidates.empty());
      std::string judged;
      for (const Candidate& c : report.candidates) judged += std::string(name(c.method)) + ": " + c.why + "\n";
      EXPECT_EQ(report.method, method) << judged;
      EXPECT_NE(report.candidates.back().shape.find("work-groups of"), std::string::npos)
          << report.candidates.back().shape;
    };
    // A short halo is as fast as memory.
    for (const double d : {3.0, 1.2}) {
      expect(Method::truncated_halo, test::random_dominant<T>(LineSet::one(20'011), d));
    }
    expect(Method::truncated_halo, test::diffusion<T>(LineSet::one(20'011), 10));
    expect(Method::truncated_streamed, test::diffusion<T>(LineSet::one(20'011), 1000));
    // Whole lines are as far as anything reaches, whatever their dominance.
    expect(Method::truncated_halo, test::random_dominant<T>(LineSet::equal(400, 61), 3));
    expect(Method::truncated_halo, test::diffusion<T>(LineSet::equal(200, 100), 1e6));
    expect(Method::truncated_halo, test::diffusion<T>(LineSet::equal(40, 500), 1e6));
    // What decays too slowly for any tile, and what is not dominant.
    expect(Method::exact_twopass, test::diffusion<T>(LineSet::one(200'011), 1e6));
    expect(Method::exact_twopass, test::constant<T>(LineSet::one(20'011), -1, 2, -1));
    // Sums of rows that are 0 but for rounding: forgiving that would change the solution, and the kernels do.
    EXPECT_EQ(this->solve(options, test::row_sums_zero<T>(LineSet::one(20'011))).device.name, "host");
    EXPECT_TRUE(this->solve(options, test::random_dominant<T>(LineSet::grid_axis(1, 40, 50, 3), 3)).ready);
    options.method = MethodChoice::truncated_halo;
    for (const double d : {3.0, 1.2, 1.05}) {
      expect(Method::truncated_halo, test::random_dominant<T>(LineSet::one(20'011), d));
    }
    options.method = MethodChoice::exact_twopass;
    for (const double d : {3.0, 1.001}) {
      expect(Method::exact_twopass, test::random_dominant<T>(LineSet::one(20'011), d));
    }
    expect(Method::exact_twopass, test::diffusion<T>(LineSet::equal(40, 500), 1e5));
    options.method = MethodChoice::exact;
    expect(Method::exact_twopass, test::random_dominant<T>(LineSet::one(20'011), 3));
  });
}

SCALAR_TEST(Variants, ForGpusLeaveFactorsOfLinesEndToEndToTheHost) {
  test::with_every_device_for_gpus<T>("gpu", [&](Options options) {
    options.method = MethodChoice::exact_factored;
    const Report report = this->solve(options, test::random_dominant<T>(LineSet::equal(40, 500), 3));
    EXPECT_EQ(report.method, Method::exact_factored);
    EXPECT_EQ(report.device.name, "host");
    EXPECT_NE(report.device.why.find("use method exact"), std::string::npos) << report.device.why;
    ASSERT_EQ(report.candidates.size(), 1U);
    EXPECT_TRUE(report.candidates.front().taken);
  });
}

/// Random couplings of few bits, so that no sum is rounded.
template <typename T>
Bands<T> row_sums_exactly_zero(const LineSet& lines) {
  std::mt19937 generator(20261124);
  std::uniform_int_distribution<int> coupling(1, 4096);
  return test::fill<T>(lines, [&](Index) {
    const double a = coupling(generator) / 4096.0, c = coupling(generator) / 4096.0;
    return test::Row{-a, a + c, -c};
  });
}

SCALAR_TEST(Variants, ForGpusSolveLinesSideBySideByTiles) {
  test::with_every_device_for_gpus<T>("gpu", [&](Options options) {
    const LineSet lines = LineSet::grid_axis(1, 19, 700, 2), planes = LineSet::grid_axis(2, 7, 5, 300);
    const auto expect = [&](Method method, Form form, Bands<T> bands) {
      const Report report = this->solve(options, std::move(bands));
      EXPECT_EQ(report.method, method) << report.why;
      EXPECT_EQ(report.form, form);
      EXPECT_NE(report.shape.find("factors, tiles of"), std::string::npos) << report.shape;
    };
    for (const LineSet& set : {lines, planes, LineSet::grid_axis(1, 40, 50, 3)}) {
      expect(Method::truncated_streamed, Form::general, test::random_dominant<T>(set, 1.5));
      expect(Method::truncated_streamed, Form::shared, test::diffusion<T>(set, 10));
    }
    // What no tile lets decay is not truncated; short lines are held whole.
    expect(Method::exact_factored, Form::shared, test::diffusion<T>(lines, 1e4));
    expect(Method::exact_factored, Form::general, row_sums_exactly_zero<T>(lines));
    // Forgiving what rounding makes of such sums would change the solution, and what is not forgiven has no bound here.
    EXPECT_EQ(this->solve(options, test::row_sums_zero<T>(lines)).device.name, "host");
    expect(Method::truncated_streamed, Form::shared, test::diffusion<T>(LineSet::grid_axis(1, 40, 50, 3), 1e4));
    options.method = MethodChoice::truncated;
    expect(Method::truncated_streamed, Form::general, test::random_dominant<T>(planes, 1.5));
  });
}

/// Implicit diffusion whose coefficients differ from row to row and line to line by three times.
template <typename T>
Bands<T> uneven_diffusion(const LineSet& lines, double lambda, bool symmetric) {
  const std::vector<T> random = test::random_vector<T>(2 * lines.extent() + lines.row_stride());
  const auto coefficient = [&](Index at) {
    return static_cast<T>(lambda * (1 + 0.5 * std::tanh(static_cast<double>(random[static_cast<std::size_t>(at)]))));
  };
  Bands<T> bands(lines);
  for (Index at = 0; at < lines.extent(); ++at) {
    bands.lower()[at] = -coefficient(at);
    bands.upper()[at] = -coefficient(symmetric ? at + lines.row_stride() : lines.extent() + at);
    bands.diag()[at] = 1 - bands.lower()[at] - bands.upper()[at];
  }
  return bands;
}

SCALAR_TEST(Variants, ForGpusCutFewLongLinesIntoSegments) {
  test::with_every_device_for_gpus<T>("gpu", [&](Options options) {
    const auto expect = [&](bool cut, Form form, Bands<T> bands) {
      const Report report = this->solve(options, std::move(bands));
      EXPECT_EQ(report.method, Method::exact_factored) << report.why;
      EXPECT_EQ(report.form, form);
      EXPECT_EQ(report.shape.find("segments a line") != std::string::npos, cut) << report.shape;
    };
    for (const LineSet& few : {LineSet::grid_axis(1, 5, 3001, 1), LineSet::grid_axis(2, 3, 1, 2000)}) {
      expect(true, Form::general, uneven_diffusion<T>(few, 1e5, false));
      expect(true, Form::symmetric, uneven_diffusion<T>(few, 1e5, true));
      expect(true, Form::shared, test::diffusion<T>(few, 1e5));
    }
    expect(false, Form::symmetric, uneven_diffusion<T>(LineSet::grid_axis(1, 5, 600, 1), 1e5, true));
    expect(false, Form::general, uneven_diffusion<T>(LineSet::grid_axis(1, 5, 600, 1), 1e5, false));
  });
}

SCALAR_TEST(Variants, ForGpusSolveAWeakLineBesideOthersByFallback) {
  test::with_every_device_for_gpus<T>("gpu", [&](Options options) {
    const LineSet lines = LineSet::grid_axis(1, 40, 600, 1);
    auto bands = test::random_dominant<T>(lines, 3);
    test::replace_line(bands, 17, -1, 2, -1);
    const Report report = this->solve(options, std::move(bands));
    EXPECT_EQ(report.method, Method::truncated_streamed) << report.why;
    EXPECT_EQ(report.groups.size(), 1U);
  });
}

SCALAR_TEST(Variants, OfThePaperSolveAsItDoesWhereItsCertificateHolds) {
  test::with_every_device_for_gpus<T>("paper-gpu", [&](Options options) {
    const auto expect = [&](bool paper, Method method, Bands<T> bands) {
      const Report report = this->solve(options, std::move(bands));
      ASSERT_FALSE(report.candidates.empty());
      EXPECT_EQ(report.method, method) << report.why << "; " << report.candidates.front().why;
      EXPECT_EQ(report.shape.find("variant paper") != std::string::npos, paper) << report.shape;
      EXPECT_EQ(report.candidates.front().method, Method::truncated_halo) << "it is tried first";
      if (paper) {
        EXPECT_GE(report.words_per_row, 20);
        EXPECT_EQ(report.partition.halo, 0);
      }
    };
    for (const double d : {3.0, 1.2}) {
      expect(true, Method::truncated_halo, test::random_dominant<T>(LineSet::one(20'011), d));
    }
    for (const Index n : {1, 2, 3, 31, 100}) {
      expect(true, Method::truncated_halo, test::random_dominant<T>(LineSet::one(n), 3));
    }
    expect(true, Method::truncated_halo, test::random_dominant<T>(LineSet::equal(400, 61), 3));
    expect(true, Method::truncated_halo, test::diffusion<T>(LineSet::one(20'011), 1));
    // What truncation or rounding would show in, and what is not dominant, goes to the kernels for GPUs.
    expect(false, Method::truncated_streamed, test::diffusion<T>(LineSet::one(20'011), 100));
    expect(false, Method::exact_twopass, test::diffusion<T>(LineSet::one(200'011), 1e6));
    const Report beside = this->solve(options, test::random_dominant<T>(LineSet::grid_axis(1, 40, 50, 3), 3));
    EXPECT_TRUE(beside.ready);
    EXPECT_EQ(beside.shape.find("variant paper"), std::string::npos);
  });
}

SCALAR_TEST(Variants, OfThePaperRefuseANamedMethodThatWouldBeWrong) {
  test::with_every_device_for_gpus<T>("paper-gpu", [&](Options options) {
    options.method = MethodChoice::truncated_halo;
    const auto bands = test::diffusion<T>(LineSet::one(200'011), 1e6);
    test::expect_refusal<Breakdown>([&] { test::solver_for(bands, options); }, "raise rtol, or choose variant gpu");
  });
}

SCALAR_TEST(Variants, OfThePaperLeaveAWeakLineToTheHost) {
  test::with_every_device_for_gpus<T>("paper-gpu", [&](Options options) {
    const LineSet lines = LineSet::equal(40, 5000);
    auto bands = test::random_dominant<T>(lines, 3);
    test::replace_line(bands, 17, -1, 2, -1);
    const Report report = this->solve(options, std::move(bands));
    EXPECT_NE(report.shape.find("variant paper"), std::string::npos) << report.shape;
    EXPECT_EQ(report.groups.size(), 1U);
  });
}

SCALAR_TEST(Variants, OfThePaperAreTheFormForTheTypeOfTheDevice) {
  test::with_every_true_device([&](Options options) {
    const DeviceType type = test::device_of(options).type;
    options.variant = "paper";
    const auto report_of = [&](Bands<T> bands) { return this->solve(options, std::move(bands)); };
    for (const Index n : {1, 2, 3, 31, 100, 20'011}) {
      const Report report = report_of(test::random_dominant<T>(LineSet::one(n), 10));
      const char* form = type == DeviceType::cpu   ? "lanes of partitions of"
                         : type == DeviceType::gpu ? "work-groups of"
                                                   : "one work-item, blocks of 32 rows each half from its own cut";
      EXPECT_NE(report.shape.find(form), std::string::npos) << n << ": " << report.shape;
      EXPECT_LE(report.certificate, report.tolerance);
    }
    // What truncation or rounding would show in, and what is not dominant, goes to the other kernels of the device.
    for (Report report : {report_of(test::diffusion<T>(LineSet::one(200'011), 1e6)),
                          report_of(test::random_dominant<T>(LineSet::grid_axis(1, 40, 50, 3), 3))}) {
      EXPECT_TRUE(report.ready);
      EXPECT_EQ(report.shape.find("paper"), std::string::npos) << report.shape;
    }
  });
}

SCALAR_TEST(Variants, OfThePaperForCpusLengthenWhatIsSweptTwice) {
  test::with_every_device([&](Options options) {
    if (options.devices == "host" || options.variant == "cpu") return;  // an emulator
    options.variant = "lanes-paper";
    const auto m_min = [&](double d) {
      const Report report = this->solve(options, test::random_dominant<T>(LineSet::one(100'003), d));
      const auto at = report.shape.find("m_min ");
      EXPECT_NE(at, std::string::npos) << report.shape;
      return at == std::string::npos ? 0 : std::stol(report.shape.substr(at + 6));
    };
    const long strong = m_min(10), weak = m_min(1.2);
    EXPECT_LE(strong, 32);
    EXPECT_GT(weak, strong);
  });
}

SCALAR_TEST(Variants, TakeAPartitionOfMoreRowsThanAWorkItemHolds) {
  test::with_every_device([&](Options options) {
    options.variant = "gpu";
    options.partition = 4096;
    this->solve(options, test::random_dominant<T>(LineSet::one(20'011), 3));
  });
}

// What the name of a family of methods covers: a member whose bounds hold comes before any whose bounds do not, and
// nothing that is not finite is taken.

/// tridiag(-1, 2.01, -1) whose columns have units of their own, 10^-6 to 10^6.
Bands<double> random_units(Index n) {
  std::mt19937 generator(test::kSeed);
  std::uniform_real_distribution<double> exponent(-6, 6);
  std::vector<double> unit(static_cast<std::size_t>(n) + 2);
  for (double& u : unit) u = std::pow(10, exponent(generator));
  return test::fill<double>(LineSet::one(n), [&](Index i) {
    const double* at = unit.data() + i;
    return test::Row{-at[0], 2.01 * at[1], -at[2]};
  });
}

void expect_bounds_to_hold(MethodChoice method, const Bands<double>& bands, double limit) {
  test::with_every_device([&](Options options) {
    options.method = method;
    Solver<double> solver = test::solver_for(bands, options);
    const Report& report = solver.report();
    EXPECT_TRUE(!report.certificate_above_tolerance && report.rounding <= 100 && report.certificate <= report.tolerance)
        << report.shape << ": " << report.why << ", " << report.rounding;
    EXPECT_LE(test::backward_error(solver, bands), limit);
  });
}

TEST(NamedFamily, ExactTakesTheMemberWhoseBoundHolds) {
  expect_bounds_to_hold(MethodChoice::exact, random_units(2000), 10);
}

TEST(NamedFamily, TruncatedTakesTheMemberWhoseBoundHolds) {
  // Rounding has a bound where factors are stored, and none where partitions with a halo are swept apart.
  std::mt19937 generator(test::kSeed);
  std::uniform_real_distribution<double> coupling(-1, 1);
  const auto row = [&](Index) { return test::Row{coupling(generator), 1.5, coupling(generator)}; };
  expect_bounds_to_hold(MethodChoice::truncated, test::fill<double>(LineSet::one(2000), row), 100);
}

/// The second row of whatever is eliminated by itself has a pivot of 0; the matrix is regular.
TEST(NamedMethod, WhoseAnswerIsNotFiniteIsRefused) {
  const Bands<double> bands = test::constant<double>(LineSet::one(3000), 1, 1, 1);
  for (const MethodChoice method :
       {MethodChoice::truncated, MethodChoice::truncated_halo, MethodChoice::truncated_streamed, MethodChoice::exact,
        MethodChoice::exact_twopass, MethodChoice::exact_factored}) {
    test::with_every_device([&](Options options) {
      options.method = method;
      Solver<double> solver(options);
      try {
        test::set_up(solver, bands);
      } catch (const Breakdown&) {
        return;
      }
      EXPECT_TRUE(std::isfinite(test::backward_error(solver, bands))) << name(method) << ": " << solver.report().why;
    });
  }
}

}  // namespace
}  // namespace oclspkt
