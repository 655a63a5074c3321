// SPDX-License-Identifier: BSD-2-Clause
// What the name of a family of methods covers: a member whose bounds hold comes before any whose bounds do not, and
// nothing that is not finite is taken.
#include <gtest/gtest.h>

#include <cmath>
#include <random>
#include <string>

#include "every_device.hpp"
#include "oclspkt/error.hpp"
#include "solver_fixture.hpp"

namespace oclspkt {
namespace {

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

bool within_its_bounds(const Report& report) {
  return !report.certificate_above_tolerance && report.rounding <= 100 && report.certificate <= report.tolerance;
}

TEST(NamedFamily, ExactTakesTheMemberWhoseBoundHolds) {
  const Bands<double> bands = random_units(2000);
  test::with_every_device([&](Options options) {
    options.method = MethodChoice::exact;
    Solver<double> solver = test::solver_for(bands, options);
    EXPECT_TRUE(within_its_bounds(solver.report())) << solver.report().why << ", " << solver.report().rounding;
    EXPECT_LE(test::backward_error(solver, bands), 10);
  });
}

TEST(NamedFamily, TruncatedTakesTheMemberWhoseBoundHolds) {
  // Rounding has a bound where factors are stored, and none where partitions with a halo are swept apart.
  std::mt19937 generator(test::kSeed);
  std::uniform_real_distribution<double> coupling(-1, 1);
  const Bands<double> bands = test::fill<double>(LineSet::one(2000), [&](Index) {
    return test::Row{coupling(generator), 1.5, coupling(generator)};
  });
  test::with_every_device([&](Options options) {
    options.method = MethodChoice::truncated;
    Solver<double> solver = test::solver_for(bands, options);
    EXPECT_TRUE(within_its_bounds(solver.report())) << solver.report().shape << ": " << solver.report().why;
    EXPECT_LE(test::backward_error(solver, bands), 100);
  });
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
