// SPDX-License-Identifier: BSD-2-Clause
// What the public solver makes of NaN, of infinities, of the scale of rows and of winds, on every device.

#include "every_device.hpp"
#include "oclspkt/error.hpp"
#include "solver_fixture.hpp"

namespace oclspkt {
namespace {

template <typename T>
class Numbers : public test::SolverFixture<T> {
 protected:
  static constexpr T kNaN = std::numeric_limits<T>::quiet_NaN(), kInfinity = std::numeric_limits<T>::infinity();

  static std::vector<T> solve(const Bands<T>& bands, const std::vector<T>& y, const Options& options, Report& report) {
    Solver<T> solver = test::solver_for(bands, options);
    report = solver.report();
    return test::answer(solver, y);
  }
};

SCALAR_TEST(Numbers, ThatAreNoneAreRefusedWithTheirRow) {
  const Index m = 48, n = 16 * m * 3;  // partitions, and tiles of up to 16 of them
  test::with_every_device([&](Options options) {
    options.partition = m;
    for (const Index row : {Index{0}, Index{1}, m - 1, m, m + 1, 8 * m - 1, 8 * m, 16 * m - 1, 16 * m, n - 2, n - 1}) {
      for (int band = 0; band < 3; ++band) {
        for (const T value : {this->kNaN, this->kInfinity, -this->kInfinity}) {
          if ((band == 0 && row == 0) || (band == 2 && row == n - 1)) continue;  // not read
          Bands<T> bands = test::constant<T>(LineSet::one(n), -1, 4, -1);
          T* const bad[] = {bands.lower(), bands.diag(), bands.upper()};
          bad[band][row] = value;
          SCOPED_TRACE(band);
          test::expect_refusal<Breakdown>([&] { test::solver_for(bands, options); },
                                          "NaN or Inf at row " + std::to_string(row));
        }
      }
      if (row % 16 != 0) continue;
      Bands<T> bands = test::constant<T>(LineSet::one(n), -1, 4, -1);
      bands.lower()[row] = bands.diag()[row] = bands.upper()[row] = 0;  // 0/0
      test::expect_refusal<Breakdown>([&] { test::solver_for(bands, options); }, "singular");
    }
  });
}

SCALAR_TEST(Numbers, ThatAreNoneInTheRightHandSideLeaveOtherLinesTheirBits) {
  const Index count = 20, length = 101;
  const Bands<T> bands = test::random_dominant<T>(LineSet::equal(count, length), 3);
  const std::vector<T> healthy = test::random_vector<T>(count * length);
  test::with_every_device([&](Options options) {
    for (const MethodChoice method :
         {MethodChoice::automatic, MethodChoice::truncated_halo, MethodChoice::truncated_streamed,
          MethodChoice::exact_twopass, MethodChoice::exact_factored, MethodChoice::pivot}) {
      options.method = method;
      Report report;
      const std::vector<T> expected = this->solve(bands, healthy, options, report);
      for (const Index line : {Index{0}, Index{7}, count - 1}) {
        for (const Index row : {Index{0}, length - 1}) {
          std::vector<T> y = healthy;
          y[static_cast<std::size_t>(line * length + row)] = this->kNaN;
          const std::vector<T> x = this->solve(bands, y, options, report);
          EXPECT_TRUE(std::isnan(x[static_cast<std::size_t>(line * length + row)])) << name(report.method);
          for (Index i = 0; i < count * length; ++i) {
            if (i / length == line) continue;
            ASSERT_EQ(x[static_cast<std::size_t>(i)], expected[static_cast<std::size_t>(i)])
                << name(report.method) << ", NaN in line " << line << ", row " << row << ", seen in row " << i;
          }
        }
      }
    }
  });
}

SCALAR_TEST(Numbers, OfARowMayShareAnyPowerOfTwo) {
  const Index n = 20011;
  const int widest = sizeof(T) == 8 ? 40 : 20;
  std::mt19937 generator(test::kSeed);
  std::uniform_int_distribution<int> exponent(-widest, widest);
  std::vector<int> k(static_cast<std::size_t>(n));
  for (int& e : k) e = exponent(generator);
  for (const double d : {3.0, 1.0, 0.97}) {
    const Bands<T> bands = test::random_dominant<T>(LineSet::one(n), d);
    Bands<T> scaled = test::random_dominant<T>(LineSet::one(n), d);
    std::vector<T> y = test::random_vector<T>(n), y_scaled = y;
    for (Index i = 0; i < n; ++i) {
      const auto at = static_cast<std::size_t>(i);
      for (T* number : {scaled.lower() + i, scaled.diag() + i, scaled.upper() + i})
        *number = std::ldexp(*number, k[at]);
      y_scaled[at] = std::ldexp(y[at], k[at]);
    }
    test::with_every_device([&](Options options) {
      for (const MethodChoice method : {MethodChoice::automatic, MethodChoice::exact_twopass}) {
        options.method = method;
        Report plain, other;
        const std::vector<T> x = this->solve(bands, y, options, plain);
        const std::vector<T> x_scaled = this->solve(scaled, y_scaled, options, other);
        // LAPACK compares rows with each other when it pivots: what it rounds depends on their scale.
        if (plain.method != Method::pivot) {
          EXPECT_TRUE(x_scaled == x) << name(plain.method) << " d " << d;
        }
        EXPECT_EQ(other.method, plain.method);
        EXPECT_EQ(other.partition.halo, plain.partition.halo);
        EXPECT_EQ(other.certificate, plain.certificate);
        EXPECT_EQ(other.dominance, plain.dominance);
      }
    });
  }
}

SCALAR_TEST(Numbers, OfAWindSendDevicesOnToTheExactMethod) {
  for (const double peclet : {1.0, 10.0, 1e3}) {
    for (const bool against : {false, true}) {
      const Bands<T> bands = test::upwind<T>(LineSet::one(200'000), peclet, against);
      test::with_every_device([&](Options options) {
        Solver<T> solver = test::solver_for(bands, options);
        const bool host = options.devices == "host";
        EXPECT_TRUE(test::is_exact(solver.report())) << solver.report().why;
        EXPECT_EQ(solver.report().device.name == "host", host);
        EXPECT_LE(this->backward_error(solver, bands), 100);
        if (host) return;
        // Stored factors are streamed down only, from starts that are truncated: not what a wind wants.
        options.method = MethodChoice::truncated_streamed;
        Solver<T> streamed = test::solver_for(bands, options);
        EXPECT_NE(streamed.report().shape.find("stored factors"), std::string::npos) << streamed.report().shape;
        EXPECT_GT(streamed.report().certificate, streamed.report().tolerance);
        EXPECT_TRUE(streamed.report().certificate_above_tolerance);
      });
    }
  }
}

SCALAR_TEST(Numbers, ThatLoseTheirExcessToRoundingAreStillRight) {
  // 1 + 2 lambda = 2 lambda in T: the matrix that is stored is Poisson's.
  const double lambda = sizeof(T) == 8 ? 1e17 : 1e9;
  ASSERT_EQ(static_cast<T>(1 + 2 * lambda), static_cast<T>(2 * lambda));
  for (const Index n : {33, 20000}) {
    const Bands<T> bands = test::diffusion<T>(LineSet::one(n), lambda),
                   nearly = test::diffusion<T>(LineSet::one(n), 1e7);
    test::with_every_device([&](const Options& options) {
      for (const Bands<T>* each : {&bands, &nearly}) {
        Solver<T> solver = test::solver_for(*each, options);
        EXPECT_LE(this->backward_error(solver, *each), 100) << name(solver.report().method);
      }
    });
  }
}

}  // namespace
}  // namespace oclspkt
