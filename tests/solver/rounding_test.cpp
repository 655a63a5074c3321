// SPDX-License-Identifier: BSD-2-Clause
// The bound on rounding that a report states, held against the error that solutions have: matrices that an attack with
// two materials found, and families around them.

#include <algorithm>
#include <functional>

#include "backward_error.hpp"
#include "every_device.hpp"
#include "solver_fixture.hpp"

namespace oclspkt {
namespace {

/// Rows (-G(i), G(i) + f G(i + 1) + H, -f G(i + 1)) over the diagonal, G(i) = K for i <= J and 1 below: two materials
/// that meet.
struct Jump {
  Index n, border;
  double ratio, f, sink;
};

template <typename T>
Bands<T> jump(const Jump& j) {
  const auto conductivity = [&](Index i) { return i <= j.border ? j.ratio : 1.0; };
  return test::fill<T>(LineSet::one(j.n), [&](Index i) {
    const double above = conductivity(i), below = j.f * conductivity(i + 1), diag = above + below + j.sink;
    return test::Row{-above / diag, 1, -below / diag};
  });
}

template <typename T>
class RoundingOf : public test::SolverFixture<T> {
 protected:
  /// The largest row error, in eps, of solutions that alternate, are constant, smooth, and random.
  static double row_error(const Bands<T>& bands, const std::function<void(const T*, T*)>& apply) {
    const Index n = bands.lines().extent();
    const std::vector<T> random = test::random_vector<T>(n);
    const std::function<double(Index)> solutions[] = {
        [](Index i) { return i % 2 == 0 ? 1.0 : -1.0; }, [](Index) { return 1.0; },
        [](Index i) { return std::sin(0.01 * static_cast<double>(i) + 1); },
        [&](Index i) { return static_cast<double>(random[static_cast<std::size_t>(i)]) - 3; }};
    double worst = 0;
    for (const auto& solution : solutions) {
      std::vector<T> x(static_cast<std::size_t>(n));
      for (Index i = 0; i < n; ++i) x[static_cast<std::size_t>(i)] = static_cast<T>(solution(i));
      const std::vector<T> y = test::product(bands, x);
      apply(y.data(), x.data());
      for (Index l = 0; l < bands.lines().count(); ++l) {
        const double error = line_rowwise_backward_error(bands.lines(), bands.view(), l, x.data(), y.data());
        worst = error <= worst ? worst : error;
      }
    }
    return worst / test::SolverFixture<T>::eps;
  }

  /// Solve by every device and hold the error against the bound.
  static void expect_within_bound(const Bands<T>& given, const std::string& what) {
    const Bands<T> bands = test::closed(test::copy_of(given));
    test::with_every_device([&](const Options& options) {
      Solver<T> solver = test::solver_for(given, options);
      const Report& report = solver.report();
      const double error = row_error(bands, [&](const T* y, T* x) { solver.apply(y, x); });
      const double bound = report.rounding + report.certificate / test::SolverFixture<T>::eps;
      const std::string who = what + ", " + name(report.method) + " " + report.shape + ", " + report.why;
      EXPECT_LE(bound, 101) << who;
      EXPECT_LE(error, bound) << who;
    });
  }
};

SCALAR_TEST(RoundingOf, RowsWhoseDiagonalIsSmallAreNotLostInTheirExcess) {
  constexpr double kTiny = sizeof(T) == sizeof(float) ? 1e-5 : 1e-9;
  for (const LineSet& lines : {LineSet::equal(1000, 2), LineSet::one(1000)}) {
    const Bands<T> bands = test::fill<T>(lines, [&](Index i) {
      // Every third column, or one of two, is tiny.
      const Index period = lines.count() > 1 ? 2 : 3;
      const auto scale = [&](Index column) { return (column % period + period) % period == 1 ? kTiny : 1.0; };
      return test::Row{-1 * scale(i - 1), 3.3 * scale(i), 1.1 * scale(i + 1)};
    });
    this->expect_within_bound(bands, lines.describe());
  }
}

SCALAR_TEST(RoundingOf, RowsThatChangeSignsAtDominanceOneAreSolved) {
  for (const Index n : {14, 47, 74, 86, 95}) {
    const Bands<T> bands = test::fill<T>(LineSet::one(n), [](Index i) {
      const double diag = 16.23 - static_cast<double>(i);
      return test::Row{-0.1156, diag, std::abs(diag) - 0.1156};
    });
    this->expect_within_bound(bands, std::to_string(n) + " rows that change signs");
  }
}

/// Interface systems could multiply rounding by as much as neighbours differ: that they do not is known by bounds.
SCALAR_TEST(RoundingOf, NeighboursThatDifferAHundredTimesIsKnownWithoutATrial) {
  for (const double lambda : {10.0, 1e3}) {
    const Bands<T> bands = test::wide_conduction<T>(LineSet::one(60'000), {"", lambda, 2});
    this->expect_within_bound(bands, "lambda " + std::to_string(lambda));
    test::with_every_device([&](const Options& options) {
      if (options.devices == "host" || options.variant == "gpu") return;
      Solver<T> solver = test::solver_for(bands, options);
      EXPECT_EQ(solver.report().method, Method::truncated_streamed) << lambda;
      EXPECT_GT(solver.report().rounding, 0);
      EXPECT_EQ(solver.report().backward_error, 0) << "a bound needs no trial";
    });
  }
}

/// A partition of two rows has no inner ones: all that it rounds is rounded between its border equations.
TEST(RoundingOfTwoRows, IsWithinItsBoundWhereTheDiagonalIsSmall) {
  test::with_every_true_device([](Options options) {
    options.method = MethodChoice::exact_twopass;
    for (const double diag : {-1.497e-4, -1.5e-3, -1.5e-2}) {
      Bands<double> bands = test::fill<double>(LineSet::one(2), [&](Index i) {
        return i == 0 ? test::Row{0, diag, -0.309} : test::Row{-90274, 716, 0};
      });
      Solver<double> solver = test::solver_for(bands, options);
      bands.close_lines();
      std::mt19937 generator(test::kSeed);
      std::uniform_real_distribution<double> decades(-6, 6);
      double worst = 0;
      for (int k = 0; k < 200; ++k) {
        const std::vector<double> y{std::pow(10, decades(generator)), -std::pow(10, decades(generator))};
        const std::vector<double> x = test::answer(solver, y);
        const double error = line_rowwise_backward_error(bands.lines(), bands.view(), 0, x.data(), y.data());
        worst = error <= worst ? worst : error;
      }
      EXPECT_LE(worst, solver.report().rounding * std::numeric_limits<double>::epsilon()) << diag;
      EXPECT_TRUE(diag > -1e-2 || std::isfinite(solver.report().rounding)) << solver.report().rounding;
    }
  });
}

/// 1, -1, 1 ...
std::vector<double> alternating(std::size_t n) {
  std::vector<double> x(n, 1);
  for (std::size_t i = 1; i < n; i += 2) x[i] = -1;
  return x;
}

/// The same solver, set up again by matrices that get worse.
TEST(RoundingOfALaterSetUp, IsThatOfItsOwnMatrix) {
  test::with_every_device([](const Options& options) {
    Solver<double> solver(options);
    for (const double ratio : {5112.0, 1e6, 3.27e10}) {
      Bands<double> bands = jump<double>({1729, 700, ratio, 1, 3.8e-13});
      test::set_up(solver, bands);
      bands.close_lines();
      EXPECT_LE(solver.report().rounding, 100) << ratio;
      const std::vector<double> y = test::product(bands, alternating(1729)), x = test::answer(solver, y);
      EXPECT_LE(line_rowwise_backward_error(bands.lines(), bands.view(), 0, x.data(), y.data()),
                solver.report().rounding * std::numeric_limits<double>::epsilon())
          << ratio << ", " << solver.report().why;
    }
  });
}

/// Dorr's matrix: an excess within a rounding of 0 decides whether the solution is 5 or 3e44.
TEST(RoundingOfExcesses, IsForgivenOnlyWhereItDoesNotChangeTheSolution) {
  constexpr Index kRows = 511;
  constexpr double kTheta = 1e-4, kStep = 1.0 / (kRows + 1);
  const Bands<double> given = test::fill<double>(LineSet::one(kRows), [&](Index at) {
    const double i = static_cast<double>(at + 1), t = -kTheta / (kStep * kStep), wind = (0.5 - i * kStep) / kStep;
    const bool upper_half = at < (kRows + 1) / 2;
    const double lower = upper_half ? t : t + wind, upper = upper_half ? t - wind : t;
    return test::Row{lower, -(lower + upper), upper};
  });
  const Bands<double> bands = test::closed(test::copy_of(given));
  test::with_every_device([&](const Options& options) {
    Solver<double> solver = test::solver_for(given, options);
    const std::vector<double> y = test::product(bands, alternating(kRows)), x = test::answer(solver, y);
    const double largest =
        std::abs(*std::max_element(x.begin(), x.end(), [](double a, double b) { return std::abs(a) < std::abs(b); }));
    EXPECT_LE(largest, 100) << solver.report().why;
    EXPECT_LE(line_rowwise_backward_error(bands.lines(), bands.view(), 0, x.data(), y.data()), 1e-14);
  });
}

}  // namespace
}  // namespace oclspkt
