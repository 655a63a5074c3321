// SPDX-License-Identifier: BSD-2-Clause
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>

#include "card_vectors.hpp"
#include "oclspkt/device_handles.hpp"
#include "opencl.hpp"

// Functions that each run-time defines: OpenCL in native_opencl.cpp, CUDA in plugin/cuda/native.cpp. discover() in
// discovery.hpp is another such function.
namespace oclspkt::ocl {

DeviceQueue::Kind native_kind();

/// True if a device has only one context in the process.
bool one_context();

/// Returns a caller's queue. For OpenCL the result holds a reference; for CUDA it only names the stream.
/// @throws InvalidInput if the handle is no queue, or if the queue is out of order; cl::Error
cl::CommandQueue callers_queue(void* handle);

/// Returns the buffer of a handle.
/// @param what  the buffer in words, for errors
/// @throws InvalidInput if the handle is no buffer
cl::Buffer memory_object(const char* what, cl_mem handle);

/// Returns the caller's memory as a buffer of at least `bytes` bytes. The function for OpenCL does not check context,
/// flags and size.
/// @param what  the memory in words, for errors
/// @throws InvalidInput if the handle is no device memory; cl::Error
cl::Buffer callers_memory(const cl::Context& context, const char* what, void* handle, std::int64_t bytes);

/// Our queue and our buffer in the form that callers use (DeviceQueue::handle, callers_memory()).
void* native_queue(const cl::CommandQueue& queue);
void* native_memory(const cl::Buffer& buffer);

/// Sleep until a command has ended or failed. Some CPU drivers use the waiting thread to compute. On a part of a
/// processor, this thread would then occupy one more core than the part has.
/// @pre the command's queue has been flushed
/// @throws cl::Error
void sleep_until_ended(const cl::Event& event);
std::unique_ptr<CardVectors> make_card_vectors(const std::string& place, std::int64_t bytes);

/// Functions that give a device the memory of another run-time. OpenCL 1.2 lacks them, so they are looked up by name.
struct ExternalMemory {
  /// Import the memory of a file descriptor. The descriptor then belongs to the buffer.
  cl_mem (*import)(cl_context context, int descriptor, std::size_t bytes, cl_int* code);
  using HandOver = cl_int(CL_API_CALL*)(cl_command_queue, cl_uint, const cl_mem*, cl_uint, const cl_event*, cl_event*);
  HandOver acquire, release;  ///< called before and after commands that use imported buffers
};

/// @param[out] why  if the result is empty: why the device lacks the functions
std::optional<ExternalMemory> external_memory(const cl::Device& device, std::string& why);

}  // namespace oclspkt::ocl
