// SPDX-License-Identifier: BSD-2-Clause
#include <dlfcn.h>

#include <condition_variable>
#include <mutex>

#include "discovery.hpp"
#include "error_name.hpp"
#include "native.hpp"

namespace oclspkt::ocl {
namespace {

constexpr const char* kExternalMemory = "cl_khr_external_memory_opaque_fd";

// Names of OpenCL 3.0: CL_EXTERNAL_MEMORY_HANDLE_OPAQUE_FD_KHR, and clCreateBufferWithProperties.
constexpr cl_ulong kOpaqueFd = 0x2060;
using CreateBuffer = cl_mem(CL_API_CALL*)(cl_context, const cl_ulong*, cl_mem_flags, std::size_t, void*, cl_int*);

CreateBuffer find_create_buffer() {
  return reinterpret_cast<CreateBuffer>(dlsym(RTLD_DEFAULT, "clCreateBufferWithProperties"));
}

cl_mem import_descriptor(cl_context context, int descriptor, std::size_t bytes, cl_int* code) {
  static const CreateBuffer create = find_create_buffer();
  const cl_ulong properties[] = {kOpaqueFd, static_cast<cl_ulong>(descriptor), 0};
  return create(context, properties, CL_MEM_READ_WRITE, bytes, nullptr, code);
}

ExternalMemory::HandOver find_hand_over(cl_platform_id platform, const char* name) {
  return reinterpret_cast<ExternalMemory::HandOver>(clGetExtensionFunctionAddressForPlatform(platform, name));
}

}  // namespace

DeviceQueue::Kind native_kind() { return DeviceQueue::Kind::opencl; }

bool one_context() { return false; }

void sleep_until_ended(const cl::Event& event) {
  struct End {
    std::mutex mutex;
    std::condition_variable come;
    bool is = false;
  } end;
  const auto note = [](cl_event, cl_int, void* data) {
    auto& of = *static_cast<End*>(data);
    const std::lock_guard lock(of.mutex);
    of.is = true;
    of.come.notify_one();  // under the lock, because the waiting thread destroys `end` once it has the lock
  };
  cl::Event(event).setCallback(CL_COMPLETE, note, &end);
  std::unique_lock lock(end.mutex);
  end.come.wait(lock, [&] { return end.is; });
}

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

void* native_queue(const cl::CommandQueue& queue) { return queue(); }

void* native_memory(const cl::Buffer& buffer) { return buffer(); }

std::unique_ptr<CardVectors> make_card_vectors(const std::string& place, std::int64_t /*bytes*/) {
  throw DeviceError("OpenCL exports no memory of " + place);
}

std::optional<ExternalMemory> external_memory(const cl::Device& device, std::string& why) {
  if (!has_extension(device, kExternalMemory)) {
    why = std::string("its OpenCL driver lacks ") + kExternalMemory;
    return std::nullopt;
  }
  const cl::Platform platform(device.getInfo<CL_DEVICE_PLATFORM>());  // OpenCL headers differ in the type of the result
  const ExternalMemory found{import_descriptor, find_hand_over(platform(), "clEnqueueAcquireExternalMemObjectsKHR"),
                             find_hand_over(platform(), "clEnqueueReleaseExternalMemObjectsKHR")};
  if (find_create_buffer() != nullptr && found.acquire != nullptr && found.release != nullptr) return found;
  why = find_create_buffer() == nullptr ? "OpenCL's loader, libOpenCL.so.1, is older than OpenCL 3.0"
                                        : std::string("its OpenCL driver lacks functions of ") + kExternalMemory;
  return std::nullopt;
}

}  // namespace oclspkt::ocl
