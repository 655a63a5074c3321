// SPDX-License-Identifier: BSD-2-Clause
// Precision narrow on every device and on the host: bands are rounded, factors where that is safe, and answers are
// those of the matrix that was asked for as far as its condition lets floats say so.

#include <cfloat>
#include <numeric>

#include "backward_error.hpp"
#include "every_device.hpp"
#include "solver_fixture.hpp"

namespace oclspkt {
namespace {

using test::answer;

class NarrowPrecision : public test::SolverFixture<double> {
 protected:
  static constexpr Index n = 100'000;

  static Options narrow(Options options) {
    options.precision = Precision::narrow;
    return options;
  }

  /// max |a - b| / max |b|; NaN if any number is NaN.
  static double apart(const std::vector<double>& a, const std::vector<double>& b) {
    double difference = 0, size = 0;
    for (std::size_t i = 0; i < a.size(); ++i) {
      if (!(std::abs(a[i] - b[i]) <= DBL_MAX)) return std::nan("");
      difference = std::max(difference, std::abs(a[i] - b[i]));
      size = std::max(size, std::abs(b[i]));
    }
    return difference / size;
  }

  /// By precision same, and LAPACK.
  static std::vector<double> reference(const Bands<double>& bands, const std::vector<double>& y) {
    Solver<double> solver = test::solver_for(bands, {.devices = "host", .method = MethodChoice::pivot});
    return answer(solver, y);
  }

  static bool says(const Report& report, const std::string& word) {
    return report.precision.why.find(word) != std::string::npos;
  }
};

TEST_F(NarrowPrecision, KeepsFactorsAsFloatsOnDevicesAndRoundsBandsEverywhere) {
  for (const LineSet& lines : {LineSet::one(n), LineSet::equal(800, 128), LineSet::equal(25, 4096),
                               LineSet::grid_axis(1, 40, 50, 30), LineSet::grid_axis(2, 64, 40, 30)}) {
    for (const bool symmetric : {false, true}) {
      const Bands<double> bands =
          symmetric ? test::random_symmetric<double>(lines, 2.0) : test::random_dominant<double>(lines, 2.0);
      const auto y = test::random_vector<double>(lines.rows());
      const auto right = reference(bands, y), of_floats = reference(test::rounded(bands), y);
      test::with_every_device([&](Options options) {
        if (lines.beside()) options.method = MethodChoice::exact_factored;  // auto stores nothing for few applies
        Solver<double> solver(narrow(options)), same(options);
        set_up(solver, bands);
        set_up(same, bands);
        const auto x = answer(solver, y);
        const Report& report = solver.report();
        EXPECT_EQ(report.precision.applied, Precision::narrow);
        EXPECT_TRUE(says(report, "bands rounded to float, which changes the excess of a row by "))
            << report.precision.why;
        if (options.devices == "host") {
          EXPECT_EQ(report.form, Form::general);
          EXPECT_TRUE(says(report, "factors stay double, the host solves")) << report.precision.why;
          EXPECT_LE(apart(x, of_floats), 16 * eps);
        } else {
          EXPECT_EQ(report.form, symmetric ? Form::symmetric : Form::narrow) << report.precision.why;
          EXPECT_EQ(report.words_per_row, symmetric ? 3 : 3.5);
          EXPECT_EQ(report.words_saved, symmetric ? 2 : 1.5);
          EXPECT_TRUE(says(report, "stored factors are floats, too")) << report.precision.why;
          EXPECT_NE(report.shape.find(symmetric ? "narrow symmetric factors" : "narrow stored factors"),
                    std::string::npos)
              << report.shape;
          EXPECT_LE(apart(x, of_floats), 4 * FLT_EPSILON);
          EXPECT_GT(apart(x, of_floats), eps) << "nothing was rounded";
        }
        EXPECT_LE(apart(x, right), 8 * FLT_EPSILON);
        EXPECT_LE(apart(answer(same, y), right), 16 * eps);
        // One solver in turn, and back.
        solver.set_options(options);
        set_up(solver, bands);
        EXPECT_EQ(answer(solver, y), answer(same, y));
        solver.set_options(narrow(options));
        set_up(solver, bands);
        EXPECT_EQ(answer(solver, y), x);
      });
    }
  }
}

TEST_F(NarrowPrecision, ErrsByRoundingTimesTheCondition) {
  for (const double lambda : {10.0, 1e3, 3e4}) {
    Bands<double> bands = test::diffusion<double>(LineSet::one(n), lambda);
    for (Index i = 0; i < n; ++i) bands.diag()[i] += 1e-3 * static_cast<double>(i % 7);  // not shared
    const auto y = test::random_vector<double>(n);
    const auto right = reference(bands, y);
    test::with_every_device([&](const Options& options) {
      Solver<double> solver = test::solver_for(bands, narrow(options));
      EXPECT_EQ(solver.report().form, options.devices == "host" ? Form::general : Form::symmetric);
      EXPECT_EQ(solver.report().words_per_row, options.devices == "host" ? 7 : 3) << solver.report().precision.why;
      EXPECT_LE(apart(answer(solver, y), right), 4 * FLT_EPSILON * (1 + 4 * lambda)) << lambda;
    });
  }
}

TEST_F(NarrowPrecision, KeepsSymmetricOperatorsSymmetric) {
  const Bands<double> bands = test::random_symmetric<double>(LineSet::one(n), 1.5);
  const auto u = test::random_vector<double>(n, 1), v = test::random_vector<double>(n, 2);
  const auto product = [](const std::vector<double>& a, const std::vector<double>& b) {
    return std::inner_product(a.begin(), a.end(), b.begin(), 0.0);
  };
  test::with_every_device([&](const Options& options) {
    Solver<double> solver = test::solver_for(bands, narrow(options));
    const double one = product(u, answer(solver, v)), other = product(v, answer(solver, u));
    EXPECT_NEAR(one, other, 1e3 * eps * std::abs(one));
  });
}

TEST_F(NarrowPrecision, LeavesSharedFactorsAndThoseOfWeakRowsAsTheyAre) {
  for (const LineSet& lines : {LineSet::one(n), LineSet::equal(800, 128), LineSet::grid_axis(1, 40, 50, 30)}) {
    const Bands<double> shared = test::constant<double>(lines, -0.1, 0.4, -0.2);
    Bands<double> weak = test::diffusion<double>(lines, 1e5);  // floats, not shared
    for (Index i = 0; i < lines.rows(); ++i) weak.diag()[i] += static_cast<double>(i % 2);
    const auto y = test::random_vector<double>(lines.rows());
    test::with_every_true_device([&](const Options& options) {
      for (const Bands<double>* bands : {&shared, &std::as_const(weak)}) {
        const bool alike = bands == &shared;
        if (!alike && lines.count() == 800) continue;  // tiles hold lines
        Solver<double> solver(narrow(options)), same(options);
        set_up(solver, *bands);
        set_up(same, test::rounded(*bands));
        const char* const why = alike                ? "shared factors fit into the cache"
                                : lines.count() == 1 ? "with row dominance 1.000005 rounding"
                                                     : "the excess";
        EXPECT_TRUE(says(solver.report(), why)) << solver.report().precision.why;
        EXPECT_EQ(answer(solver, y), answer(same, y));
        if (!lines.contiguous()) continue;
        EXPECT_EQ(solver.report().form, alike ? Form::shared : Form::symmetric) << solver.report().why;
        EXPECT_EQ(solver.report().words_per_row, alike ? 2 : 4);
      }
    });
  }
}

TEST_F(NarrowPrecision, SolvesPoissonsEquationExactly) {
  const Bands<double> bands = test::constant<double>(LineSet::one(n), -1, 2, -1);
  test::with_every_device([&](const Options& options) {
    Solver<double> solver = test::solver_for(bands, narrow(options));
    EXPECT_TRUE(test::is_exact(solver.report())) << solver.report().why;
    EXPECT_LE(backward_error(solver, bands), 100);
    EXPECT_TRUE(says(solver.report(), "bands rounded to float; ")) << solver.report().precision.why;
  });
}

TEST_F(NarrowPrecision, RefusesRowsThatLoseTheirExcessAndTakesTheNextMatrix) {
  const auto weak = test::diffusion<double>(LineSet::one(1000), 1e7), good = test::diffusion<double>(weak.lines(), 1);
  const auto y = test::random_vector<double>(1000);
  test::with_every_device([&](const Options& options) {
    Solver<double> solver(narrow(options));
    test::expect_refusal([&] { set_up(solver, weak); },
                         {"precision narrow: row 1 ", "excess", "1 becomes 0", "use precision same"});
    EXPECT_THROW(answer(solver, y), InvalidInput);
    set_up(solver, good);
    EXPECT_LE(apart(answer(solver, y), reference(good, y)), 8 * FLT_EPSILON);
    // By the cure that the text names.
    solver.set_options(options);
    set_up(solver, weak);
    EXPECT_LE(backward_error(solver, weak), 100);
  });
}

TEST_F(NarrowPrecision, EndsTheSetUpOnNanAsEver) {
  Bands<double> bands = test::diffusion<double>(LineSet::one(1000), 1);
  bands.diag()[600] = std::nan("");
  Solver<double> solver(narrow({.devices = "host"}));
  EXPECT_THROW(set_up(solver, bands), Breakdown);
}

TEST_F(NarrowPrecision, SolvesFallbackLines) {
  Bands<double> bands = test::random_dominant<double>(LineSet::equal(30, 30'000), 3.0);
  test::replace_line(bands, 7, -1, 2, -1);
  test::replace_line(bands, 13, 1, 0, 1);
  const auto y = test::random_vector<double>(bands.lines().rows());
  const auto right = reference(test::rounded(bands), y);
  const auto piece = [&](const std::vector<double>& x, Index first, Index end) {
    return std::vector<double>(x.begin() + bands.lines().first(first), x.begin() + bands.lines().first(end));
  };
  test::with_every_true_device([&](const Options& options) {
    Solver<double> solver = test::solver_for(bands, narrow(options));
    EXPECT_EQ(solver.report().groups.size(), 2u);
    EXPECT_EQ(solver.report().form, Form::narrow) << solver.report().precision.why;
    const auto x = answer(solver, y);
    EXPECT_LE(apart(piece(x, 0, 7), piece(right, 0, 7)), 4 * FLT_EPSILON);
    EXPECT_LE(apart(piece(x, 7, 8), piece(right, 7, 8)), 1e-6);  // condition 1e9, in double
    EXPECT_LE(apart(piece(x, 14, 29), piece(right, 14, 29)), 4 * FLT_EPSILON);
  });
}

TEST_F(NarrowPrecision, TakesNewValuesAndOtherPrecisions) {
  const LineSet lines = LineSet::equal(800, 128);
  const Bands<double> general = test::random_dominant<double>(lines, 2.0),
                      symmetric = test::random_symmetric<double>(lines, 2.0);
  const auto y = test::random_vector<double>(lines.rows());
  test::with_every_true_device([&](Options options) {
    options.method = MethodChoice::truncated_streamed;  // auto stores nothing for few applies
    Solver<double> solver(options);
    for (const bool rounds : {true, false, true, true, false}) {
      solver.set_options(rounds ? narrow(options) : options);
      for (const Bands<double>* bands : {&general, &symmetric, &general}) {
        set_up(solver, *bands);
        const bool serve = bands == &symmetric;
        EXPECT_EQ(solver.report().words_per_row, (serve ? 2 : 3) * (rounds ? 0.5 : 1) + 2);
        EXPECT_LE(apart(answer(solver, y), reference(*bands, y)), rounds ? 8 * FLT_EPSILON : 16 * eps);
      }
    }
  });
}

TEST_F(NarrowPrecision, IsTheSameOperatorWhenSetUpAgain) {
  const Bands<double> bands = test::random_dominant<double>(LineSet::one(n), 1.5);
  const auto y = test::random_vector<double>(n);
  test::with_every_device([&](const Options& options) {
    Solver<double> solver = test::solver_for(bands, narrow(options));
    const auto first = answer(solver, y);
    const std::string why = solver.report().precision.why;
    for (int i = 0; i < 100; ++i) answer(solver, y);  // for few another method would do
    solver.set_up();                                  // of the bands that are rounded already
    EXPECT_EQ(answer(solver, y), first);
    EXPECT_EQ(solver.report().precision.why, why);
  });
}

TEST_F(NarrowPrecision, SolvesTheTransposedSystem) {
  const Bands<double> bands = test::random_dominant<double>(LineSet::one(5003), 3.0);
  const auto y = test::random_vector<double>(5003);
  std::vector<double> x(5003);
  const auto right = reference(test::transposed(bands), y);
  test::with_every_device([&](const Options& options) {
    Solver<double> solver = test::solver_for(bands, narrow(options));
    solver.apply_transpose(y.data(), x.data());
    EXPECT_LE(apart(x, right), 100 * FLT_EPSILON);
  });
}

TEST(NarrowPrecisionOfFloats, ChangesNothingAndSaysSo) {
  const Bands<float> bands = test::random_dominant<float>(LineSet::one(10'000), 2.0);
  const auto y = test::random_vector<float>(10'000);
  test::with_every_device([&](Options options) {
    std::vector<float> x[2];
    for (const Precision precision : {Precision::same, Precision::narrow}) {
      options.precision = precision;
      Solver<float> solver = test::solver_for(bands, options);
      x[precision == Precision::narrow] = answer(solver, y);
      EXPECT_EQ(solver.report().precision.applied, Precision::same);
      EXPECT_EQ(solver.report().precision.why,
                precision == Precision::same ? "" : "narrow changes nothing: the vectors are float already");
    }
    EXPECT_EQ(x[0], x[1]);
  });
}

}  // namespace
}  // namespace oclspkt
