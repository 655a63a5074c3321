// SPDX-License-Identifier: BSD-2-Clause
// The module for CUDA over a fake driver and a fake compiler: what it calls, in which order, and what becomes of
// failures.
#include <sys/wait.h>
#include <unistd.h>

#include <cstdlib>
#include <iostream>
#include <limits>
#include <thread>

#include "card.hpp"
#include "solver_fixture.hpp"

namespace oclspkt::test {
namespace {

using namespace cuda;

constexpr Index kRows = 20'000;
constexpr CUresult kIllegalAddress = 700;
constexpr int kAlways = std::numeric_limits<int>::max();

/// Nothing is left behind on the cards, and nothing was used wrongly.
template <typename T>
class CudaOf : public SolverFixture<T> {
 protected:
  CudaOf() { fake::restart(); }
  ~CudaOf() override { expect_clean(); }

  static void expect_clean() {
    fake::fail("", 0, kSuccess, 0);
    release_devices();
    EXPECT_EQ(fake::alive(), fake::Alive{}) << fake::describe(fake::alive());
    EXPECT_EQ(all_of(fake::mistakes()), "");
  }

  static Options options(const std::string& devices = "0") {
    Options options;
    options.devices = devices;
    options.method = MethodChoice::truncated_halo;
    options.on_device_failure = OnDeviceFailure::error;
    return options;
  }

  const Bands<T> bands_ = random_dominant<T>(LineSet::one(kRows), 3);
};
using Scalars = ::testing::Types<float, double>;
TYPED_TEST_SUITE(CudaOf, Scalars);
using Cuda = CudaOf<double>;

/// In a process of its own, where the first card does not say how many cores it has.
TEST(CudaCards, ThatDoNotDescribeThemselvesAreLeftOut) {
  fake::restart();
  fake::fail("cuDeviceGetAttribute", 0, kIllegalAddress);
  ASSERT_EQ(opened().devices().size(), 1U);
  EXPECT_EQ(opened().devices()[0].name, "Fake card 1");
  expect_in(all_of(opened().problems()), "a device does not describe itself");
  expect_in(all_of(opened().problems()), "CUDA_ERROR_ILLEGAL_ADDRESS (700)");
}

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

/// Run by themselves: what was measured is kept.
template <typename T>
using CudaMeasures = CudaOf<T>;
TYPED_TEST_SUITE(CudaMeasures, Scalars);

TYPED_TEST(CudaMeasures, ThatFailAreRepeatedAndLeaveNothing) {
  const bool is_double = sizeof(TypeParam) == sizeof(double);
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
    this->expect_clean();
  }
  EXPECT_GT(opened().profile(0, is_double).rows_per_second, 0);
}

TYPED_TEST(CudaOf, VectorsOfTheHostGoThroughThePipeline) {
  using T = TypeParam;
  const Bands<T> bands = random_dominant<T>(LineSet::one(1'500'000), 3);
  for (const bool deferred : {false, true}) {
    fake::defer(deferred);
    Solver<T> solver(this->options());
    this->set_up(solver, bands);
    EXPECT_EQ(solver.report().device.name, "Fake card 0");
    for (int again = 0; again < 2; ++again) EXPECT_LE(this->backward_error(solver, bands), 100);
  }
}

TYPED_TEST(CudaOf, BandsComeWithEveryApplyWhereTheMemoryDoesNotHoldThem) {
  using T = TypeParam;
  const Bands<T> bands = random_dominant<T>(LineSet::one(200'000), 3);
  for (const bool deferred : {false, true}) {
    fake::defer(deferred);
    Options options = this->options();
    options.device_memory = bands.bytes() / 3;
    Solver<T> solver(options);
    this->set_up(solver, bands);
    EXPECT_EQ(solver.report().device.name, "Fake card 0");
    EXPECT_GT(fake::alive().registered, 0) << "bands are not locked";
    EXPECT_LE(this->backward_error(solver, bands), 100);
  }
}

TYPED_TEST(CudaOf, PagesOfVectorsAreLocked) {
  using T = TypeParam;
  const InContext context(0);
  std::vector<T> vector(100'000);
  const auto bytes = static_cast<std::int64_t>(vector.size() * sizeof(T));
  const auto lock = opened().lock_pages(0, vector.data(), bytes);
  EXPECT_TRUE(lock);
  EXPECT_EQ(fake::alive().registered, 1);
  EXPECT_FALSE(opened().lock_pages(0, vector.data(), bytes)) << "they are locked already";
  EXPECT_EQ(fake::alive().registered, 1);
}

TYPED_TEST(CudaOf, VectorsOnTheCardAreNeitherCopiedNorWaitedFor) {
  using T = TypeParam;
  const std::vector<T> y = random_vector<T>(kRows);
  std::vector<T> expected(y.size());
  for (const int card : {0, 1}) {
    SCOPED_TRACE(card);
    const InContext context(card);
    const Stream stream, other;
    const CardVector<T> from(y), to(kRows);
    Solver<T> solver(this->options("all"));
    solver.set_up(this->bands_.lines(), this->bands_.view().lower, this->bands_.view().diag, this->bands_.view().upper,
                  {.queue = stream.queue()});
    ASSERT_TRUE(solver.takes(stream.queue())) << solver.report().device.vectors;
    EXPECT_EQ(solver.report().device.name, "Fake card " + std::to_string(card));
    solver.apply(y.data(), expected.data());
    fake::restart();
    fake::defer(true);
    for (int again = 0; again < 3; ++again) solver.enqueue(stream.queue(), from.get(), kRows, to.get(), kRows, 1);
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
    solver.enqueue(stream.queue(), from.get(), kRows, to.get(), kRows, 1);
    const int before = fake::calls("cuCtxSynchronize");
    solver.enqueue(other.queue(), from.get(), kRows, to.get(), kRows, 1);
    EXPECT_GT(fake::calls("cuCtxSynchronize"), before);
    EXPECT_EQ(cuStreamQuery(stream.get()), kSuccess) << "the first queue has not ended";
    cuStreamSynchronize(other.get());
    // The default stream has no handle.
    solver.enqueue({DeviceQueue::Kind::cuda, nullptr}, from.get(), kRows, to.get(), kRows, 1);
    cuStreamSynchronize(nullptr);
    EXPECT_EQ(to.values(), expected);
    solver.apply(y.data(), expected.data());
    EXPECT_EQ(to.values(), expected);
    fake::defer(false);
  }
}

TYPED_TEST(CudaOf, VectorsThatDoNotFitAreRefusedByNameAndCure) {
  using T = TypeParam;
  const InContext context(0);
  const Stream stream;
  const CardVector<T> y(kRows), x(kRows);
  Solver<T> solver(this->options("all"));
  solver.set_up(this->bands_.lines(), this->bands_.view().lower, this->bands_.view().diag, this->bands_.view().upper,
                {.queue = stream.queue()});
  expect_unfit_refused(solver, stream.queue(), y, x);
  {
    const InContext other(1);
    const CardVector<T> strange(kRows);
    const Stream of_other;
    {
      const InContext back(0);
      expect_refusal([&] { solver.enqueue(stream.queue(), strange.get(), kRows, x.get(), kRows, 1); },
                     "buffer y of enqueue lies on card 1, the queue is of card 0: give");
      expect_refusal([&] { solver.enqueue(of_other.queue(), y.get(), kRows, x.get(), kRows, 1); },
                     "stream is not of the context that is current");
    }
    expect_refusal([&] { solver.enqueue(of_other.queue(), y.get(), kRows, x.get(), kRows, 1); },
                   "the queue is of another device");
  }
  solver.enqueue(stream.queue(), y.get(), kRows, x.get(), kRows, 1);
}

TEST_F(Cuda, AStreamWantsAContext) {
  Solver<double> solver(options("all"));
  solver.set_up(bands_.lines(), bands_.view().lower, bands_.view().diag, bands_.view().upper,
                {.queue = {DeviceQueue::Kind::cuda, nullptr}});
  expect_in(solver.report().device.vectors, "no context of CUDA is current in this thread: make");
  EXPECT_LE(backward_error(solver, bands_), 100);
}

/// Set-up, two applies and one with vectors on the card.
template <typename T>
void live(Options options, const Bands<T>& bands, const std::vector<T>& y, std::vector<T>& x) {
  const Stream stream;
  const CardVector<T> from(y), to(kRows);
  Solver<T> solver(std::move(options));
  solver.set_up(bands.lines(), bands.view().lower, bands.view().diag, bands.view().upper, {.queue = stream.queue()});
  for (int again = 0; again < 2; ++again) solver.apply(y.data(), x.data());
  if (solver.takes(stream.queue())) solver.enqueue(stream.queue(), from.get(), kRows, to.get(), kRows, 1);
}

TYPED_TEST(CudaOf, EveryCallMayFailOnce) {
  using T = TypeParam;
  const InContext context(0);
  opened().profile(0, sizeof(T) == sizeof(double));
  const std::vector<T> y = random_vector<T>(kRows);
  std::vector<T> expected(y.size()), x(y.size());
  live<T>(this->options("all"), this->bands_, y, expected);
  int failures = 0, texts = 0;
  for (const std::string& function : fake::functions()) {
    for (const OnDeviceFailure on_failure : {OnDeviceFailure::error, OnDeviceFailure::quiet}) {
      bool fired = true;
      for (int number = 0; fired; ++number) {
        SCOPED_TRACE(function + " " + std::to_string(number));
        Options options = this->options("all");
        options.on_device_failure = on_failure;
        fake::restart();
        const auto check = [&](const std::string& text) {
          ++texts;
          expect_in(text, "Fake card 0");
          expect_in(text, "CUDA_ERROR_LAUNCH_FAILED (719)");
        };
        try {
          const Stream stream;
          const CardVector<T> from(y), to(kRows);
          Solver<T> solver(options);
          fake::fail(function, number, 719);
          solver.set_up(this->bands_.lines(), this->bands_.view().lower, this->bands_.view().diag,
                        this->bands_.view().upper, {.queue = stream.queue()});
          for (int again = 0; again < 2; ++again) {
            std::fill(x.begin(), x.end(), T(7));
            solver.apply(y.data(), x.data());
            EXPECT_LE(componentwise_backward_error(this->bands_.lines(), this->bands_.view(), x.data(), y.data()),
                      100 * this->eps);
          }
          for (const std::string& line : solver.report().degraded) check(line);
          if (solver.takes(stream.queue())) solver.enqueue(stream.queue(), from.get(), kRows, to.get(), kRows, 1);
        } catch (const DeviceError& error) {
          check(error.what());
        }
        fired = fake::failed() > 0;
        failures += fired ? 1 : 0;
        this->expect_clean();
        if (this->HasFatalFailure() || this->HasNonfatalFailure()) return;
      }
    }
  }
  std::cout << failures << " failures, " << texts << " texts\n";
  EXPECT_GT(failures, 200);
}

TEST_F(Cuda, MemoryThatRunsOutLeavesTheRowsToTheHost) {
  opened().profile(0, true);
  Options options = this->options();
  options.on_device_failure = OnDeviceFailure::quiet;
  Solver<double> solver(options);
  fake::set_memory_left(1000);
  set_up(solver, bands_);
  EXPECT_EQ(solver.report().device.name, "host");
  ASSERT_EQ(solver.report().degraded.size(), 1U);
  expect_in(solver.report().degraded[0], "Fake card 0");
  expect_in(solver.report().degraded[0], "CUDA_ERROR_OUT_OF_MEMORY (2)");
  EXPECT_LE(backward_error(solver, bands_), 100);
  fake::restart();
  Solver<double> other(this->options());
  set_up(other, bands_);
  EXPECT_EQ(other.report().device.name, "Fake card 0");
  EXPECT_LE(backward_error(other, bands_), 100);
}

/// The text of the error of a set-up.
std::string build_error(const Options& options, const Bands<double>& bands) {
  release_devices();
  Solver<double> solver(options);
  try {
    solver.set_up(bands.lines(), bands.view().lower, bands.view().diag, bands.view().upper);
  } catch (const DeviceError& error) {
    return error.what();
  }
  return "";
}

TEST_F(Cuda, CompilersAndCardsOfOtherAgesAreToldApart) {
  opened().profile(0, true);
  fake::nvrtc::restart();
  EXPECT_EQ(build_error(options(), bands_), "");
  EXPECT_EQ(fake::last_module(), "cubin 90");
  fake::set_compute_capability(12, 1);
  EXPECT_EQ(build_error(options(), bands_), "");
  EXPECT_EQ(fake::last_module(), "ptx 100");
  fake::set_compute_capability(7, 0);
  const std::string too_old = build_error(options(), bands_);
  expect_in(too_old, "Fake card 0");
  expect_in(too_old, "compiler 13.0 makes no code for cards as old as this one, of compute capability 7.0: install");
  fake::set_compute_capability(9, 0);
  fake::set_driver_version(12040);
  const std::string too_new = build_error(options(), bands_);
  expect_in(too_new, "CUDA_ERROR_NO_BINARY_FOR_GPU (209)");
  expect_in(too_new, "compiler 13.0 made; the driver is of CUDA 12.4: if the compiler is newer, install an older one");
  fake::set_driver_version(13000);
  fake::nvrtc::refuse(true);
  expect_in(build_error(options(), bands_), "kernel(7): error: the fake refuses this");
  fake::nvrtc::restart();
}

TYPED_TEST(CudaOf, ThreadsHaveSolversOfTheirOwn) {
  using T = TypeParam;
  opened().profile(0, sizeof(T) == sizeof(double));
  opened().profile(1, sizeof(T) == sizeof(double));
  for (const bool deferred : {false, true}) {
    fake::defer(deferred);
    std::vector<std::thread> threads;
    for (int i = 0; i < 4; ++i) {
      threads.emplace_back([&, i] {
        for (int again = 0; again < 3; ++again) {
          Solver<T> solver(this->options(std::to_string(i % 2)));
          this->set_up(solver, this->bands_);
          for (int apply = 0; apply < 3; ++apply) EXPECT_LE(this->backward_error(solver, this->bands_), 100);
        }
      });
    }
    for (std::thread& thread : threads) thread.join();
  }
}

/// Run in a process of its own, whose end it lives to see: exit handlers of the driver are through before ours.
TEST(CudaAtTheEnd, SolversMayLive) {
  static Solver<double> solver([] {
    Options options;
    options.devices = "0";
    options.method = MethodChoice::truncated_halo;
    options.on_device_failure = OnDeviceFailure::error;
    return options;
  }());
  const Bands<double> bands = random_dominant<double>(LineSet::one(kRows), 3);
  solver.set_up(bands.lines(), bands.view().lower, bands.view().diag, bands.view().upper);
  EXPECT_EQ(solver.report().device.name, "Fake card 0");
}

TEST(CudaFork, AChildCallsNothingOfTheDriver) {
  Options options;
  options.devices = "0";
  options.method = MethodChoice::truncated_halo;
  options.on_device_failure = OnDeviceFailure::quiet;
  const Bands<double> bands = random_dominant<double>(LineSet::one(kRows), 3);
  const auto set_up = [&](Solver<double>& solver) {
    solver.set_up(bands.lines(), bands.view().lower, bands.view().diag, bands.view().upper);
  };
  auto solver = std::make_unique<Solver<double>>(options);
  set_up(*solver);
  ASSERT_EQ(solver->report().device.name, "Fake card 0");
  const pid_t child = fork();
  ASSERT_GE(child, 0);
  if (child == 0) {
    fake::restart();
    std::vector<double> y(kRows, 1.0), x(kRows);
    solver->apply(y.data(), x.data());
    Solver<double> fresh(options);
    set_up(fresh);
    fresh.apply(y.data(), x.data());
    const bool on_host = solver->report().device.name == "host" && fresh.report().device.name == "host";
    solver.reset();
    release_devices();
    int calls = 0;
    for (const std::string& function : fake::functions()) calls += fake::calls(function);
    _exit(on_host && calls == 0 ? 0 : 1);
  }
  int status = 0;
  ASSERT_EQ(waitpid(child, &status, 0), child);
  EXPECT_TRUE(WIFEXITED(status) && WEXITSTATUS(status) == 0) << status;
}

/// After an error of a kernel, the program's own included, every call in the context gives it. In a process of its own:
/// the device is lost.
TEST(CudaPending, AnErrorOfTheProgramLeavesTheRowsToTheHost) {
  const InContext context(0);
  const Stream stream;
  const Bands<double> bands = random_dominant<double>(LineSet::one(kRows), 3);
  const std::vector<double> y = random_vector<double>(kRows);
  std::vector<double> x(kRows);
  const CardVector<double> from(y), to(kRows);
  const auto is_right = [&] {
    return componentwise_backward_error(bands.lines(), bands.view(), x.data(), y.data()) < 1e-13;
  };
  const auto set_up = [&](Solver<double>& solver) {
    solver.set_up(bands.lines(), bands.view().lower, bands.view().diag, bands.view().upper, {.queue = stream.queue()});
  };
  Options options;
  options.devices = "gpu";
  options.method = MethodChoice::truncated_halo;
  options.on_device_failure = OnDeviceFailure::quiet;
  {
    Solver<double> first(options), second(options);
    set_up(first);
    set_up(second);
    ASSERT_TRUE(first.takes(stream.queue()));
    fake::fail("", 0, kIllegalAddress, kAlways);
    first.apply(y.data(), x.data());
    EXPECT_TRUE(is_right());
    EXPECT_EQ(first.report().device.name, "host");
    expect_in(all_of(first.report().degraded), "CUDA_ERROR_ILLEGAL_ADDRESS (700)");
    try {
      second.enqueue(stream.queue(), from.get(), kRows, to.get(), kRows, 1);
      ADD_FAILURE() << "an enqueue in a broken context went well";
    } catch (const DeviceError& error) {
      std::cout << error.what() << "\n";
    }
    set_up(second);
    std::cout << second.report().device.vectors << "\n";
    second.apply(y.data(), x.data());
    EXPECT_TRUE(is_right());
    EXPECT_EQ(second.report().device.name, "host");
  }
  Solver<double> third(options);
  set_up(third);
  expect_in(third.report().device.vectors, "CUDA_ERROR_ILLEGAL_ADDRESS (700)");
  third.apply(y.data(), x.data());
  EXPECT_TRUE(is_right());
  release_devices();
  fake::fail("", 0, kSuccess, 0);
}

/// Where cards cannot be used, for the reason in OCLSPKT_EXPECTED; where that is empty, nobody complains.
TEST(CudaIsNotThere, TheHostAnswersAndTheReportSaysWhy) {
  const char* expected = std::getenv("OCLSPKT_EXPECTED");
  ASSERT_NE(expected, nullptr) << "run by tests/cuda/fakes/CMakeLists.txt";
  std::string why;
  DeviceModule* module = device_module(&why);
  const std::string problems = module != nullptr ? all_of(module->problems()) : "";
  if (*expected != '\0') {
    expect_in(problems, expected);
  } else {
    EXPECT_EQ(problems.find("CUDA"), std::string::npos) << problems;
  }
  ASSERT_TRUE(module == nullptr || module->devices().empty());
  const Index n = 1'000'000;
  const Bands<double> bands = random_dominant<double>(LineSet::one(n), 3);
  const std::vector<double> y = random_vector<double>(n);
  std::vector<double> x(n);
  CUcontext context = nullptr;
  const bool has_card = cuInit(0) == kSuccess && cuDevicePrimaryCtxRetain(&context, 0) == kSuccess;
  if (has_card) cuCtxPushCurrent_v2(context);
  Solver<double> solver;
  solver.set_up(bands.lines(), bands.view().lower, bands.view().diag, bands.view().upper,
                {.queue = {DeviceQueue::Kind::cuda, nullptr}});
  solver.apply(y.data(), x.data());
  EXPECT_LE(componentwise_backward_error(bands.lines(), bands.view(), x.data(), y.data()), 1e-13);
  EXPECT_EQ(solver.report().device.name, "host");
  if (has_card) expect_in(solver.report().device.vectors, expected);
  EXPECT_FALSE(solver.report().device.vectors.empty());
  std::cout << solver.report().device.why << "\n" << solver.report().device.vectors << "\n";
}

/// Beside OpenCL, which sees no card.
TEST(CudaBesideOpenCL, CardsFollowTheOtherDevices) {
  const std::vector<DeviceInfo>& all = opened().devices();
  ASSERT_GE(all.size(), 3U);
  EXPECT_FALSE(all.front().cuda);
  EXPECT_TRUE(all.back().cuda);
  EXPECT_EQ(all.back().name, "Fake card 1");
  EXPECT_EQ(all.back().index, static_cast<int>(all.size()) - 1);
  Options options;
  options.devices = "gpu";
  options.method = MethodChoice::truncated_halo;
  options.on_device_failure = OnDeviceFailure::error;
  const Bands<double> bands = random_dominant<double>(LineSet::one(kRows), 3);
  for (const char* devices : {"Fake card 1", "cpu"}) {
    options.devices = devices;
    Solver<double> solver(options);
    solver.set_up(bands.lines(), bands.view().lower, bands.view().diag, bands.view().upper);
    EXPECT_EQ(solver.report().device.type, *devices == 'c' ? "cpu" : "gpu");
    std::vector<double> y(kRows, 1.0), x(kRows);
    solver.apply(y.data(), x.data());
    EXPECT_LE(componentwise_backward_error(bands.lines(), bands.view(), x.data(), y.data()), 1e-13);
  }
  release_devices();
  EXPECT_EQ(fake::alive(), fake::Alive{}) << fake::describe(fake::alive());
}

}  // namespace
}  // namespace oclspkt::test
