// SPDX-License-Identifier: BSD-2-Clause
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>

#include "card_vectors.hpp"
#include "oclspkt/device_handles.hpp"
#include "opencl.hpp"

// Functions that differ between the run-times behind OpenCL's functions: OpenCL itself (native_opencl.cpp) and CUDA
// (plugin/cuda/native.cpp). discover() in discovery.hpp is another such function.
namespace oclspkt::ocl {

DeviceQueue::Kind native_kind();

/// True if a device has only one context in the process.
bool one_context();

/// A caller's queue. For OpenCL the result holds a reference; for CUDA it only names the stream.
/// @throws InvalidInput if it is no queue, or not in order; cl::Error
cl::CommandQueue callers_queue(void* handle);

/// The buffer of a handle.
/// @param what  the buffer in words, for errors
/// @throws InvalidInput if it is no buffer
cl::Buffer memory_object(const char* what, cl_mem handle);

/// The caller's memory as a buffer of at least `bytes` bytes.
/// @param what  the memory in words, for errors
/// @throws InvalidInput if it is no device memory; for OpenCL context, flags and size are not checked;
///         cl::Error
cl::Buffer callers_memory(const cl::Context& context, const char* what, void* handle, std::int64_t bytes);

/// Our queue and our buffer in the form that callers use: see DeviceQueue::handle and callers_memory().
void* native_queue(const cl::CommandQueue& queue);
void* native_memory(const cl::Buffer& buffer);

/// Sleep until a command has ended or failed. Some CPU drivers let a waiting thread compute as well. If the device is a
/// part of the processor, this thread then occupies one more core than the part has.
/// @pre the command's queue has been flushed
/// @throws cl::Error
void sleep_until_ended(const cl::Event& event);
std::unique_ptr<CardVectors> make_card_vectors(const std::string& place, std::int64_t bytes);

/// Functions that give a device the memory of another run-time. OpenCL 1.2 lacks them, so they are looked up by name.
struct ExternalMemory {
  /// Import the memory of a file descriptor, which then belongs to the buffer.
  cl_mem (*import)(cl_context context, int descriptor, std::size_t bytes, cl_int* code);
  using HandOver = cl_int(CL_API_CALL*)(cl_command_queue, cl_uint, const cl_mem*, cl_uint, const cl_event*, cl_event*);
  HandOver acquire, release;  ///< called before and after commands that use such buffers
};

/// @param[out] why  the reason why the device lacks the functions, if the result is empty
std::optional<ExternalMemory> external_memory(const cl::Device& device, std::string& why);

}  // namespace oclspkt::ocl
