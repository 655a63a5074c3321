// SPDX-License-Identifier: BSD-2-Clause
#pragma once

#include <string>

#include "device.hpp"
#include "oclspkt/error.hpp"
#include "opencl.hpp"

namespace oclspkt::ocl {

/// "CL_OUT_OF_RESOURCES (-5)"; an unknown code is given as its number.
OCLSPKT_API std::string error_name(cl_int code);

/// "device 'name' (platform)", as errors begin.
OCLSPKT_API std::string describe(const DeviceInfo& device);

/// The error for a failed call.
/// @param what  the work that failed, as in "launching kernel substitute"
OCLSPKT_API DeviceError device_error(const DeviceInfo& device, const std::string& what, const cl::Error& error);

}  // namespace oclspkt::ocl
