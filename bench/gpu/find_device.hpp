// SPDX-License-Identifier: BSD-2-Clause
#pragma once

#include <string>

#include "device.hpp"

namespace oclspkt::bench::gpu {

/// The first device that the selection names; null: the host.
/// @throws InvalidInput if it names neither, DeviceError if the OpenCL module cannot be loaded
const DeviceInfo* find_device(const std::string& words);

}  // namespace oclspkt::bench::gpu
