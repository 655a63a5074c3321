// SPDX-License-Identifier: BSD-2-Clause
// The thin layer between schemes and OpenCL. No file in schemes/ uses a name of OpenCL. So another run-time can replace
// it under the same schemes, and launches can be recorded for devices that do not exist.
#pragma once

#include "launch.hpp"
#include "waiter.hpp"

namespace oclspkt::ocl {

/// Memory of a device, and an enqueued command.
using Buffer = cl::Buffer;
using Event = cl::Event;

/// Integers as kernels take them.
using Int = cl_int;
using Long = cl_long;

/// The first lines of a kernel's text that is not the library's: what its scalar_t is.
inline std::string scalar_text(bool is_double) {
  return is_double ? "#pragma OPENCL EXTENSION cl_khr_fp64 : enable\ntypedef double scalar_t;\n"
                   : "typedef float scalar_t;\n";
}

/// The kernel argument that requests so much local memory.
inline auto local_memory(std::size_t bytes) { return cl::Local(bytes); }

/// Bytes of a buffer; 0 for one that was never made.
inline std::int64_t bytes_of(const Buffer& buffer) {
  return buffer() != nullptr ? static_cast<std::int64_t>(buffer.getInfo<CL_MEM_SIZE>()) : 0;
}

/// True if both refer to the same buffer.
inline bool same(const Buffer& a, const Buffer& b) { return a() == b(); }
enum class Access { read, write, read_write };

/// @param bank  see OpenDevice::buffer()
/// @throws cl::Error
OCLSPKT_API Buffer make_buffer(const OpenDevice& device, Access access, std::int64_t bytes, Bank bank = 0);

/// Make a buffer of at least that size, or keep the present one if it is large enough. @return the buffer's bytes
OCLSPKT_API std::int64_t ensure(const OpenDevice& device, Buffer& buffer, Access access, std::int64_t bytes,
                                Bank bank = 0);

/// A buffer over host memory. It is read-write even if kernels only read, because Intel's CPU run-time copies read-only
/// memory that is not aligned to 128 bytes.
OCLSPKT_API Buffer wrap(const OpenDevice& device, const void* p, std::int64_t bytes);

/// Enqueue a copy between a buffer's beginning and host memory, which must not move until the event has ended.
OCLSPKT_API Event enqueue_read(const OpenDevice& device, const Buffer& from, void* to, std::int64_t bytes);
OCLSPKT_API Event enqueue_write(const OpenDevice& device, const void* from, const Buffer& to, std::int64_t bytes);

/// Enqueue a copy as above in a transfer queue of the device, which is flushed so that the copy starts at once.
/// @param behind  a command of the device's own queue, which has been flushed
Event enqueue_read_beside(OpenDevice& device, const Buffer& from, void* to, std::int64_t bytes, const Event& behind);
Event enqueue_write_beside(OpenDevice& device, const void* from, const Buffer& to, std::int64_t bytes);

/// Enqueue a copy of the first `bytes` of a buffer to another one.
OCLSPKT_API Event enqueue_copy(const OpenDevice& device, const Buffer& from, const Buffer& to, std::int64_t bytes);

}  // namespace oclspkt::ocl
