// SPDX-License-Identifier: BSD-2-Clause
// The module for CUDA over a fake driver: what becomes of failures.
#include <iostream>
#include <limits>

#include "cuda_of.hpp"

namespace oclspkt::test {
namespace {

/// In a process of its own, where the first card does not say how many cores it has.
TEST(CudaCards, ThatDoNotDescribeThemselvesAreLeftOut) {
  fake::restart();
  fake::fail("cuDeviceGetAttribute", 0, kIllegalAddress);
  ASSERT_EQ(opened().devices().size(), 1U);
  EXPECT_EQ(opened().devices()[0].name, "Fake card 1");
  expect_in(all_of(opened().problems()), "a device does not describe itself");
  expect_in(all_of(opened().problems()), "CUDA_ERROR_ILLEGAL_ADDRESS (700)");
}

/// Run by themselves: what was measured is kept.
template <typename T>
using CudaMeasures = CudaOf<T>;

SCALAR_TEST(CudaMeasures, ThatFailAreRepeatedAndLeaveNothing) {
  const bool is_double = sizeof(T) == sizeof(double);
  ASSERT_EQ(opened().devices().size(), 2U);
  for (const char* function : {"cuDeviceGetAttribute", "cuMemAlloc_v2", "cuMemHostAlloc", "cuStreamCreate",
                               "cuStreamSynchronize", "cuModuleLoadData", "cuModuleGetFunction", "cuModuleGetGlobal_v2",
                               "cuMemcpyDtoH_v2", "cuFuncGetAttribute", "cuLaunchKernel", "cuEventCreate",
                               "cuEventRecord", "cuEventQuery", "cuMemcpyHtoDAsync_v2", "cuMemcpyDtoHAsync_v2"}) {
    SCOPED_TRACE(function);
    fake::restart();
    fake::fail(function, 0, kIllegalAddress);
    try {
      opened().profile(0, is_double);
      FAIL() << "it was measured";
    } catch (const DeviceError& error) {
      expect_in(error.what(), "Fake card 0");
      expect_in(error.what(), "CUDA_ERROR_ILLEGAL_ADDRESS (700)");
    }
    expect_clean_cards();
  }
  EXPECT_GT(opened().profile(0, is_double).rows_per_second, 0);
}

SCALAR_TEST(CudaOf, EveryCallMayFailOnce) {
  const InContext context(0);
  opened().profile(0, sizeof(T) == sizeof(double));
  const std::vector<T> y = random_vector<T>(kRows);
  /// Set-up, two applies and one with vectors on the card, after `prepare`. @return what is said of failures
  const auto live = [&](const Options& options, const auto& prepare) {
    std::vector<std::string> texts;
    try {
      const Stream stream;
      const CardVector<T> from(y), to(kRows);
      Solver<T> solver(options);
      prepare();
      this->set_up(solver, stream.queue());
      for (int again = 0; again < 2; ++again) EXPECT_LE(this->backward_error(solver, this->bands_), 100);
      texts = solver.report().degraded;
      if (solver.takes(stream.queue())) enqueue(solver, stream.queue(), from, to);
    } catch (const DeviceError& error) {
      texts.emplace_back(error.what());
    }
    return texts;
  };
  EXPECT_EQ(all_of(live(on_cards("all"), [] {})), "");
  int failures = 0, texts = 0;
  for (const std::string& function : fake::functions()) {
    for (const OnDeviceFailure on_failure : {OnDeviceFailure::error, OnDeviceFailure::quiet}) {
      bool fired = true;
      for (int number = 0; fired; ++number) {
        SCOPED_TRACE(function + " " + std::to_string(number));
        fake::restart();
        const auto fail = [&] { fake::fail(function, number, kLaunchFailed); };
        for (const std::string& text : live(on_cards("all", on_failure), fail)) {
          ++texts;
          expect_in(text, "Fake card 0");
          expect_in(text, "CUDA_ERROR_LAUNCH_FAILED (719)");
        }
        fired = fake::failed() > 0;
        failures += fired ? 1 : 0;
        expect_clean_cards();
        if (this->HasFailure()) return;
      }
    }
  }
  std::cout << failures << " failures, " << texts << " texts\n";
  EXPECT_GT(failures, 200);
}

TEST_F(Cuda, MemoryThatRunsOutLeavesTheRowsToTheHost) {
  opened().profile(0, true);
  Solver<double> solver(on_cards("0", OnDeviceFailure::quiet));
  fake::set_memory_left(1000);
  set_up(solver, bands_);
  EXPECT_EQ(solver.report().device.name, "host");
  ASSERT_EQ(solver.report().degraded.size(), 1U);
  expect_in(solver.report().degraded[0], "Fake card 0");
  expect_in(solver.report().degraded[0], "CUDA_ERROR_OUT_OF_MEMORY (2)");
  EXPECT_LE(backward_error(solver, bands_), 100);
  fake::restart();
  Solver<double> other(on_cards("0"));
  set_up(other, bands_);
  EXPECT_EQ(other.report().device.name, "Fake card 0");
  EXPECT_LE(backward_error(other, bands_), 100);
}

/// After an error of a kernel, the program's own included, every call in the context gives it. In a process of its own:
/// the device is lost.
class CudaPending : public OnCards<double> {};
TEST_F(CudaPending, AnErrorOfTheProgramLeavesTheRowsToTheHost) {
  const InContext context(0);
  const Stream stream;
  const CardVector<double> from(random_vector<double>(kRows)), to(kRows);
  const Options options = on_cards("gpu", OnDeviceFailure::quiet);
  {
    Solver<double> first(options), second(options);
    set_up(first, stream.queue());
    set_up(second, stream.queue());
    ASSERT_TRUE(first.takes(stream.queue()));
    fake::fail("", 0, kIllegalAddress, std::numeric_limits<int>::max());
    EXPECT_LE(backward_error(first, bands_), 100);
    EXPECT_EQ(first.report().device.name, "host");
    expect_in(all_of(first.report().degraded), "CUDA_ERROR_ILLEGAL_ADDRESS (700)");
    EXPECT_THROW(enqueue(second, stream.queue(), from, to), DeviceError) << "a broken context";
    set_up(second, stream.queue());
    std::cout << second.report().device.vectors << "\n";
    EXPECT_LE(backward_error(second, bands_), 100);
    EXPECT_EQ(second.report().device.name, "host");
  }
  Solver<double> third = ready(options, stream.queue());
  expect_in(third.report().device.vectors, "CUDA_ERROR_ILLEGAL_ADDRESS (700)");
  EXPECT_LE(backward_error(third, bands_), 100);
  release_devices();
  fake::fail("", 0, kSuccess, 0);
}

}  // namespace
}  // namespace oclspkt::test
