// SPDX-License-Identifier: BSD-2-Clause
#include "peak.hpp"

#include <CL/cl.h>

#include <algorithm>

#include "clock.hpp"
#include "memory.hpp"
#include "text.hpp"

namespace oclspkt::bench::paper {
namespace {

constexpr int kChains = 8;         ///< of vectors, in the text
constexpr int kVectorBytes = 64;   ///< of each
constexpr double kSeconds = 0.02;  ///< of a launch that is taken, at least
constexpr int kLaunches = 5;

constexpr const char* kText = R"(
#define STEP a = fma(a, m, c); b = fma(b, m, c); d = fma(d, m, c); e = fma(e, m, c); \
             f = fma(f, m, c); g = fma(g, m, c); h = fma(h, m, c); i = fma(i, m, c);
__kernel void peak(__global VECTOR* x, const int steps) {
  const VECTOR m = x[0], c = x[1];
  VECTOR a = x[2], b = x[3], d = x[4], e = x[5], f = x[6], g = x[7], h = x[8], i = x[9];
  for (int k = 0; k < steps; ++k) {
    STEP STEP STEP STEP
  }
  const VECTOR sum = ((a + b) + (d + e)) + ((f + g) + (h + i));
  if (sum.s0 == -1) x[get_global_id(0)] = sum;
}
)";
constexpr int kStepsOfLoop = 4;

/// What a queue of OpenCL belongs to.
template <typename Of>
Of of_queue(cl_command_queue queue, cl_command_queue_info what) {
  Of value = nullptr;
  check(clGetCommandQueueInfo(queue, what, sizeof value, &value, nullptr), "clGetCommandQueueInfo");
  return value;
}

cl_kernel build(cl_command_queue queue, const std::string& options) {
  const auto device = of_queue<cl_device_id>(queue, CL_QUEUE_DEVICE);
  cl_int error = CL_SUCCESS;
  const char* source = kText;
  const cl_program program =
      clCreateProgramWithSource(of_queue<cl_context>(queue, CL_QUEUE_CONTEXT), 1, &source, nullptr, &error);
  check(error, "clCreateProgramWithSource");
  error = clBuildProgram(program, 1, &device, options.c_str(), nullptr, nullptr);
  const cl_kernel kernel = error == CL_SUCCESS ? clCreateKernel(program, "peak", &error) : nullptr;
  clReleaseProgram(program);
  check(error, "the build of the kernel of peaks");
  return kernel;
}

}  // namespace

template <typename T>
double measure_peak(Space<T>& space, int cores, bool gpu) {
  constexpr std::size_t kGroup = 256, kGroupsACore = 16, kItemsACore = 8;
  constexpr int kLanes = kVectorBytes / static_cast<int>(sizeof(T));
  if (space.queue().kind != DeviceQueue::Kind::opencl) throw DeviceError("the peak is measured by OpenCL");
  const auto queue = static_cast<cl_command_queue>(space.queue().handle);
  const std::size_t group = gpu ? kGroup : 1,
                    items = static_cast<std::size_t>(std::max(1, cores)) * (gpu ? kGroup * kGroupsACore : kItemsACore);
  const bench::Memory x(of_queue<cl_context>(queue, CL_QUEUE_CONTEXT), CL_MEM_READ_WRITE,
                        (items + kChains + 2) * kVectorBytes);
  const std::vector<T> start((kChains + 2) * kLanes, T(0.5));
  check(clEnqueueWriteBuffer(queue, x.get(), CL_TRUE, 0, start.size() * sizeof(T), start.data(), 0, nullptr, nullptr),
        "clEnqueueWriteBuffer");
  const cl_kernel kernel = build(
      queue, "-D VECTOR=" + std::string(sizeof(T) == sizeof(double) ? "double" : "float") + std::to_string(kLanes));
  const auto launch = [&](cl_int steps) {
    const cl_mem memory = x.get();
    clSetKernelArg(kernel, 0, sizeof memory, &memory);
    clSetKernelArg(kernel, 1, sizeof steps, &steps);
    return seconds_of([&] {
      if (clEnqueueNDRangeKernel(queue, kernel, 1, nullptr, &items, &group, 0, nullptr, nullptr) == CL_SUCCESS)
        clFinish(queue);
    });
  };
  cl_int steps = 64;
  launch(steps);
  while (launch(steps) < kSeconds && steps < (1 << 24)) steps *= 2;
  double best = launch(steps);
  for (int i = 1; i < kLaunches; ++i) best = std::min(best, launch(steps));
  clReleaseKernel(kernel);
  return 2. * kChains * kStepsOfLoop * kLanes * static_cast<double>(items) * steps / best;
}

template double measure_peak(Space<float>&, int, bool);
template double measure_peak(Space<double>&, int, bool);

}  // namespace oclspkt::bench::paper
