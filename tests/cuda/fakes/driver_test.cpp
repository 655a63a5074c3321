// SPDX-License-Identifier: BSD-2-Clause
// The module for CUDA over a fake driver and a fake compiler: what it calls, and in which order.
#include <iostream>
#include <thread>

#include "card.hpp"

namespace oclspkt::test {
namespace {

/// Solvers by CUDA's module over the fake driver and the fake compiler.
template <typename T>
class CudaOf : public OnCards<T> {
 protected:
  CudaOf() { fake::restart(); }
  ~CudaOf() override { expect_clean_cards(); }
};
using Cuda = CudaOf<double>;

TEST_F(Cuda, CardsAreListed) {
  const std::vector<DeviceInfo>& all = opened().devices();
  ASSERT_EQ(all.size(), 2U);
  EXPECT_EQ(all_of(opened().problems()).find("CUDA"), std::string::npos) << all_of(opened().problems());
  for (const DeviceInfo& info : all) {
    EXPECT_EQ(info.name, "Fake card " + std::to_string(info.index));
    EXPECT_EQ(info.physical, info.index == 0 ? "pci:0001:0a:03.0" : "pci:0001:0b:03.0");
    EXPECT_EQ(info.type, DeviceType::gpu);
    EXPECT_EQ(info.memory, std::int64_t{1} << 30);
    EXPECT_EQ(info.cores, 4);
    EXPECT_TRUE(info.cuda);
    EXPECT_TRUE(info.fp64);
    EXPECT_FALSE(info.host_unified);
    EXPECT_EQ(info.driver_version, "CUDA 13.0, compiler 13.0");
  }
}

SCALAR_TEST(CudaOf, VectorsOfTheHostGoThroughThePipeline) {
  const Bands<T> bands = random_dominant<T>(LineSet::one(1'500'000), 3);
  for (const bool deferred : {false, true}) {
    fake::defer(deferred);
    Solver<T> solver(on_cards("0"));
    this->set_up(solver, bands);
    EXPECT_EQ(solver.report().device.name, "Fake card 0");
    for (int again = 0; again < 2; ++again) EXPECT_LE(this->backward_error(solver, bands), 100);
  }
}

SCALAR_TEST(CudaOf, BandsComeWithEveryApplyWhereTheMemoryDoesNotHoldThem) {
  const Bands<T> bands = random_dominant<T>(LineSet::one(200'000), 3);
  for (const bool deferred : {false, true}) {
    fake::defer(deferred);
    Options options = on_cards("0");
    options.use.device_memory = bands.bytes() / 3;
    Solver<T> solver(options);
    this->set_up(solver, bands);
    EXPECT_EQ(solver.report().device.name, "Fake card 0");
    EXPECT_GT(fake::alive().registered, 0) << "bands are not locked";
    EXPECT_LE(this->backward_error(solver, bands), 100);
  }
}

SCALAR_TEST(CudaOf, VectorsOnTheCardAreNeitherCopiedNorWaitedFor) {
  const std::vector<T> y = random_vector<T>(kRows);
  std::vector<T> expected(y.size());
  for (const int card : {0, 1}) {
    SCOPED_TRACE(card);
    const InContext context(card);
    const Stream stream, other;
    const CardVector<T> from(y), to(kRows);
    Solver<T> solver = this->ready(on_cards("all"), stream.queue());
    ASSERT_TRUE(solver.takes(stream.queue())) << solver.report().device.vectors;
    EXPECT_EQ(solver.report().device.name, "Fake card " + std::to_string(card));
    solver.apply(y.data(), expected.data());
    fake::restart();
    fake::defer(true);
    for (int again = 0; again < 3; ++again) enqueue(solver, stream.queue(), from, to);
    EXPECT_EQ(fake::calls("cuLaunchKernel"), 3);
    for (const char* call : {"cuEventCreate", "cuEventRecord", "cuEventSynchronize", "cuEventQuery", "cuStreamQuery",
                             "cuStreamSynchronize", "cuCtxSynchronize", "cuStreamWaitEvent", "cuMemAlloc_v2",
                             "cuMemcpyHtoDAsync_v2", "cuMemcpyDtoHAsync_v2", "cuMemcpyDtoDAsync_v2"}) {
      EXPECT_EQ(fake::calls(call), 0) << call;
    }
    EXPECT_NE(to.values(), expected) << "something has waited";
    cuStreamSynchronize(stream.get());
    EXPECT_EQ(to.values(), expected);
    // The solver's own memory is used by one queue at a time.
    enqueue(solver, stream.queue(), from, to);
    const int before = fake::calls("cuCtxSynchronize");
    enqueue(solver, other.queue(), from, to);
    EXPECT_GT(fake::calls("cuCtxSynchronize"), before);
    EXPECT_EQ(cuStreamQuery(stream.get()), kSuccess) << "the first queue has not ended";
    cuStreamSynchronize(other.get());
    // The default stream has no handle.
    enqueue(solver, {DeviceQueue::Kind::cuda, nullptr}, from, to);
    cuStreamSynchronize(nullptr);
    EXPECT_EQ(to.values(), expected);
    solver.apply(y.data(), expected.data());
    EXPECT_EQ(to.values(), expected);
    fake::defer(false);
  }
}

SCALAR_TEST(CudaOf, VectorsThatDoNotFitAreRefusedByNameAndCure) {
  const StreamInContext stream(0);
  const CardVector<T> y(kRows), x(kRows);
  Solver<T> solver = this->ready(on_cards("all"), stream.queue());
  expect_unfit_refused(solver, stream.queue(), y, x);
  {
    const InContext other(1);
    const CardVector<T> strange(kRows);
    const Stream of_other;
    {
      const InContext back(0);
      expect_refusal([&] { enqueue(solver, stream.queue(), strange, x); },
                     "buffer y of enqueue lies on card 1, the queue is of card 0: give");
      expect_refusal([&] { enqueue(solver, of_other.queue(), y, x); }, "stream is not of the context that is current");
    }
    expect_refusal([&] { enqueue(solver, of_other.queue(), y, x); }, "the queue is of another device");
  }
  enqueue(solver, stream.queue(), y, x);
}

TEST_F(Cuda, AStreamWantsAContext) {
  Solver<double> solver = ready(on_cards("all"), {DeviceQueue::Kind::cuda, nullptr});
  expect_in(solver.report().device.vectors, "no context of CUDA is current in this thread: make");
  EXPECT_LE(backward_error(solver, bands_), 100);
}

TEST_F(Cuda, CompilersAndCardsOfOtherAgesAreToldApart) {
  opened().profile(0, true);
  fake::nvrtc::restart();
  const auto build_error = [&] {
    release_devices();
    return thrown_text<DeviceError>([&] { solver_for(bands_, on_cards("0")); });
  };
  EXPECT_EQ(build_error(), "nothing was thrown");
  EXPECT_EQ(fake::last_module(), "cubin 90");
  fake::set_compute_capability(12, 1);
  EXPECT_EQ(build_error(), "nothing was thrown");
  EXPECT_EQ(fake::last_module(), "ptx 100");
  fake::set_compute_capability(7, 0);
  const std::string too_old = build_error();
  expect_in(too_old, "Fake card 0");
  expect_in(too_old, "compiler 13.0 makes no code for cards as old as this one, of compute capability 7.0: install");
  fake::set_compute_capability(9, 0);
  fake::set_driver_version(12040);
  const std::string too_new = build_error();
  expect_in(too_new, "CUDA_ERROR_NO_BINARY_FOR_GPU (209)");
  expect_in(too_new, "compiler 13.0 made; the driver is of CUDA 12.4: if the compiler is newer, install an older one");
  fake::set_driver_version(13000);
  fake::nvrtc::refuse(true);
  expect_in(build_error(), "kernel(7): error: the fake refuses this");
  fake::nvrtc::restart();
}

SCALAR_TEST(CudaOf, ThreadsHaveSolversOfTheirOwn) {
  opened().profile(0, sizeof(T) == sizeof(double));
  opened().profile(1, sizeof(T) == sizeof(double));
  for (const bool deferred : {false, true}) {
    fake::defer(deferred);
    std::vector<std::thread> threads;
    for (int i = 0; i < 4; ++i) {
      threads.emplace_back([&, i] {
        for (int again = 0; again < 3; ++again) {
          Solver<T> solver(on_cards(std::to_string(i % 2)));
          this->set_up(solver, this->bands_);
          for (int apply = 0; apply < 3; ++apply) EXPECT_LE(this->backward_error(solver, this->bands_), 100);
        }
      });
    }
    for (std::thread& thread : threads) thread.join();
  }
}

// The module for CUDA over a fake driver: what becomes of failures.

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
  const StreamInContext stream(0);
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
