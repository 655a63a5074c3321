// SPDX-License-Identifier: BSD-2-Clause
#include "schemes/grids/grid_evidence.hpp"

#include <algorithm>
#include <cmath>
#include <mutex>

#include "line_columns.hpp"
#include "survey.hpp"
#include "units.hpp"

namespace oclspkt {
namespace {

/// @param line  of `length` rows
template <typename T>
Certificate certify_line(const Plan& plan, Index length, const BandsView<T>& line, double tol) {
  if (plan.method != Method::truncated_streamed) return {};
  Plan one;  // the line as a plan for lines laid end to end sees it
  one.n = length;
  one.m = plan.item_rows;
  one.lanes = grid_items_down(plan);
  // Where several tiles wait, any may be the first: the rows of a work-item are taken for a tile.
  const auto certify = [&](const BandsView<T>& rows) {
    return plan.as<GridTiles>().in_flight > 1 ? certify_runs({length, plan.item_rows, grid_reach(plan)}, rows)
                                              : certify_stored(one, rows);
  };
  const LineSet itself = LineSet::one(length);
  return certify_in_units(itself, line, line_dominance(itself, line, 0), tol, certify(line), certify);
}

}  // namespace

template <typename T>
GridEvidence certify_grid(const Plan& plan, const LineSet& lines, const BandsView<T>& bands, double tol,
                          double most_eps) {
  GridEvidence all;
  if (plan.n == 0) return all;
  const Index length = lines.length(0);
  const Index count = plan.form == Form::shared ? 1 : lines.count();
  std::mutex mutex;
  for_columns(lines, count, [&](Index first, Index width) {
    const Column<T> column(lines, bands, first, width);
    const std::vector<Rounding> rounding = bound_grid_lines(plan, length, column.lines());
    for (Index l = 0; l < width; ++l) {
      const Certificate c = certify_line(plan, length, column.line(l), tol);
      const Rounding& of_line = rounding[static_cast<std::size_t>(l)];
      const std::lock_guard lock(mutex);
      if (!(c.bound <= tol) || !(of_line.eps <= most_eps)) all.weak.push_back(first + l);
      const bool worse = std::isnan(c.bound) ? !std::isnan(all.worst.bound) : c.bound > all.worst.bound;
      if (worse || all.line < 0) {
        all.worst = c;
        all.line = first + l;
      }
      take_worse(of_line, lines, first + l, all.rounding);
    }
  });
  std::sort(all.weak.begin(), all.weak.end());
  return all;
}

template GridEvidence certify_grid(const Plan&, const LineSet&, const BandsView<float>&, double, double);
template GridEvidence certify_grid(const Plan&, const LineSet&, const BandsView<double>&, double, double);

}  // namespace oclspkt
