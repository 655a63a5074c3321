// SPDX-License-Identifier: BSD-2-Clause
#pragma once

#include <string>
#include <vector>

namespace oclspkt::ocl {

/// One line for each driver that the ICD loader is told of and that does not work; the loader itself is silent there.
/// Call it after the loader has looked for platforms.
std::vector<std::string> faulty_drivers();

}  // namespace oclspkt::ocl
