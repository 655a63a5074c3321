// SPDX-License-Identifier: BSD-2-Clause
#include "footprint.hpp"

#include <dlfcn.h>
#include <execinfo.h>
#include <malloc.h>

#include <atomic>
#include <cstdlib>
#include <cstring>
#include <mutex>
#include <new>
#include <unordered_map>

#define CL_TARGET_OPENCL_VERSION 120
#include <CL/cl.h>

namespace {

std::atomic<std::int64_t> allocations{0}, builds{0}, made{0}, buffers{0}, events{0}, kernels{0}, programs{0};
thread_local bool overlooked = false;  ///< what this thread allocates now is not ours

/// Overlooks what its thread allocates while it lives. To find out whose an allocation is takes long.
class Overlook {
 public:
  Overlook() { overlooked = true; }
  ~Overlook() { overlooked = before_; }
  Overlook(const Overlook&) = delete;
  Overlook& operator=(const Overlook&) = delete;

 private:
  const bool before_ = overlooked;
};

enum class Owner { ours, library, others };

/// Whose code is at an address. To ask takes long, and the same ones come again and again.
Owner owner_of(void* address) {
  static std::mutex mutex;
  static std::unordered_map<void*, Owner> known;
  const std::lock_guard lock(mutex);
  const auto at = known.find(address);
  if (at != known.end()) return at->second;
  Dl_info info;
  const char* const file = dladdr(address, &info) != 0 && info.dli_fname != nullptr ? info.dli_fname : "";
  const bool ours = std::strstr(file, "liboclspkt") != nullptr, library = std::strstr(file, "libstdc++") != nullptr;
  return known[address] = ours ? Owner::ours : library ? Owner::library : Owner::others;
}

/// The owner of the code for which the C++ library allocates.
Owner owner_behind_library() {
  constexpr int kFrames = 12;
  void* frames[kFrames];
  const int count = backtrace(frames, kFrames);
  bool entered = false;
  for (int i = 0; i < count; ++i) {
    const Owner owner = owner_of(frames[i]);
    if (entered && owner != Owner::library) return owner;
    entered = entered || owner == Owner::library;
  }
  return Owner::others;
}

/// @param caller  where the function that allocates returns to
void note_allocation(void* caller) {
  if (overlooked) return;
  const Overlook looking_allocates_too;
  Owner owner = owner_of(caller);
  if (owner == Owner::library) owner = owner_behind_library();
  if (owner == Owner::ours) ++allocations;
}

/// The function of the OpenCL library that one of ours stands in front of; drivers work in it.
template <typename F>
auto next(const char* name, F* /*ours*/) {
  static void* const library = dlopen("libOpenCL.so.1", RTLD_NOW);
  void* const found = library != nullptr ? dlsym(library, name) : nullptr;
  if (found == nullptr) std::abort();
  return [f = reinterpret_cast<F*>(found)](auto... arguments) {
    const Overlook what_drivers_allocate;
    return f(arguments...);
  };
}

template <typename Object>
Object count_made(std::atomic<std::int64_t>& alive, Object object) {
  if (object != nullptr) ++alive;
  return object;
}

cl_int count(std::atomic<std::int64_t>& alive, int change, cl_int code) {
  if (code == CL_SUCCESS) alive += change;
  return code;
}

cl_int count_event(const cl_event* event, cl_int code) { return event != nullptr ? count(events, 1, code) : code; }

}  // namespace

namespace oclspkt::test {

Footprint footprint() { return {allocations, builds, buffers, events, kernels, programs}; }

std::int64_t buffers_made() { return made; }

}  // namespace oclspkt::test

[[gnu::noinline]] void* operator new(std::size_t size) {
  note_allocation(__builtin_return_address(0));
  if (void* p = std::malloc(size > 0 ? size : 1)) return p;
  throw std::bad_alloc();
}
[[gnu::noinline]] void operator delete(void* p) noexcept { std::free(p); }
[[gnu::noinline]] void operator delete(void* p, std::size_t) noexcept { std::free(p); }

extern "C" {

void* aligned_alloc(std::size_t alignment, std::size_t size) noexcept {
  note_allocation(__builtin_return_address(0));
  return memalign(alignment, size);
}

#define PASS_ON(name) next(#name, &name)

cl_mem clCreateBuffer(cl_context context, cl_mem_flags flags, std::size_t size, void* host, cl_int* code) {
  ++made;
  return count_made(buffers, PASS_ON(clCreateBuffer)(context, flags, size, host, code));
}
cl_int clRetainMemObject(cl_mem object) { return count(buffers, 1, PASS_ON(clRetainMemObject)(object)); }
cl_int clReleaseMemObject(cl_mem object) { return count(buffers, -1, PASS_ON(clReleaseMemObject)(object)); }

cl_program clCreateProgramWithSource(cl_context context, cl_uint n, const char** text, const std::size_t* lengths,
                                     cl_int* code) {
  return count_made(programs, PASS_ON(clCreateProgramWithSource)(context, n, text, lengths, code));
}
cl_int clRetainProgram(cl_program program) { return count(programs, 1, PASS_ON(clRetainProgram)(program)); }
cl_int clReleaseProgram(cl_program program) { return count(programs, -1, PASS_ON(clReleaseProgram)(program)); }
cl_int clBuildProgram(cl_program program, cl_uint n, const cl_device_id* devices, const char* options,
                      void(CL_CALLBACK* notify)(cl_program, void*), void* data) {
  ++builds;
  return PASS_ON(clBuildProgram)(program, n, devices, options, notify, data);
}

cl_kernel clCreateKernel(cl_program program, const char* name, cl_int* code) {
  return count_made(kernels, PASS_ON(clCreateKernel)(program, name, code));
}
cl_int clRetainKernel(cl_kernel kernel) { return count(kernels, 1, PASS_ON(clRetainKernel)(kernel)); }
cl_int clReleaseKernel(cl_kernel kernel) { return count(kernels, -1, PASS_ON(clReleaseKernel)(kernel)); }

cl_int clRetainEvent(cl_event event) { return count(events, 1, PASS_ON(clRetainEvent)(event)); }
cl_int clReleaseEvent(cl_event event) { return count(events, -1, PASS_ON(clReleaseEvent)(event)); }

cl_int clEnqueueNDRangeKernel(cl_command_queue queue, cl_kernel kernel, cl_uint dimensions, const std::size_t* offset,
                              const std::size_t* global, const std::size_t* local, cl_uint n, const cl_event* wait,
                              cl_event* event) {
  return count_event(event,
                     PASS_ON(clEnqueueNDRangeKernel)(queue, kernel, dimensions, offset, global, local, n, wait, event));
}
cl_int clEnqueueReadBuffer(cl_command_queue queue, cl_mem buffer, cl_bool blocking, std::size_t offset,
                           std::size_t size, void* to, cl_uint n, const cl_event* wait, cl_event* event) {
  return count_event(event, PASS_ON(clEnqueueReadBuffer)(queue, buffer, blocking, offset, size, to, n, wait, event));
}
cl_int clEnqueueWriteBuffer(cl_command_queue queue, cl_mem buffer, cl_bool blocking, std::size_t offset,
                            std::size_t size, const void* from, cl_uint n, const cl_event* wait, cl_event* event) {
  return count_event(event, PASS_ON(clEnqueueWriteBuffer)(queue, buffer, blocking, offset, size, from, n, wait, event));
}
void* clEnqueueMapBuffer(cl_command_queue queue, cl_mem buffer, cl_bool blocking, cl_map_flags flags,
                         std::size_t offset, std::size_t size, cl_uint n, const cl_event* wait, cl_event* event,
                         cl_int* code) {
  void* const mapped = PASS_ON(clEnqueueMapBuffer)(queue, buffer, blocking, flags, offset, size, n, wait, event, code);
  if (mapped != nullptr && event != nullptr) ++events;
  return mapped;
}
cl_int clEnqueueUnmapMemObject(cl_command_queue queue, cl_mem object, void* mapped, cl_uint n, const cl_event* wait,
                               cl_event* event) {
  return count_event(event, PASS_ON(clEnqueueUnmapMemObject)(queue, object, mapped, n, wait, event));
}
cl_int clEnqueueMarkerWithWaitList(cl_command_queue queue, cl_uint n, const cl_event* wait, cl_event* event) {
  return count_event(event, PASS_ON(clEnqueueMarkerWithWaitList)(queue, n, wait, event));
}

}  // extern "C"
