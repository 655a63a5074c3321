// SPDX-License-Identifier: BSD-2-Clause
#pragma once

#include <string>

#include "device.hpp"
#include "oclspkt/error.hpp"
#include "opencl.hpp"

namespace oclspkt::ocl {

/// Returns name and number of an error, "CL_OUT_OF_RESOURCES (-5)"; only the number if the code is unknown.
OCLSPKT_API std::string error_name(cl_int code);

/// Returns the beginning of errors about a device: "device 'name' (platform)".
OCLSPKT_API std::string describe(const DeviceInfo& device);

/// Returns the error for a failed call.
/// @param what  the work that failed, such as "launching kernel substitute"
OCLSPKT_API DeviceError device_error(const DeviceInfo& device, const std::string& what, const cl::Error& error);

}  // namespace oclspkt::ocl
