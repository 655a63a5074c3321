// SPDX-License-Identifier: BSD-2-Clause
#pragma once

#include <string>
#include <vector>

#include "driver_files.hpp"

namespace oclspkt::ocl {

/// The helper program, beside the library that holds this code. It is called as `oclspkt-driver-check TOKEN LIBRARY`,
/// with OCL_ICD_VENDORS set to a folder that names this one driver. It uses the driver as discover() will, and answers
/// on its standard output: TOKEN, a new line, and the driver's fault, if any. All other output goes to its standard
/// error.
inline constexpr const char* kDriverCheck = "oclspkt-driver-check";

/// The longest answer after the token: one write to a pipe, whole or not at all.
inline constexpr std::size_t kLongestAnswer = 2000;

/// An environment variable that replaces kDriverSeconds.
inline constexpr const char* kDriverSecondsVariable = "OCLSPKT_DRIVER_SECONDS";
/// A driver on a network may take long to load for the first time; drivers that hang delay the process that long.
inline constexpr int kDriverSeconds = 60;

/// Let child processes try drivers, all at once. A driver that throws, crashes, exits or hangs would take this process
/// with it. An exception in a driver's static initialisers passes through dlopen(), which then keeps its lock for ever.
/// @param folders  takes the children's ICD files
/// @return the fault of each driver; empty if its child came to its end and found none
/// @throws std::runtime_error with cause and cure if the helper program is missing or cannot be trusted, see
/// docs/experiments/drivers-and-faults.md
std::vector<std::string> try_in_children(const std::vector<Driver>& drivers, VendorFolders& folders);

}  // namespace oclspkt::ocl
