// SPDX-License-Identifier: BSD-2-Clause
#pragma once

#include <string>

#include "device.hpp"

namespace oclspkt::bench::gpu {

/// The first device that the selection names; null: the host.
/// @throws InvalidInput if it names neither, DeviceError if the OpenCL module cannot be loaded
const DeviceInfo* find_device(const std::string& words);

/// A device, and the module that drives it.
struct Driven {
  DeviceModule& module;
  const DeviceInfo& device;
};

/// The first device of OpenCL that the selection names; for `cuda` the first card of the module for CUDA.
/// @throws InvalidInput if there is none, DeviceError if the module cannot be loaded
Driven find_driven(const std::string& words);

}  // namespace oclspkt::bench::gpu
