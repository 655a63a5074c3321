// SPDX-License-Identifier: BSD-2-Clause
// A fake card that OpenCL sees as well: what cannot be shared, and which run-time takes over where one fails.
#include <iostream>

#include "beside_of.hpp"

namespace oclspkt::test {
namespace {

constexpr int kNotPossible = -6;  // CL_OUT_OF_HOST_MEMORY

SCALAR_TEST(BesideOf, WhatCannotBeSharedIsSaidAndTheHostsVectorsAreSolvedFor) {
  const InContext context(0);
  const Stream stream;
  const auto expect = [&](const char* why, const auto& prepare) {
    SCOPED_TRACE(why);
    fake::restart();
    opencl::restart();
    Solver<T> solver(on_cards("gpu"));
    prepare();
    this->set_up(solver, stream.queue());
    EXPECT_TRUE(solver.report().degraded.empty()) << all_of(solver.report().degraded);
    this->expect_by_opencl(solver, stream.queue(), why);
    opencl::restart();
    fake::restart();
    this->set_up(solver, stream.queue());
    EXPECT_TRUE(solver.takes(stream.queue())) << solver.report().device.vectors;
  };
  expect("CL_OUT_OF_HOST_MEMORY (-6)", [] { opencl::refuse_imports(kNotPossible); });
  expect("clEnqueueAcquireExternalMemObjectsKHR gave CL_OUT", [] { opencl::refuse_acquisitions(kNotPossible); });
  expect("does not see what CUDA writes to memory that it has imported", [] { opencl::mislead_imports(true); });
  expect("cuMemCreate gave CUDA_ERROR_OUT_OF_MEMORY (2)", [] { fake::set_memory_left(1000); });
  for (const std::string& function : fake::functions_for_sharing()) {
    expect("CUDA_ERROR_LAUNCH_FAILED (719)", [&] { fake::fail(function, 0, kLaunchFailed); });
  }
}

SCALAR_TEST(BesideOf, TheLimitOfADevicesMemoryCountsTheVectorsToo) {
  const InContext context(0);
  const Stream stream;
  Options options = on_cards("gpu");
  const std::int64_t vector = kRows * static_cast<std::int64_t>(sizeof(T));
  for (const std::int64_t vectors : {1, 6, 20}) {
    SCOPED_TRACE(vectors);
    options.device_memory = vectors * vector;
    Solver<T> solver = this->ready(options, stream.queue());
    if (vectors == 20) {
      EXPECT_TRUE(solver.takes(stream.queue())) << solver.report().device.vectors;
    } else {
      this->expect_by_opencl(solver, stream.queue(), "does not hold 1 line of 20000 rows at once and two vectors more");
    }
  }
}

SCALAR_TEST(BesideOf, ACardThatIsFullForOpenClLeavesTheRowsToTheHost) {
  const InContext context(0);
  const Stream stream;
  Solver<T> solver(on_cards("gpu", OnDeviceFailure::quiet));
  opencl::set_memory_left(1000);
  this->set_up(solver, stream.queue());
  // Once with vectors that are copied on the card, once with those of the host.
  EXPECT_EQ(solver.report().degraded.size(), 2U);
  expect_in(all_of(solver.report().degraded), "CL_MEM_OBJECT_ALLOCATION_FAILURE (-4)");
  this->expect_by_host(solver, "by OpenCL: Fake card 0: device 'Fake card 0' (NVIDIA CUDA of the fake)");
}

SCALAR_TEST(BesideOf, EveryCallOfAnApplyMayFailOnce) {
  const std::vector<T> y = random_vector<T>(kRows);
  const InContext context(0);
  std::vector<T> expected;
  {
    const Stream stream;
    Solver<T> solver = this->ready(on_cards("gpu"), stream.queue());
    expected = this->applied(solver, y);
  }
  int failures = 0;
  for (const char* function :
       {"cuCtxGetCurrent", "cuCtxGetDevice", "cuStreamGetCtx", "cuPointerGetAttribute", "cuMemGetAddressRange_v2",
        "cuStreamWaitEvent", "cuMemcpyDtoDAsync_v2", "cuStreamSynchronize", "cuEventRecord"}) {
    bool fired = true;
    for (int number = 0; fired; ++number) {
      SCOPED_TRACE(function + std::string(" ") + std::to_string(number));
      {
        const Stream stream;
        const CardVector<T> from(y), to(kRows);
        Solver<T> solver = this->ready(on_cards("gpu", OnDeviceFailure::quiet), stream.queue());
        fake::restart();
        fake::fail(function, number, kLaunchFailed);
        bool failed = false;
        try {
          enqueue(solver, stream.queue(), from, to);
        } catch (const DeviceError& error) {
          failed = true;
          expect_in(error.what(), "Fake card 0");
          expect_in(error.what(), "CUDA_ERROR_LAUNCH_FAILED (719)");
        }
        fired = fake::failed() > 0;
        fake::fail("", 0, kSuccess, 0);
        failures += failed ? 1 : 0;
        if (!failed) {  // giving an object back may fail without harm
          EXPECT_EQ(to.values(), expected);
        }
        this->set_up(solver, stream.queue());
        EXPECT_EQ(solver.takes(stream.queue()), !failed);
        if (failed) this->expect_by_opencl(solver, stream.queue(), "CUDA_ERROR_LAUNCH_FAILED (719)");
      }
      this->expect_clean();
      if (this->HasFailure()) return;
    }
  }
  std::cout << failures << " failures\n";
  EXPECT_GE(failures, 12);
}

/// In a process of its own: what a device has is looked at once.
class BesideWithoutImports : public OnCards<double> {};
TEST_F(BesideWithoutImports, TheHostsVectorsAreSolvedFor) {
  opencl::hide_extension();
  const InContext context(0);
  const Stream stream;
  Solver<double> solver = ready(on_cards("gpu"), stream.queue());
  EXPECT_FALSE(solver.takes(stream.queue()));
  EXPECT_EQ(solver.report().device.platform, "NVIDIA CUDA of the fake");
  expect_in(solver.report().device.vectors, "copied: ");
  expect_in(solver.report().device.vectors, "CUDA's run-time compiler is not there");
  expect_in(solver.report().device.vectors,
            "by OpenCL: Fake card 0: its OpenCL driver lacks cl_khr_external_memory_opaque_fd");
}

/// With a compiler: CUDA drives the card until it fails.
template <typename T>
using BesideCudaOf = BesideOf<T>;

SCALAR_TEST(BesideCudaOf, OpenClTakesOverACardThatCudaFindsFull) {
  const InContext context(0);
  const Stream stream;
  for (const bool full_for_both : {false, true}) {
    SCOPED_TRACE(full_for_both);
    fake::restart();
    opencl::restart();
    Solver<T> solver = this->ready(on_cards("gpu", OnDeviceFailure::quiet), stream.queue());
    ASSERT_EQ(solver.report().device.vectors, "on the device, no copy");
    Options others = on_cards("gpu", OnDeviceFailure::quiet);
    others.timeout = 30;  // so that the solver is made anew
    solver.set_options(others);
    fake::set_memory_left(1000);
    if (full_for_both) opencl::set_memory_left(1000);
    this->set_up(solver, stream.queue());
    const std::vector<std::string>& degraded = solver.report().degraded;
    ASSERT_EQ(degraded.size(), full_for_both ? 2U : 1U) << all_of(degraded);
    expect_in(degraded[0], "device 'Fake card 0' (CUDA by NVRTC)");
    expect_in(degraded[0], "CUDA_ERROR_OUT_OF_MEMORY (2)");
    if (!full_for_both) {
      this->expect_by_opencl(solver, stream.queue(), "cuMemCreate gave CUDA_ERROR_OUT_OF_MEMORY (2)");
      continue;
    }
    expect_in(degraded[1], "device 'Fake card 0' (NVIDIA CUDA of the fake)");
    expect_in(degraded[1], "CL_MEM_OBJECT_ALLOCATION_FAILURE (-4)");
    this->expect_by_host(solver, "cuMemCreate gave CUDA_ERROR_OUT_OF_MEMORY (2)");
  }
}

SCALAR_TEST(BesideCudaOf, VectorsAreCopiedWhereTheCompilerMakesNothingForTheCard) {
  const std::vector<T> y = random_vector<T>(kRows);
  const InContext context(0);
  const Stream stream;
  const CardVector<T> from(y), to(kRows);
  fake::nvrtc::refuse(true);
  Solver<T> solver = this->ready(on_cards("gpu", OnDeviceFailure::quiet), stream.queue());
  fake::nvrtc::refuse(false);
  ASSERT_TRUE(solver.takes(stream.queue())) << solver.report().device.vectors;
  EXPECT_TRUE(solver.report().device.vectors.starts_with(kCopied)) << solver.report().device.vectors;
  expect_in(solver.report().device.vectors, "kernel(7): error: the fake refuses this");
  ASSERT_EQ(solver.report().degraded.size(), 1U);
  expect_in(solver.report().degraded[0], "the fake refuses this");
  const std::vector<T> expected = this->applied(solver, y);
  enqueue(solver, stream.queue(), from, to);
  EXPECT_EQ(to.values(), expected);
}

}  // namespace
}  // namespace oclspkt::test
