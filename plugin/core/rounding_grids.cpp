// SPDX-License-Identifier: BSD-2-Clause
#include <mutex>
#include <vector>

#include "grid_rounding.hpp"
#include "line_columns.hpp"

namespace oclspkt {

template <typename T>
Rounding bound_grid_rounding(const Plan& plan, const LineSet& lines, const BandsView<T>& bands, const Survey& survey) {
  const bool alike = plan.form == Form::shared;
  Rounding worst{grid_rounding_by_survey(plan, survey)};
  // Of lines that are alike, one costs nothing.
  if (plan.n == 0 || (worst.eps <= kRoundingLimit && !alike)) return worst;
  worst = {};
  std::mutex mutex;
  for_columns(lines, alike ? 1 : lines.count(), [&](Index first, Index width) {
    const Column<T> column(lines, bands, first, width);
    const std::vector<Rounding> bounds = bound_grid_lines(plan, lines.length(0), column.lines());
    const std::lock_guard lock(mutex);
    for (Index l = 0; l < width; ++l) take_worse(bounds[static_cast<std::size_t>(l)], lines, first + l, worst);
  });
  return worst;
}

template Rounding bound_grid_rounding(const Plan&, const LineSet&, const BandsView<float>&, const Survey&);
template Rounding bound_grid_rounding(const Plan&, const LineSet&, const BandsView<double>&, const Survey&);

}  // namespace oclspkt
