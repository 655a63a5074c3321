// SPDX-License-Identifier: BSD-2-Clause
#define CL_TARGET_OPENCL_VERSION 120
#include "fake_opencl.hpp"

#include <CL/cl.h>
#include <dlfcn.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <atomic>
#include <cstring>
#include <limits>
#include <mutex>
#include <set>
#include <utility>

namespace {

constexpr cl_ulong kOpaqueFd = 0x2060;
constexpr cl_device_info kNvPciBus = 0x4008, kNvPciSlot = 0x4009, kNvPciDomain = 0x400A;
constexpr const char* kExtension = "cl_khr_external_memory_opaque_fd";

struct State {
  std::mutex mutex;
  std::vector<std::string> mistakes;
  std::set<cl_mem> acquired;
  std::atomic<int> imported{0}, acquisitions{0};
  std::atomic<bool> hidden{false}, misled{false};
  std::atomic<cl_int> import_code{0}, acquire_code{0};
  std::atomic<long long> memory_left{std::numeric_limits<long long>::max()};
};
State& state() {
  static auto* one = new State;
  return *one;
}

void mistake(const std::string& what) {
  const std::lock_guard lock(state().mutex);
  state().mistakes.push_back(what);
}

/// The loader's function of that name.
template <typename F>
F* real(F* /*ours*/, const char* name) {
  return reinterpret_cast<F*>(dlsym(RTLD_NEXT, name));
}
#define REAL(function) real(&function, #function)

cl_int give(const void* answer, std::size_t bytes, std::size_t size, void* value, std::size_t* size_ret) {
  if (size_ret != nullptr) *size_ret = bytes;
  if (value == nullptr) return CL_SUCCESS;
  if (size < bytes) return CL_INVALID_VALUE;
  std::memcpy(value, answer, bytes);
  return CL_SUCCESS;
}

std::string text_of(cl_platform_id platform, cl_platform_info what) {
  char text[4096] = {};
  REAL(clGetPlatformInfo)(platform, what, sizeof text - 1, text, nullptr);
  return text;
}

bool is_pocl(cl_platform_id platform) {
  return text_of(platform, CL_PLATFORM_NAME).find("Portable Computing Language") != std::string::npos;
}

bool is_card(cl_device_id device) {
  cl_platform_id platform = nullptr;
  REAL(clGetDeviceInfo)(device, CL_DEVICE_PLATFORM, sizeof platform, &platform, nullptr);
  return is_pocl(platform);
}

/// A file that was mapped for a buffer. A failure may end a buffer that is acquired.
struct Mapped {
  void* at;
  std::size_t bytes;
};
void CL_CALLBACK unmap(cl_mem buffer, void* data) {
  {
    const std::lock_guard lock(state().mutex);
    state().acquired.erase(buffer);
  }
  auto* mapped = static_cast<Mapped*>(data);
  munmap(mapped->at, mapped->bytes);
  delete mapped;
  --state().imported;
}

cl_mem with_code(cl_int* code, cl_int value, cl_mem memory = nullptr) {
  if (code != nullptr) *code = value;
  return memory;
}

cl_int CL_API_CALL acquire(cl_command_queue queue, cl_uint count, const cl_mem* buffers, cl_uint waits,
                           const cl_event* list, cl_event* event) {
  if (const cl_int code = state().acquire_code) return code;
  for (cl_uint i = 0; i < count; ++i) {
    const std::lock_guard lock(state().mutex);
    if (!state().acquired.insert(buffers[i]).second) state().mistakes.emplace_back("a buffer is acquired twice");
  }
  ++state().acquisitions;
  return REAL(clEnqueueMarkerWithWaitList)(queue, waits, list, event);
}
cl_int CL_API_CALL release(cl_command_queue queue, cl_uint count, const cl_mem* buffers, cl_uint waits,
                           const cl_event* list, cl_event* event) {
  for (cl_uint i = 0; i < count; ++i) {
    const std::lock_guard lock(state().mutex);
    if (state().acquired.erase(buffers[i]) == 0) state().mistakes.emplace_back("a buffer is released by nobody");
  }
  return REAL(clEnqueueMarkerWithWaitList)(queue, waits, list, event);
}

}  // namespace

namespace oclspkt::test::fake::opencl {

void restart() {
  mistakes();
  state().acquisitions = 0;
  state().misled = false;
  state().import_code = state().acquire_code = 0;
  state().memory_left = std::numeric_limits<long long>::max();
}
int imported() { return state().imported; }
int acquisitions() { return state().acquisitions; }
std::vector<std::string> mistakes() {
  const std::lock_guard lock(state().mutex);
  return std::exchange(state().mistakes, {});
}
void hide_extension() { state().hidden = true; }
void refuse_imports(int code) { state().import_code = code; }
void mislead_imports(bool misled) { state().misled = misled; }
void refuse_acquisitions(int code) { state().acquire_code = code; }
void set_memory_left(long long bytes) { state().memory_left = bytes; }

}  // namespace oclspkt::test::fake::opencl

extern "C" {

cl_int clGetPlatformInfo(cl_platform_id platform, cl_platform_info what, size_t size, void* value, size_t* size_ret) {
  constexpr char kName[] = "NVIDIA CUDA of the fake";
  if (what == CL_PLATFORM_NAME && is_pocl(platform)) return give(kName, sizeof kName, size, value, size_ret);
  return REAL(clGetPlatformInfo)(platform, what, size, value, size_ret);
}

cl_int clGetDeviceInfo(cl_device_id device, cl_device_info what, size_t size, void* value, size_t* size_ret) {
  const auto give_as = [&](auto answer) { return give(&answer, sizeof answer, size, value, size_ret); };
  if (is_card(device)) {
    constexpr char kName[] = "Fake card 0";
    switch (what) {
      case CL_DEVICE_TYPE:
        return give_as(cl_device_type{CL_DEVICE_TYPE_GPU});
      case CL_DEVICE_NAME:
        return give(kName, sizeof kName, size, value, size_ret);
      case CL_DEVICE_HOST_UNIFIED_MEMORY:
        return give_as(cl_bool{CL_FALSE});
      case CL_DEVICE_EXTENSIONS: {
        const std::string all = std::string("cl_nv_device_attribute_query ") + (state().hidden ? "" : kExtension);
        return give(all.c_str(), all.size() + 1, size, value, size_ret);
      }
      case kNvPciBus:
        return give_as(cl_uint{10});
      case kNvPciSlot:
        return give_as(cl_uint{3});
      case kNvPciDomain:
        return give_as(cl_uint{1});
      default:
        break;
    }
  }
  return REAL(clGetDeviceInfo)(device, what, size, value, size_ret);
}

cl_int clBuildProgram(cl_program program, cl_uint count, const cl_device_id* devices, const char* options,
                      void(CL_CALLBACK* notify)(cl_program, void*), void* data) {
  // See build_options() of plugin/ocl/registry.cpp: PoCL's optimiser is no good for work-groups.
  const std::string more = std::string(options != nullptr ? options : "") + " -cl-opt-disable";
  return REAL(clBuildProgram)(program, count, devices, more.c_str(), notify, data);
}

cl_mem clCreateBuffer(cl_context context, cl_mem_flags flags, size_t bytes, void* host, cl_int* code) {
  if (static_cast<long long>(bytes) > state().memory_left) return with_code(code, CL_MEM_OBJECT_ALLOCATION_FAILURE);
  return REAL(clCreateBuffer)(context, flags, bytes, host, code);
}

cl_mem clCreateBufferWithProperties(cl_context context, const cl_ulong* properties, cl_mem_flags flags, size_t bytes,
                                    void* host, cl_int* code) {
  if (const cl_int refused = state().import_code) return with_code(code, refused);
  const int descriptor = static_cast<int>(properties[1]);
  struct stat status {};
  const bool good = properties[0] == kOpaqueFd && properties[2] == 0 && host == nullptr && flags == CL_MEM_READ_WRITE &&
                    fstat(descriptor, &status) == 0 && static_cast<std::size_t>(status.st_size) == bytes;
  if (!good) {
    mistake("an import of what is no memory");
    return with_code(code, CL_INVALID_VALUE);
  }
  const int from = state().misled ? -1 : descriptor, kind = state().misled ? MAP_PRIVATE | MAP_ANONYMOUS : MAP_SHARED;
  void* const at = mmap(nullptr, bytes, PROT_READ | PROT_WRITE, kind, from, 0);
  if (at == MAP_FAILED) return with_code(code, CL_OUT_OF_HOST_MEMORY);
  const cl_mem made = REAL(clCreateBuffer)(context, flags | CL_MEM_USE_HOST_PTR, bytes, at, code);
  if (made == nullptr) {
    munmap(at, bytes);
    return nullptr;
  }
  close(descriptor);  // the buffer has taken it over
  clSetMemObjectDestructorCallback(made, unmap, new Mapped{at, bytes});
  ++state().imported;
  return made;
}

void* clGetExtensionFunctionAddressForPlatform(cl_platform_id platform, const char* name) {
  if (std::strcmp(name, "clEnqueueAcquireExternalMemObjectsKHR") == 0) return reinterpret_cast<void*>(&acquire);
  if (std::strcmp(name, "clEnqueueReleaseExternalMemObjectsKHR") == 0) return reinterpret_cast<void*>(&release);
  return REAL(clGetExtensionFunctionAddressForPlatform)(platform, name);
}

}  // extern "C"
