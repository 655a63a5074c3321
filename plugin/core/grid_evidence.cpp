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
  one.method = Method::truncated_streamed;
  one.stored = true;
  one.n = length;
  one.m = plan.item_rows;
  one.lanes = plan.grid_items_down();
  return one;
}

/// The same where several tiles wait, which any tile may be the first of: certify_runs() has the rows of a work-item
/// for a tile.
Plan plan_of_runs(const Plan& plan, Index length) {
  Plan one;
  one.method = Method::truncated_streamed;
  one.stored = true;
  one.n = one.m = length;
  one.items = 1;
  one.item_rows = plan.item_rows;
  one.halo = plan.grid_reach();
  return one;
}

/// What settling on the way up makes of rounding.
template <typename T>
double growth_of_settling_up(const Plan& plan, Index length, const BandsView<T>& line) {
  const auto at = [](const T* band, Index i) { return static_cast<double>(band[i]); };
  double c = 0, product = 1, growth = 1;
  for (Index i = 0; i < length; ++i) {
    const Index within = plan.grid_folds() ? i % plan.m : i;
    // The first row of a segment is not substituted, and elimination begins below it.
    const bool begins = within == 0 || (plan.grid_folds() && within == 1);
    c = at(line.upper, i) / (at(line.diag, i) - (begins ? 0 : at(line.lower, i) * c));
    if (i % plan.item_rows == 0) product = 1;
    if (plan.grid_folds() && within == 0) continue;
    product *= std::abs(c);
    if (!(product <= growth)) growth = product;
  }
  return growth;
}

/// @param one  plan_of_line(), or plan_of_runs() where more than one tile waits
template <typename T>
Certificate certify_line(const Plan& plan, const Plan& one, const BandsView<T>& line) {
  if (!plan.in_turn) {
    Certificate c = plan.waiting > 1 ? certify_runs(one, line) : certify_stored(one, line);
    if (plan.method != Method::truncated_streamed) c.bound *= 0;
    return c;
  }
  Certificate c;
  const double elimination =
      plan.grid_folds() ? twopass_growth(line, plan.m, 0, one.n) : elimination_growth(line, one.n, 0, 0, one.n);
  c.growth = growth_of_settling_up(plan, one.n, line);
  if (!(elimination <= c.growth)) c.growth = elimination;
  return c;
}

}  // namespace

template <typename T>
GridEvidence certify_grid(const Plan& plan, const LineSet& lines, const BandsView<T>& bands, double tol,
                          double most_growth) {
  GridEvidence all;
  if (plan.n == 0) return all;
  const Index length = lines.length(0);
  const Plan one = plan.waiting > 1 ? plan_of_runs(plan, length) : plan_of_line(plan, length);
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
