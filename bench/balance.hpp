// SPDX-License-Identifier: BSD-2-Clause
#pragma once

#include <string>
#include <vector>

namespace oclspkt::bench {

/// Time every set of the processors named, sharing one system, beside each of them alone; or simulate a machine that a
/// file describes.
/// @param arguments  behind the command's name
/// @param command    the whole command line, for provenance
/// @return exit status
int balance_command(const std::vector<std::string>& arguments, const std::string& command);

}  // namespace oclspkt::bench
