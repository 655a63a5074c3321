// SPDX-License-Identifier: BSD-2-Clause
#pragma once

#include <string>

#include "device.hpp"
#include "oclspkt/error.hpp"
#include "opencl.hpp"

namespace oclspkt::ocl {

/// Name and number of an error, "CL_OUT_OF_RESOURCES (-5)"; only the number if the code is unknown.
OCLSPKT_API std::string error_name(cl_int code);

/// The beginning of errors about a device: "device 'name' (platform)".
OCLSPKT_API std::string describe(const DeviceInfo& device);

/// The error for a failed call.
/// @param what  the work that failed, as in "launching kernel substitute"
OCLSPKT_API DeviceError device_error(const DeviceInfo& device, const std::string& what, const cl::Error& error);

}  // namespace oclspkt::ocl
