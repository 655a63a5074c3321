// SPDX-License-Identifier: BSD-2-Clause
#pragma once

#include <gtest/gtest.h>

#include "certificate.hpp"
#include "geometry.hpp"
#include "matrix_algebra.hpp"
#include "model.hpp"
#include "schemes/lanes/lane_plans.hpp"

namespace oclspkt::test {

/// What truncation and rounding did to a known solution.
struct TrueError {
  double error = 0;      ///< max |computed - x| / max |x|
  double condition = 0;  ///< max |A^-1| |A| |x| / max |x| (Skeel): what rounding may do, over eps
};

/// |A^-1| w: down a column of the inverse of a tridiagonal matrix each entry is a ratio of pivots times the one before,
/// from the diagonal on either way.
inline std::vector<long double> inverse_times(const Bands<double>& bands, const std::vector<long double>& w) {
  const BandsView<double> a = bands.view();
  const std::size_t n = w.size();
  std::vector<long double> down(n), up(n), sum(n);
  long double c = 0;
  for (std::size_t i = 0; i < n; ++i) down[i] = c = a.upper[i] / (a.diag[i] - (i > 0 ? a.lower[i] * c : 0));
  c = 0;
  for (std::size_t i = n; i-- > 0;) up[i] = c = a.lower[i] / (a.diag[i] - (i + 1 < n ? a.upper[i] * c : 0));
  const auto on_diagonal = [&](std::size_t j) {
    const long double above = j > 0 ? a.lower[j] * down[j - 1] : 0, below = j + 1 < n ? a.upper[j] * up[j + 1] : 0;
    return std::abs(w[j] / (a.diag[j] - above - below));
  };
  long double carried = 0;
  for (std::size_t i = 0; i < n; ++i) {
    sum[i] = std::abs(up[i]) * carried;
    carried = sum[i] + on_diagonal(i);
  }
  carried = 0;
  for (std::size_t i = n; i-- > 0;) {
    carried = on_diagonal(i) + std::abs(down[i]) * carried;
    sum[i] += carried;
  }
  return sum;
}

/// @pre the lines of `bands` are closed
inline TrueError true_error(const Plan& plan, const Bands<double>& bands, const std::vector<double>& x) {
  const std::size_t n = x.size();
  const std::vector<double> computed = solve_by_model(plan, bands, product(bands, x));
  const BandsView<double> a = bands.view();
  std::vector<long double> size(n);
  for (std::size_t i = 0; i < n; ++i) {
    size[i] = std::abs(static_cast<long double>(a.diag[i]) * x[i]);
    if (i > 0) size[i] += std::abs(static_cast<long double>(a.lower[i]) * x[i - 1]);
    if (i + 1 < n) size[i] += std::abs(static_cast<long double>(a.upper[i]) * x[i + 1]);
  }
  const std::vector<long double> rounding = inverse_times(bands, size);
  TrueError e;
  double largest = 0;
  for (std::size_t i = 0; i < n; ++i) {
    const double error = std::abs(computed[i] - x[i]);
    if (!(error <= e.error) && !std::isnan(e.error)) e.error = error;
    e.condition = std::max(e.condition, static_cast<double>(rounding[i]));
    largest = std::max(largest, std::abs(x[i]));
  }
  return {e.error / largest, e.condition / largest};
}

/// x = 1, alternating x, and numbers around 3.
inline std::vector<std::vector<double>> solutions(Index n) {
  std::vector<double> ones(static_cast<std::size_t>(n), 1.0), alternating = ones;
  for (std::size_t i = 1; i < alternating.size(); i += 2) alternating[i] = -1;
  return {ones, alternating, random_vector<double>(n)};
}

inline Plan halo_plan(Index n, Index m, Index halo) {
  return make_plan(Method::truncated_halo, n, halo, m, 8, DeviceTraits{.lanes = 1});
}

/// Stored factors on 4 lanes.
/// @param reach 0: whole partitions
inline Plan stored_plan(Index n, Index m, Index reach, int runs) {
  Plan plan = make_stored_plan(n, reach, m, 8, DeviceTraits{.lanes = 4, .cores = 2});
  plan.runs = runs;
  return plan;
}

/// The certificate holds: true error <= 1.1 certificate + 10 eps condition, for every solution.
inline void expect_covered(const Plan& plan, const Bands<double>& bands, const Certificate& certificate) {
  if (!std::isfinite(certificate.bound)) return;  // nothing is claimed
  for (const auto& x : solutions(plan.n)) {
    const TrueError e = true_error(plan, bands, x);
    EXPECT_LE(e.error, 1.1 * certificate.bound + 10 * std::numeric_limits<double>::epsilon() * e.condition)
        << name(plan.method) << ", m " << plan.m << ", halo " << plan.halo << ", reach "
        << (plan.has<StoredFactors>() ? plan.as<StoredFactors>().reach : 0) << ", certificate " << certificate.bound
        << ", condition " << e.condition;
  }
}

inline Certificate certify(const Plan& plan, const Bands<double>& bands) {
  if (plan.method == Method::truncated_halo) {
    return certify_halo(plan.n, bands.view(), plan.m, plan.halo, {0, plan.n});
  }
  return certify_stored(plan, bands.view());
}

inline void expect_covered(const Plan& plan, const Bands<double>& bands) {
  expect_covered(plan, bands, certify(plan, bands));
}

}  // namespace oclspkt::test
