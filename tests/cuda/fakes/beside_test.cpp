// SPDX-License-Identifier: BSD-2-Clause
// A fake card that OpenCL sees as well: vectors of CUDA's are copied on the card where CUDA has no kernels.

#include <iostream>

#include "card.hpp"
#include "cut_case.hpp"
#include "fake_opencl.hpp"
#include "process.hpp"

namespace oclspkt::test {
namespace {

namespace opencl = fake::opencl;

constexpr const char* kCopied = "copied on the device, where each apply is waited for: ";

long open_files() {
  const std::filesystem::directory_iterator all("/proc/self/fd");
  return std::distance(begin(all), end(all));
}

/// Nothing is left behind by both run-times, and nothing was used wrongly.
template <typename T>
class BesideOf : public OnCards<T> {
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
    expect_clean_cards();
    // PoCL's threads let go of buffers a moment after the commands that used them have ended.
    for (int look = 0; look < 10'000 && opencl::imported() > 0; ++look) usleep(1000);
    EXPECT_EQ(opencl::imported(), 0);
    EXPECT_EQ(open_files(), files_);
    EXPECT_EQ(all_of(opencl::mistakes()), "");
  }

  /// Vectors of the host are solved for by OpenCL on the same card, and rightly.
  void expect_by_opencl(Solver<T>& solver, const DeviceQueue& queue, const std::string& why) const {
    EXPECT_FALSE(solver.takes(queue));
    EXPECT_EQ(solver.report().device.platform, "NVIDIA CUDA of the fake");
    expect_copied("Fake card 0", solver, why);
  }
  void expect_by_host(Solver<T>& solver, const std::string& why) const { expect_copied("host", solver, why); }

 private:
  void expect_copied(const std::string& device, Solver<T>& solver, const std::string& why) const {
    EXPECT_EQ(solver.report().device.name, device);
    EXPECT_TRUE(solver.report().device.vectors.starts_with("copied: ")) << solver.report().device.vectors;
    expect_in(solver.report().device.vectors, why);
    EXPECT_LE(this->backward_error(solver, this->bands_), 100);
  }

  long files_ = 0;
};
using Beside = BesideOf<double>;

SCALAR_TEST(BesideOf, VectorsAreCopiedOnTheCardAndNowhereElse) {
  const std::vector<T> y = random_vector<T>(kRows);
  const StreamInContext stream(0);
  const CardVector<T> from(y), to(kRows);
  Solver<T> solver = this->ready(on_cards("gpu"), stream.queue());
  ASSERT_TRUE(solver.takes(stream.queue())) << solver.report().device.vectors;
  EXPECT_EQ(solver.report().device.name, "Fake card 0");
  EXPECT_EQ(solver.report().device.platform, "NVIDIA CUDA of the fake");
  EXPECT_TRUE(solver.report().device.vectors.starts_with(kCopied)) << solver.report().device.vectors;
  expect_in(solver.report().device.vectors, "CUDA's run-time compiler is not there");
  EXPECT_TRUE(solver.report().degraded.empty()) << all_of(solver.report().degraded);
  const std::vector<T> expected = answer(solver, y);
  for (const bool deferred : {false, true}) {
    fake::restart();
    opencl::restart();
    fake::defer(deferred);
    for (int again = 0; again < 3; ++again) enqueue(solver, stream.queue(), from, to);
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
  EXPECT_EQ(answer(solver, y), expected);
  // The default stream has no handle.
  const CardVector<T> other(kRows);
  enqueue(solver, {DeviceQueue::Kind::cuda, nullptr}, from, other);
  EXPECT_EQ(other.values(), expected);
}

SCALAR_TEST(BesideOf, StreamsDoNotOverwriteWhatOthersStillCopy) {
  const std::vector<T> y[] = {random_vector<T>(kRows, 1), random_vector<T>(kRows, 2)};
  const InContext context(0);
  const Stream first, second;
  const CardVector<T> y_first(y[0]), y_second(y[1]), x_first(kRows), x_second(kRows);
  Solver<T> solver = this->ready(on_cards("gpu"), first.queue());
  const std::vector<T> expected[] = {answer(solver, y[0]), answer(solver, y[1])};
  fake::defer(true);
  {
    Solver<T> gone = this->ready(on_cards("gpu"), first.queue());
    enqueue(gone, first.queue(), y_first, x_second);
  }
  EXPECT_EQ(x_second.values(), expected[0]) << "memory ended before its last copy";
  enqueue(solver, first.queue(), y_first, x_first);
  enqueue(solver, second.queue(), y_second, x_second);
  cuStreamSynchronize(second.get());
  cuStreamSynchronize(first.get());
  EXPECT_EQ(x_first.values(), expected[0]);
  EXPECT_EQ(x_second.values(), expected[1]);
}

SCALAR_TEST(BesideOf, ColumnsAndTheTransposeAreSolvedToo) {
  constexpr Index kStride = kRows + 24, kColumns = 3;
  const std::vector<T> y = random_vector<T>(kStride * kColumns);
  const StreamInContext stream(0);
  const CardVector<T> from(y), to(std::vector<T>(y.size(), T(-7)));
  Solver<T> solver = this->ready(on_cards("gpu"), stream.queue());
  std::vector<T> expected(y.size(), T(-7));
  solver.apply(y.data(), kStride, expected.data(), kStride, kColumns);
  solver.enqueue(stream.queue(), from.get(), kStride, to.get(), kStride, kColumns);
  EXPECT_EQ(to.values(), expected);
  solver.apply_transpose(y.data(), expected.data());
  ASSERT_TRUE(solver.takes_transpose(stream.queue()));
  solver.apply_transpose(from.get(), to.get(), {Place::Kind::queue, stream.queue()});
  EXPECT_EQ(to.values(), expected);
}

/// What stands between lines is the caller's.
SCALAR_TEST(BesideOf, RowsOfNoLineStay) {
  const LineSet lines = LineSet::strided(200, 24, 16, 1);
  const Bands<T> bands = random_dominant<T>(lines, 3);
  const std::vector<T> y = random_vector<T>(lines.extent());
  const StreamInContext stream(0);
  const CardVector<T> from(y), to(std::vector<T>(y.size(), T(-7)));
  Options options = on_cards("gpu");
  options.method = MethodChoice::automatic;
  Solver<T> solver(options);
  this->set_up(solver, bands, {.queue = stream.queue()});
  ASSERT_TRUE(solver.takes(stream.queue())) << solver.report().device.vectors;
  std::vector<T> expected(y.size(), T(-7));
  solver.apply(y.data(), expected.data());
  solver.enqueue(stream.queue(), from.get(), 0, to.get(), 0, 1);
  EXPECT_EQ(to.values(), expected);
}

SCALAR_TEST(BesideOf, LinesThatAreCutAskForTheirBordersOnTheCard) {
  const CutCase all = CutCase::equal(1, {kRows, kRows});
  const Bands<T> bands = random_dominant<T>(all.all(), 3);
  const std::vector<T> y = random_vector<T>(2 * kRows);
  std::vector<T> x(y.size());
  const auto thrown = run_processes(2, [&](int rank, const std::shared_ptr<ThreadExchange>& exchange) {
    const StreamInContext stream(0);
    const Share share(all, rank);
    const Index first = rank * kRows;
    CutSolver<T> solver(on_cards("gpu"));
    fill_share(share, bands.view(), solver.bands({share.lines, share.cuts, exchange}));
    Known known;
    known.queue = stream.queue();
    solver.set_up(known);
    EXPECT_TRUE(solver.takes(stream.queue())) << solver.report().device.vectors;
    const CardVector<T> from(std::vector<T>(y.begin() + first, y.begin() + first + kRows)), to(kRows);
    for (int again = 0; again < 2; ++again) {
      enqueue(solver, stream.queue(), from, to);
      cuStreamSynchronize(stream.get());
      const std::vector<T> own = to.values();
      std::copy(own.begin(), own.end(), x.begin() + first);
    }
    expect_in(solver.report().device.vectors, kCopied);
  });
  for (const auto& error : thrown) EXPECT_EQ(error, nullptr) << text_of(error);
  EXPECT_LE(componentwise_backward_error(bands.lines(), bands.view(), x.data(), y.data()), 100 * this->eps);
}

SCALAR_TEST(BesideOf, VectorsThatDoNotFitAreRefusedByNameAndCure) {
  const StreamInContext stream(0);
  const CardVector<T> y(kRows), x(kRows);
  Solver<T> solver = this->ready(on_cards("gpu"), stream.queue());
  expect_unfit_refused(solver, stream.queue(), y, x);
  {
    const StreamInContext of_other(1);
    EXPECT_FALSE(solver.takes(of_other.queue()));
    expect_refusal([&] { enqueue(solver, of_other.queue(), y, x); }, "the queue is of another device than Fake card 0");
    Solver<T> of_another = this->ready(on_cards("gpu"), of_other.queue());
    EXPECT_FALSE(of_another.takes(of_other.queue()));
    expect_in(of_another.report().device.vectors,
              "by OpenCL: no other run-time sees the card of the vectors, pci:0001");
  }
  enqueue(solver, stream.queue(), y, x);
}

TEST_F(Beside, ReleasedDevicesTakeNoVectors) {
  const StreamInContext stream(0);
  const CardVector<double> y(std::vector<double>(kRows, 1.0)), x(kRows);
  Solver<double> solver = ready(on_cards("gpu"), stream.queue());
  enqueue(solver, stream.queue(), y, x);
  release_devices();
  EXPECT_EQ(fake::alive().shared, 0);
  EXPECT_EQ(opencl::imported(), 0);
  EXPECT_FALSE(solver.takes(stream.queue()));
  EXPECT_THROW(enqueue(solver, stream.queue(), y, x), DeviceError);
  set_up(solver, stream.queue());
  EXPECT_TRUE(solver.takes(stream.queue())) << solver.report().device.vectors;
  enqueue(solver, stream.queue(), y, x);
  EXPECT_EQ(x.values(), answer(solver, y.values()));
}

TEST_F(Beside, AChildCallsNothingOfBothDrivers) {
  const StreamInContext stream(0);
  auto solver = std::make_unique<Solver<double>>(on_cards("gpu", OnDeviceFailure::quiet));
  set_up(*solver, stream.queue());
  ASSERT_TRUE(solver->takes(stream.queue()));
  const auto calls_nothing = [&] {
    fake::restart();
    const bool takes = solver->takes(stream.queue());
    answer(*solver, std::vector<double>(kRows, 1.0));
    solver.reset();
    release_devices();
    return !takes && calls_of(fake::functions()) == 0 &&
           calls_of({"cuMemUnmap", "cuMemRelease", "cuMemAddressFree"}) == 0;
  };
  EXPECT_EQ(status_of_child(calls_nothing), 0);
}

/// In a process of its own, whose end it lives to see: exit handlers of the driver are through before ours.
TEST(BesideAtTheEnd, SolversMayLive) {
  static Solver<double> solver(on_cards("gpu"));
  const InContext context(0);
  const DeviceQueue queue{DeviceQueue::Kind::cuda, nullptr};
  set_up(solver, random_dominant<double>(LineSet::one(kRows), 3), {.queue = queue});
  EXPECT_TRUE(solver.takes(queue)) << solver.report().device.vectors;
}

// A fake card that OpenCL sees as well: what cannot be shared, and which run-time takes over where one fails.

constexpr int kNotPossible = -6;  // CL_OUT_OF_HOST_MEMORY

SCALAR_TEST(BesideOf, WhatCannotBeSharedIsSaidAndTheHostsVectorsAreSolvedFor) {
  const StreamInContext stream(0);
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
  const StreamInContext stream(0);
  Options options = on_cards("gpu");
  const std::int64_t vector = kRows * static_cast<std::int64_t>(sizeof(T));
  for (const std::int64_t vectors : {1, 6, 20}) {
    SCOPED_TRACE(vectors);
    options.use.device_memory = vectors * vector;
    Solver<T> solver = this->ready(options, stream.queue());
    if (vectors == 20) {
      EXPECT_TRUE(solver.takes(stream.queue())) << solver.report().device.vectors;
    } else {
      this->expect_by_opencl(solver, stream.queue(), "does not hold 1 line of 20000 rows at once and two vectors more");
    }
  }
}

SCALAR_TEST(BesideOf, ACardThatIsFullForOpenClLeavesTheRowsToTheHost) {
  const StreamInContext stream(0);
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
    expected = answer(solver, y);
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
  const StreamInContext stream(0);
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
  const StreamInContext stream(0);
  for (const bool full_for_both : {false, true}) {
    SCOPED_TRACE(full_for_both);
    fake::restart();
    opencl::restart();
    Solver<T> solver = this->ready(on_cards("gpu", OnDeviceFailure::quiet), stream.queue());
    ASSERT_EQ(solver.report().device.vectors, "on the device, no copy");
    Options others = on_cards("gpu", OnDeviceFailure::quiet);
    others.use.timeout = 30;  // so that the solver is made anew
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
  const StreamInContext stream(0);
  const CardVector<T> from(y), to(kRows);
  fake::nvrtc::refuse(true);
  Solver<T> solver = this->ready(on_cards("gpu", OnDeviceFailure::quiet), stream.queue());
  fake::nvrtc::refuse(false);
  ASSERT_TRUE(solver.takes(stream.queue())) << solver.report().device.vectors;
  EXPECT_TRUE(solver.report().device.vectors.starts_with(kCopied)) << solver.report().device.vectors;
  expect_in(solver.report().device.vectors, "kernel(7): error: the fake refuses this");
  ASSERT_EQ(solver.report().degraded.size(), 1U);
  expect_in(solver.report().degraded[0], "the fake refuses this");
  const std::vector<T> expected = answer(solver, y);
  enqueue(solver, stream.queue(), from, to);
  EXPECT_EQ(to.values(), expected);
}

}  // namespace
}  // namespace oclspkt::test
