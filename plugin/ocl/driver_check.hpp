// SPDX-License-Identifier: BSD-2-Clause
#pragma once

#include <string>
#include <vector>

namespace oclspkt::ocl {

/// Have child processes load drivers, all at once. A driver that throws, crashes or hangs while it is loaded would take
/// this process with it: an exception in its static initialisers passes through dlopen, which keeps its lock for ever.
/// @param libraries  as ICD files name them
/// @return for each what becomes of the child, empty if it ends well, or if there is no child to be had
std::vector<std::string> check_in_children(const std::vector<std::string>& libraries);

}  // namespace oclspkt::ocl
