// SPDX-License-Identifier: BSD-2-Clause
#pragma once

#include <string>

#include "driver_files.hpp"

namespace oclspkt::ocl {

/// The variable that names the folder where PoCL builds and caches kernels.
inline constexpr const char* kPoclCacheVariable = "POCL_CACHE_DIR";

/// The outcome of testing a driver's cache folder.
struct DriverCache {
  std::string problem;  ///< what is wrong with the folder, the remedy taken, and the cure; empty: nothing
  bool usable = true;   ///< the driver has a folder that it can write
};

/// Test the cache folder before the driver is loaded. PoCL ends the process if the folder is full, and has no device if
/// it cannot write there; without a cache it builds kernels in the same folder. If the test fails, the variable is set
/// to a temporary folder for this process and its children, which is removed when the process ends. Other drivers work
/// without their caches.
DriverCache provide_cache(const Driver& driver);

}  // namespace oclspkt::ocl
