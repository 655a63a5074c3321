// SPDX-License-Identifier: BSD-2-Clause
// Kernels with a fault each, to see that oclgrind, as the tests run it, reports it: race, bounds or uninitialised.
#include <cstdio>

#include "opencl.hpp"

namespace {

constexpr const char* kSource = R"(
__kernel void race(__global int* x) { x[get_global_id(0) / 2] = (int)get_global_id(0); }
__kernel void bounds(__global int* x) { x[get_global_id(0) + 1] = 1; }
__kernel void uninitialised(__global int* x, __global const int* never_written) {
  x[get_global_id(0)] = never_written[get_global_id(0)];
}
)";

constexpr int kItems = 8;

void run(const char* name) {
  const cl::Context context(CL_DEVICE_TYPE_ALL);
  const cl::Device device = context.getInfo<CL_CONTEXT_DEVICES>().front();
  cl::Program program(context, kSource);
  program.build({device}, "-cl-std=CL1.2");
  int values[kItems] = {};
  const cl::Buffer buffer(context, CL_MEM_READ_WRITE | CL_MEM_COPY_HOST_PTR, sizeof values, values);
  cl::Kernel kernel(program, name);
  kernel.setArg(0, buffer);
  const cl::Buffer never_written(context, CL_MEM_READ_WRITE, sizeof values);
  if (kernel.getInfo<CL_KERNEL_NUM_ARGS>() > 1) kernel.setArg(1, never_written);
  const cl::CommandQueue queue(context, device);
  queue.enqueueNDRangeKernel(kernel, cl::NullRange, cl::NDRange(kItems), cl::NDRange(1));
  queue.finish();
}

}  // namespace

int main(int argc, char** argv) {
  if (argc != 2) return 2;
  try {
    run(argv[1]);
  } catch (const cl::Error& error) {
    std::fprintf(stderr, "%s gave %d\n", error.what(), error.err());
    return 1;
  }
  return 0;
}
