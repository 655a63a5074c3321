// SPDX-License-Identifier: BSD-2-Clause
#pragma once

#include <memory>

#include "device.hpp"
#include "registry.hpp"

namespace oclspkt::ocl {

/// Returns FoundDevice::traits() with the figures measured on devices of the same kind.
/// @throws InvalidInput if the user's file of figures is wrong
DeviceTraits tuned_traits(const FoundDevice& found, bool is_double, Variant variant);

/// Measure launch cost, rate of method truncated-halo, and transfer rate. Takes 50 ms, plus building kernels.
template <typename T>
DeviceProfile measure_profile(int device);

/// Measure a device's rate by method exact-factored for lines side by side, in rows per second.
/// @param launch  seconds that a launch costs
template <typename T>
double measure_beside(int device, double launch);

/// Runs DeviceModule::stream().
template <typename T>
double run_stream(int device, const StreamArrays<T>& arrays);

/// Runs DeviceModule::make_stream().
std::unique_ptr<DeviceStream> make_resident_stream(int device, Index n, int reads, bool is_double);

}  // namespace oclspkt::ocl
