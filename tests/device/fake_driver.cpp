// SPDX-License-Identifier: BSD-2-Clause
// OpenCL drivers with one fault each, by the definition FAULT, one of a board with an FPGA that opens no context, and
// two that hand everything on to the good driver GOOD_DRIVER.
#define CL_TARGET_OPENCL_VERSION 120
#include <CL/cl_icd.h>
#include <dlfcn.h>
#include <unistd.h>

#include <algorithm>
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <stdexcept>

namespace {

enum class Fault {
  throws_at_load,
  exits_at_load,
  aborts_at_load,
  hangs_at_load,
  throws_when_asked,
  crashes_when_asked,
  fails_when_asked,
  offers_nothing,
  garbage_platforms,
  null_dispatch,
  crashes_in_device_list,
  aborts_in_device_list,
  exits_in_device_list,
  hangs_in_device_list,
  crashes_in_device_info,
  aborts_in_context,
  board,
  slow,
  good
};
constexpr Fault kFault = Fault::FAULT;
constexpr unsigned kSlowSeconds = 2;

[[noreturn]] void crash() {
  std::raise(SIGSEGV);
  std::abort();
}

[[noreturn]] void hang() {
  for (;;) pause();
}

struct Loaded {
  Loaded() {
    std::puts("a driver that prints");
    if (kFault == Fault::throws_at_load) throw std::runtime_error("no board in this machine");
    if (kFault == Fault::exits_at_load) _exit(0);
    if (kFault == Fault::aborts_at_load) std::abort();
    if (kFault == Fault::hangs_at_load) hang();
    if (kFault == Fault::slow) sleep(kSlowSeconds);
  }
};
const Loaded loaded;

cl_icd_dispatch table;
struct Object {
  const cl_icd_dispatch* dispatch;
};
Object platform{kFault == Fault::null_dispatch ? nullptr : &table};
Object device{&table};

cl_int give(const void* value, std::size_t bytes, std::size_t room, void* to, std::size_t* size) {
  if (size != nullptr) *size = bytes;
  if (to == nullptr) return CL_SUCCESS;
  if (room < bytes) return CL_INVALID_VALUE;
  std::memcpy(to, value, bytes);
  return CL_SUCCESS;
}

cl_int CL_API_CALL platform_info(cl_platform_id /*of*/, cl_platform_info what, std::size_t room, void* to,
                                 std::size_t* size) {
  const char* text = what == CL_PLATFORM_EXTENSIONS       ? "cl_khr_icd"
                     : what == CL_PLATFORM_ICD_SUFFIX_KHR ? "FAKE"
                     : what == CL_PLATFORM_VERSION        ? "OpenCL 1.2 fake"
                                                          : "Fake platform";
  return give(text, std::strlen(text) + 1, room, to, size);
}

cl_int CL_API_CALL device_ids(cl_platform_id /*of*/, cl_device_type /*type*/, cl_uint room, cl_device_id* to,
                              cl_uint* count) {
  if (kFault == Fault::crashes_in_device_list) crash();
  if (kFault == Fault::aborts_in_device_list) std::abort();
  if (kFault == Fault::exits_in_device_list) std::exit(0);
  if (kFault == Fault::hangs_in_device_list) hang();
  if (count != nullptr) *count = 1;
  if (to != nullptr && room > 0) to[0] = reinterpret_cast<cl_device_id>(&device);
  return CL_SUCCESS;
}

/// A CPU all of whose properties are 1, or a board with memory and without a compiler.
cl_int CL_API_CALL device_info(cl_device_id /*of*/, cl_device_info what, std::size_t room, void* to,
                               std::size_t* size) {
  if (kFault == Fault::crashes_in_device_info) crash();
  const bool is_text = what == CL_DEVICE_NAME || what == CL_DEVICE_EXTENSIONS || what == CL_DRIVER_VERSION;
  if (is_text) return give("fake", 5, room, to, size);
  const bool board = kFault == Fault::board;
  cl_ulong value = 1;
  if (what == CL_DEVICE_TYPE) value = board ? CL_DEVICE_TYPE_ACCELERATOR : CL_DEVICE_TYPE_CPU;
  if (board && what == CL_DEVICE_COMPILER_AVAILABLE) value = CL_FALSE;
  if (board && (what == CL_DEVICE_GLOBAL_MEM_SIZE || what == CL_DEVICE_MAX_MEM_ALLOC_SIZE)) value = cl_ulong{1} << 30;
  return give(&value, to == nullptr ? sizeof value : std::min(room, sizeof value), room, to, size);
}

cl_int CL_API_CALL keep(cl_device_id /*device*/) { return CL_SUCCESS; }

cl_context CL_API_CALL create_context(const cl_context_properties* /*properties*/, cl_uint /*count*/,
                                      const cl_device_id* /*devices*/,
                                      void(CL_CALLBACK* /*notify*/)(const char*, const void*, std::size_t, void*),
                                      void* /*data*/, cl_int* error) {
  if (kFault != Fault::board) std::abort();
  if (error != nullptr) *error = CL_DEVICE_NOT_AVAILABLE;
  return nullptr;
}

cl_int CL_API_CALL platform_ids(cl_uint room, cl_platform_id* to, cl_uint* count) {
  if (kFault == Fault::throws_when_asked) throw std::runtime_error("no licence");
  if (kFault == Fault::crashes_when_asked) crash();
  const bool fails = kFault == Fault::fails_when_asked, none = fails || kFault == Fault::offers_nothing;
  if (count != nullptr) *count = none ? 0 : 1;
  if (fails) return CL_OUT_OF_HOST_MEMORY;
  table.clGetPlatformInfo = platform_info;
  table.clGetDeviceIDs = device_ids;
  table.clGetDeviceInfo = device_info;
  table.clRetainDevice = table.clReleaseDevice = keep;
  table.clCreateContext = create_context;
  void* const offered = kFault == Fault::garbage_platforms ? reinterpret_cast<void*>(0x5a5a5a5a5a50) : &platform;
  if (to != nullptr && room > 0 && !none) to[0] = static_cast<cl_platform_id>(offered);
  return CL_SUCCESS;
}

void* of_good_driver(const char* name) {
  static void* const good = dlopen(GOOD_DRIVER, RTLD_NOW | RTLD_LOCAL);
  if (good == nullptr) return nullptr;
  using Address = void* (*)(const char*);
  const auto address = reinterpret_cast<Address>(dlsym(good, "clGetExtensionFunctionAddress"));
  return address != nullptr ? address(name) : nullptr;
}

}  // namespace

extern "C" __attribute__((visibility("default"))) void* clGetExtensionFunctionAddress(const char* name) {
  if (kFault == Fault::slow || kFault == Fault::good) return of_good_driver(name);
  if (std::strcmp(name, "clIcdGetPlatformIDsKHR") == 0) return reinterpret_cast<void*>(platform_ids);
  return std::strcmp(name, "clGetPlatformInfo") == 0 ? reinterpret_cast<void*>(platform_info) : nullptr;
}
