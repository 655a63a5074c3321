// SPDX-License-Identifier: BSD-2-Clause
#pragma once

#include <atomic>

#include "device.hpp"
#include "opencl.hpp"

namespace oclspkt::ocl {

/// Kinds of driver calls that a test can make fail.
enum class Place { open, build, allocate, argument, launch, write, wait, read };
inline constexpr Place kPlaces[] = {Place::open,   Place::build, Place::allocate, Place::argument,
                                    Place::launch, Place::write, Place::wait,     Place::read};
inline constexpr const char* kPlaceNames[] = {"open",   "build", "allocate", "argument",
                                              "launch", "write", "wait",     "read"};
inline constexpr const char* name(Place place) { return kPlaceNames[static_cast<int>(place)]; }

/// A test's function. It runs before each driver call of these kinds, in the thread that makes the call. If it returns
/// CL_SUCCESS, the call is made. Any other code becomes the result of the call.
/// @param queue  the device's queue; null before the device is open
using FaultHook = cl_int (*)(Place place, int device, cl_command_queue queue);

inline std::atomic<FaultHook> fault_hook{nullptr};

/// @throws cl::Error if a test makes this call fail
inline void fault_point(Place place, const DeviceInfo& device, cl_command_queue queue = nullptr) {
  const FaultHook hook = fault_hook.load(std::memory_order_relaxed);
  if (hook == nullptr) return;
  if (const cl_int code = hook(place, device.index, queue); code != CL_SUCCESS) throw cl::Error(code, name(place));
}

/// The only exported name of the module besides its entry. The function sets the hook; null removes it.
using SetFaultHook = void (*)(FaultHook hook);
inline constexpr const char* kSetFaultHookName = "oclspkt_cl_set_fault_hook";

}  // namespace oclspkt::ocl
