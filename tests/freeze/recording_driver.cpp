// SPDX-License-Identifier: BSD-2-Clause
// An OpenCL driver with devices of every kind that runs no kernel and records what it is told: launches with all their
// arguments, copies with a hash of what is copied, and memory. Buffers are memory of the host.
#include <deque>
#include <mutex>

#include "hash.hpp"
#include "recording_objects.hpp"

namespace oclspkt::freeze {

cl_icd_dispatch table{};

namespace {

constexpr cl_ulong kKilobyte = 1 << 10, kMegabyte = 1 << 20, kGigabyte = 1 << 30;

// The names are none another's part: programs select devices by them.
Device devices[] = {
    Device({"recorded-large-gpu", CL_DEVICE_TYPE_GPU, 132, 140 * kGigabyte, 35 * kGigabyte, 50 * kMegabyte,
            48 * kKilobyte, 1024, 1, 1, true, false}),
    Device({"recorded-small-gpu", CL_DEVICE_TYPE_GPU, 8, 2 * kGigabyte, 512 * kMegabyte, 512 * kKilobyte,
            32 * kKilobyte, 256, 1, 0, false, false}),
    Device({"recorded-few-cores", CL_DEVICE_TYPE_CPU, 2, 16 * kGigabyte, 4 * kGigabyte, 32 * kMegabyte, 512 * kKilobyte,
            4096, 8, 4, true, true}),
    Device({"recorded-many-cores", CL_DEVICE_TYPE_CPU, 16, 64 * kGigabyte, 16 * kGigabyte, 32 * kMegabyte,
            512 * kKilobyte, 4096, 16, 8, true, true}),
    Device({"recorded-fpga", CL_DEVICE_TYPE_ACCELERATOR, 4, 8 * kGigabyte, 2 * kGigabyte, 0, 64 * kKilobyte, 1024, 1, 1,
            true, false}),
};
Object platform;

cl_int CL_API_CALL platform_info(cl_platform_id /*of*/, cl_platform_info what, std::size_t room, void* to,
                                 std::size_t* size) {
  return give_text(what == CL_PLATFORM_EXTENSIONS       ? "cl_khr_icd"
                   : what == CL_PLATFORM_ICD_SUFFIX_KHR ? "RECORDING"
                   : what == CL_PLATFORM_VERSION        ? "OpenCL 1.2 recording"
                                                        : "Recording platform",
                   room, to, size);
}

cl_int CL_API_CALL platform_ids(cl_uint room, cl_platform_id* to, cl_uint* count) {
  if (count != nullptr) *count = 1;
  if (to != nullptr && room > 0) to[0] = as<_cl_platform_id>(&platform);
  return CL_SUCCESS;
}

cl_int CL_API_CALL device_ids(cl_platform_id /*of*/, cl_device_type type, cl_uint room, cl_device_id* to,
                              cl_uint* count) {
  cl_uint found = 0;
  for (Device& device : devices) {
    if ((device.figures.type & type) == 0) continue;
    if (to != nullptr && found < room) to[found] = as<_cl_device_id>(&device);
    ++found;
  }
  if (count != nullptr) *count = found;
  return found > 0 ? CL_SUCCESS : CL_DEVICE_NOT_FOUND;
}

cl_int CL_API_CALL device_info(cl_device_id of, cl_device_info what, std::size_t room, void* to, std::size_t* size) {
  const DeviceFigures& f = as<Device>(of)->figures;
  constexpr cl_uint kAlignmentBits = 4096;
  if (what == CL_DEVICE_NAME) return give_text(f.name, room, to, size);
  if (what == CL_DRIVER_VERSION) return give_text("1", room, to, size);
  if (what == CL_DEVICE_VERSION) return give_text("OpenCL 1.2 recording", room, to, size);
  if (what == CL_DEVICE_EXTENSIONS) return give_text(f.fp64 ? "cl_khr_fp64" : "", room, to, size);
  if (what == CL_DEVICE_PLATFORM) return give(as<_cl_platform_id>(&platform), room, to, size);
  if (what == CL_DEVICE_TYPE) return give(f.type, room, to, size);
  if (what == CL_DEVICE_MAX_COMPUTE_UNITS) return give(f.units, room, to, size);
  if (what == CL_DEVICE_GLOBAL_MEM_SIZE) return give(f.memory, room, to, size);
  if (what == CL_DEVICE_MAX_MEM_ALLOC_SIZE) return give(f.allocation, room, to, size);
  if (what == CL_DEVICE_GLOBAL_MEM_CACHE_SIZE) return give(f.cache, room, to, size);
  if (what == CL_DEVICE_LOCAL_MEM_SIZE) return give(f.local, room, to, size);
  if (what == CL_DEVICE_MAX_WORK_GROUP_SIZE) return give(f.group_items, room, to, size);
  if (what == CL_DEVICE_NATIVE_VECTOR_WIDTH_FLOAT) return give(f.lanes_float, room, to, size);
  if (what == CL_DEVICE_NATIVE_VECTOR_WIDTH_DOUBLE) return give(f.lanes_double, room, to, size);
  if (what == CL_DEVICE_DOUBLE_FP_CONFIG)
    return give(cl_device_fp_config{f.fp64 ? cl_device_fp_config{CL_FP_FMA | CL_FP_DENORM} : 0}, room, to, size);
  if (what == CL_DEVICE_HOST_UNIFIED_MEMORY)
    return give(f.unified ? cl_bool{CL_TRUE} : cl_bool{CL_FALSE}, room, to, size);
  if (what == CL_DEVICE_AVAILABLE || what == CL_DEVICE_COMPILER_AVAILABLE)
    return give(cl_bool{CL_TRUE}, room, to, size);
  if (what == CL_DEVICE_MEM_BASE_ADDR_ALIGN) return give(kAlignmentBits, room, to, size);
  return CL_INVALID_VALUE;
}

cl_int CL_API_CALL keep_device(cl_device_id /*device*/) { return CL_SUCCESS; }

cl_context CL_API_CALL create_context(const cl_context_properties* /*properties*/, cl_uint /*count*/,
                                      const cl_device_id* of,
                                      void(CL_CALLBACK* /*notify*/)(const char*, const void*, std::size_t, void*),
                                      void* /*data*/, cl_int* error) {
  auto* context = new Context;
  context->device = as<Device>(of[0]);
  return made<cl_context>(context, error);
}
cl_int CL_API_CALL context_info(cl_context of, cl_context_info what, std::size_t room, void* to, std::size_t* size) {
  if (what == CL_CONTEXT_DEVICES) return give(as<_cl_device_id>(as<Context>(of)->device), room, to, size);
  if (what == CL_CONTEXT_NUM_DEVICES) return give(cl_uint{1}, room, to, size);
  return CL_INVALID_VALUE;
}

cl_command_queue CL_API_CALL create_queue(cl_context of, cl_device_id /*device*/,
                                          cl_command_queue_properties /*properties*/, cl_int* error) {
  // Never freed: the log tells queues apart by their addresses.
  static std::mutex mutex;
  static auto* const queues = new std::deque<Queue>;
  const std::lock_guard lock(mutex);
  Queue* const queue = &queues->emplace_back();
  queue->context = as<Context>(of);
  return made<cl_command_queue>(queue, error);
}
cl_int CL_API_CALL queue_info(cl_command_queue of, cl_command_queue_info what, std::size_t room, void* to,
                              std::size_t* size) {
  const Queue& queue = *as<Queue>(of);
  if (what == CL_QUEUE_CONTEXT) return give(as<_cl_context>(queue.context), room, to, size);
  if (what == CL_QUEUE_DEVICE) return give(as<_cl_device_id>(queue.context->device), room, to, size);
  return CL_INVALID_VALUE;
}
cl_int CL_API_CALL pass(cl_command_queue /*queue*/) { return CL_SUCCESS; }

/// The driver's own: it may be asked before the loader knows a platform.
void* address_of(const char* name) {
  if (std::strcmp(name, "clIcdGetPlatformIDsKHR") == 0) return reinterpret_cast<void*>(platform_ids);
  return std::strcmp(name, "clGetPlatformInfo") == 0 ? reinterpret_cast<void*>(platform_info) : nullptr;
}
void* CL_API_CALL address_for(cl_platform_id /*platform*/, const char* name) { return address_of(name); }

const struct Filled {
  Filled() {
    fill_device_functions(table);
    fill_memory_functions(table);
    fill_kernel_functions(table);
  }
} filled;

}  // namespace

void fill_device_functions(cl_icd_dispatch& to) {
  to.clGetPlatformInfo = platform_info;
  to.clGetDeviceIDs = device_ids;
  to.clGetDeviceInfo = device_info;
  to.clRetainDevice = to.clReleaseDevice = keep_device;
  to.clCreateContext = create_context;
  to.clRetainContext = retain<Context>;
  to.clReleaseContext = release_and_keep<Context>;
  to.clGetContextInfo = context_info;
  to.clCreateCommandQueue = create_queue;
  to.clRetainCommandQueue = retain<Queue>;
  to.clReleaseCommandQueue = release_and_keep<Queue>;
  to.clGetCommandQueueInfo = queue_info;
  to.clFlush = to.clFinish = pass;
  to.clGetExtensionFunctionAddressForPlatform = address_for;
}

cl_int give_text(const std::string& text, std::size_t room, void* to, std::size_t* size) {
  if (size != nullptr) *size = text.size() + 1;
  if (to == nullptr) return CL_SUCCESS;
  if (room < text.size() + 1) return CL_INVALID_VALUE;
  std::memcpy(to, text.c_str(), text.size() + 1);
  return CL_SUCCESS;
}

}  // namespace oclspkt::freeze

extern "C" __attribute__((visibility("default"))) void* clGetExtensionFunctionAddress(const char* name) {
  return oclspkt::freeze::address_of(name);
}
