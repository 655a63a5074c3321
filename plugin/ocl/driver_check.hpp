// SPDX-License-Identifier: BSD-2-Clause
#pragma once

#include <string>
#include <vector>

#include "driver_files.hpp"

namespace oclspkt::ocl {

/// The helper program, beside the library that holds this code. It is called as
/// `oclspkt-driver-check TOKEN LIBRARY` with OCL_ICD_VENDORS set to a folder that names this one driver, does what
/// discover() will do with the driver, and then answers on its standard output: TOKEN, a new line, and what is wrong
/// with the driver, if anything. What else is printed goes to its standard error.
inline constexpr const char* kDriverCheck = "oclspkt-driver-check";

/// The longest answer after the token: one write to a pipe, whole or not at all.
inline constexpr std::size_t kLongestAnswer = 2000;

/// Set it to another number of seconds than kDriverSeconds.
inline constexpr const char* kDriverSecondsVariable = "OCLSPKT_DRIVER_SECONDS";
/// A driver on a network may take long to load for the first time; drivers that hang delay the process that long.
inline constexpr int kDriverSeconds = 60;

/// Have child processes try drivers, all at once. A driver that throws, crashes, exits or hangs would take this process
/// with it, and an exception in its static initialisers passes through dlopen(), which keeps its lock for ever.
/// @param folders  for the children's ICD files
/// @return for each driver what is wrong with it; empty if its child came through and found nothing
/// @throws std::runtime_error with cause and cure if the helper program is missing or cannot be trusted, see
/// docs/experiments/drivers-and-faults.md
std::vector<std::string> try_in_children(const std::vector<Driver>& drivers, VendorFolders& folders);

}  // namespace oclspkt::ocl
