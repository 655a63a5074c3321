// SPDX-License-Identifier: BSD-2-Clause
#pragma once

#include <initializer_list>

#include "error_name.hpp"
#include "fault.hpp"
#include "registry.hpp"

namespace oclspkt::ocl {

/// A buffer that a launch reads or writes.
struct BufferNeed {
  const char* name;
  const cl::Buffer* buffer;
  std::int64_t bytes;     ///< bytes that the launch may touch
  std::size_t alignment;  ///< alignment that the kernel relies on
};

/// Kernels for GPUs read and write vectors of so many bytes.
inline constexpr std::size_t kVectorBytes = 16;

/// Work-groups and work-items of a launch, in one dimension.
struct Geometry {
  std::int64_t groups = 1;
  std::size_t group_items = 1;
  std::size_t local_bytes = 0;  ///< of local memory that arguments request
};

/// Check geometry, buffers, alignment and local memory, then enqueue; the only place where kernels are launched.
/// @throws DeviceError that names kernel, device and what does not fit
OCLSPKT_API cl::Event launch(const OpenDevice& device, const Kernel& kernel, Geometry geometry,
                             std::initializer_list<BufferNeed> needs);

/// Launch without an event, which takes a driver longer than checks, and without checks of buffers, made by the caller.
void launch_unseen(const OpenDevice& device, const Kernel& kernel, Geometry geometry);

/// Set all arguments of a kernel in order.
template <typename... Args>
void set_arguments(const OpenDevice& device, Kernel& kernel, const Args&... args) {
  cl_uint index = 0;
  try {
    fault_point(Place::argument, device.info(), device.queue()());
    (kernel.handle.setArg(index++, args), ...);
  } catch (const cl::Error& error) {
    throw device_error(device.info(), "setting argument " + std::to_string(index - 1) + " of kernel " + kernel.name,
                       error);
  }
}

}  // namespace oclspkt::ocl
