// SPDX-License-Identifier: BSD-2-Clause
#include "certificate.hpp"

#include <gtest/gtest.h>

#include "matrices.hpp"
#include "model.hpp"
#include "residual.hpp"

namespace oclspkt {
namespace {

/// Largest error of a truncated method over max |x|, for a known solution.
double true_error(const Plan& plan, Bands<double>& bands, const std::vector<double>& x) {
  std::vector<double> y(x.size()), computed(x.size());
  multiply(bands.lines(), bands.view(), x.data(), y.data());
  ModelSolver<double> model;
  model.set_up(plan, bands);
  model.apply(y.data(), computed.data());
  double error = 0, largest = 0;
  for (std::size_t i = 0; i < x.size(); ++i) {
    error = std::max(error, std::abs(computed[i] - x[i]));
    largest = std::max(largest, std::abs(x[i]));
  }
  return error / largest;
}

Plan streamed(Index n, Index tile, int runs) {
  Plan plan = make_plan(Method::truncated_streamed, n, 0, tile, 8, DeviceTraits{.lanes = 1});
  plan.runs = runs;
  return plan;
}

std::vector<std::vector<double>> solutions(Index n) {
  std::vector<double> ones(static_cast<std::size_t>(n), 1.0), alternating = ones;
  for (std::size_t i = 1; i < alternating.size(); i += 2) alternating[i] = -1;
  return {ones, alternating, test::random_vector<double>(n)};
}

TEST(Certificate, CoversTheTrueErrorOfTheHaloForm) {
  const Index n = 3000, m = 100;
  for (const double lambda : {1.0, 10.0, 100.0, 1000.0, 1e4}) {
    Bands<double> bands = test::diffusion<double>(LineSet::one(n), lambda);
    bands.close_lines();
    for (const Index halo : {8, 40, 90}) {
      const Certificate certificate = certify_halo(n, bands.view(), m, halo, {0, n});
      const Plan plan = make_plan(Method::truncated_halo, n, halo, m, 8, DeviceTraits{.lanes = 1});
      for (const auto& x : solutions(n)) {
        EXPECT_LE(true_error(plan, bands, x), 1.1 * certificate.bound + 1e-11)
            << "lambda " << lambda << " halo " << halo;
      }
      // Sharp, too: x = 1 reaches it.
      EXPECT_GE(true_error(plan, bands, solutions(n)[0]), 0.5 * certificate.bound - 1e-11);
    }
  }
}

TEST(Certificate, CoversTheTrueErrorOfTheStreamedForm) {
  const Index n = 4000;
  for (const double lambda : {1.0, 10.0, 100.0, 1000.0}) {
    Bands<double> bands = test::diffusion<double>(LineSet::one(n), lambda);
    bands.close_lines();
    for (const Index tile : {64, 200, 500}) {
      const Plan plan = make_plan(Method::truncated_streamed, n, 0, tile, 8, DeviceTraits{.lanes = 1, .cores = 1});
      const Certificate certificate = certify_streamed(plan, bands.view());
      for (const auto& x : solutions(n)) {
        EXPECT_LE(true_error(plan, bands, x), 1.1 * certificate.bound + 1e-11)
            << "lambda " << lambda << " tile " << tile;
      }
    }
  }
}

TEST(Certificate, FollowsTheWindInTheStreamedForm) {
  const Index n = 4000, tile = 100;
  for (const double peclet : {1.0, 10.0, 1e3}) {
    for (const bool upwind : {true, false}) {
      const double strong = -(1 + peclet), weak = -1;
      Bands<double> bands =
          test::constant<double>(LineSet::one(n), upwind ? strong : weak, 2 + peclet, upwind ? weak : strong);
      bands.close_lines();
      for (const bool up : {false, true}) {
        for (const bool exact_starts : {false, true}) {
          Plan plan = streamed(n, tile, 4);
          plan.walk_up = up;
          plan.exact_starts = exact_starts;
          const Certificate certificate = certify_streamed(plan, bands.view());
          for (const auto& x : solutions(n)) {
            EXPECT_LE(true_error(plan, bands, x), 1.1 * certificate.bound + 1e-11)
                << "Pe " << peclet << " upwind " << upwind << " up " << up << " exact starts " << exact_starts;
          }
          // Only the walk with the wind, from starts that are solved for, is covered.
          EXPECT_EQ(certificate.bound <= 1e-15, up != upwind && exact_starts)
              << "Pe " << peclet << " upwind " << upwind << " up " << up << ": " << certificate.bound;
        }
      }
    }
  }
}

TEST(Certificate, CoversNoDirectionWhereTheWindTurns) {
  const Index n = 4000;
  Bands<double> bands = test::fill<double>(LineSet::one(n), [&](Index i) {
    const double down = i < n / 2 ? -11 : -1, up = i < n / 2 ? -1 : -11;
    return test::Row{down, 12, up};
  });
  bands.close_lines();
  for (const bool up : {false, true}) {
    Plan plan = streamed(n, 100, 4);
    plan.walk_up = up;
    plan.exact_starts = true;
    const Certificate certificate = certify_streamed(plan, bands.view());
    EXPECT_FALSE(certificate.bound <= 1e-15);
    for (const auto& x : solutions(n)) EXPECT_LE(true_error(plan, bands, x), 1.1 * certificate.bound + 1e-11);
  }
}

TEST(Certificate, NeedsNoDominance) {
  // Random lines whose local dominance goes down to 0.8, by the rows themselves.
  const Index n = 2000, m = 100, halo = 60;
  Bands<double> bands = test::random_dominant<double>(LineSet::one(n), 2);
  for (Index i = 50; i < n; i += 97) bands.diag()[i] *= 0.4;
  bands.close_lines();
  const Certificate certificate = certify_halo(n, bands.view(), m, halo, {0, n});
  const Plan plan = make_plan(Method::truncated_halo, n, halo, m, 8, DeviceTraits{.lanes = 1});
  EXPECT_LT(certificate.bound, 1e-3);
  for (const auto& x : solutions(n)) EXPECT_LE(true_error(plan, bands, x), 1.1 * certificate.bound + 1e-11);
}

TEST(Certificate, SeesAResonantRowInsideAPartition) {
  const Index n = 400, m = 100, halo = 20;
  Bands<double> bands = test::constant<double>(LineSet::one(n), -1, 3, -1);
  bands.diag()[250] = 0;
  bands.close_lines();
  const Certificate certificate = certify_halo(n, bands.view(), m, halo, {0, n});
  const Plan plan = make_plan(Method::truncated_halo, n, halo, m, 8, DeviceTraits{.lanes = 1});
  for (const auto& x : solutions(n)) EXPECT_LE(true_error(plan, bands, x), 1.1 * certificate.bound + 1e-11);
}

TEST(Certificate, LosesWithNaN) {
  for (const Index row : {0, 199, 200, 399}) {
    Bands<double> bands = test::constant<double>(LineSet::one(400), -1, 3, -1);
    bands.close_lines();
    bands.diag()[row] = std::numeric_limits<double>::quiet_NaN();
    EXPECT_FALSE(certify_halo(400, bands.view(), 100, 20, {0, 400}).bound <= 1) << row;
    EXPECT_FALSE(certify_streamed(streamed(400, 100, 2), bands.view()).bound <= 1) << row;
    EXPECT_EQ(find_halo(400, bands.view(), 100, 1e-10, 64, {0, 400}), row == 0 || row == 399 ? 24 : -1) << row;
  }
}

TEST(Certificate, TakesNoCutAsExact) {
  Bands<double> bands = test::constant<double>(LineSet::one(100), -1, 2, -1);
  bands.close_lines();
  EXPECT_EQ(certify_halo(100, bands.view(), 100, 0, {0, 100}).bound, 0);
  EXPECT_EQ(certify_streamed(streamed(100, 100, 1), bands.view()).bound, 0);
}

TEST(Certificate, FollowsFromDominanceOnlyAboveOne) {
  EXPECT_EQ(halo_from_dominance(1, 1e-16), -1);
  EXPECT_EQ(halo_from_dominance(0.5, 1e-16), -1);
  EXPECT_EQ(halo_from_dominance(std::numeric_limits<double>::quiet_NaN(), 1e-16), -1);
  EXPECT_EQ(halo_from_dominance(std::numeric_limits<double>::infinity(), 1e-16), 0);
  for (const double d : {1.05, 1.2, 2.0, 10.0}) {
    const Index h = halo_from_dominance(d, 1e-14);
    EXPECT_LE(2 * std::pow(d, -static_cast<double>(h + 1)), 1e-14);
    EXPECT_GT(2 * std::pow(d, -static_cast<double>(h)), 1e-14);
    Bands<double> bands = test::random_dominant<double>(LineSet::one(5000), d);
    bands.close_lines();
    EXPECT_LE(certify_halo(5000, bands.view(), 1000, h, {0, 5000}).bound, 1e-14) << "d " << d;
  }
}

TEST(Certificate, FindsTheHaloThatItThenAccepts) {
  for (const double lambda : {0.5, 10.0, 100.0}) {
    Bands<double> bands = test::diffusion<double>(LineSet::one(20000), lambda);
    bands.close_lines();
    const Index halo = find_halo(20000, bands.view(), 1000, 1e-15, 1024, {0, 20000});
    ASSERT_GT(halo, 0);
    EXPECT_LE(certify_halo(20000, bands.view(), 1000, halo, {0, 20000}).bound, 1.05e-15);
    EXPECT_GT(certify_halo(20000, bands.view(), 1000, halo - 16, {0, 20000}).bound, 1e-15);
  }
  Bands<double> weak = test::constant<double>(LineSet::one(20000), -1, 2, -1);
  weak.close_lines();
  EXPECT_EQ(find_halo(20000, weak.view(), 1000, 1e-15, 256, {0, 20000}), -1);
}

}  // namespace
}  // namespace oclspkt
