// SPDX-License-Identifier: BSD-2-Clause
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>

#include "card_vectors.hpp"
#include "oclspkt/device_handles.hpp"
#include "opencl.hpp"

// What differs between the run-times that stand behind OpenCL's functions: OpenCL itself (native_opencl.cpp) and CUDA
// (plugin/cuda/native.cpp). Beside discover(), which is in discovery.hpp.
namespace oclspkt::ocl {

/// The queues of which kind() callers may give.
DeviceQueue::Kind native_kind();

/// True if a device has one context in the process, whoever asks for it.
bool one_context();

/// A caller's queue, for as long as the result lives: that of OpenCL, too, as long as the caller keeps it.
/// @throws InvalidInput if it is none, or not in order; cl::Error
cl::CommandQueue callers_queue(void* handle);

/// A buffer by its handle.
/// @param what  the buffer in words, for errors
/// @throws InvalidInput if it is none
cl::Buffer memory_object(const char* what, cl_mem handle);

/// Memory of the caller, `bytes` of it or more.
/// @param what  the memory in words, for errors
/// @throws InvalidInput if it is no memory of a device; that of OpenCL may have another context, flags and size;
///         cl::Error
cl::Buffer callers_memory(const cl::Context& context, const char* what, void* handle, std::int64_t bytes);

/// A queue and a buffer of ours as callers name them: see DeviceQueue::handle and callers_memory().
void* native_queue(const cl::CommandQueue& queue);
void* native_memory(const cl::Buffer& buffer);

/// Sleep until a command has ended, or failed. A wait of some drivers of processors has the waiting thread work as
/// well, one core more than a part of the processor has.
/// @pre its queue has been flushed
/// @throws cl::Error
void sleep_until_ended(const cl::Event& event);

/// See DeviceModule::make_card_vectors().
std::unique_ptr<CardVectors> make_card_vectors(const std::string& place, std::int64_t bytes);

/// Functions by which a device uses memory of another run-time. They are newer than OpenCL 1.2, so they are looked up.
struct ExternalMemory {
  /// Import what a file descriptor stands for; the descriptor then belongs to the buffer.
  cl_mem (*import)(cl_context context, int descriptor, std::size_t bytes, cl_int* code);
  using HandOver = cl_int(CL_API_CALL*)(cl_command_queue, cl_uint, const cl_mem*, cl_uint, const cl_event*, cl_event*);
  HandOver acquire, release;  ///< before and after the commands that use such buffers
};

/// @param[out] why  why there are none, if the result is empty
std::optional<ExternalMemory> external_memory(const cl::Device& device, std::string& why);

}  // namespace oclspkt::ocl
