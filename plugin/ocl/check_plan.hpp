// SPDX-License-Identifier: BSD-2-Clause
#pragma once

#include "device.hpp"
#include "discovery.hpp"

namespace oclspkt::ocl {

/// Check that a device has kernels for a plan, and that the plan is for these lines and this device.
/// @param word  bytes of a scalar
/// @throws InvalidInput that says what to do
void check_plan(const FoundDevice& found, const DeviceSettings& settings, const Plan& plan, const LineSet& lines,
                std::size_t word);

}  // namespace oclspkt::ocl
