// SPDX-License-Identifier: BSD-2-Clause
// A fake card that OpenCL sees as well: vectors of CUDA's are copied on the card where CUDA has no kernels, and OpenCL
// takes the card over where CUDA fails.
#include <sys/wait.h>
#include <unistd.h>

#include <cstdlib>
#include <filesystem>
#include <iostream>

#include "card.hpp"
#include "cut_case.hpp"
#include "fake_opencl.hpp"
#include "solver_fixture.hpp"

namespace oclspkt::test {
namespace {

namespace opencl = fake::opencl;

constexpr Index kRows = 20'000;
constexpr int kLaunchFailed = 719, kNotPossible = -6;  // CUDA_ERROR_LAUNCH_FAILED, CL_OUT_OF_HOST_MEMORY
constexpr const char* kCopied = "copied on the device, where each apply is waited for: ";

long open_files() {
  const std::filesystem::directory_iterator all("/proc/self/fd");
  return std::distance(begin(all), end(all));
}

/// Nothing is left behind by both run-times, and nothing was used wrongly.
template <typename T>
class BesideOf : public SolverFixture<T> {
 protected:
  BesideOf() {
    opened().profile(0, sizeof(T) == sizeof(double));
    release_devices();
    fake::restart();
    fake::nvrtc::restart();
    opencl::restart();
    files_ = open_files();
  }
  ~BesideOf() override { expect_clean(); }

  void expect_clean() const {
    fake::fail("", 0, kSuccess, 0);
    release_devices();
    EXPECT_EQ(fake::alive(), fake::Alive{}) << fake::describe(fake::alive());
    // PoCL's threads let go of buffers a moment after the commands that used them have ended.
    for (int look = 0; look < 1000 && opencl::imported() > 0; ++look) usleep(1000);
    EXPECT_EQ(opencl::imported(), 0);
    EXPECT_EQ(open_files(), files_);
    EXPECT_EQ(all_of(fake::mistakes()), "");
    EXPECT_EQ(all_of(opencl::mistakes()), "");
  }

  static Options options(OnDeviceFailure on_failure = OnDeviceFailure::error) {
    Options options;
    options.devices = "gpu";
    options.method = MethodChoice::truncated_halo;
    options.on_device_failure = on_failure;
    return options;
  }

  void set_up(Solver<T>& solver, const DeviceQueue& queue) const {
    solver.set_up(bands_.lines(), bands_.view().lower, bands_.view().diag, bands_.view().upper, {.queue = queue});
  }
  static std::vector<T> applied(Solver<T>& solver, const std::vector<T>& y) {
    std::vector<T> x(y.size());
    solver.apply(y.data(), x.data());
    return x;
  }
  /// Vectors of the host are solved for by OpenCL on the same card, and rightly.
  void expect_by_opencl(Solver<T>& solver, const DeviceQueue& queue, const std::string& why) const {
    EXPECT_FALSE(solver.takes(queue));
    EXPECT_EQ(solver.report().device.name, "Fake card 0");
    EXPECT_EQ(solver.report().device.platform, "NVIDIA CUDA of the fake");
    EXPECT_TRUE(solver.report().device.vectors.starts_with("copied: ")) << solver.report().device.vectors;
    expect_in(solver.report().device.vectors, why);
    EXPECT_LE(this->backward_error(solver, bands_), 100);
  }

  void expect_by_host(Solver<T>& solver, const std::string& why) const {
    EXPECT_EQ(solver.report().device.name, "host");
    EXPECT_TRUE(solver.report().device.vectors.starts_with("copied: ")) << solver.report().device.vectors;
    expect_in(solver.report().device.vectors, why);
    EXPECT_LE(this->backward_error(solver, bands_), 100);
  }

  const Bands<T> bands_ = random_dominant<T>(LineSet::one(kRows), 3);

 private:
  long files_ = 0;
};
using Scalars = ::testing::Types<float, double>;
TYPED_TEST_SUITE(BesideOf, Scalars);
using Beside = BesideOf<double>;

TYPED_TEST(BesideOf, VectorsAreCopiedOnTheCardAndNowhereElse) {
  using T = TypeParam;
  const std::vector<T> y = random_vector<T>(kRows);
  const InContext context(0);
  const Stream stream;
  const CardVector<T> from(y), to(kRows);
  Solver<T> solver(this->options());
  this->set_up(solver, stream.queue());
  ASSERT_TRUE(solver.takes(stream.queue())) << solver.report().device.vectors;
  EXPECT_EQ(solver.report().device.name, "Fake card 0");
  EXPECT_EQ(solver.report().device.platform, "NVIDIA CUDA of the fake");
  EXPECT_TRUE(solver.report().device.vectors.starts_with(kCopied)) << solver.report().device.vectors;
  expect_in(solver.report().device.vectors, "CUDA's run-time compiler is not there");
  EXPECT_TRUE(solver.report().degraded.empty()) << all_of(solver.report().degraded);
  const std::vector<T> expected = this->applied(solver, y);
  for (const bool deferred : {false, true}) {
    fake::restart();
    opencl::restart();
    fake::defer(deferred);
    for (int again = 0; again < 3; ++again) solver.enqueue(stream.queue(), from.get(), kRows, to.get(), kRows, 1);
    EXPECT_EQ(fake::calls("cuMemcpyDtoDAsync_v2"), 6);
    EXPECT_EQ(fake::calls("cuStreamSynchronize"), 3);
    EXPECT_EQ(opencl::acquisitions(), 3);
    for (const char* call : {"cuMemcpyHtoDAsync_v2", "cuMemcpyDtoHAsync_v2", "cuMemcpyDtoH_v2", "cuMemAlloc_v2",
                             "cuMemCreate", "cuMemMap", "cuEventCreate", "cuCtxSynchronize"}) {
      EXPECT_EQ(fake::calls(call), 0) << call;
    }
    cuStreamSynchronize(stream.get());
    EXPECT_EQ(to.values(), expected);
    fake::defer(false);
  }
  EXPECT_EQ(this->applied(solver, y), expected);
  // The default stream has no handle.
  const CardVector<T> other(kRows);
  solver.enqueue({DeviceQueue::Kind::cuda, nullptr}, from.get(), kRows, other.get(), kRows, 1);
  EXPECT_EQ(other.values(), expected);
}

TYPED_TEST(BesideOf, StreamsDoNotOverwriteWhatOthersStillCopy) {
  using T = TypeParam;
  const std::vector<T> y[] = {random_vector<T>(kRows, 1), random_vector<T>(kRows, 2)};
  const InContext context(0);
  const Stream first, second;
  const CardVector<T> y_first(y[0]), y_second(y[1]), x_first(kRows), x_second(kRows);
  Solver<T> solver(this->options());
  this->set_up(solver, first.queue());
  const std::vector<T> expected[] = {this->applied(solver, y[0]), this->applied(solver, y[1])};
  fake::defer(true);
  {
    Solver<T> gone(this->options());
    this->set_up(gone, first.queue());
    gone.enqueue(first.queue(), y_first.get(), kRows, x_second.get(), kRows, 1);
  }
  EXPECT_EQ(x_second.values(), expected[0]) << "memory ended before its last copy";
  solver.enqueue(first.queue(), y_first.get(), kRows, x_first.get(), kRows, 1);
  solver.enqueue(second.queue(), y_second.get(), kRows, x_second.get(), kRows, 1);
  cuStreamSynchronize(second.get());
  cuStreamSynchronize(first.get());
  EXPECT_EQ(x_first.values(), expected[0]);
  EXPECT_EQ(x_second.values(), expected[1]);
}

TYPED_TEST(BesideOf, ColumnsAndTheTransposeAreSolvedToo) {
  using T = TypeParam;
  constexpr Index kStride = kRows + 24, kColumns = 3;
  const std::vector<T> y = random_vector<T>(kStride * kColumns);
  const InContext context(0);
  const Stream stream;
  const CardVector<T> from(y), to(std::vector<T>(y.size(), T(-7)));
  Solver<T> solver(this->options());
  this->set_up(solver, stream.queue());
  std::vector<T> expected(y.size(), T(-7));
  solver.apply(y.data(), kStride, expected.data(), kStride, kColumns);
  solver.enqueue(stream.queue(), from.get(), kStride, to.get(), kStride, kColumns);
  EXPECT_EQ(to.values(), expected);
  solver.apply_transpose(y.data(), expected.data());
  ASSERT_TRUE(solver.takes_transpose(stream.queue()));
  solver.enqueue_transpose(stream.queue(), from.get(), to.get());
  EXPECT_EQ(to.values(), expected);
}

/// What stands between lines is the caller's.
TYPED_TEST(BesideOf, RowsOfNoLineStay) {
  using T = TypeParam;
  const LineSet lines = LineSet::strided(200, 24, 16, 1);
  const Bands<T> bands = random_dominant<T>(lines, 3);
  const std::vector<T> y = random_vector<T>(lines.extent());
  const InContext context(0);
  const Stream stream;
  const CardVector<T> from(y), to(std::vector<T>(y.size(), T(-7)));
  Options options = this->options();
  options.method = MethodChoice::automatic;
  Solver<T> solver(options);
  solver.set_up(lines, bands.view().lower, bands.view().diag, bands.view().upper, {.queue = stream.queue()});
  ASSERT_TRUE(solver.takes(stream.queue())) << solver.report().device.vectors;
  std::vector<T> expected(y.size(), T(-7));
  solver.apply(y.data(), expected.data());
  solver.enqueue(stream.queue(), from.get(), 0, to.get(), 0, 1);
  EXPECT_EQ(to.values(), expected);
}

TYPED_TEST(BesideOf, LinesThatAreCutAskForTheirBordersOnTheCard) {
  using T = TypeParam;
  const CutCase all = CutCase::equal(1, {kRows, kRows});
  const Bands<T> bands = random_dominant<T>(all.all(), 3);
  const std::vector<T> y = random_vector<T>(2 * kRows);
  std::vector<T> x(y.size());
  const auto thrown = run_processes(2, [&](int rank, const std::shared_ptr<ThreadExchange>& exchange) {
    const InContext context(0);
    const Stream stream;
    const Share share(all, rank);
    const Index first = rank * kRows;
    CutSolver<T> solver(this->options());
    fill_share(share, bands.view(), solver.bands(share.lines, share.cuts, exchange));
    Known known;
    known.queue = stream.queue();
    solver.set_up(known);
    EXPECT_TRUE(solver.takes(stream.queue())) << solver.report().device.vectors;
    const CardVector<T> from(std::vector<T>(y.begin() + first, y.begin() + first + kRows)), to(kRows);
    for (int again = 0; again < 2; ++again) {
      solver.enqueue(stream.queue(), from.get(), kRows, to.get(), kRows, 1);
      cuStreamSynchronize(stream.get());
      const std::vector<T> own = to.values();
      std::copy(own.begin(), own.end(), x.begin() + first);
    }
    expect_in(solver.report().device.vectors, kCopied);
  });
  for (const auto& error : thrown) EXPECT_EQ(error, nullptr) << text_of(error);
  EXPECT_LE(componentwise_backward_error(bands.lines(), bands.view(), x.data(), y.data()), 100 * this->eps);
}

TYPED_TEST(BesideOf, VectorsThatDoNotFitAreRefusedByNameAndCure) {
  using T = TypeParam;
  const InContext context(0);
  const Stream stream;
  const CardVector<T> y(kRows), x(kRows);
  Solver<T> solver(this->options());
  this->set_up(solver, stream.queue());
  expect_unfit_refused(solver, stream.queue(), y, x);
  {
    const InContext other(1);
    const Stream of_other;
    EXPECT_FALSE(solver.takes(of_other.queue()));
    expect_refusal([&] { solver.enqueue(of_other.queue(), y.get(), kRows, x.get(), kRows, 1); },
                   "the queue is of another device than Fake card 0");
    Solver<T> of_another(this->options());
    this->set_up(of_another, of_other.queue());
    EXPECT_FALSE(of_another.takes(of_other.queue()));
    expect_in(of_another.report().device.vectors,
              "by OpenCL: no other run-time sees the card of the vectors, pci:0001");
  }
  solver.enqueue(stream.queue(), y.get(), kRows, x.get(), kRows, 1);
}

TYPED_TEST(BesideOf, WhatCannotBeSharedIsSaidAndTheHostsVectorsAreSolvedFor) {
  using T = TypeParam;
  const InContext context(0);
  const Stream stream;
  const auto expect = [&](const char* why, const auto& prepare) {
    SCOPED_TRACE(why);
    fake::restart();
    opencl::restart();
    Solver<T> solver(this->options());
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

TYPED_TEST(BesideOf, TheLimitOfADevicesMemoryCountsTheVectorsToo) {
  using T = TypeParam;
  const InContext context(0);
  const Stream stream;
  Options options = this->options();
  const std::int64_t vector = kRows * static_cast<std::int64_t>(sizeof(T));
  for (const std::int64_t vectors : {1, 6, 20}) {
    SCOPED_TRACE(vectors);
    options.device_memory = vectors * vector;
    Solver<T> solver(options);
    this->set_up(solver, stream.queue());
    if (vectors == 20) {
      EXPECT_TRUE(solver.takes(stream.queue())) << solver.report().device.vectors;
    } else {
      this->expect_by_opencl(solver, stream.queue(), "does not hold 1 line of 20000 rows at once and two vectors more");
    }
  }
}

TYPED_TEST(BesideOf, ACardThatIsFullForOpenClLeavesTheRowsToTheHost) {
  const InContext context(0);
  const Stream stream;
  Solver<TypeParam> solver(this->options(OnDeviceFailure::quiet));
  opencl::set_memory_left(1000);
  this->set_up(solver, stream.queue());
  // Once with vectors that are copied on the card, once with those of the host.
  EXPECT_EQ(solver.report().degraded.size(), 2U);
  expect_in(all_of(solver.report().degraded), "CL_MEM_OBJECT_ALLOCATION_FAILURE (-4)");
  this->expect_by_host(solver, "by OpenCL: Fake card 0: device 'Fake card 0' (NVIDIA CUDA of the fake)");
}

TYPED_TEST(BesideOf, EveryCallOfAnApplyMayFailOnce) {
  using T = TypeParam;
  const std::vector<T> y = random_vector<T>(kRows);
  const InContext context(0);
  std::vector<T> expected;
  {
    const Stream stream;
    Solver<T> solver(this->options());
    this->set_up(solver, stream.queue());
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
        Solver<T> solver(this->options(OnDeviceFailure::quiet));
        this->set_up(solver, stream.queue());
        fake::restart();
        fake::fail(function, number, kLaunchFailed);
        bool failed = false;
        try {
          solver.enqueue(stream.queue(), from.get(), kRows, to.get(), kRows, 1);
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
      if (this->HasFatalFailure() || this->HasNonfatalFailure()) return;
    }
  }
  std::cout << failures << " failures\n";
  EXPECT_GE(failures, 12);
}

TEST_F(Beside, ReleasedDevicesTakeNoVectors) {
  const InContext context(0);
  const Stream stream;
  const CardVector<double> y(std::vector<double>(kRows, 1.0)), x(kRows);
  Solver<double> solver(options());
  set_up(solver, stream.queue());
  solver.enqueue(stream.queue(), y.get(), kRows, x.get(), kRows, 1);
  release_devices();
  EXPECT_EQ(fake::alive().shared, 0);
  EXPECT_EQ(opencl::imported(), 0);
  EXPECT_FALSE(solver.takes(stream.queue()));
  EXPECT_THROW(solver.enqueue(stream.queue(), y.get(), kRows, x.get(), kRows, 1), DeviceError);
  set_up(solver, stream.queue());
  EXPECT_TRUE(solver.takes(stream.queue())) << solver.report().device.vectors;
  solver.enqueue(stream.queue(), y.get(), kRows, x.get(), kRows, 1);
  EXPECT_EQ(x.values(), applied(solver, y.values()));
}

TEST_F(Beside, AChildCallsNothingOfBothDrivers) {
  const InContext context(0);
  const Stream stream;
  auto solver = std::make_unique<Solver<double>>(options(OnDeviceFailure::quiet));
  set_up(*solver, stream.queue());
  ASSERT_TRUE(solver->takes(stream.queue()));
  const pid_t child = fork();
  ASSERT_GE(child, 0);
  if (child == 0) {
    fake::restart();
    std::vector<double> y(kRows, 1.0), x(kRows);
    const bool takes = solver->takes(stream.queue());
    solver->apply(y.data(), x.data());
    solver.reset();
    release_devices();
    int calls = 0;
    for (const std::string& function : fake::functions()) calls += fake::calls(function);
    for (const char* function : {"cuMemUnmap", "cuMemRelease", "cuMemAddressFree"}) calls += fake::calls(function);
    _exit(!takes && calls == 0 ? 0 : 1);
  }
  int status = 0;
  ASSERT_EQ(waitpid(child, &status, 0), child);
  EXPECT_TRUE(WIFEXITED(status) && WEXITSTATUS(status) == 0) << status;
}

/// In a process of its own, whose end it lives to see: exit handlers of the driver are through before ours.
TEST(BesideAtTheEnd, SolversMayLive) {
  static Solver<double> solver([] {
    Options options;
    options.devices = "gpu";
    options.method = MethodChoice::truncated_halo;
    options.on_device_failure = OnDeviceFailure::error;
    return options;
  }());
  const InContext context(0);
  const Bands<double> bands = random_dominant<double>(LineSet::one(kRows), 3);
  const DeviceQueue queue{DeviceQueue::Kind::cuda, nullptr};
  solver.set_up(bands.lines(), bands.view().lower, bands.view().diag, bands.view().upper, {.queue = queue});
  EXPECT_TRUE(solver.takes(queue)) << solver.report().device.vectors;
}

/// In a process of its own: what a device has is looked at once.
TEST(BesideWithoutImports, TheHostsVectorsAreSolvedFor) {
  opencl::hide_extension();
  const InContext context(0);
  const Stream stream;
  const Bands<double> bands = random_dominant<double>(LineSet::one(kRows), 3);
  Options options;
  options.devices = "gpu";
  options.method = MethodChoice::truncated_halo;
  options.on_device_failure = OnDeviceFailure::error;
  Solver<double> solver(options);
  solver.set_up(bands.lines(), bands.view().lower, bands.view().diag, bands.view().upper, {.queue = stream.queue()});
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
TYPED_TEST_SUITE(BesideCudaOf, Scalars);

TYPED_TEST(BesideCudaOf, OpenClTakesOverACardThatCudaFindsFull) {
  using T = TypeParam;
  const InContext context(0);
  const Stream stream;
  for (const bool full_for_both : {false, true}) {
    SCOPED_TRACE(full_for_both);
    fake::restart();
    opencl::restart();
    Solver<T> solver(this->options(OnDeviceFailure::quiet));
    this->set_up(solver, stream.queue());
    ASSERT_EQ(solver.report().device.vectors, "on the device, no copy");
    solver.set_options([&] {
      Options options = this->options(OnDeviceFailure::quiet);
      options.timeout = 30;  // others, so the solver is made anew
      return options;
    }());
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

TYPED_TEST(BesideCudaOf, VectorsAreCopiedWhereTheCompilerMakesNothingForTheCard) {
  using T = TypeParam;
  const std::vector<T> y = random_vector<T>(kRows);
  const InContext context(0);
  const Stream stream;
  const CardVector<T> from(y), to(kRows);
  fake::nvrtc::refuse(true);
  Solver<T> solver(this->options(OnDeviceFailure::quiet));
  this->set_up(solver, stream.queue());
  fake::nvrtc::refuse(false);
  ASSERT_TRUE(solver.takes(stream.queue())) << solver.report().device.vectors;
  EXPECT_TRUE(solver.report().device.vectors.starts_with(kCopied)) << solver.report().device.vectors;
  expect_in(solver.report().device.vectors, "kernel(7): error: the fake refuses this");
  ASSERT_EQ(solver.report().degraded.size(), 1U);
  expect_in(solver.report().degraded[0], "the fake refuses this");
  const std::vector<T> expected = this->applied(solver, y);
  solver.enqueue(stream.queue(), from.get(), kRows, to.get(), kRows, 1);
  EXPECT_EQ(to.values(), expected);
}

}  // namespace
}  // namespace oclspkt::test
