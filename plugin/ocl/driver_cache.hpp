// SPDX-License-Identifier: BSD-2-Clause
#pragma once

#include <string>

#include "driver_files.hpp"

namespace oclspkt::ocl {

/// The variable that names the folder in which PoCL builds and keeps kernels.
inline constexpr const char* kPoclCacheVariable = "POCL_CACHE_DIR";

/// What a driver's cache folder came to.
struct DriverCache {
  std::string problem;  ///< what is wrong with the folder, what was done, and the cure; empty: nothing
  bool usable = true;   ///< there is a folder that the driver can write
};

/// PoCL ends the process where its cache folder is full, and has no device where it cannot write there; without a cache
/// it builds kernels in the same folder. So the folder is tried before the driver is loaded: if it does not do, the
/// variable names a temporary one, for this process and those that it starts, which goes when the process ends.
/// Other drivers get along without their caches.
DriverCache provide_cache(const Driver& driver);

}  // namespace oclspkt::ocl
