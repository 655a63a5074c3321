// SPDX-License-Identifier: BSD-2-Clause
#pragma once

#include <string>
#include <vector>

#include "oclspkt/line_set.hpp"

namespace oclspkt::bench {

/// Sizes from `from` to `to`, `per_decade` to a factor of ten, evenly by logarithm; both ends are among them.
std::vector<Index> sweep_sizes(Index from, Index to, int per_decade);

/// Cut a list of contestants into groups that fit into memory one after the other, the stream in each of them.
/// @param names     as parse_methods() returns them
/// @param rows      of the problem
/// @param bytes     of a scalar
/// @return groups in order; those who do not even fit alone are left out
std::vector<std::vector<std::string>> groups_that_fit(const std::vector<std::string>& names, Index rows, double bytes);

/// The command: solve systems of all sizes by everybody, host and device, float and double.
/// @return 0, or 1 if an answer is wrong or a contestant failed
/// @throws InvalidInput for what the caller can mend
int sweep_command(const std::vector<std::string>& arguments, const std::string& command);

}  // namespace oclspkt::bench
