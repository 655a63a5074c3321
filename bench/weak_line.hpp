// SPDX-License-Identifier: BSD-2-Clause
#pragma once

#include <string>
#include <vector>

namespace oclspkt::bench {

/// The command: solve many short lines, once all alike and once with one among them that wants another method, and
/// print what that one costs the others.
/// @return 0, or 1 if an answer is wrong
/// @throws InvalidInput for what the caller can mend
int weak_line_command(const std::vector<std::string>& arguments, const std::string& command);

}  // namespace oclspkt::bench
