// SPDX-License-Identifier: BSD-2-Clause
#pragma once

#include <CL/cl.h>

#include <string>

#include "oclspkt/error.hpp"

namespace oclspkt::bench {

/// @throws DeviceError  what was called, and what it gave, if that is an error
inline void check(cl_int error, const char* what) {
  if (error != CL_SUCCESS) throw DeviceError(std::string(what) + " gave " + std::to_string(error));
}

/// A buffer of a context.
class Memory {
 public:
  Memory(cl_context context, cl_mem_flags flags, std::size_t bytes, void* host = nullptr) {
    cl_int error = CL_SUCCESS;
    memory_ = clCreateBuffer(context, flags, bytes, host, &error);
    check(error, "clCreateBuffer");
  }
  ~Memory() { clReleaseMemObject(memory_); }
  Memory(const Memory&) = delete;
  Memory& operator=(const Memory&) = delete;
  cl_mem get() const { return memory_; }

 private:
  cl_mem memory_ = nullptr;
};

}  // namespace oclspkt::bench
