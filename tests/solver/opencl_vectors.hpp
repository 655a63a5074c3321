// SPDX-License-Identifier: BSD-2-Clause
#pragma once

#include <gtest/gtest.h>

#include <stdexcept>
#include <vector>

#include "device.hpp"
#include "oclspkt/device_handles.hpp"
#include "opencl.hpp"

namespace oclspkt::test {

/// A buffer in the context of a solver or of a caller, made by OpenCL's own calls, as a program would.
template <typename T>
class DeviceVector {
 public:
  DeviceVector(const DeviceHandles& handles, const std::vector<T>& values, cl_mem_flags flags = CL_MEM_READ_WRITE)
      : queue_(handles.queue), size_(values.size()) {
    cl_int error = CL_SUCCESS;
    memory_ = clCreateBuffer(handles.context, flags | CL_MEM_COPY_HOST_PTR, values.size() * sizeof(T),
                             const_cast<T*>(values.data()), &error);
    EXPECT_EQ(error, CL_SUCCESS);
  }
  ~DeviceVector() { clReleaseMemObject(memory_); }
  DeviceVector(const DeviceVector&) = delete;
  DeviceVector& operator=(const DeviceVector&) = delete;
  cl_mem get() const { return memory_; }
  std::vector<T> values() const {
    std::vector<T> copy(size_);
    EXPECT_EQ(clEnqueueReadBuffer(queue_, memory_, CL_TRUE, 0, size_ * sizeof(T), copy.data(), 0, nullptr, nullptr),
              CL_SUCCESS);
    return copy;
  }

 private:
  cl_command_queue queue_;
  std::size_t size_;
  cl_mem memory_ = nullptr;
};

/// The part of a buffer from a byte on.
inline cl_mem part_of(cl_mem whole, std::size_t origin, std::size_t bytes) {
  const cl_buffer_region region{origin, bytes};
  cl_int error = CL_SUCCESS;
  cl_mem part = clCreateSubBuffer(whole, 0, CL_BUFFER_CREATE_TYPE_REGION, &region, &error);
  EXPECT_EQ(error, CL_SUCCESS);
  return part;
}

/// The device that the library lists so, as a program finds it.
/// @throws std::runtime_error if OpenCL lists none of these names
inline cl::Device device_like(const DeviceInfo& info) {
  std::vector<cl::Platform> platforms;
  cl::Platform::get(&platforms);
  for (const cl::Platform& platform : platforms) {
    std::vector<cl::Device> devices;
    platform.getDevices(CL_DEVICE_TYPE_ALL, &devices);
    for (const cl::Device& device : devices) {
      const bool same_platform = platform.getInfo<CL_PLATFORM_NAME>().find(info.platform) != std::string::npos;
      if (same_platform && device.getInfo<CL_DEVICE_NAME>().find(info.name) != std::string::npos) return device;
    }
  }
  throw std::runtime_error("no OpenCL device is named like " + info.name + " of " + info.platform);
}

/// A context and a queue that a program made for a device.
class Caller {
 public:
  explicit Caller(const cl::Device& device) : device_(device), context_(device), queue_(context_, device) {}

  const cl::Context& context() const { return context_; }
  const cl::CommandQueue& queue() const { return queue_; }
  /// Another one of the same context.
  cl::CommandQueue make_queue(cl_command_queue_properties properties = 0) const {
    return {context_, device_, properties};
  }
  DeviceHandles handles() const { return {context_(), device_(), queue_()}; }
  DeviceQueue device_queue() const { return of(queue_); }
  static DeviceQueue of(const cl::CommandQueue& queue) { return {DeviceQueue::Kind::opencl, queue()}; }
  cl_uint references() const { return context_.getInfo<CL_CONTEXT_REFERENCE_COUNT>(); }

 private:
  cl::Device device_;
  cl::Context context_;
  cl::CommandQueue queue_;
};

}  // namespace oclspkt::test
