// SPDX-License-Identifier: BSD-2-Clause
#include "error_name.hpp"
#include "native.hpp"

namespace oclspkt::ocl {

DeviceQueue::Kind native_kind() { return DeviceQueue::Kind::opencl; }

bool one_context() { return false; }

cl::CommandQueue callers_queue(void* handle) {
  if (handle == nullptr) throw InvalidInput("the queue is a null handle: give one that clCreateCommandQueue made");
  cl::CommandQueue queue(static_cast<cl_command_queue>(handle), true);
  try {
    if ((queue.getInfo<CL_QUEUE_PROPERTIES>() & CL_QUEUE_OUT_OF_ORDER_EXEC_MODE_ENABLE) != 0) {
      throw InvalidInput("the queue takes commands out of order: give one that is in order");
    }
  } catch (const cl::Error& error) {
    throw InvalidInput("the queue is none, " + error_name(error.err()) + ": give one that clCreateCommandQueue made");
  }
  return queue;
}

cl::Buffer callers_memory(const cl::Context& /*context*/, const char* what, void* handle, std::int64_t /*bytes*/) {
  return memory_object(what, static_cast<cl_mem>(handle));
}

}  // namespace oclspkt::ocl
