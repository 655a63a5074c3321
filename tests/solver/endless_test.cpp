// SPDX-License-Identifier: BSD-2-Clause
// A kernel that does not end within the time limit. OpenCL cannot stop it, so that the device is lost for the rest of
// the process, which must neither wait for it in the solve nor when it ends.
#include <chrono>
#include <cstdlib>
#include <iostream>

#include "every_device.hpp"
#include "faults.hpp"
#include "solver_fixture.hpp"

namespace oclspkt {
namespace {

using Clock = std::chrono::steady_clock;

double since(Clock::time_point start) { return std::chrono::duration<double>(Clock::now() - start).count(); }

/// Steps of a dependent chain of multiplications, of a nanosecond and more each: five minutes.
constexpr cl_ulong kEndless = 300'000'000'000;
/// Seconds that a solve may take that gives a device half a second, and a process that leaves one behind: many times
/// what they take on an idle machine.
constexpr double kPromptSolve = 60, kPromptEnd = 200;

constexpr const char* kSource =
    "__kernel void endless(__global uint* word, ulong steps) {\n"
    "  uint x = word[0];\n"
    "  for (ulong i = 0; i < steps; ++i) x = x * 1664525u + (x >> 7);\n"
    "  word[0] = x;\n"
    "}\n";

cl_event endless_event = nullptr;

void require(bool holds, const std::string& what) {
  if (holds) return;
  std::cerr << "failed: " << what << std::endl;
  std::exit(1);
}

/// Put the endless kernel in front of the first launch. Its objects are never freed.
cl_int occupy(ocl::Place place, int /*device*/, cl_command_queue queue) {
  if (place != ocl::Place::launch || endless_event != nullptr) return CL_SUCCESS;
  cl_context context = nullptr;
  cl_device_id device = nullptr;
  cl_int error = CL_SUCCESS;
  clGetCommandQueueInfo(queue, CL_QUEUE_CONTEXT, sizeof context, &context, nullptr);
  clGetCommandQueueInfo(queue, CL_QUEUE_DEVICE, sizeof device, &device, nullptr);
  const char* source = kSource;
  cl_program program = clCreateProgramWithSource(context, 1, &source, nullptr, &error);
  require(clBuildProgram(program, 1, &device, "-cl-std=CL1.2", nullptr, nullptr) == CL_SUCCESS, "the kernel builds");
  cl_kernel kernel = clCreateKernel(program, "endless", &error);
  cl_uint seed[16] = {12345};
  cl_mem word = clCreateBuffer(context, CL_MEM_READ_WRITE | CL_MEM_COPY_HOST_PTR, sizeof seed, seed, &error);
  clSetKernelArg(kernel, 0, sizeof word, &word);
  const std::size_t one = 1;
  for (const cl_ulong steps : {cl_ulong{0}, kEndless}) {  // the first launch may compile
    clFinish(queue);
    clSetKernelArg(kernel, 1, sizeof steps, &steps);
    error = clEnqueueNDRangeKernel(queue, kernel, 1, nullptr, &one, &one, 0, nullptr, &endless_event);
    require(error == CL_SUCCESS, "the kernel is enqueued");
  }
  return CL_SUCCESS;
}

/// Some run-times say for long that a command was submitted, although it runs.
bool still_running() {
  cl_int status = CL_COMPLETE;
  clGetEventInfo(endless_event, CL_EVENT_COMMAND_EXECUTION_STATUS, sizeof status, &status, nullptr);
  return status == CL_RUNNING || status == CL_SUBMITTED;
}

/// What the child does: lose the device, solve, and end as programs do.
void lose_device(const Options& options) {
  const Bands<double> bands = test::random_dominant<double>(LineSet::one(5000), 3);
  Solver<double> solver = test::solver_for(bands, options);
  const std::string device = solver.report().device.name;
  require(device != "host", "the device is used: " + solver.report().device.why);
  const bool task = solver.report().shape.find("one work-item") != std::string::npos;
  require(task == (options.method == MethodChoice::truncated_streamed), "the plan is " + solver.report().shape);
  test::set_fault_hook(occupy);
  auto start = Clock::now();
  require(test::backward_error(solver, bands) <= 100, "the answer is right");
  require(since(start) < kPromptSolve, "the solve took " + std::to_string(since(start)) + " s");
  require(solver.report().device.name == "host", "the host solved, not " + solver.report().device.name);
  require(solver.report().degraded.size() == 1, "one loss is told");
  require(solver.report().degraded[0].find("did not finish within 0.5 s") != std::string::npos,
          solver.report().degraded[0]);

  start = Clock::now();
  Solver<double> other = test::solver_for(bands, options);
  require(other.report().device.name == "host", "an abandoned device is not used again");
  require(test::backward_error(other, bands) <= 100, "the other answer is right");
  solver = Solver<double>(options);
  release_devices();
  require(since(start) < kPromptSolve, "giving objects back took " + std::to_string(since(start)) + " s");
  require(still_running(), "the kernel runs longer than the process");
  std::cerr << "solved without " << device << std::endl;
  std::exit(0);
}

/// Expect that a child process loses a device and is none the worse for it.
void expect_prompt_loss(Options options, MethodChoice method) {
  GTEST_FLAG_SET(death_test_style, "threadsafe");  // children start anew: run-times do not survive a fork
  options.on_device_failure = OnDeviceFailure::quiet;
  options.method = method;
  options.use.transfer = Transfer::copy;
  options.use.timeout = 0.5;
  const auto start = Clock::now();
  EXPECT_EXIT(lose_device(options), testing::ExitedWithCode(0), "solved without ");
  EXPECT_LT(since(start), kPromptEnd) << "the process waited for the kernel";
}

TEST(EndlessKernel, CostsTheDeviceAndNeitherAnswerNorTime) {
  test::with_every_device([&](const Options& options) {
    if (options.devices != "host") expect_prompt_loss(options, MethodChoice::truncated_halo);
  });
}

TEST(EndlessKernel, InFrontOfKernelsForFpgasCostsTheEmulatorAlone) {
  for (const DeviceInfo& info : device_module(nullptr)->devices()) {
    Options options{.devices = std::to_string(info.index)};
    if (info.emulated) expect_prompt_loss(options, MethodChoice::truncated_streamed);
  }
}

}  // namespace
}  // namespace oclspkt
