// SPDX-License-Identifier: BSD-2-Clause
#include "statistics.hpp"

#include <algorithm>
#include <limits>

namespace oclspkt::bench {
namespace {

/// The value below which `part` of the values lie, between neighbours by proportion.
/// @pre sorted, not empty
double quantile(const std::vector<double>& values, double part) {
  const double at = part * static_cast<double>(values.size() - 1);
  const auto below = static_cast<std::size_t>(at);
  const std::size_t above = std::min(below + 1, values.size() - 1);
  return values[below] + (at - static_cast<double>(below)) * (values[above] - values[below]);
}

}  // namespace

double median(std::vector<double> values) {
  std::sort(values.begin(), values.end());
  return quantile(values, 0.5);
}

double median_ratio(const std::vector<double>& above, const std::vector<double>& below) {
  if (above.empty() || above.size() != below.size()) return std::numeric_limits<double>::quiet_NaN();
  std::vector<double> ratios;
  for (std::size_t i = 0; i < above.size(); ++i) ratios.push_back(above[i] / below[i]);
  return median(ratios);
}

double spread(std::vector<double> values) {
  std::sort(values.begin(), values.end());
  return (quantile(values, 0.75) - quantile(values, 0.25)) / quantile(values, 0.5);
}

}  // namespace oclspkt::bench
