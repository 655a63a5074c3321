// SPDX-License-Identifier: BSD-2-Clause
// The method `pivot`, by component and in any units.

#include <algorithm>

#include "backward_error.hpp"
#include "hard_matrices.hpp"
#include "oclspkt/solver.hpp"
#include "pivot_solver.hpp"
#include "residual.hpp"
#include "solver_fixture.hpp"
#include "survey.hpp"

namespace oclspkt {
namespace {

using Random = std::mt19937;

/// Multiply row i by rows(i) and column j by columns(j).
template <typename T>
Bands<T> in_units(const Bands<T>& bands, const std::vector<double>& rows, const std::vector<double>& columns) {
  const LineSet& lines = bands.lines();
  Bands<T> scaled(lines);
  for (Index l = 0; l < lines.count(); ++l) {
    for (Index i = 0; i < lines.length(l); ++i) {
      const Index at = lines.first(l) + i;
      const auto entry = [&](T number, Index column) {
        return static_cast<T>(static_cast<double>(number) * rows[static_cast<std::size_t>(at)] *
                              columns[static_cast<std::size_t>(column)]);
      };
      scaled.lower()[at] = i > 0 ? entry(bands.view().lower[at], at - 1) : T(0);
      scaled.diag()[at] = entry(bands.view().diag[at], at);
      scaled.upper()[at] = i + 1 < lines.length(l) ? entry(bands.view().upper[at], at + 1) : T(0);
    }
  }
  return scaled;
}

/// Powers of two up to 2^most, as the kind has them: one in each place, in blocks, along a wave.
std::vector<double> powers(Index n, int kind, int most, Random& random) {
  std::vector<double> units(static_cast<std::size_t>(n));
  std::uniform_int_distribution<int> any(-most, most);
  for (Index i = 0; i < n; ++i) {
    const int exponent = kind == 0   ? any(random)
                         : kind == 1 ? (i % 60 < 30 ? 0 : most)
                                     : static_cast<int>(std::lround(most * std::sin(0.05 * static_cast<double>(i))));
    units[static_cast<std::size_t>(i)] = std::ldexp(1.0, exponent);
  }
  return units;
}

/// Rows of random entries of 10^-decades ... 1, some of them 0.
template <typename T>
Bands<T> random_rows(const LineSet& lines, double decades, double zeros, Random& random) {
  std::uniform_real_distribution<double> size(-decades, 0), share(0, 1);
  const auto entry = [&](double share_of_zeros) {
    const double sign = share(random) < 0.5 ? -1 : 1;
    return share(random) < share_of_zeros ? 0 : sign * std::pow(10, size(random));
  };
  return test::closed(test::fill<T>(lines, [&](Index) { return test::Row{entry(0), entry(zeros), entry(0)}; }));
}

template <typename T>
std::vector<T> pivoted(const Bands<T>& bands, const std::vector<T>& y) {
  PivotSolver<T> solver;
  solver.set_up({}, bands);
  EXPECT_TRUE(solver.singular().empty());
  std::vector<T> x(y.size());
  solver.apply(y.data(), x.data());
  return x;
}

template <typename T>
class Pivot : public ::testing::Test {};

SCALAR_TEST(Pivot, KeepsItsBitsUnderPowersOfTwoInRowsAndColumns) {
  Random random(test::kSeed);
  const int most = sizeof(T) == 8 ? 40 : 12;
  // Lines by themselves, and enough of one length to be eliminated side by side: 10,000 systems in all.
  const LineSet lines = LineSet::equal(1250, 24);
  for (int kind = 0; kind < 8; ++kind) {
    const Bands<T> bands = random_rows<T>(lines, kind % 2 == 0 ? 1 : 6, kind < 4 ? 0 : 0.2, random);
    const std::vector<T> y = test::random_vector<T>(lines.extent());
    const std::vector<double> rows = powers(lines.extent(), kind % 3, most, random),
                              columns = powers(lines.extent(), (kind + 1) % 3, most, random);
    const Bands<T> scaled = in_units(bands, rows, columns);
    std::vector<T> other = y;
    for (std::size_t i = 0; i < other.size(); ++i) other[i] = static_cast<T>(other[i] * rows[i]);
    PivotSolver<T> solver, solver_of_scaled;
    solver.set_up({}, bands);
    solver_of_scaled.set_up({}, scaled);
    std::vector<T> x(y.size()), z(y.size());
    solver.apply(y.data(), x.data());
    solver_of_scaled.apply(other.data(), z.data());
    Index differing = 0;
    for (std::size_t i = 0; i < x.size(); ++i) {
      const auto there = static_cast<T>(static_cast<double>(z[i]) * columns[i]);
      differing += !(there == x[i] || (std::isnan(there) && std::isnan(x[i])));
    }
    EXPECT_EQ(differing, 0) << "kind " << kind;
    EXPECT_EQ(solver.singular().size(), solver_of_scaled.singular().size());
  }
}

SCALAR_TEST(Pivot, SolvesTheTwentyByComponentAlsoInUnits) {
  Random random(test::kSeed);
  std::normal_distribution<double> solution(3, 1);
  for (const int id : {1, 2, 3, 4, 5, 6, 7, 12, 13, 14, 15, 16, 17, 18, 19, 20}) {
    if (sizeof(T) == 4 && (id == 4 || id == 12 || id == 13)) continue;  // beyond its range
    const Bands<T> bands = test::closed(test::to_bands<T>(test::klein_strzodka(id, 512)));
    for (const int kind : {-1, 0, 1, 2}) {
      const std::vector<double> ones(512, 1.0), columns = powers(512, kind, sizeof(T) == 8 ? 47 : 20, random);
      const Bands<T> system = kind < 0 ? in_units(bands, ones, ones) : in_units(bands, ones, columns);
      std::vector<T> x(512);
      for (std::size_t i = 0; i < 512; ++i) x[i] = static_cast<T>(solution(random) / (kind < 0 ? 1 : columns[i]));
      const std::vector<T> y = test::product(system, x);
      EXPECT_LE(test::componentwise_error(system, pivoted(system, y), y), 2.4) << "matrix " << id << ", units " << kind;
    }
  }
}

SCALAR_TEST(Pivot, SolvesBlocksOfUnlikeUnitsToAFewEps) {
  const Index n = 3000;
  for (const double unit : {1e5, 1e8, 1e12, 1e14}) {
    const auto of_column = [&](Index j) { return j % 600 < 300 ? 1.0 : unit; };
    const Bands<T> bands = test::closed(test::fill<T>(LineSet::one(n), [&](Index i) {
      return test::Row{-of_column(i - 1), static_cast<double>(static_cast<T>(2.01)) * of_column(i), -of_column(i + 1)};
    }));
    const std::vector<T> y(n, T(1));
    Solver<T> solver = test::solver_for(bands, {.devices = "host", .method = MethodChoice::pivot});
    const std::vector<T> x = test::answer(solver, y);
    EXPECT_LE(test::componentwise_error(bands, x, y), 3) << unit;
    EXPECT_LE(solver.report().rounding, 4) << unit;
    // Units are no powers of two: a column of 2.01 u is known to half an eps, the condition by component is 400.
    std::vector<long double> pivot(n), f(n);  // in units of 1
    for (std::size_t i = 0; i < n; ++i) {
      pivot[i] = static_cast<long double>(static_cast<T>(2.01)) - (i > 0 ? 1 / pivot[i - 1] : 0);
      f[i] = 1 + (i > 0 ? f[i - 1] / pivot[i - 1] : 0);
    }
    for (std::size_t i = n; i-- > 0;) {
      f[i] = (f[i] + (i + 1 < n ? f[i + 1] : 0)) / pivot[i];
      const auto right = static_cast<double>(f[i]) / of_column(static_cast<Index>(i));
      ASSERT_NEAR(static_cast<double>(x[i]), right, 800 * std::numeric_limits<T>::epsilon() * right) << i;
    }
  }
}

SCALAR_TEST(Pivot, SolvesSlotboomColumns) {
  // A drift of 35 kT a step for some rows, and back: columns grow by e^35, which float cannot hold for long.
  const double step = sizeof(T) == 8 ? 35 : 12;
  const Index n = 400;
  const auto density = [&](Index j) { return std::exp(step * static_cast<double>(j % 8 < 4 ? j % 4 : 3 - j % 4)); };
  const Bands<T> bands = test::closed(test::fill<T>(LineSet::one(n), [&](Index i) {
    return test::Row{-density(i - 1), 2.5 * density(i), -density(i + 1)};
  }));
  const std::vector<T> y(n, T(1));
  const std::vector<T> x = pivoted(bands, y);
  EXPECT_LE(test::componentwise_error(bands, x, y), 3);
}

/// Right-hand sides: ones, random numbers, and those of unknowns of 1 to 10^-12 and of which most are 0.
template <typename T>
std::vector<T> side_of(const Bands<T>& bands, int kind, Random& random) {
  std::uniform_real_distribution<double> share(0, 1);
  std::vector<T> x(static_cast<std::size_t>(bands.lines().extent()), T(1));
  if (kind == 0) return x;
  for (T& number : x) {
    number = static_cast<T>(kind == 1   ? share(random) - 0.5
                            : kind == 2 ? std::pow(10, -12 * share(random))
                                        : (share(random) < 0.1 ? 1 : 0));
  }
  return kind == 1 ? x : test::product(bands, x);
}

/// Solve for sides of all kinds: the largest error is within what the solver says.
/// @return the number of answers of lines above 100 eps
template <typename T>
Index far_off(const Bands<T>& bands, Random& random) {
  Index far = 0;
  const LineSet& lines = bands.lines();
  // In float, unknowns that vanish in rounding leave its range.
  for (int kind = 0; kind < (sizeof(T) == 8 ? 4 : 3); ++kind) {
    PivotSolver<T> solver;
    solver.set_up({}, bands);
    const std::vector<T> y = side_of(bands, kind, random);
    std::vector<T> x(y.size());
    solver.apply(y.data(), x.data());
    double worst = 0;
    for (Index l = 0; l < lines.count(); ++l) {
      if (std::any_of(solver.singular().begin(), solver.singular().end(), [&](const auto& s) { return s.line == l; })) {
        continue;
      }
      const double error = line_backward_error(lines, bands.view(), l, x.data(), y.data()) /
                           static_cast<double>(std::numeric_limits<T>::epsilon());
      EXPECT_FALSE(std::isnan(error)) << l;
      worst = std::max(worst, error);
      far += error > 100;
    }
    EXPECT_LE(worst, std::max(solver.rounding(), solver.take_errors())) << "side " << kind;
  }
  return far;
}

SCALAR_TEST(Pivot, SaysWhichAnswersAreFarOff) {
  Random random(test::kSeed);
  const LineSet lines = LineSet::equal(250, 100);
  for (const double decades : {1., 4., 12., 16.}) {
    if (sizeof(T) == 4 && decades > 4) break;  // answers leave its range
    EXPECT_LE(far_off(random_rows<T>(lines, decades, 0, random), random), decades > 1 ? 12 : 0) << decades;
  }
}

SCALAR_TEST(Pivot, SolvesBlocksWhoseSecondRowCouplesOutwardByFar) {
  Random random(test::kSeed);
  std::uniform_real_distribution<double> share(0, 1);
  const LineSet lines = LineSet::equal(250, 60);
  Bands<T> bands = random_rows<T>(lines, 1, 0, random);
  for (Index i = 0; i < lines.rows(); ++i) {
    if (share(random) > 0.2) continue;
    bands.diag()[i] *= static_cast<T>(1e-3 * share(random));
    bands.upper()[i] *= static_cast<T>(std::pow(10, (sizeof(T) == 8 ? 14 : 4) * share(random)));
  }
  bands.close_lines();
  EXPECT_LE(far_off(bands, random), 2);
  // A block whose second row has 1e24 times of the next unknown what it holds of the first: 12171 eps.
  const T a[] = {0, 1, 1, 1}, b[] = {T(0.3), T(0.1), T(-2), T(3)}, c[] = {4, sizeof(T) == 8 ? T(1e24) : T(1e12), 1, 0};
  Bands<T> far(LineSet::one(4));
  far.copy_from({a, b, c});
  EXPECT_EQ(far_off(far, random), 0);
}

TEST(PivotInDouble, SolvesRowsAndColumnsAtTheEndsOfTheRange) {
  // Entries of any size; multipliers leave the range of double.
  const Index n = 120;
  for (const double end : {300.0, 250.0}) {
    const auto unit = [&](Index i) { return std::pow(10, (i / 3) % 2 == 0 ? end : -end); };
    const Bands<double> bands = test::closed(test::fill<double>(LineSet::one(n), [&](Index i) {
      const auto entry = [&](double number, Index j) {
        return (i / 3) % 2 == (j / 3) % 2 ? number : unit(i) > 1 ? 1e280 * number : 1e-280 * number;
      };
      return test::Row{entry(-1, i - 1), i % 5 == 0 ? 0.1 : 2.5, entry(-1, i + 1)};
    }));
    std::vector<double> y(n);
    for (Index i = 0; i < n; ++i) y[static_cast<std::size_t>(i)] = (i / 3) % 2 == 0 ? 1e280 : 1;
    const std::vector<double> x = pivoted(bands, y);
    EXPECT_LE(test::componentwise_error(bands, x, y), 3) << end;
  }
}

SCALAR_TEST(Pivot, TakesAllLinesWhereMostNeedIt) {
  Random random(test::kSeed);
  const LineSet lines = LineSet::equal(1000, 32);
  const Bands<T> bands = random_rows<T>(lines, 1, 0, random);
  Solver<T> solver = test::solver_for(bands, {.devices = "host"});
  EXPECT_EQ(solver.report().method, Method::pivot) << solver.report().why;
  EXPECT_TRUE(solver.report().groups.empty()) << "they are not taken apart";
  const std::vector<T> y = test::random_vector<T>(lines.extent());
  EXPECT_LE(test::componentwise_error(bands, test::answer(solver, y), y), 10);
}

SCALAR_TEST(Pivot, TakesAllLinesWhereHalfNeedIt) {
  Random random(test::kSeed);
  const LineSet lines = LineSet::equal(1024, 32);
  Bands<T> bands = random_rows<T>(lines, 4, 0, random);
  for (Index l = 0; l < lines.count(); l += 2) {
    for (Index at = lines.first(l); at < lines.first(l) + 32; ++at) bands.diag()[at] = 3;
  }
  Solver<T> solver = test::solver_for(bands, {.devices = "host"});
  EXPECT_EQ(solver.report().method, Method::pivot) << solver.report().why;
  EXPECT_EQ(solver.counts().uploads, 1) << "no factors are made to be thrown away";
}

TEST(PivotInDouble, TellsOfAnAnswerThatNoTrialShowed) {
  Random random(test::kSeed);
  const Bands<double> bands = random_rows<double>(LineSet::equal(250, 100), 16, 0, random);
  for (const MethodChoice method : {MethodChoice::automatic, MethodChoice::pivot}) {
    Solver<double> solver = test::solver_for(bands, {.devices = "host", .method = method});
    EXPECT_EQ(solver.report().above_bound, "");
    EXPECT_LE(solver.report().rounding, 100);
    const std::vector<double> y = side_of(bands, 3, random);
    const std::vector<double> x = test::answer(solver, y);
    EXPECT_GT(solver.report().rounding, 100);
    EXPECT_EQ(solver.report().above_bound.empty(), method == MethodChoice::pivot) << "a method that is named";
  }
}

TEST(PivotInDouble, ThrowsForSuchAnAnswerUnderAboveBoundError) {
  Random random(test::kSeed);
  const Bands<double> bands = random_rows<double>(LineSet::equal(250, 100), 16, 0, random);
  Solver<double> solver = test::solver_for(bands, {.devices = "host", .above_bound = AboveBound::error}),
                 warns = test::solver_for(bands, {.devices = "host"});
  const std::vector<double> y = side_of(bands, 3, random), none(y.size()), told = test::answer(warns, y);
  std::vector<double> x(y.size());
  EXPECT_THROW(solver.apply(y.data(), x.data()), Breakdown);
  EXPECT_EQ(x, told) << "the answer is there all the same";
  EXPECT_NE(solver.report().above_bound.find("error of an answer"), std::string::npos) << solver.report().above_bound;
  EXPECT_NO_THROW(solver.apply(none.data(), x.data())) << "0 is right";
}

/// Couplings and diagonals of free ends, to rounding: constants solve A x = 0.
template <typename T>
Bands<T> free_ends(const LineSet& lines, Random& random) {
  std::uniform_real_distribution<double> size(0.01, 1);
  Bands<T> bands(lines);
  for (Index l = 0; l < lines.count(); ++l) {
    T below = 0;
    for (Index i = 0; i < lines.length(l); ++i) {
      const Index at = lines.first(l) + i;
      const T above = below;
      below = i + 1 < lines.length(l) ? static_cast<T>(size(random)) : T(0);
      bands.lower()[at] = -above;
      bands.diag()[at] = above + below;
      bands.upper()[at] = -below;
    }
  }
  return bands;
}

SCALAR_TEST(Pivot, PinsALineThatIsSingularToRounding) {
  const T lower[] = {0, T(-0.1), T(-0.2)}, diag[] = {T(0.1), T(0.1) + T(0.2), T(0.2)}, upper[] = {T(-0.1), T(-0.2), 0};
  const T y[] = {1, 0, -1};
  T x[3];
  for (const MethodChoice method : {MethodChoice::automatic, MethodChoice::pivot, MethodChoice::exact}) {
    Solver<T> solver({.devices = "host", .method = method, .singular = Singular::pin});
    solver.set_up(LineSet::one(3), lower, diag, upper);
    solver.apply(y, x);
    EXPECT_NEAR(x[0], 15, 15e-6);
    EXPECT_NEAR(x[1], 5, 5e-6);
    EXPECT_EQ(x[2], 0);
    EXPECT_EQ(solver.report().pinned_lines, std::vector<Index>{0});
    Solver<T> failing({.devices = "host", .method = method, .singular = Singular::fail});
    EXPECT_THROW(failing.set_up(LineSet::one(3), lower, diag, upper), Breakdown) << name(method);
    Solver<T> told({.devices = "host", .method = method});  // the caller attached a constant null space
    told.bands(LineSet::one(3)).copy_from({lower, diag, upper});
    told.set_up({.constant_null_space = true});
    EXPECT_EQ(told.report().pinned_lines, std::vector<Index>{0});
  }
}

SCALAR_TEST(Pivot, PinsAllLinesWithFreeEnds) {
  Random random(test::kSeed);
  const LineSet lines = LineSet::equal(200, 20);
  const Bands<T> bands = free_ends<T>(lines, random);
  Solver<T> solver = test::solver_for(bands, {.devices = "host", .singular = Singular::pin});
  EXPECT_EQ(solver.report().pinned_lines.size(), 200u);
  std::vector<T> y(4000);
  for (std::size_t i = 0; i < y.size(); ++i) y[i] = i % 20 < 10 ? T(1) : T(-1);
  const std::vector<T> x = test::answer(solver, y);
  for (std::size_t l = 0; l < 200; ++l) EXPECT_EQ(x[20 * l + 19], 0);
  // One held end, or couplings of another sign, and the line is not singular.
  Bands<T> held = free_ends<T>(LineSet::one(20), random);
  held.diag()[0] += T(1e-3);
  Solver<T> other = test::solver_for(held, {.devices = "host", .singular = Singular::pin});
  EXPECT_TRUE(other.report().pinned_lines.empty());
}

}  // namespace
}  // namespace oclspkt
