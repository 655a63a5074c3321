// SPDX-License-Identifier: BSD-2-Clause
// Columns in unlike units: unknowns of one line that are measured in meters and in nanometers, say.

#include <functional>

#include "backward_error.hpp"
#include "oclspkt/cut_solver.hpp"
#include "oclspkt/device_visit.hpp"
#include "oclspkt/error.hpp"
#include "oclspkt/solver.hpp"
#include "queues.hpp"
#include "reference.hpp"

namespace oclspkt {
namespace {

template <typename T>
class Units : public test::Queues<T> {
 protected:
  static constexpr double eps = std::numeric_limits<T>::epsilon();

  /// tridiag(-1, diag, -1) whose column j is multiplied by unit(j).
  static Bands<T> in_units(Index n, double diag, const std::function<double(Index)>& unit) {
    Bands<T> bands(LineSet::one(n));
    for (Index i = 0; i < n; ++i) {
      bands.lower()[i] = i > 0 ? static_cast<T>(-unit(i - 1)) : T(0);
      bands.diag()[i] = static_cast<T>(diag * unit(i));
      bands.upper()[i] = i + 1 < n ? static_cast<T>(-unit(i + 1)) : T(0);
    }
    return bands;
  }

  static std::vector<T> ones(const LineSet& lines) {
    return std::vector<T>(static_cast<std::size_t>(lines.extent()), T(1));
  }

  /// The largest error of a run of columns in one unit, against its largest unknown, in eps.
  static double error_in_units(const Bands<T>& bands, const std::function<double(Index)>& unit,
                               const std::vector<T>& x) {
    const LineSet& lines = bands.lines();
    Bands<double> wide(lines);
    for (Index i = 0; i < lines.extent(); ++i) {
      wide.lower()[i] = static_cast<double>(bands.view().lower[i]);
      wide.diag()[i] = static_cast<double>(bands.view().diag[i]);
      wide.upper()[i] = static_cast<double>(bands.view().upper[i]);
    }
    const std::vector<double> right = solve_by_reference(wide, std::vector<double>(x.size(), 1.0));
    double worst = 0, error = 0, largest = 0;
    for (std::size_t i = 0; i < x.size(); ++i) {
      if (i > 0 && unit(static_cast<Index>(i)) != unit(static_cast<Index>(i) - 1)) error = largest = 0;
      error = std::max(error, std::abs(static_cast<double>(x[i]) - right[i]));
      largest = std::max(largest, std::abs(right[i]));
      worst = std::max(worst, error / largest);
    }
    return worst / eps;
  }

  /// A named device solves, in how many units, and what it makes of y = 1 is right by component, and as promised.
  static void expect_right(const Bands<T>& bands, const Options& options, double most_eps, Index units) {
    const LineSet& lines = bands.lines();
    Solver<T> solver = test::solver_for(bands, options);
    const Report& report = solver.report();
    const bool on_host = options.devices == "host", whole = report.promise == Promise::by_component;
    EXPECT_EQ(report.device.name == "host", on_host) << report.device.why;
    EXPECT_NE(report.method, Method::pivot) << report.why;
    EXPECT_EQ(report.units, whole ? 0 : units) << name(report.method);
    EXPECT_TRUE(whole || !on_host);
    EXPECT_LE(report.rounding, kRoundingLimit);
    const std::vector<T> y = ones(lines);
    const double error = test::componentwise_error(bands, test::answer(solver, y), y);
    EXPECT_LE(error, most_eps);
    EXPECT_LE(error, report.rounding) << "the bound";
  }
};

constexpr double kFar = 1e14;

SCALAR_TEST(Units, OfBlocksOfColumnsAreSolvedWithoutPivoting) {
  for (const double unit : {1e5, 1e12, kFar, 1 / kFar}) {
    SCOPED_TRACE(unit);
    const auto units = [&](Index j) { return j % 600 < 300 ? 1 : unit; };
    const auto bands = this->in_units(3000, 2.01, units);
    test::with_every_device([&](const Options& options) {
      this->expect_right(bands, options, 3, 10);
      Solver<T> solver = test::solver_for(bands, options);
      const auto x = test::answer(solver, this->ones(bands.lines()));
      EXPECT_LE(this->error_in_units(bands, units, x), 400) << "the condition of a unit";
    });
  }
}

SCALAR_TEST(Units, OfEveryColumnAreSolvedWithoutPivoting) {
  // Of thin layers, and of variables that are multiplied by a potential's exponential.
  const auto layers = this->in_units(1000, 2.0, [](Index j) { return j / 10 % 2 == 0 ? 1 : 1e-13; });
  const auto steps = this->in_units(900, 2.0, [](Index j) { return std::exp(j / 100 % 3 == 1 ? -35.0 : 0.0); });
  const auto decaying = this->in_units(200, 2.0, [](Index j) { return std::exp(-0.3 * static_cast<double>(j)); });
  const auto random =
      this->in_units(1000, 2.5, [](Index j) { return std::ldexp(1.0, static_cast<int>(j * 7919 % 53 - 26)); });
  test::with_every_device([&](const Options& options) {
    this->expect_right(layers, options, 3, 100);
    this->expect_right(steps, options, 3, 7);
    if (options.devices == "host") this->expect_right(decaying, options, 3, 0);
    this->expect_right(random, options, 3, 1000);
  });
}

/// The lines of a box whose columns change their units in the middle of a line.
template <typename T>
Bands<T> box_in_units(const LineSet& lines) {
  Bands<T> bands = test::constant<T>(lines, -1, T(2.2), -1);
  for (Index i = 0; i < lines.extent(); ++i) bands.diag()[i] += static_cast<T>(i % 7) / 8;
  bands.close_lines();
  for (Index l = 0; l < lines.count(); ++l) {
    const Index step = lines.row_stride(), middle = lines.length(l) / 2;
    for (Index i = 0; i < lines.length(l); ++i) {
      const Index at = lines.first(l) + i * step;
      const auto scale = [&](T& number, Index column) { number *= column < middle ? T(1) : std::ldexp(T(1), 20); };
      scale(bands.lower()[at], i - 1);
      scale(bands.diag()[at], i);
      scale(bands.upper()[at], i + 1);
    }
  }
  return bands;
}

SCALAR_TEST(Units, AreThoseOfEveryWayThatVectorsTake) {
  for (const LineSet& lines : {LineSet::one(20'000), LineSet::equal(31, 601), LineSet::grid_axis(1, 13, 300, 3)}) {
    const Bands<T> bands = box_in_units<T>(lines);
    const auto check = [&](const Options& options) {
      SCOPED_TRACE(lines.describe() + ", variant " + options.variant);
      Solver<T> solver(options);
      for (const T scale : {T(3), T(1)}) {  // a later set-up has other values
        Bands<T>& given = solver.bands(lines);
        given.copy_from(bands.view());
        for (Index i = 0; i < lines.extent(); ++i) given.diag()[i] *= scale;
        solver.set_up();
      }
      const Report& report = solver.report();
      EXPECT_EQ(report.units, report.promise == Promise::by_rows ? 2 : 0) << name(report.method);
      ASSERT_NE(report.device.name, "host") << explain(report).front();
      EXPECT_LE(test::backward_error(solver, bands), 20) << name(report.method);
      const std::vector<T> y = test::random_vector<T>(lines.extent());
      std::vector<T> x(y.size()), two(2 * y.size());
      std::vector<T> columns = y;
      columns.insert(columns.end(), y.rbegin(), y.rend());
      solver.apply(columns.data(), lines.extent(), two.data(), lines.extent(), 2);
      for (const Index first : {Index{0}, lines.extent()}) {
        solver.apply(columns.data() + first, x.data());
        EXPECT_TRUE(std::equal(x.begin(), x.end(), two.begin() + first)) << "several columns";
      }
      EXPECT_LE(test::transposed_error(solver, bands), 20);
      EXPECT_LE(test::backward_error(solver, bands), 20) << "after the transposed system";
      if (test::device_of(options).platform.find("FPGA") != std::string::npos) return;
      test::expect_bits_of_the_host(solver, solver.device_handles(), y,
                                    [&](cl_mem from, cl_mem to) { solver.apply_on_device(from, to); });
    };
    test::with_every_transfer([&](Options options) {
      check(options);
      if (options.devices != "0") return;  // kernels for GPUs take seconds to build elsewhere
      options.variant = "gpu";
      check(options);
      if (!lines.contiguous()) return;
      options.method = MethodChoice::exact_twopass;
      check(options);
      options.variant = "cpu";
      options.use.chunk = 7000;
      Solver<T> solver = test::solver_for(bands, options);
      EXPECT_EQ(solver.report().units, 2);
      EXPECT_LE(test::backward_error(solver, bands), 20) << "in chunks";
    });
  }
}

SCALAR_TEST(Units, AreThoseOfVectorsInBuffersOfACaller) {
  const LineSet lines = LineSet::one(9001);
  const Bands<T> bands = box_in_units<T>(lines);
  this->with_every_kind([&](const Options& options) {
    Solver<T> solver = test::solver_for(bands, options, {.queue = test::caller_of(options).device_queue()});
    EXPECT_EQ(solver.report().units, 2);
    this->expect_the_same(solver, test::caller_of(options), test::random_vector<T>(lines.extent()));
  });
}

SCALAR_TEST(Units, AreThoseOfSolversThatFollowEachOther) {
  Options options{.devices = "0", .method = MethodChoice::exact_twopass, .variant = "gpu"};
  const LineSet lines[] = {LineSet::equal(40, 600), LineSet::one(24'000)};
  std::vector<CutSolver<T>> solvers;
  for (const LineSet& set : lines) {
    solvers.emplace_back(options);
    solvers.back().bands(set).copy_from(box_in_units<T>(set).view());
    solvers.back().set_up();
    EXPECT_EQ(solvers.back().report().units, 2);
  }
  DeviceVisit<T> visit;
  visit.set_up({.solvers = {&solvers[0], &solvers[1]}, .sum = false, .between = nullptr});
  ASSERT_TRUE(visit.ready());
  const std::vector<T> y = test::random_vector<T>(lines[0].extent());
  std::vector<T> x(y.size()), between(y.size()), expected(y.size());
  ASSERT_TRUE(visit.apply(y.data(), 0, x.data(), 0, 1));
  solvers[0].apply(y.data(), between.data());
  solvers[1].apply(between.data(), expected.data());
  EXPECT_EQ(x, expected);
}

SCALAR_TEST(Units, AreNotSmallDiagonals) {
  // Rows that couple by 1 are dominant in no units.
  Bands<T> bands = test::closed(test::constant<T>(LineSet::one(1000), -1, T(2.01), -1));
  bands.diag()[500] = T(3.3e-9);
  test::with_every_device([&](const Options& options) {
    Solver<T> solver = test::solver_for(bands, options);
    EXPECT_EQ(solver.report().units, 0);
    EXPECT_EQ(solver.report().promise, Promise::by_component);
    EXPECT_LE(solver.report().rounding, kRoundingLimit);
  });
}

SCALAR_TEST(Units, AtTheEndsOfTheRangeAreForTheHost) {
  const double far = sizeof(T) == sizeof(float) ? 1e36 : 1e300;
  for (const double unit : {far, 1 / far}) {
    const auto bands = this->in_units(3000, 2.5, [&](Index j) { return j % 600 < 300 ? 1 : unit; });
    test::with_every_device([&](const Options& options) {
      Solver<T> solver = test::solver_for(bands, options);
      EXPECT_EQ(solver.report().units, 0);
      EXPECT_LE(test::backward_error(solver, bands), 10) << solver.report().device.name;
    });
  }
}

SCALAR_TEST(Units, OfAFewLinesLeaveTheOthersAsTheyAre) {
  const LineSet lines = LineSet::equal(40, 500);
  Bands<T> bands = test::random_dominant<T>(lines, 1.5);
  const Bands<T> far = box_in_units<T>(lines);
  for (Index i = 7 * 500; i < 9 * 500; ++i) {  // the second of both lines is in units that are for the host
    const T out = i < 8 * 500 ? T(1) : std::ldexp(T(1), std::numeric_limits<T>::max_exponent / 8 * 7 + 4);
    bands.lower()[i] = far.view().lower[i] / out;
    bands.diag()[i] = far.view().diag[i] / out;
    bands.upper()[i] = far.view().upper[i] / out;
  }
  bands.close_lines();
  test::with_every_true_device([&](Options options) {
    options.method = MethodChoice::exact;
    Solver<T> solver = test::solver_for(bands, options);
    EXPECT_NE(solver.report().device.name, "host");
    EXPECT_EQ(solver.report().units, 2);
    EXPECT_EQ(solver.report().groups.size(), 1u);
    EXPECT_LE(test::backward_error(solver, bands), 20);
    Bands<T> same(lines);
    solver.copy_bands(same);
    EXPECT_TRUE(std::equal(bands.view().diag, bands.view().diag + lines.extent(), same.view().diag));
    EXPECT_TRUE(std::equal(bands.view().upper, bands.view().upper + lines.extent(), same.view().upper));
  });
}

SCALAR_TEST(Units, OfTheBlocksThatLinesAreDoNotMatter) {
  // Rows of plain units keep the method that they had.
  const auto bands = this->in_units(3000, 3.0, [](Index) { return kFar; });
  Solver<T> plain, far;
  const auto one = this->in_units(3000, 3.0, [](Index) { return 1.0; });
  plain.set_up(one.lines(), one.view().lower, one.view().diag, one.view().upper);
  far.set_up(bands.lines(), bands.view().lower, bands.view().diag, bands.view().upper);
  EXPECT_EQ(plain.report().method, far.report().method);
  EXPECT_NEAR(plain.report().rounding, far.report().rounding, 1e-4);
}

/// Numbers of 1e-60 to 1, each drawn by itself: no scaling makes such rows alike, and pivoting is not good for all.
TEST(AboveBound, IsToldOrFailsTheSetUp) {
  const LineSet lines = LineSet::equal(300, 300);
  std::mt19937 random(test::kSeed);
  std::uniform_real_distribution<double> size(-60, 0);
  const auto draw = [&] { return std::pow(10, size(random)) * (random() % 2 == 0 ? 1 : -1); };
  Bands<double> bands(lines);
  for (Index i = 0; i < lines.rows(); ++i)
    bands.lower()[i] = draw(), bands.diag()[i] = draw(), bands.upper()[i] = draw();
  bands.close_lines();
  Options options{.devices = "host"};
  Solver<double> solver = test::solver_for(bands, options);
  EXPECT_NE(solver.report().above_bound, "") << solver.report().why;
  options.above_bound = AboveBound::error;
  solver.set_options(options);
  test::expect_refusal<Breakdown>([&] { test::set_up(solver, bands); }, "above_bound warn");
  const Bands<double> good = test::random_dominant<double>(lines, 1.5);
  test::set_up(solver, good);
  EXPECT_EQ(solver.report().above_bound, "");
}

}  // namespace
}  // namespace oclspkt
