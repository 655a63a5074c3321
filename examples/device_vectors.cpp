// SPDX-License-Identifier: BSD-2-Clause
// Vectors that stay on an OpenCL device: implicit steps of diffusion, each from the buffer that the one before wrote.
#include <CL/cl.h>

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <limits>
#include <numbers>
#include <vector>

#include "oclspkt/solver.hpp"

int main(int argc, char** argv) {
  constexpr oclspkt::Index kRows = 100'000;
  constexpr int kSteps = 20;
  constexpr double kLambda = 10, kWave = 500;  // time step times diffusivity over the squared mesh width; half waves
  const double angle = std::numbers::pi * kWave / (kRows + 1);
  const std::size_t bytes = kRows * sizeof(double);

  try {
    oclspkt::Options options;
    options.devices = argc > 1 ? argv[1] : "all";  // without the host: its vectors are in no buffer
    oclspkt::Solver<double> solver(options);
    oclspkt::Bands<double>& bands = solver.bands(oclspkt::LineSet::one(kRows));
    std::fill_n(bands.lower(), kRows, -kLambda);
    std::fill_n(bands.diag(), kRows, 1 + 2 * kLambda);
    std::fill_n(bands.upper(), kRows, -kLambda);
    solver.set_up();

    // The set-up has opened the device; what is made in its context may be handed to the solver.
    const oclspkt::DeviceHandles handles = solver.device_handles();
    std::vector<double> values(kRows);
    for (oclspkt::Index i = 0; i < kRows; ++i) values[i] = std::sin(angle * (i + 1));
    cl_int error = CL_SUCCESS, error2 = CL_SUCCESS;
    cl_mem now =
        clCreateBuffer(handles.context, CL_MEM_READ_WRITE | CL_MEM_COPY_HOST_PTR, bytes, values.data(), &error);
    cl_mem next = clCreateBuffer(handles.context, CL_MEM_READ_WRITE, bytes, nullptr, &error2);
    if (error != CL_SUCCESS || error2 != CL_SUCCESS) {
      std::fprintf(stderr, "no room for two vectors: %d, %d\n", error, error2);
      return 1;
    }
    for (int step = 0; step < kSteps; ++step) {
      solver.apply_on_device(now, next);  // kernels of your own, in the same queue, would go between the steps
      std::swap(now, next);
    }
    error = clEnqueueReadBuffer(handles.queue, now, CL_TRUE, 0, bytes, values.data(), 0, nullptr, nullptr);
    clReleaseMemObject(now);
    clReleaseMemObject(next);
    if (error != CL_SUCCESS) {
      std::fprintf(stderr, "the solution does not come back: %d\n", error);
      return 1;
    }

    // The sine is an eigenvector: a step divides it by 1 + 4 lambda sin^2(angle / 2).
    const double decay = std::pow(1 + 4 * kLambda * std::pow(std::sin(angle / 2), 2), -kSteps);
    double largest = 0;
    for (oclspkt::Index i = 0; i < kRows; ++i) {
      const double difference = std::abs(values[i] - decay * std::sin(angle * (i + 1)));
      if (!(difference <= largest)) largest = difference;  // NaN is kept
    }
    const oclspkt::Report& report = solver.report();
    std::printf("%d steps on %s by %s\nlargest error %.3g, %lld bytes copied back by the solver\n", kSteps,
                report.device.name.c_str(), oclspkt::name(report.method), largest,
                static_cast<long long>(solver.times().bytes_from_device));
    return largest <= 1000 * kSteps * std::numeric_limits<double>::epsilon() ? 0 : 1;
  } catch (const oclspkt::Error& e) {
    std::fprintf(stderr, "%s\n", e.what());
    return 1;
  }
}
