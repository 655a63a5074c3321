// SPDX-License-Identifier: BSD-2-Clause
#include "native.hpp"

#include "discovery.hpp"
#include "error_name.hpp"
#include "objects.hpp"
#include "oclspkt/error.hpp"

std::string oclspkt::cuda::failure(const char* function, CUresult result) {
  return std::string(function) + " gave " + ocl::error_name(code_of(result));
}

void oclspkt::cuda::require(const char* function, CUresult result) {
  if (result != kSuccess) throw cl::Error(code_of(result), function);
}

namespace oclspkt::ocl {

using namespace cuda;

namespace {

/// Returns the card whose primary context is current in this thread.
/// @throws InvalidInput, cl::Error
cl_device_id current_card() {
  std::string why;
  const Driver* d = driver(&why);
  if (d == nullptr) throw InvalidInput(why);
  CUcontext current = nullptr;
  require("cuCtxGetCurrent", d->context_current(&current));
  if (current == nullptr) {
    throw InvalidInput("no context of CUDA is current in this thread: make the one current that the vectors belong to");
  }
  CUdevice handle = -1;
  require("cuCtxGetDevice", d->context_device(&handle));
  for (const cl_device_id card : cards()) {
    if (card->handle != handle) continue;
    CUresult result = kSuccess;
    const cl_context context = context_of(card, &result);
    require("cuDevicePrimaryCtxRetain", result);
    if (context->handle == current) return card;
  }
  throw InvalidInput("the current context of CUDA is not the primary one of a card: use the primary one");
}

}  // namespace

Discovery discover() {
  Discovery found;
  std::string why;
  if (is_absent()) return found;
  if (driver(&why) == nullptr || (!cards().empty() && compiler(&why) == nullptr)) {
    found.problems.push_back(why);
    return found;
  }
  found = look_at_platforms();
  found.problems.insert(found.problems.end(), problems_of_cards().begin(), problems_of_cards().end());
  for (FoundDevice& device : found.devices) device.info.cuda = true;
  return found;
}

DeviceQueue::Kind native_kind() { return DeviceQueue::Kind::cuda; }

bool one_context() { return true; }

void sleep_until_ended(const cl::Event& event) { event.wait(); }

std::optional<ExternalMemory> external_memory(const cl::Device& /*device*/, std::string& why) {
  why = "CUDA is not asked to import memory of other run-times";
  return std::nullopt;
}

cl::CommandQueue callers_queue(void* handle_of_stream) {
  const cl_device_id card = current_card();
  const auto stream = static_cast<CUstream>(handle_of_stream);
  CUcontext context = nullptr;
  require("cuStreamGetCtx", driver()->stream_context(stream, &context));
  if (context != card->context->handle) {
    throw InvalidInput("the stream is not of the context that is current in this thread: make its context current");
  }
  auto queue = std::make_unique<_cl_command_queue>();
  queue->context = card->context;
  queue->stream = stream;
  queue->callers = true;
  return cl::CommandQueue(queue.release());
}

cl::Buffer callers_memory(const cl::Context& context, const char* what, void* handle, std::int64_t bytes) {
  const auto refuse = [&](const std::string& why) { throw InvalidInput(std::string(what) + " " + why); };
  if (handle == nullptr) refuse("is a null pointer: give memory of the card");
  const auto address = reinterpret_cast<CUdeviceptr>(handle);
  const auto ask = [&](const char* function, CUresult result) {
    if (result == kInvalidValue || result == kNotFound) {
      refuse("is no memory of a card: give memory that cuMemAlloc() or cudaMalloc() made");
    }
    require(function, result);
  };
  CUdeviceptr begin = 0;
  std::size_t size = 0;
  int card = -1;
  const Current current(context());
  ask("making the context current", current.result());
  ask("cuPointerGetAttribute", driver()->pointer_attribute(&card, kPointerDevice, address));
  if (card != context()->device->ordinal) {
    refuse("lies on card " + std::to_string(card) + ", the queue is of card " +
           std::to_string(context()->device->ordinal) + ": give memory of the same");
  }
  ask("cuMemGetAddressRange", driver()->memory_range(&begin, &size, address));
  const auto room = static_cast<std::int64_t>(begin + size - address);
  if (room < bytes) {
    refuse("holds " + std::to_string(room) + " bytes, " + std::to_string(bytes) + " are needed: make it larger");
  }
  auto memory = std::make_unique<_cl_mem>();
  memory->kind = _cl_mem::Kind::callers;
  memory->context = context();
  memory->flags = CL_MEM_READ_WRITE | CL_MEM_USE_HOST_PTR;
  memory->bytes = static_cast<std::size_t>(bytes);
  memory->address = address;
  return cl::Buffer(memory.release());
}

void* native_queue(const cl::CommandQueue& queue) { return queue()->stream; }

void* native_memory(const cl::Buffer& buffer) {
  return buffer() != nullptr ? reinterpret_cast<void*>(buffer()->address) : nullptr;  // NOLINT: a handle of the card
}

}  // namespace oclspkt::ocl
