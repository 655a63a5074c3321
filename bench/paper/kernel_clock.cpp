// SPDX-License-Identifier: BSD-2-Clause
#include "kernel_clock.hpp"

#include <CL/cl.h>
#include <dlfcn.h>

#include <utility>
#include <vector>

namespace oclspkt::bench::paper {
namespace {

struct Launch {
  std::string kernel;
  cl_event event;
};

bool running = false;
std::vector<Launch> launches;

std::string name_of(cl_kernel kernel) {
  std::size_t size = 0;
  if (clGetKernelInfo(kernel, CL_KERNEL_FUNCTION_NAME, 0, nullptr, &size) != CL_SUCCESS || size == 0) return "unknown";
  std::string name(size, '\0');
  clGetKernelInfo(kernel, CL_KERNEL_FUNCTION_NAME, size, name.data(), nullptr);
  name.resize(size - 1);
  return name;
}

void keep(cl_kernel kernel, cl_event event) {
  clRetainEvent(event);
  launches.push_back({name_of(kernel), event});
}

}  // namespace

KernelClock::KernelClock() { running = true; }

KernelClock::~KernelClock() {
  running = false;
  take();
}

std::map<std::string, KernelTime> KernelClock::take() {
  std::map<std::string, KernelTime> times;
  for (const auto& [kernel, event] : std::exchange(launches, {})) {
    cl_ulong begin = 0, end = 0;
    const bool known =
        clGetEventProfilingInfo(event, CL_PROFILING_COMMAND_START, sizeof begin, &begin, nullptr) == CL_SUCCESS &&
        clGetEventProfilingInfo(event, CL_PROFILING_COMMAND_END, sizeof end, &end, nullptr) == CL_SUCCESS;
    clReleaseEvent(event);
    if (!known) continue;
    KernelTime& time = times[kernel];
    ++time.launches;
    time.seconds += 1e-9 * static_cast<double>(end - begin);
  }
  return times;
}

double marshalling_share(const std::map<std::string, KernelTime>& times) {
  double all = 0, marshalling = 0;
  for (const auto& [kernel, time] : times) {
    all += time.seconds;
    if (kernel.find("marshal") != std::string::npos) marshalling += time.seconds;
  }
  return all > 0 ? marshalling / all : 0;
}

}  // namespace oclspkt::bench::paper

extern "C" CL_API_ENTRY cl_int CL_API_CALL clEnqueueNDRangeKernel(cl_command_queue queue, cl_kernel kernel,
                                                                  cl_uint dimensions, const size_t* offset,
                                                                  const size_t* global, const size_t* local,
                                                                  cl_uint count, const cl_event* before,
                                                                  cl_event* event) {
  using namespace oclspkt::bench::paper;
  static const auto driver =
      reinterpret_cast<decltype(&clEnqueueNDRangeKernel)>(dlsym(RTLD_NEXT, "clEnqueueNDRangeKernel"));
  cl_event own = nullptr;
  cl_event* const wanted = event != nullptr || !running ? event : &own;
  const cl_int status = driver(queue, kernel, dimensions, offset, global, local, count, before, wanted);
  if (status == CL_SUCCESS && running) keep(kernel, *wanted);
  if (own != nullptr) clReleaseEvent(own);
  return status;
}
