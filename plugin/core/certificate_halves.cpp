// SPDX-License-Identifier: BSD-2-Clause
#include "certificate.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <utility>

#include "partition_sweeps.hpp"

namespace oclspkt {
namespace {

/// Both sweeps of a partition. Rows of `up` are counted from the last one.
struct TwoSweeps {
  ForwardSweep down, up;
};

}  // namespace

template <typename T>
Certificate certify_halves(const Plan& plan, const BandsView<T>& bands, double limit) {
  const SweepRows<T> rows(bands, plan.n, false), upwards(bands, plan.n, true);
  const Index partitions = plan.partitions();
  const auto sweep = [&](Index k, TwoSweeps& sweeps) {
    const Index first = k * plan.m, end = std::min(plan.n, first + plan.m);
    sweeps.down.fill(rows, first, end);
    sweeps.up.fill(upwards, plan.n - end, plan.n - first);
  };
  TwoSweeps here, next;
  Certificate worst;
  if (partitions > 0) sweep(0, next);
  double error_above = 0;  // of the cut above partition k
  for (Index k = 0; k < partitions; ++k) {
    std::swap(here, next);
    double error_below = here.down.entered.back();
    if (k + 1 < partitions) {
      sweep(k + 1, next);
      const double v_b = here.down.coupling.back(), w_t = next.up.coupling.back();
      // The sign of v_b w_t is lost in the ratios; the smaller of both denominators is safe.
      const double amplified = 1 / std::abs(1 - v_b * w_t);
      error_below = (here.up.spike + next.down.spike) * (1 + std::max(v_b, w_t)) * amplified;
      if (!(amplified <= worst.growth)) worst.growth = amplified;
    }
    if (k == 0) error_above = here.up.entered.back();
    const std::size_t size = here.down.coupling.size(), top = std::min(size, static_cast<std::size_t>(plan.m / 2));
    const double bottom_half = here.down.largest_error(error_below, top);
    const double top_half = here.up.largest_error(error_above, size - top);
    const bool known = std::isfinite(bottom_half + top_half);
    const double bound = known ? std::max(bottom_half, top_half) : std::numeric_limits<double>::quiet_NaN();
    if (!(bound <= worst.bound)) {
      worst = {bound, k, k * plan.m, std::min(plan.n, (k + 1) * plan.m) - 1, bottom_half > top_half, worst.growth};
      if (!known || bound > limit) break;
    }
    error_above = error_below;
  }
  return worst;
}

double bound_halves(double d, Index m) {
  if (!(d > 1)) return std::numeric_limits<double>::infinity();
  const Index kept_away = m / 2 + 1;  // rows from the first truncated one to the nearest that it would change
  const double half = std::pow(d, -static_cast<double>(kept_away));
  return std::isinf(d) ? half : half + 2 * std::pow(d, 1 - static_cast<double>(m)) / (d - 1);
}

template Certificate certify_halves(const Plan&, const BandsView<float>&, double);
template Certificate certify_halves(const Plan&, const BandsView<double>&, double);

}  // namespace oclspkt
