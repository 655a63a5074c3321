// SPDX-License-Identifier: BSD-2-Clause
#include "rounding.hpp"

#include <limits>

#include "schemes/scheme.hpp"

namespace oclspkt {

double rounding_by_dominance(double d) {
  if (!(d > 1)) return std::numeric_limits<double>::infinity();
  // A row collects 8 u |b_i| max |x| at most. An unknown at a joint is computed twice, and its coupling is at most half
  // of the row.
  return 5 + (d < std::numeric_limits<double>::infinity() ? 4 * d / (d - 1) : 4);
}

template <typename T>
Rounding bound_rounding(const Plan& plan, const LineSet& lines, const BandsView<T>& bands, const Survey& survey) {
  const Rounding bound = of_first_order(scheme_of(plan).rounding(plan, lines, bands, survey));
  const bool known = !(bound.eps <= kLargestRounding) || knows_pivots(plan, lines, bands, survey);
  return known ? bound : Rounding{std::numeric_limits<double>::infinity(), bound.row};
}

template Rounding bound_rounding(const Plan&, const LineSet&, const BandsView<float>&, const Survey&);
template Rounding bound_rounding(const Plan&, const LineSet&, const BandsView<double>&, const Survey&);

}  // namespace oclspkt
