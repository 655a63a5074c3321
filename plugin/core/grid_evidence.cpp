// SPDX-License-Identifier: BSD-2-Clause
#include "grid_evidence.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <mutex>

#include "evidence.hpp"
#include "line_columns.hpp"

namespace oclspkt {
namespace {

/// One line of the set as a plan for lines laid end to end sees it.
Plan plan_of_line(const Plan& plan, Index length) {
  Plan one;
  one.method = plan.grid_folds() ? Method::exact_factored : Method::truncated_streamed;
  one.stored = true;
  one.n = length;
  one.m = plan.grid_folds() ? plan.grid_tile_rows() : plan.item_rows;
  one.items = plan.grid_folds() ? static_cast<int>(plan.items / plan.bundle) : 0;
  one.lanes = plan.grid_folds() ? 1 : static_cast<int>(plan.items / plan.bundle);
  return one;
}

/// @param one  plan_of_line()
template <typename T>
Certificate certify_line(const Plan& plan, const Plan& one, const BandsView<T>& line) {
  if (!plan.grid_folds()) {
    Certificate c = certify_stored(one, line);
    if (plan.method != Method::truncated_streamed) c.bound *= 0;
    return c;
  }
  Certificate c;
  c.bound = 0;
  c.growth = settling_growth(one, line);
  const bool sound = elimination_growth(line, one.m, 0, 0, one.n) <= kGrowthLimit;
  if (!sound) c.growth = std::numeric_limits<double>::infinity();
  return c;
}

}  // namespace

template <typename T>
GridEvidence certify_grid(const Plan& plan, const LineSet& lines, const BandsView<T>& bands, double tol,
                          double most_growth) {
  GridEvidence all;
  if (plan.n == 0) return all;
  const Index length = lines.length(0);
  const Plan one = plan_of_line(plan, length);
  const Index count = plan.form == Form::shared ? 1 : lines.count();
  std::mutex mutex;
  for_columns(lines, count, [&](Index first, Index width) {
    const Column<T> column(lines, bands, first, width);
    for (Index l = 0; l < width; ++l) {
      const Certificate c = certify_line(plan, one, column.line(l));
      const std::lock_guard lock(mutex);
      if (!(c.bound <= tol) || !(c.growth <= most_growth)) all.weak.push_back(first + l);
      const bool worse = std::isnan(c.bound) ? !std::isnan(all.worst.bound) : c.bound > all.worst.bound;
      const double growth = std::max(all.worst.growth, c.growth);
      if (worse || all.line < 0) {
        all.worst = c;
        all.line = first + l;
      }
      all.worst.growth = growth;
    }
  });
  std::sort(all.weak.begin(), all.weak.end());
  return all;
}

template GridEvidence certify_grid(const Plan&, const LineSet&, const BandsView<float>&, double, double);
template GridEvidence certify_grid(const Plan&, const LineSet&, const BandsView<double>&, double, double);

}  // namespace oclspkt
