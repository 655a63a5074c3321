// SPDX-License-Identifier: BSD-2-Clause
#pragma once

// The types to which OpenCL's handles point: a cl_mem is an _cl_mem*. These declarations replace OpenCL's headers.
struct _cl_context;
struct _cl_device_id;
struct _cl_command_queue;
struct _cl_mem;

namespace oclspkt {

/// The OpenCL objects that a solver uses on its device. The library owns them: retain objects that must live longer.
struct DeviceHandles {
  _cl_context* context = nullptr;  ///< a cl_context; create buffers for the solver in it
  _cl_device_id* device = nullptr;
  _cl_command_queue* queue = nullptr;  ///< a cl_command_queue, in order, with profiling. Commands that you enqueue in
                                       ///< it before and after an apply need no event

  /// False if the host solves.
  explicit operator bool() const { return context != nullptr; }
};

/// The queue through which the caller orders work on a device; the caller's vectors are in that device's memory.
struct DeviceQueue {
  enum class Kind { none, opencl, cuda };
  Kind kind = Kind::none;
  /// opencl: a cl_command_queue, in order; cuda: a CUstream of the primary context that is current in this thread, null
  /// for CUDA's default stream.
  void* handle = nullptr;

  explicit operator bool() const { return kind != Kind::none; }
  bool operator==(const DeviceQueue&) const = default;
};

}  // namespace oclspkt
