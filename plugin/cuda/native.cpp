// SPDX-License-Identifier: BSD-2-Clause
#include "native.hpp"

#include "discovery.hpp"
#include "objects.hpp"
#include "oclspkt/error.hpp"

namespace oclspkt::ocl {

using namespace cuda;

/// Nobody else drives a card by CUDA here: no driver has to be tried first.
Discovery discover() {
  Discovery found;
  std::string why;
  if (driver(&why) == nullptr || compiler(&why) == nullptr) {
    found.problems.push_back(why);
    return found;
  }
  found = look_at_platforms();
  if (found.devices.empty() && found.problems.empty()) found.problems.emplace_back("the driver for CUDA lists no card");
  for (FoundDevice& device : found.devices) device.info.cuda = true;
  return found;
}

DeviceQueue::Kind native_kind() { return DeviceQueue::Kind::cuda; }

bool one_context() { return true; }

cl::CommandQueue callers_queue(void* handle_of_stream) {
  CUcontext current = nullptr;
  const Driver* d = driver();
  if (d == nullptr || d->context_current(&current) != kSuccess || current == nullptr) {
    throw InvalidInput("no context of CUDA is current in this thread: make the one current that the vectors belong to");
  }
  CUdevice handle = -1;
  CUresult result = d->context_device(&handle);
  for (const cl_device_id card : cards()) {
    if (result != kSuccess || card->handle != handle) continue;
    const cl_context context = context_of(card, &result);
    if (context == nullptr || context->handle != current) break;
    auto* queue = new _cl_command_queue;
    queue->context = context;
    queue->stream = static_cast<CUstream>(handle_of_stream);
    queue->callers = true;
    return cl::CommandQueue(queue);
  }
  throw InvalidInput("the current context of CUDA is not the primary one of a card: use the primary one");
}

cl::Buffer callers_memory(const cl::Context& context, const char* what, void* handle, std::int64_t bytes) {
  const auto refuse = [&](const std::string& why) { throw InvalidInput(std::string(what) + " " + why); };
  if (handle == nullptr) refuse("is a null pointer: give memory of the card");
  const auto address = reinterpret_cast<CUdeviceptr>(handle);
  CUdeviceptr begin = 0;
  std::size_t size = 0;
  const Current current(context());
  if (driver()->memory_range(&begin, &size, address) != kSuccess) {
    refuse("is no memory of the card: give memory that cuMemAlloc() or cudaMalloc() made");
  }
  const auto room = static_cast<std::int64_t>(begin + size - address);
  if (room < bytes) {
    refuse("holds " + std::to_string(room) + " bytes, " + std::to_string(bytes) + " are needed: make it larger");
  }
  auto* memory = new _cl_mem;
  memory->kind = _cl_mem::Kind::callers;
  memory->context = context();
  memory->flags = CL_MEM_READ_WRITE;
  memory->bytes = static_cast<std::size_t>(bytes);
  memory->address = address;
  return cl::Buffer(memory);
}

}  // namespace oclspkt::ocl
