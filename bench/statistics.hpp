// SPDX-License-Identifier: BSD-2-Clause
#pragma once

#include <vector>

namespace oclspkt::bench {

/// @pre values is not empty
double median(std::vector<double> values);

/// The median of the ratios of those timed in the same round; NaN unless both have a time in every round.
double median_ratio(const std::vector<double>& above, const std::vector<double>& below);

/// The interquartile range over the median: how far apart the middle half of the rounds lies.
/// @pre values is not empty
double spread(std::vector<double> values);

}  // namespace oclspkt::bench
