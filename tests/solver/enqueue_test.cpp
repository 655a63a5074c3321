// SPDX-License-Identifier: BSD-2-Clause
// Vectors in buffers of a context that the caller made, solved by a queue of the caller.
#include <chrono>
#include <cmath>
#include <cstring>
#include <limits>
#include <map>
#include <memory>
#include <optional>
#include <thread>

#include "every_device.hpp"
#include "faults.hpp"
#include "opencl_vectors.hpp"
#include "solver_fixture.hpp"

namespace oclspkt {
namespace {

using test::Caller;

/// A caller for the device that options name; one for all tests, so that kernels are built once.
const Caller& caller_of(const Options& options) {
  static auto* callers = new std::map<std::string, std::unique_ptr<Caller>>;  // contexts outlive static destructors
  std::unique_ptr<Caller>& caller = (*callers)[options.devices];
  if (!caller) {
    const DeviceInfo& info = device_module(nullptr)->devices().at(std::stoul(options.devices));
    caller = std::make_unique<Caller>(test::device_like(info));
  }
  return *caller;
}

/// Commands of a queue that come after it begin only a while after now.
class Gate {
 public:
  explicit Gate(const Caller& caller) : event_(caller.context()) {
    const cl_event wait = event_();
    EXPECT_EQ(clEnqueueBarrierWithWaitList(caller.queue()(), 1, &wait, nullptr), CL_SUCCESS);
    opener_ = std::thread([this] {
      std::this_thread::sleep_for(std::chrono::milliseconds(30));
      event_.setStatus(CL_COMPLETE);
    });
  }
  ~Gate() { opener_.join(); }
  Gate(const Gate&) = delete;
  Gate& operator=(const Gate&) = delete;

 private:
  cl::UserEvent event_;
  std::thread opener_;
};

template <typename T>
class Queues : public test::SolverFixture<T> {
 protected:
  static constexpr MethodChoice kMethods[] = {MethodChoice::automatic, MethodChoice::truncated_halo,
                                              MethodChoice::truncated_streamed, MethodChoice::exact_twopass,
                                              MethodChoice::exact_factored};

  static void set_up(Solver<T>& solver, const Bands<T>& bands, const DeviceQueue& queue) {
    solver.set_up(bands.lines(), bands.view().lower, bands.view().diag, bands.view().upper, {.queue = queue});
  }

  static void enqueue(Solver<T>& solver, const DeviceQueue& queue, cl_mem y, cl_mem x) {
    solver.enqueue(queue, y, 0, x, 0, 1);
  }

  static std::vector<T> answer(Solver<T>& solver, const std::vector<T>& y) {
    std::vector<T> x(y.size(), T(7));
    solver.apply(y.data(), x.data());
    return x;
  }

  /// The answer for y in the caller's buffers is that for vectors of the host, to the bit, what is in no line stays,
  /// and nothing is copied.
  static void expect_the_same(Solver<T>& solver, const Caller& caller, const std::vector<T>& y) {
    const DeviceQueue queue = caller.device_queue();
    ASSERT_TRUE(solver.takes(queue)) << solver.report().device.vectors;
    EXPECT_EQ(solver.report().device.vectors, "on the device, no copy");
    const std::vector<T> expected = answer(solver, y);
    const test::DeviceVector<T> from(caller.handles(), y), to(caller.handles(), std::vector<T>(y.size(), T(7)));
    const Times before = solver.times();
    for (int again = 0; again < 2; ++again) {
      enqueue(solver, queue, from.get(), to.get());
      EXPECT_EQ(to.values(), expected);
    }
    const Times spent = solver.times() - before;
    EXPECT_EQ(spent.applies, 2);
    EXPECT_EQ(spent.bytes_from_device, 0);
    EXPECT_EQ(from.values(), y);
  }

  /// Set a solver up by a caller's queue and compare; without a queue it has the same bits.
  static void expect_the_same(const Options& options, const Bands<T>& bands, const std::vector<T>& y) {
    const Caller& caller = caller_of(options);
    Solver<T> solver(options);
    set_up(solver, bands, caller.device_queue());
    expect_the_same(solver, caller, y);
  }

  /// Whether the device builds kernels within milliseconds. Intel's run-times take a second for some, in every context
  /// anew; what the host does is the same for every device.
  static bool builds_quickly(const Options& options) {
    const DeviceInfo& info = device_module(nullptr)->devices().at(std::stoul(options.devices));
    return info.platform.find("Portable") != std::string::npos;
  }

  /// Call f for each device and transfer; the others in double alone.
  template <typename F>
  static void with_every_transfer(const F& f) {
    test::with_every_transfer([&](const Options& options) {
      if (builds_quickly(options) || sizeof(T) == sizeof(double)) f(options);
    });
  }

  /// The same, and kernels for GPUs where they are built quickly.
  template <typename F>
  static void with_every_kind(const F& f) {
    with_every_transfer([&](Options options) {
      f(options);
      if (!builds_quickly(options)) return;
      SCOPED_TRACE("variant gpu");
      options.variant = "gpu";
      f(options);
    });
  }
};
using Scalars = ::testing::Types<float, double>;
TYPED_TEST_SUITE(Queues, Scalars);

TYPED_TEST(Queues, OfAForeignContextGiveTheBitsOfVectorsOnTheHost) {
  using T = TypeParam;
  const std::vector<LineSet> sets{LineSet::one(9001), LineSet::equal(91, 101), LineSet::grid_axis(1, 37, 60, 3),
                                  LineSet::strided(50, 40, 33, 1, 2, 50 * 40)};
  for (const LineSet& lines : sets) {
    SCOPED_TRACE(lines.describe());
    const Bands<T> bands = test::random_dominant<T>(lines, 3);
    const std::vector<T> y = test::random_vector<T>(lines.extent());
    TestFixture::with_every_kind([&](Options options) {
      for (const MethodChoice method : TestFixture::kMethods) {
        const bool end_to_end = method == MethodChoice::truncated_streamed || method == MethodChoice::exact_twopass;
        if (end_to_end && !lines.contiguous()) continue;
        // The host solves by stored factors where kernels for GPUs do not.
        if (options.variant == "gpu" && lines.contiguous() && method == MethodChoice::exact_factored) continue;
        const bool seldom =
            method != MethodChoice::automatic && !(method == MethodChoice::exact_twopass && lines.count() == 1);
        if (!this->builds_quickly(options) && seldom) continue;
        SCOPED_TRACE(name(method));
        options.method = method;
        this->expect_the_same(options, bands, y);
      }
    });
  }
}

TYPED_TEST(Queues, SolveByTheOperatorOfASolverWithoutAQueue) {
  using T = TypeParam;
  for (const LineSet& lines : {LineSet::one(9001), LineSet::grid_axis(1, 37, 60, 3)}) {
    SCOPED_TRACE(lines.describe());
    const Bands<T> bands = test::random_dominant<T>(lines, 3);
    const std::vector<T> y = test::random_vector<T>(lines.extent());
    TestFixture::with_every_kind([&](const Options& options) {
      if (!this->builds_quickly(options) && lines.count() > 1) return;
      Solver<T> without(options), with(options);
      test::SolverFixture<T>::set_up(without, bands);
      TestFixture::set_up(with, bands, caller_of(options).device_queue());
      EXPECT_EQ(this->answer(with, y), this->answer(without, y));
      EXPECT_TRUE(without.report().device.vectors.empty());
      test::expect_refusal([&] { this->enqueue(without, caller_of(options).device_queue(), nullptr, nullptr); },
                           "told of no queue");
    });
  }
}

TYPED_TEST(Queues, ServeKernelsOfThePaperAndForFpgas) {
  using T = TypeParam;
  for (const LineSet& lines : {LineSet::one(9001), LineSet::equal(91, 101)}) {
    SCOPED_TRACE(lines.describe());
    const Bands<T> bands = test::random_dominant<T>(lines, 10);
    const std::vector<T> y = test::random_vector<T>(lines.extent());
    TestFixture::with_every_transfer([&](Options options) {
      for (const char* variant : {"paper", "paper-gpu", "fpga", "fpga-spkboth", "fpga-spktrunc", "fpga-tdma"}) {
        SCOPED_TRACE(std::string("variant ") + variant);
        options.variant = variant;
        const bool of_fpga = options.variant.starts_with("fpga");
        if (!of_fpga && !this->builds_quickly(options)) continue;
        this->expect_the_same(options, bands, y);
        if (options.variant != "fpga") continue;
        options.chunk = 4096;
        this->expect_the_same(options, bands, y);
        options.chunk = 0;
      }
    });
  }
}

TYPED_TEST(Queues, ServeABatchOfLinesByKernelsForFpgas) {
  using T = TypeParam;
  for (const LineSet& lines : {LineSet::equal(91, 101), LineSet::grid_axis(1, 37, 101, 5)}) {
    SCOPED_TRACE(lines.describe());
    const Bands<T> bands = test::random_dominant<T>(lines, 1.2);
    const std::vector<T> y = test::random_vector<T>(lines.extent());
    TestFixture::with_every_transfer([&](Options options) {
      options.variant = "fpga";
      options.method = MethodChoice::exact;
      this->expect_the_same(options, bands, y);
    });
  }
}

TYPED_TEST(Queues, ServeASystemLargerThanTheRestOfTheMemory) {
  using T = TypeParam;
  const LineSet lines = LineSet::one(200'003);
  const Bands<T> bands = test::random_dominant<T>(lines, 3);
  const std::vector<T> y = test::random_vector<T>(lines.extent());
  TestFixture::with_every_kind([&](Options options) {
    options.device_memory = bands.bytes() / 4;
    for (const MethodChoice method :
         {MethodChoice::truncated_halo, MethodChoice::truncated_streamed, MethodChoice::exact_twopass}) {
      if (!this->builds_quickly(options) && method == MethodChoice::truncated_halo) continue;
      SCOPED_TRACE(name(method));
      options.method = method;
      this->expect_the_same(options, bands, y);
    }
  });
}

TYPED_TEST(Queues, ServeManyPieces) {
  using T = TypeParam;
  const LineSet lines = LineSet::one(2'500'000 / static_cast<Index>(sizeof(T)));
  const Bands<T> bands = test::random_dominant<T>(lines, 3);
  const std::vector<T> y = test::random_vector<T>(lines.extent());
  TestFixture::with_every_transfer([&](const Options& options) { this->expect_the_same(options, bands, y); });
}

TYPED_TEST(Queues, ServeTheTransposedSystem) {
  using T = TypeParam;
  for (const LineSet& lines : {LineSet::one(3001), LineSet::grid_axis(1, 37, 60, 3)}) {
    SCOPED_TRACE(lines.describe());
    const Bands<T> bands = test::random_dominant<T>(lines, 30);
    const std::vector<T> y = test::random_vector<T>(lines.extent());
    TestFixture::with_every_kind([&](const Options& options) {
      const Caller& caller = caller_of(options);
      const DeviceQueue queue = caller.device_queue();
      Solver<T> solver(options);
      EXPECT_FALSE(solver.takes_transpose(queue));
      test::expect_refusal([&] { solver.enqueue_transpose(queue, nullptr, nullptr); }, "set_up");
      this->set_up(solver, bands, queue);
      ASSERT_TRUE(solver.takes_transpose(queue));
      std::vector<T> expected(y.size());
      solver.apply_transpose(y.data(), expected.data());
      const test::DeviceVector<T> from(caller.handles(), y), to(caller.handles(), y);
      solver.enqueue_transpose(queue, from.get(), to.get());
      EXPECT_EQ(to.values(), expected);
      EXPECT_NE(expected, this->answer(solver, y));
    });
  }
}

TYPED_TEST(Queues, TakeOneColumnAtATime) {
  using T = TypeParam;
  const Bands<T> bands = test::random_dominant<T>(LineSet::one(1000), 3);
  const std::vector<T> ones(2000, T(1));
  TestFixture::with_every_transfer([&](const Options& options) {
    const Caller& caller = caller_of(options);
    Solver<T> solver(options);
    this->set_up(solver, bands, caller.device_queue());
    const test::DeviceVector<T> y(caller.handles(), ones), x(caller.handles(), ones);
    solver.enqueue(caller.device_queue(), y.get(), 1000, x.get(), 1000, 0);
    EXPECT_EQ(x.values(), ones);
    test::expect_refusal([&] { solver.enqueue(caller.device_queue(), y.get(), 1000, x.get(), 1000, 2); }, "one column");
    test::expect_refusal([&] { solver.enqueue(caller.device_queue(), y.get(), 1000, x.get(), 1000, -1); }, "columns");
  });
}

TYPED_TEST(Queues, TakePartsOfBuffers) {
  using T = TypeParam;
  const Index n = 4096;
  const std::size_t bytes = n * sizeof(T);
  const Bands<T> bands = test::random_dominant<T>(LineSet::one(n), 3);
  std::vector<T> both = test::random_vector<T>(n);
  both.resize(2 * n, T(7));
  TestFixture::with_every_kind([&](const Options& options) {
    const Caller& caller = caller_of(options);
    const DeviceQueue queue = caller.device_queue();
    Solver<T> solver(options);
    this->set_up(solver, bands, queue);
    std::vector<T> expected(n);
    solver.apply(both.data(), expected.data());
    const test::DeviceVector<T> vector(caller.handles(), both);
    cl_mem y = test::part_of(vector.get(), 0, bytes), x = test::part_of(vector.get(), bytes, bytes);
    this->enqueue(solver, queue, y, x);
    const std::vector<T> values = vector.values();
    EXPECT_EQ(std::vector<T>(values.begin() + n, values.end()), expected);
    EXPECT_EQ(std::vector<T>(values.begin(), values.begin() + n), std::vector<T>(both.begin(), both.begin() + n));
    test::expect_refusal([&] { this->enqueue(solver, queue, y, y); }, "overlap");
    test::expect_refusal([&] { this->enqueue(solver, queue, vector.get(), x); }, "overlap");
    clReleaseMemObject(y);
    clReleaseMemObject(x);
  });
}

TYPED_TEST(Queues, TakeMemoryOfTheHostThatIsNotAligned) {
  using T = TypeParam;
  for (const LineSet& lines : {LineSet::one(3001), LineSet::strided(50, 40, 33, 1, 2, 50 * 40)}) {
    SCOPED_TRACE(lines.describe());
    const Bands<T> bands = test::random_dominant<T>(lines, 3);
    const std::vector<T> y = test::random_vector<T>(lines.extent());
    const std::size_t bytes = y.size() * sizeof(T);
    TestFixture::with_every_kind([&](const Options& options) {
      const Caller& caller = caller_of(options);
      Solver<T> solver(options);
      this->set_up(solver, bands, caller.device_queue());
      const std::vector<T> expected = this->answer(solver, y);
      AlignedArray<T> memory(2 * (lines.extent() + 1));
      T *from = memory.data() + 1, *to = from + lines.extent();
      std::copy(y.begin(), y.end(), from);
      std::fill_n(to, lines.extent(), T(7));
      cl_int error = CL_SUCCESS;
      constexpr cl_mem_flags kFlags = CL_MEM_READ_WRITE | CL_MEM_USE_HOST_PTR;
      const cl::Buffer y_there(clCreateBuffer(caller.context()(), kFlags, bytes, from, &error));
      ASSERT_EQ(error, CL_SUCCESS);
      const cl::Buffer x_there(clCreateBuffer(caller.context()(), kFlags, bytes, to, &error));
      ASSERT_EQ(error, CL_SUCCESS);
      this->enqueue(solver, caller.device_queue(), y_there(), x_there());
      std::vector<T> x(y.size());
      caller.queue().enqueueReadBuffer(x_there, CL_TRUE, 0, bytes, x.data());
      EXPECT_EQ(x, expected);
    });
  }
}

TYPED_TEST(Queues, OfOneContextMayTakeTurnsAndServeSeveralSolvers) {
  using T = TypeParam;
  const LineSet lines = LineSet::one(20'011);
  const Bands<T> one = test::random_dominant<T>(lines, 3, 1), other = test::random_dominant<T>(lines, 5, 2);
  const std::vector<T> y = test::random_vector<T>(lines.extent());
  TestFixture::with_every_kind([&](const Options& options) {
    const Caller& caller = caller_of(options);
    const cl::CommandQueue second = caller.make_queue(CL_QUEUE_PROFILING_ENABLE);
    Solver<T> solver(options), beside(options);
    this->set_up(solver, one, caller.device_queue());
    this->set_up(beside, other, Caller::of(second));
    const std::vector<T> expected = this->answer(solver, y), expected_beside = this->answer(beside, y);
    const test::DeviceVector<T> from(caller.handles(), y);
    for (int again = 0; again < 3; ++again) {
      const test::DeviceVector<T> a(caller.handles(), y), b(caller.handles(), y), c(caller.handles(), y);
      EXPECT_TRUE(solver.takes(Caller::of(second)));
      this->enqueue(solver, caller.device_queue(), from.get(), a.get());
      this->enqueue(beside, caller.device_queue(), from.get(), c.get());
      this->enqueue(solver, Caller::of(second), from.get(), b.get());
      this->enqueue(beside, Caller::of(second), from.get(), a.get());  // another queue, but a was waited for
      second.finish();
      EXPECT_EQ(a.values(), expected_beside);
      EXPECT_EQ(b.values(), expected);
      EXPECT_EQ(c.values(), expected_beside);
    }
  });
}

TYPED_TEST(Queues, ThatDoNotFitAreRefused) {
  using T = TypeParam;
  const Index n = 1000;
  const Bands<T> bands = test::random_dominant<T>(LineSet::one(n), 3);
  const std::vector<T> ones(n, T(1));
  TestFixture::with_every_transfer([&](const Options& options) {
    const Caller& caller = caller_of(options);
    Solver<T> solver(options);
    EXPECT_FALSE(solver.takes(caller.device_queue()));
    test::expect_refusal([&] { this->enqueue(solver, caller.device_queue(), nullptr, nullptr); }, "set_up");
    this->set_up(solver, bands, caller.device_queue());
    const test::DeviceVector<T> y(caller.handles(), ones), x(caller.handles(), ones);
    const auto refused = [&](const DeviceQueue& queue, const char* word) {
      SCOPED_TRACE(word);
      EXPECT_FALSE(solver.takes(queue));
      test::expect_refusal([&] { this->enqueue(solver, queue, y.get(), x.get()); }, word);
    };
    const auto vectors_with = [&](const DeviceQueue& queue) {
      Solver<T> another(options);
      this->set_up(another, bands, queue);
      return another.report().device.vectors;
    };
    const auto says = [&](const DeviceQueue& queue, const char* why) {
      const std::string vectors = vectors_with(queue);
      EXPECT_NE(vectors.find(why), std::string::npos) << vectors;
    };
    const Caller stranger(caller.queue().getInfo<CL_QUEUE_DEVICE>());
    refused(stranger.device_queue(), "another device or context");
    if (this->builds_quickly(options)) {
      EXPECT_EQ(vectors_with(stranger.device_queue()), "on the device, no copy");
    }
    refused({DeviceQueue::Kind::opencl, nullptr}, "null handle");
    says({DeviceQueue::Kind::opencl, nullptr}, "copied: the queue is a null handle");
    refused({DeviceQueue::Kind::cuda, nullptr}, "another run-time");
    const DeviceInfo& own = device_module(nullptr)->devices().at(std::stoul(options.devices));
    for (const DeviceInfo& info : device_module(nullptr)->devices()) {
      if (info.index == own.index) continue;
      Options of_it = options;
      of_it.devices = std::to_string(info.index);
      const DeviceQueue others = caller_of(of_it).device_queue();
      refused(others, "another device or context");
      if (info.physical != own.physical) says(others, "do not include");
    }
    cl_int error = CL_SUCCESS;
    const cl::CommandQueue out_of_order(clCreateCommandQueue(caller.context()(), caller.handles().device,
                                                             CL_QUEUE_OUT_OF_ORDER_EXEC_MODE_ENABLE, &error));
    if (error == CL_SUCCESS) {
      refused(Caller::of(out_of_order), "out of order");
      says(Caller::of(out_of_order), "copied: the queue takes commands out of order");
    }
    EXPECT_FALSE(solver.takes({}));
    this->expect_the_same(solver, caller, ones);
  });
}

TYPED_TEST(Queues, RefuseBuffersThatDoNotFit) {
  using T = TypeParam;
  const Index n = 1000;
  const Bands<T> bands = test::random_dominant<T>(LineSet::one(n), 3);
  const std::vector<T> ones(n, T(1)), few(n - 1, T(1));
  TestFixture::with_every_transfer([&](const Options& options) {
    const Caller& caller = caller_of(options);
    const DeviceQueue queue = caller.device_queue();
    Solver<T> solver(options), plain(options);
    this->set_up(solver, bands, queue);
    test::SolverFixture<T>::set_up(plain, bands);
    const DeviceHandles handles = caller.handles();
    const test::DeviceVector<T> y(handles, ones), x(handles, ones), small(handles, few),
        write_only(handles, ones, CL_MEM_WRITE_ONLY), read_only(handles, ones, CL_MEM_READ_ONLY),
        stranger(plain.device_handles(), ones);
    const auto refused = [&](cl_mem from, cl_mem to, const char* word) {
      test::expect_refusal([&] { this->enqueue(solver, queue, from, to); }, word);
    };
    refused(stranger.get(), x.get(), "another context");
    refused(y.get(), stranger.get(), "another context");
    refused(nullptr, x.get(), "null handle");
    refused(y.get(), nullptr, "null handle");
    refused(small.get(), x.get(), "bytes");
    refused(y.get(), small.get(), "bytes");
    refused(y.get(), y.get(), "overlap");
    refused(write_only.get(), x.get(), "WRITE_ONLY");
    refused(y.get(), read_only.get(), "READ_ONLY");
    this->enqueue(solver, queue, read_only.get(), write_only.get());
    EXPECT_EQ(write_only.values(), this->answer(solver, ones));
  });
}

TYPED_TEST(Queues, WantADeviceThatSolvesAllLines) {
  using T = TypeParam;
  // One singular line is a fallback line.
  const Index length = 50, count = 40;
  const Bands<T> good = test::random_dominant<T>(LineSet::equal(count, length), 3);
  Bands<T> bands = test::random_dominant<T>(LineSet::equal(count, length), 3);
  std::fill_n(bands.lower() + length, length, T(-1));
  std::fill_n(bands.upper() + length, length, T(-1));
  std::fill_n(bands.diag() + length, length, T(2));
  bands.diag()[length] = bands.diag()[2 * length - 1] = T(1);
  TestFixture::with_every_transfer([&](Options options) {
    const Caller& caller = caller_of(options);
    options.singular = Singular::pin;
    Solver<T> solver(options);
    this->set_up(solver, bands, caller.device_queue());
    ASSERT_FALSE(solver.report().groups.empty());
    EXPECT_FALSE(solver.takes(caller.device_queue()));
    EXPECT_EQ(solver.report().device.vectors, "copied: the host solves some lines");
    test::expect_refusal([&] { this->enqueue(solver, caller.device_queue(), nullptr, nullptr); }, "some lines");
    this->set_up(solver, good, caller.device_queue());
    this->expect_the_same(solver, caller, test::random_vector<T>(length * count));

    for (const MethodChoice method : {MethodChoice::pivot, MethodChoice::automatic}) {
      options.method = method;
      if (method == MethodChoice::automatic) options.devices = "host";
      Solver<T> on_host(options);
      this->set_up(on_host, good, caller.device_queue());
      EXPECT_FALSE(on_host.takes(caller.device_queue()));
      const std::string& vectors = on_host.report().device.vectors;
      EXPECT_NE(vectors.find(method == MethodChoice::pivot ? "the host solves" : "'host' do not include"),
                std::string::npos)
          << vectors;
    }
  });
}

TYPED_TEST(Queues, HaveAnswersInTheirOrder) {
  using T = TypeParam;
  const LineSet lines = LineSet::one(9001);
  const Bands<T> bands = test::random_dominant<T>(lines, 3);
  const std::vector<T> y = test::random_vector<T>(lines.extent());
  const std::size_t bytes = y.size() * sizeof(T);
  TestFixture::with_every_kind([&](const Options& options) {
    const Caller& caller = caller_of(options);
    Solver<T> solver(options);
    this->set_up(solver, bands, caller.device_queue());
    const std::vector<T> expected = this->answer(solver, y);
    const std::vector<T> nothing(y.size(), T(7));
    const test::DeviceVector<T> from(caller.handles(), nothing), to(caller.handles(), nothing);
    std::vector<T> x(y.size());
    {
      const Gate gate(caller);
      const cl_command_queue queue = caller.queue()();
      clEnqueueWriteBuffer(queue, from.get(), CL_FALSE, 0, bytes, y.data(), 0, nullptr, nullptr);
      this->enqueue(solver, caller.device_queue(), from.get(), to.get());
      clEnqueueReadBuffer(queue, to.get(), CL_FALSE, 0, bytes, x.data(), 0, nullptr, nullptr);
      clEnqueueWriteBuffer(queue, from.get(), CL_FALSE, 0, bytes, nothing.data(), 0, nullptr, nullptr);
      clFinish(queue);
    }
    EXPECT_EQ(x, expected);
  });
}

/// Two passes use the solver's own memory, by queues of their own.
TYPED_TEST(Queues, MayBeAtWorkWhenTheSolverIsUsedOtherwiseOrGoes) {
  using T = TypeParam;
  const LineSet lines = LineSet::one(9001);
  const Bands<T> bands = test::random_dominant<T>(lines, 1.5), others = test::random_dominant<T>(lines, 2);
  const std::vector<T> y = test::random_vector<T>(lines.extent()), ones(y.size(), T(1));
  TestFixture::with_every_kind([&](Options options) {
    for (const MethodChoice method : {MethodChoice::truncated_streamed, MethodChoice::exact_twopass}) {
      SCOPED_TRACE(name(method));
      options.method = method;
      const Caller& caller = caller_of(options);
      std::optional<Solver<T>> solver(options);
      this->set_up(*solver, bands, caller.device_queue());
      const std::vector<T> expected = this->answer(*solver, y), expected_ones = this->answer(*solver, ones);
      const test::DeviceVector<T> from(caller.handles(), y);
      const auto while_enqueued = [&](const char* what, const auto& work) {
        SCOPED_TRACE(what);
        const test::DeviceVector<T> to(caller.handles(), ones);
        {
          const Gate gate(caller);
          this->enqueue(*solver, caller.device_queue(), from.get(), to.get());
          work();
        }
        EXPECT_EQ(to.values(), expected);
      };
      while_enqueued("apply", [&] { EXPECT_EQ(this->answer(*solver, ones), expected_ones); });
      while_enqueued("another set-up", [&] { this->set_up(*solver, others, caller.device_queue()); });
      EXPECT_NE(this->answer(*solver, y), expected);
      this->expect_the_same(*solver, caller, y);
      this->set_up(*solver, bands, caller.device_queue());
      while_enqueued("other bands", [&] {
        Bands<T>& taken = solver->bands(lines);
        std::fill_n(taken.diag(), lines.extent(), T(9));
        solver->set_up({.queue = caller.device_queue()});
      });
      this->set_up(*solver, bands, caller.device_queue());
      while_enqueued("destruction", [&] { solver.reset(); });
    }
  });
}

TYPED_TEST(Queues, PassNaNOnAsVectorsOfTheHostDo) {
  using T = TypeParam;
  constexpr T kNaN = std::numeric_limits<T>::quiet_NaN();
  for (const LineSet& lines : {LineSet::one(9001), LineSet::equal(91, 101), LineSet::grid_axis(1, 37, 60, 3)}) {
    SCOPED_TRACE(lines.describe());
    const Bands<T> bands = test::random_dominant<T>(lines, 3);
    std::vector<T> y = test::random_vector<T>(lines.extent());
    y[y.size() / 3] = kNaN;
    y[y.size() / 2] = std::numeric_limits<T>::infinity();
    TestFixture::with_every_kind([&](const Options& options) {
      const Caller& caller = caller_of(options);
      Solver<T> solver(options);
      this->set_up(solver, bands, caller.device_queue());
      const std::vector<T> expected = this->answer(solver, y);
      const test::DeviceVector<T> from(caller.handles(), y), to(caller.handles(), y);
      this->enqueue(solver, caller.device_queue(), from.get(), to.get());
      const std::vector<T> x = to.values();
      EXPECT_TRUE(std::isnan(x[x.size() / 3]));
      for (std::size_t i = 0; i < x.size(); ++i) {
        ASSERT_TRUE(x[i] == expected[i] || (std::isnan(x[i]) && std::isnan(expected[i]))) << i;
      }
    });
  }
}

TYPED_TEST(Queues, AreLostWithADeviceThatFails) {
  using T = TypeParam;
  const test::Faults faults;
  const Bands<T> bands = test::random_dominant<T>(LineSet::one(3001), 3);
  const std::vector<T> ones(3001, T(1));
  TestFixture::with_every_transfer([&](Options options) {
    options.on_device_failure = OnDeviceFailure::quiet;
    const Caller& caller = caller_of(options);
    Solver<T> solver(options);
    this->set_up(solver, bands, caller.device_queue());
    const test::DeviceVector<T> y(caller.handles(), ones), x(caller.handles(), ones);
    test::Faults::at(ocl::Place::launch, -1);
    EXPECT_THROW(this->enqueue(solver, caller.device_queue(), y.get(), x.get()), DeviceError);
    test::Faults::none();
    EXPECT_EQ(y.values(), ones);
    this->set_up(solver, bands, caller.device_queue());
    EXPECT_FALSE(solver.takes(caller.device_queue()));
    EXPECT_NE(solver.report().device.vectors.find("failed"), std::string::npos) << solver.report().device.vectors;
    EXPECT_LE(this->backward_error(solver, bands), 100);
    Solver<T> another(options);
    this->set_up(another, bands, caller.device_queue());
    this->expect_the_same(another, caller, ones);
  });
}

class Contexts : public Queues<double> {
 protected:
  /// PoCL's threads hold on to the last command for a moment.
  static cl_uint references_of(const Caller& caller, cl_uint expected) {
    for (int look = 0; look < 100 && caller.references() != expected; ++look) {
      std::this_thread::sleep_for(std::chrono::milliseconds(10));
    }
    return caller.references();
  }
};

TEST_F(Contexts, AreForgottenWithTheDevices) {
  using T = double;
  const LineSet lines = LineSet::one(3001);
  const Bands<T> bands = test::random_dominant<T>(lines, 3);
  const std::vector<T> y = test::random_vector<T>(lines.extent());
  with_every_transfer([&](Options options) {
    if (!builds_quickly(options) && (options.transfer == Transfer::automatic || options.variant == "cpu")) return;
    options.method = MethodChoice::truncated_halo;
    const Caller caller(caller_of(options).queue().getInfo<CL_QUEUE_DEVICE>());
    const cl_uint references = caller.references();
    for (const OnDeviceFailure on_failure : {OnDeviceFailure::quiet, OnDeviceFailure::error}) {
      if (on_failure == OnDeviceFailure::quiet && !builds_quickly(options)) continue;
      options.on_device_failure = on_failure;
      Solver<T> solver(options);
      set_up(solver, bands, caller.device_queue());
      std::vector<T> expected;
      {
        const test::DeviceVector<T> from(caller.handles(), y), to(caller.handles(), y);
        expected = answer(solver, y);
        enqueue(solver, caller.device_queue(), from.get(), to.get());
        EXPECT_GT(caller.references(), references);
        release_devices();
        EXPECT_EQ(to.values(), expected);
        EXPECT_FALSE(solver.takes(caller.device_queue()));
        EXPECT_THROW(enqueue(solver, caller.device_queue(), from.get(), to.get()), DeviceError);
      }
      EXPECT_EQ(references_of(caller, references), references);
      if (on_failure == OnDeviceFailure::error) {
        EXPECT_THROW(answer(solver, y), DeviceError);
      } else {
        EXPECT_LE(backward_error(solver, bands), 100);
      }
      EXPECT_EQ(references_of(caller, references), references);
      Solver<T> anew(options);
      set_up(anew, bands, caller.device_queue());
      expect_the_same(anew, caller, y);
      EXPECT_EQ(answer(anew, y), expected);
    }
    release_devices();
    EXPECT_EQ(references_of(caller, references), references);
  });
}

/// The registry has places for 64 at once.
TEST_F(Contexts, MayBeManyOneAfterTheOtherButNotAtOnce) {
  const LineSet lines = LineSet::one(500);
  const Bands<double> bands = test::random_dominant<double>(lines, 3);
  const std::vector<double> y = test::random_vector<double>(lines.extent());
  Options options;
  options.devices = "0";
  options.method = MethodChoice::truncated_halo;
  const auto device = caller_of(options).queue().getInfo<CL_QUEUE_DEVICE>();
  for (int i = 0; i < 70; ++i) {
    const Caller caller(device);
    Solver<double> solver(options);
    set_up(solver, bands, caller.device_queue());
    expect_the_same(solver, caller, y);
  }
  std::vector<std::unique_ptr<Caller>> callers;
  std::vector<Solver<double>> solvers;
  std::string vectors;
  for (int i = 0; i < 65 && vectors.find("copied") == std::string::npos; ++i) {
    callers.push_back(std::make_unique<Caller>(device));
    solvers.emplace_back(options);
    set_up(solvers.back(), bands, callers.back()->device_queue());
    vectors = solvers.back().report().device.vectors;
  }
  EXPECT_NE(vectors.find("too many contexts"), std::string::npos) << vectors;
  EXPECT_LE(backward_error(solvers.back(), bands), 100);
  const std::size_t count = solvers.size() - 1;
  EXPECT_GT(count, 50U);
  expect_the_same(solvers[count - 1], *callers[count - 1], y);
  solvers.erase(solvers.begin());
  set_up(solvers.back(), bands, callers.back()->device_queue());
  expect_the_same(solvers.back(), *callers.back(), y);
  solvers.clear();
  release_devices();
}

}  // namespace
}  // namespace oclspkt
