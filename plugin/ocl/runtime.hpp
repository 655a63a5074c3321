// SPDX-License-Identifier: BSD-2-Clause
// The thin layer between schemes and OpenCL. No file in schemes/ uses a name of OpenCL. Another run-time can therefore
// replace OpenCL under the same schemes, and tests can record launches for devices that do not exist.
#pragma once

#include <initializer_list>

#include "error_name.hpp"
#include "fault.hpp"
#include "waiter.hpp"

namespace oclspkt::ocl {

using Buffer = cl::Buffer;
using Event = cl::Event;

using Int = cl_int;
using Long = cl_long;

/// The first lines of a kernel text from outside the library. They define scalar_t.
inline std::string scalar_text(bool is_double) {
  return is_double ? "#pragma OPENCL EXTENSION cl_khr_fp64 : enable\ntypedef double scalar_t;\n"
                   : "typedef float scalar_t;\n";
}

/// Bytes of a buffer; 0 for a null buffer.
inline std::int64_t bytes_of(const Buffer& buffer) {
  return buffer() != nullptr ? static_cast<std::int64_t>(buffer.getInfo<CL_MEM_SIZE>()) : 0;
}

inline bool same(const Buffer& a, const Buffer& b) { return a() == b(); }

enum class Access { read, write, read_write };

/// @param bank  as for OpenDevice::buffer()
/// @throws cl::Error
OCLSPKT_API Buffer make_buffer(const OpenDevice& device, Access access, std::int64_t bytes, Bank bank = 0);

/// Make a buffer of `bytes` bytes, unless the present buffer is large enough. @return the buffer's bytes
OCLSPKT_API std::int64_t ensure(const OpenDevice& device, Buffer& buffer, Access access, std::int64_t bytes,
                                Bank bank = 0);

/// Make a buffer over host memory. It is read-write even if kernels only read, because Intel's CPU run-time copies
/// read-only memory that is not aligned to 128 bytes.
OCLSPKT_API Buffer wrap(const OpenDevice& device, const void* p, std::int64_t bytes);

/// Enqueue a copy between a buffer's beginning and host memory, which must not move until the event has ended.
OCLSPKT_API Event enqueue_read(const OpenDevice& device, const Buffer& from, void* to, std::int64_t bytes);
OCLSPKT_API Event enqueue_write(const OpenDevice& device, const void* from, const Buffer& to, std::int64_t bytes);

/// Enqueue a copy in a transfer queue of the device, and flush the queue, which starts the copy at once.
/// @param behind  the copy waits for this command of the device's own queue, which has been flushed
Event enqueue_read_beside(OpenDevice& device, const Buffer& from, void* to, std::int64_t bytes, const Event& behind);
Event enqueue_write_beside(OpenDevice& device, const void* from, const Buffer& to, std::int64_t bytes);

/// Enqueue a copy of the first `bytes` bytes of a buffer to the beginning of another buffer.
OCLSPKT_API Event enqueue_copy(const OpenDevice& device, const Buffer& from, const Buffer& to, std::int64_t bytes);

/// A buffer that a launch reads or writes, as an argument of its kernel.
struct BufferNeed {
  const char* name = nullptr;
  const Buffer* buffer = nullptr;
  std::int64_t bytes = 0;     ///< bytes that the launch may access
  std::size_t alignment = 1;  ///< alignment that the kernel relies on
};

/// Bytes that a work-item of a kernel for GPUs reads or writes at once.
inline constexpr std::size_t kVectorBytes = 16;

/// Work-groups and work-items of a launch, in one dimension.
struct Geometry {
  std::int64_t groups = 1;
  std::size_t group_items = 1;
  std::size_t local_bytes = 0;  ///< local memory that the last argument requests; 0: no such argument
};

/// Set all arguments of a kernel in order.
template <typename... Args>
void set_arguments(const OpenDevice& device, Kernel& kernel, const Args&... args) {
  const auto value = []<typename V>(const V& given) -> const auto& {
    if constexpr (std::is_same_v<V, BufferNeed>) {
      return *given.buffer;
    } else {
      return given;
    }
  };
  cl_uint index = 0;
  try {
    fault_point(Place::argument, device.info(), device.queue()());
    (kernel.handle.setArg(index++, value(args)), ...);
  } catch (const cl::Error& error) {
    throw device_error(device.info(), "setting argument " + std::to_string(index - 1) + " of kernel " + kernel.name,
                       error);
  }
}

/// Check geometry, buffers, alignment and local memory, then enqueue a kernel whose arguments are set. All launches of
/// kernels use this function.
/// @param needs  entries without a buffer are not checked
/// @param event  null: no event is made; making an event takes a driver longer than all checks
/// @throws DeviceError that names kernel, device and the failed check
OCLSPKT_API void enqueue_kernel(const OpenDevice& device, const Kernel& kernel, Geometry geometry,
                                std::initializer_list<BufferNeed> needs, Event* event);

/// Set all arguments of a kernel in order, check the arguments of type BufferNeed, and enqueue the kernel.
/// @throws the errors of enqueue_kernel()
template <typename... Args>
Event launch(const OpenDevice& device, Kernel& kernel, Geometry geometry, const Args&... args) {
  const auto need = []<typename V>(const V& given) {
    if constexpr (std::is_same_v<V, BufferNeed>) {
      return given;
    } else {
      return BufferNeed();
    }
  };
  Event event;
  if (geometry.local_bytes > 0) {
    set_arguments(device, kernel, args..., cl::Local(geometry.local_bytes));
  } else {
    set_arguments(device, kernel, args...);
  }
  enqueue_kernel(device, kernel, geometry, {need(args)...}, &event);
  return event;
}

}  // namespace oclspkt::ocl
