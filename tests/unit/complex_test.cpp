// SPDX-License-Identifier: BSD-2-Clause
// Complex numbers on the host: arithmetic, bounds and every way of the solver.
#include <complex>

#include "cut_case.hpp"
#include "evidence.hpp"
#include "factors.hpp"
#include "oclspkt/error.hpp"
#include "pivot_solver.hpp"
#include "solver_fixture.hpp"

namespace oclspkt {
namespace {

template <typename T>
class Complex : public test::SolverFixture<T> {
 protected:
  static Solver<T> make(const Bands<T>& bands, MethodChoice method = MethodChoice::automatic) {
    return test::solver_for(bands, {.devices = "host", .method = method});
  }
  static std::vector<LineSet> layouts() {
    return {LineSet::one(997), LineSet::equal(7, 20), LineSet::grid_axis(1, 5, 6, 7), LineSet::strided(3, 20, 5, 2)};
  }
  /// A right-hand side A x, whose solution is smaller than the matrix could make it.
  static std::vector<T> smooth(const Bands<T>& bands) {
    return test::product(bands, test::random_vector<T>(bands.lines().extent()));
  }
};

COMPLEX_TEST(Complex, ReciprocalsAndModuliErrByFewRoundings) {
  using R = Real<T>;
  using Wide = std::complex<long double>;
  std::mt19937 generator(test::kSeed);
  std::uniform_real_distribution<double> part(-1, 1);
  std::uniform_int_distribution<int> power(std::numeric_limits<R>::min_exponent + 20,
                                           std::numeric_limits<R>::max_exponent - 2);
  long double of_reciprocal = 0, of_modulus = 0;
  for (int k = 0; k < 100000; ++k) {
    const int exponent = power(generator);
    const T z(std::ldexp(static_cast<R>(part(generator)), exponent),
              std::ldexp(static_cast<R>(part(generator)), exponent));
    const Wide exact = Wide(1) / Wide(z);
    const T reciprocal = reciprocal_of(z);
    if (std::abs(exact) < std::numeric_limits<R>::max() && std::abs(exact) > 8 * std::numeric_limits<R>::min()) {
      of_reciprocal = std::max(of_reciprocal, std::abs(Wide(reciprocal) - exact) / std::abs(exact));
    }
    of_modulus = std::max(of_modulus, std::abs(modulus(z) - std::abs(Wide(z))) / std::abs(Wide(z)));
  }
  const double unit = kEpsOf<T> / 2;
  EXPECT_LE(static_cast<double>(of_reciprocal), 3.01 * unit);
  EXPECT_GE(static_cast<double>(of_reciprocal), unit);
  EXPECT_LE(static_cast<double>(of_modulus), 2.01 * unit);
  EXPECT_EQ(modulus(T(0)), R(0));
  EXPECT_EQ(modulus(T(R(0), std::numeric_limits<R>::infinity())), std::numeric_limits<R>::infinity());
}

COMPLEX_TEST(Complex, SolvesAnySizeWithAnyMethod) {
  for (const MethodChoice method : {MethodChoice::automatic, MethodChoice::truncated, MethodChoice::exact,
                                    MethodChoice::exact_factored, MethodChoice::pivot}) {
    for (const Index n : {0, 1, 2, 3, 100, 7919}) {
      const Bands<T> bands = test::with_phases<T>(test::random_dominant<Real<T>>(LineSet::one(n), 3));
      auto solver = this->make(bands, method);
      EXPECT_LE(this->backward_error(solver, bands), 20) << name(method) << " n " << n;
      EXPECT_LE(test::transposed_error(solver, bands), 20) << name(method) << " n " << n;
      EXPECT_EQ(solver.report().device.name, "host");
    }
  }
}

COMPLEX_TEST(Complex, ErrsByNoMoreThanItsBoundInAnyLayout) {
  for (const LineSet& lines : this->layouts()) {
    for (const double d : {1.0, 1.5, 10.0}) {
      const Bands<T> bands = test::with_phases<T>(test::random_dominant<Real<T>>(lines, d));
      auto solver = this->make(bands);
      SCOPED_TRACE(lines.describe() + ", dominance " + std::to_string(d));
      EXPECT_EQ(solver.report().method, Method::exact_factored);
      EXPECT_NEAR(solver.report().dominance, d, 1e-5);
      EXPECT_LE(solver.report().rounding, 100);
      for (const std::vector<T>& y : {test::random_vector<T>(lines.extent()), this->smooth(bands)}) {
        const double error = test::componentwise_error(bands, test::answer(solver, y), y);
        EXPECT_LE(error, solver.report().rounding);
        EXPECT_LE(error, 10);
      }
    }
  }
}

COMPLEX_TEST(Complex, PivotsWhereEliminationWithoutPivotsFails) {
  const LineSet lines = LineSet::one(100);  // solutions grow by powers of 2
  for (const auto& [a, b, c] :
       {test::Row{1, 0, 1}, test::Row{1, 1e-20, 2}, test::Row{1, 0.5, 1}, test::Row{1, -1, 1.5}}) {
    const Bands<T> bands = test::with_phases<T>(test::constant<Real<T>>(lines, a, b, c));
    auto solver = this->make(bands);
    EXPECT_LE(this->backward_error(solver, bands), 10) << a << " " << b << " " << c;
    auto named = this->make(bands, MethodChoice::pivot);
    EXPECT_EQ(named.report().method, Method::pivot);
    EXPECT_LE(this->backward_error(named, bands), std::max(10.0, named.report().rounding));
  }
}

COMPLEX_TEST(Complex, SolvesAFewHardLinesByThemselves) {
  const LineSet lines = LineSet::equal(60, 40);
  Bands<Real<T>> real = test::random_dominant<Real<T>>(lines, 2);
  test::replace_line(real, 7, 1, 0, 1);
  const Bands<T> bands = test::with_phases<T>(real);
  auto solver = this->make(bands);
  EXPECT_LE(this->backward_error(solver, bands), 20);
  ASSERT_EQ(solver.report().groups.size(), 1u);
  EXPECT_EQ(solver.report().groups[0].first_line, 7);
}

COMPLEX_TEST(Complex, RefusesSingularLinesAndPinsThemIfAsked) {
  const LineSet lines = LineSet::one(50);
  Bands<T> bands(lines);
  const Bands<Real<T>> neumann = test::neumann<Real<T>>(lines);
  const T turned(Real<T>(0.6), Real<T>(0.8));
  for (Index i = 0; i < 50; ++i) {
    bands.lower()[i] = i > 0 ? turned * neumann.view().lower[i] : T(0);
    bands.diag()[i] = turned * neumann.view().diag[i];
    bands.upper()[i] = i < 49 ? turned * neumann.view().upper[i] : T(0);
  }
  EXPECT_THROW(this->make(bands), Breakdown);
  auto pinned = test::solver_for(bands, {.devices = "host", .singular = Singular::pin});
  EXPECT_EQ(pinned.report().pinned_lines, std::vector<Index>{0});
}

COMPLEX_TEST(Complex, NamesTheRowWithANumberThatIsNotFinite) {
  using R = Real<T>;
  Bands<T> bands = test::closed(test::with_phases<T>(test::random_dominant<R>(LineSet::one(100), 2)));
  for (const T bad : {T(0, std::numeric_limits<R>::quiet_NaN()), T(std::numeric_limits<R>::infinity(), 0)}) {
    const T before = std::exchange(bands.diag()[42], bad);
    test::expect_refusal<NotFinite>([&] { this->make(bands); }, "row 42");
    bands.diag()[42] = before;
  }
}

COMPLEX_TEST(Complex, ANaNStaysInItsLine) {
  const LineSet lines = LineSet::equal(5, 30);
  const Bands<T> bands = test::with_phases<T>(test::random_dominant<Real<T>>(lines, 2));
  auto solver = this->make(bands);
  std::vector<T> y = test::random_vector<T>(lines.extent());
  const std::vector<T> x = test::answer(solver, y);
  y[70].imag(std::numeric_limits<Real<T>>::quiet_NaN());
  const std::vector<T> spoilt = test::answer(solver, y);
  for (std::size_t i = 0; i < 150; ++i) {
    if (i < 60 || i >= 90) {
      EXPECT_EQ(spoilt[i], x[i]) << i;
    } else {
      EXPECT_FALSE(is_finite(spoilt[i])) << i;
    }
  }
}

COMPLEX_TEST(Complex, ScalesRowsNearTheEndsOfTheRange) {
  const LineSet lines = LineSet::equal(3, 40);
  Bands<T> bands = test::closed(test::with_phases<T>(test::random_dominant<Real<T>>(lines, 2)));
  const int most = std::numeric_limits<Real<T>>::max_exponent * 15 / 16;
  for (Index i = 40; i < 80; ++i) {
    const int power = i % 2 == 0 ? most : -most;
    for (T* band : {bands.lower(), bands.diag(), bands.upper()}) band[i] = times_power(band[i], power);
  }
  std::vector<T> x(120, T(Real<T>(0.5), Real<T>(-1)));
  const std::vector<T> y = test::product(bands, x);
  auto solver = this->make(bands);
  EXPECT_EQ(solver.report().groups.size(), 1u);
  const std::vector<T> found = test::answer(solver, y);
  for (std::size_t i = 0; i < 120; ++i) EXPECT_LE(std::abs(found[i] - x[i]), 1000 * kEpsOf<T>) << i;
}

COMPLEX_TEST(Complex, SolvesSeveralColumnsLikeEachAlone) {
  for (const LineSet& lines : this->layouts()) {
    const Bands<T> bands = test::with_phases<T>(test::random_dominant<Real<T>>(lines, 1.5));
    auto solver = this->make(bands);
    const Index extent = lines.extent(), columns = 6;
    const std::vector<T> y = test::random_vector<T>(columns * extent);
    std::vector<T> x(y.size(), T(7)), one(static_cast<std::size_t>(extent), T(7));
    solver.apply(y.data(), extent, x.data(), extent, columns);
    for (Index k = 0; k < columns; ++k) {
      solver.apply(y.data() + k * extent, one.data());
      EXPECT_TRUE(std::equal(one.begin(), one.end(), x.begin() + k * extent)) << lines.describe() << " column " << k;
    }
  }
}

COMPLEX_TEST(Complex, ApproximatesNothingBesideLinesThatAreReal) {
  // A real system in complex numbers has the solution of the real one, to rounding.
  const LineSet lines = LineSet::one(3000);
  const Bands<Real<T>> real = test::closed(test::random_dominant<Real<T>>(lines, 1.2));
  Bands<T> bands(lines);
  for (Index i = 0; i < 3000; ++i) {
    bands.lower()[i] = real.view().lower[i];
    bands.diag()[i] = real.view().diag[i];
    bands.upper()[i] = real.view().upper[i];
  }
  auto solver = this->make(bands);
  auto of_real = test::solver_for(real, {.devices = "host"});
  const std::vector<Real<T>> y = test::random_vector<Real<T>>(3000);
  const std::vector<T> x = test::answer(solver, std::vector<T>(y.begin(), y.end()));
  const std::vector<Real<T>> expected = test::answer(of_real, y);
  for (std::size_t i = 0; i < y.size(); ++i) {
    EXPECT_EQ(x[i].imag(), 0);
    EXPECT_NEAR(x[i].real(), expected[i], 200 * kEpsOf<T> * 10) << i;
  }
}

COMPLEX_TEST(Complex, SolvesLinesThatProcessesCut) {
  using test::CutCase;
  for (const std::vector<Index>& rows :
       std::vector<std::vector<Index>>{{50, 50}, {1, 40}, {30, 2, 30}, {30, 1, 30}, {1, 1, 1}, {100, 3, 17, 64}}) {
    for (const test::Layout layout : {test::Layout::end_to_end, test::Layout::strided_y}) {
      for (const double d : {1.0, 3.0, 100.0}) {
        const CutCase c = CutCase::equal(4, rows, layout);
        const Bands<T> bands = test::with_phases<T>(test::random_dominant<Real<T>>(c.all(), d));
        const Bands<T> turned = test::transposed(bands);
        for (const std::vector<T>& y : {test::random_vector<T>(c.all().extent()), this->smooth(bands)}) {
          for (const bool transpose : {false, true}) {
            test::CutRun run;
            run.transpose = transpose;
            const auto outcome = test::solve_cut(c, bands, y, run);
            ASSERT_TRUE(outcome.none_threw()) << outcome.texts();
            EXPECT_LE(test::componentwise_error(transpose ? turned : bands, outcome.x, y), 100)
                << rows.size() << " parts, d " << d << ", transposed " << transpose;
          }
        }
      }
    }
  }
}

COMPLEX_TEST(Complex, RefusesDevicesWithAWordOnWhatTakesIt) {
  const Bands<T> bands = test::with_phases<T>(test::random_dominant<Real<T>>(LineSet::one(10), 2));
  test::expect_refusal([&] { test::solver_for(bands, {.devices = "cpu"}); }, "`host`");
  EXPECT_EQ(test::solver_for(bands, {.devices = "auto"}).report().device.name, "host");
}

}  // namespace
}  // namespace oclspkt
