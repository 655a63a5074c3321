// SPDX-License-Identifier: BSD-2-Clause
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "oclspkt/device_handles.hpp"

namespace oclspkt::freeze {

/// Solve with vectors in buffers of a device. @return the hash of x
template <typename T>
std::string apply_on_device(const DeviceHandles& handles, const std::vector<T>& y,
                            const std::function<void(_cl_mem* y, _cl_mem* x)>& apply);

}  // namespace oclspkt::freeze
