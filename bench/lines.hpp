// SPDX-License-Identifier: BSD-2-Clause
#pragma once

#include <string>
#include <vector>

namespace oclspkt::bench {

/// The command: solve the lines along each axis of grids and lines that lie end to end, each with bands of their own
/// and with shared ones, and print what direction and form cost.
/// @return 0, or 1 if an answer is wrong or a contestant failed
/// @throws InvalidInput for what the caller can mend
int lines_command(const std::vector<std::string>& arguments, const std::string& command);

}  // namespace oclspkt::bench
