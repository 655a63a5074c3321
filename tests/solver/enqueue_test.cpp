// SPDX-License-Identifier: BSD-2-Clause
// Vectors in buffers of a context that the caller made, solved by a queue of the caller.
#include <chrono>
#include <optional>
#include <thread>

#include "faults.hpp"
#include "queues.hpp"

namespace oclspkt::test {
namespace {

SCALAR_TEST(Queues, OfAForeignContextGiveTheBitsOfVectorsOnTheHost) {
  with_systems<T>(sets_of_every_layout(), 3, [&](const auto& system) {
    this->with_every_kind([&](const Options& kind) {
      with_methods(kind, methods_for(system.lines, kind), [&](const Options& options) {
        const bool two_passes = options.method == MethodChoice::exact_twopass && system.lines.count() == 1;
        const bool seldom = options.method != MethodChoice::automatic && !two_passes;
        if (builds_quickly(options) || !seldom) this->expect_the_same(options, system);
      });
    });
  });
}

SCALAR_TEST(Queues, SolveByTheOperatorOfASolverWithoutAQueue) {
  with_systems<T>({LineSet::one(9001), LineSet::grid_axis(1, 37, 60, 3)}, 3, [&](const auto& system) {
    this->with_every_kind([&](const Options& options) {
      if (!builds_quickly(options) && system.lines.count() > 1) return;
      const DeviceQueue queue = caller_of(options).device_queue();
      Solver<T> without(options), with(options);
      this->set_up(without, system.bands);
      this->set_up(with, system.bands, queue);
      EXPECT_EQ(answer(with, system.y), answer(without, system.y));
      EXPECT_TRUE(without.report().device.vectors.empty());
      expect_refusal([&] { this->enqueue(without, queue, nullptr, nullptr); }, "told of no queue");
    });
  });
}

SCALAR_TEST(Queues, ServeASystemLargerThanTheRestOfTheMemory) {
  const RandomSystem<T> system(LineSet::one(200'003), 3);
  this->with_every_kind([&](Options kind) {
    kind.use.device_memory = system.bands.bytes() / 4;
    with_methods(kind, kMethodsInChunks, [&](const Options& options) {
      if (!builds_quickly(options) && options.method == MethodChoice::truncated_halo) return;
      this->expect_the_same(options, system);
    });
  });
}

SCALAR_TEST(Queues, ServeTheTransposedSystem) {
  with_systems<T>({LineSet::one(3001), LineSet::grid_axis(1, 37, 60, 3)}, 30, [&](const auto& system) {
    this->with_every_kind([&](const Options& options) {
      const Caller& caller = caller_of(options);
      const DeviceQueue queue = caller.device_queue();
      Solver<T> solver(options);
      EXPECT_FALSE(solver.takes_transpose(queue));
      expect_refusal([&] { solver.apply_transpose(nullptr, nullptr, {Place::Kind::queue, queue}); }, "set_up");
      this->set_up(solver, system.bands, queue);
      EXPECT_FALSE(solver.takes_transpose(queue)) << "a question sets nothing up";
      solver.set_up_transpose();
      ASSERT_TRUE(solver.takes_transpose(queue));
      std::vector<T> expected(system.y.size());
      solver.apply_transpose(system.y.data(), expected.data());
      const DeviceVector<T> from(caller.handles(), system.y), to(caller.handles(), system.y);
      solver.apply_transpose(reinterpret_cast<const T*>(from.get()), reinterpret_cast<T*>(to.get()),
                             {Place::Kind::queue, queue});
      EXPECT_EQ(to.values(), expected);
      EXPECT_NE(expected, answer(solver, system.y));
    });
  });
}

SCALAR_TEST(Queues, TakeMemoryOfTheHostThatIsNotAligned) {
  with_systems<T>({LineSet::one(3001), LineSet::strided(50, 40, 33, 1, 2, 50 * 40)}, 3, [&](const auto& system) {
    const std::vector<T>& y = system.y;
    const auto extent = static_cast<Index>(y.size());
    const std::size_t bytes = y.size() * sizeof(T);
    this->with_every_kind([&](const Options& options) {
      const Caller& caller = caller_of(options);
      Solver<T> solver = test::solver_for(system.bands, options, {.queue = caller.device_queue()});
      AlignedArray<T> memory(2 * (extent + 1));
      T *from = memory.data() + 1, *to = from + extent;
      std::copy(y.begin(), y.end(), from);
      std::fill_n(to, extent, T(7));
      cl_int error = CL_SUCCESS;
      constexpr cl_mem_flags kFlags = CL_MEM_READ_WRITE | CL_MEM_USE_HOST_PTR;
      const cl::Buffer y_there(clCreateBuffer(caller.context()(), kFlags, bytes, from, &error));
      ASSERT_EQ(error, CL_SUCCESS);
      const cl::Buffer x_there(clCreateBuffer(caller.context()(), kFlags, bytes, to, &error));
      ASSERT_EQ(error, CL_SUCCESS);
      this->enqueue(solver, caller.device_queue(), y_there(), x_there());
      std::vector<T> x(y.size());
      caller.queue().enqueueReadBuffer(x_there, CL_TRUE, 0, bytes, x.data());
      EXPECT_EQ(x, answer(solver, y));
    });
  });
}

// Which queues and buffers of a caller a solver takes, and how it refuses the others.

SCALAR_TEST(Queues, TakeOneColumnAtATime) {
  const Bands<T> bands = random_dominant<T>(LineSet::one(1000), 3);
  const std::vector<T> ones(2000, T(1));
  this->with_every_transfer([&](const Options& options) {
    const Caller& caller = caller_of(options);
    Solver<T> solver = test::solver_for(bands, options, {.queue = caller.device_queue()});
    const DeviceVector<T> y(caller.handles(), ones), x(caller.handles(), ones);
    const auto enqueue = [&](int columns) {
      solver.enqueue(caller.device_queue(), y.get(), 1000, x.get(), 1000, columns);
    };
    enqueue(0);
    EXPECT_EQ(x.values(), ones);
    expect_refusal([&] { enqueue(2); }, "one column");
    expect_refusal([&] { enqueue(-1); }, "columns");
  });
}

SCALAR_TEST(Queues, TakePartsOfBuffers) {
  const Bands<T> bands = random_dominant<T>(LineSet::one(4096), 3);
  this->with_every_kind([&](const Options& options) {
    const Caller& caller = caller_of(options);
    Solver<T> solver = test::solver_for(bands, options, {.queue = caller.device_queue()});
    expect_parts_taken(solver, caller.handles(),
                       [&](cl_mem y, cl_mem x) { this->enqueue(solver, caller.device_queue(), y, x); });
  });
}

SCALAR_TEST(Queues, RefuseBuffersThatDoNotFit) {
  const Bands<T> bands = random_dominant<T>(LineSet::one(1000), 3);
  this->with_every_transfer([&](const Options& options) {
    const Caller& caller = caller_of(options);
    Solver<T> solver(options), plain(options);
    this->set_up(solver, bands, caller.device_queue());
    this->set_up(plain, bands);
    expect_unfit_refused(solver, caller.handles(), plain.device_handles(),
                         [&](cl_mem y, cl_mem x) { this->enqueue(solver, caller.device_queue(), y, x); });
  });
}

SCALAR_TEST(Queues, ThatDoNotFitAreRefused) {
  const Index n = 1000;
  const Bands<T> bands = random_dominant<T>(LineSet::one(n), 3);
  const std::vector<T> ones(n, T(1));
  this->with_every_transfer([&](const Options& options) {
    const Caller& caller = caller_of(options);
    Solver<T> solver(options);
    EXPECT_FALSE(solver.takes(caller.device_queue()));
    expect_refusal([&] { this->enqueue(solver, caller.device_queue(), nullptr, nullptr); }, "set_up");
    this->set_up(solver, bands, caller.device_queue());
    const DeviceVector<T> y(caller.handles(), ones), x(caller.handles(), ones);
    const auto refused = [&](const DeviceQueue& queue, const char* word) {
      SCOPED_TRACE(word);
      EXPECT_FALSE(solver.takes(queue));
      expect_refusal([&] { this->enqueue(solver, queue, y.get(), x.get()); }, word);
    };
    const auto vectors_with = [&](const DeviceQueue& queue) {
      Solver<T> another = test::solver_for(bands, options, {.queue = queue});
      return another.report().device.vectors;
    };
    const auto says = [&](const DeviceQueue& queue, const char* why) {
      const std::string vectors = vectors_with(queue);
      EXPECT_NE(vectors.find(why), std::string::npos) << vectors;
    };
    const Caller stranger(caller.queue().getInfo<CL_QUEUE_DEVICE>());
    refused(stranger.device_queue(), "another device or context");
    if (builds_quickly(options)) {
      EXPECT_EQ(vectors_with(stranger.device_queue()), "on the device, no copy");
    }
    refused({DeviceQueue::Kind::opencl, nullptr}, "null handle");
    says({DeviceQueue::Kind::opencl, nullptr}, "copied: the queue is a null handle");
    refused({DeviceQueue::Kind::cuda, nullptr}, "another run-time");
    const DeviceInfo& own = device_of(options);
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

SCALAR_TEST(Queues, WantADeviceThatSolvesAllLines) {
  const Bands<T> bands = with_a_singular_line<T>();
  const RandomSystem<T> good(bands.lines(), 3);
  this->with_every_transfer([&](Options options) {
    const Caller& caller = caller_of(options);
    options.singular = Singular::pin;
    Solver<T> solver = test::solver_for(bands, options, {.queue = caller.device_queue()});
    ASSERT_FALSE(solver.report().groups.empty());
    EXPECT_FALSE(solver.takes(caller.device_queue()));
    EXPECT_EQ(solver.report().device.vectors, "copied: the host solves some lines");
    expect_refusal([&] { this->enqueue(solver, caller.device_queue(), nullptr, nullptr); }, "some lines");
    this->set_up(solver, good.bands, caller.device_queue());
    this->expect_the_same(solver, caller, good.y);

    const auto copied = [&](const Options& otherwise, const char* why) {
      Solver<T> on_host = test::solver_for(good.bands, otherwise, {.queue = caller.device_queue()});
      EXPECT_FALSE(on_host.takes(caller.device_queue()));
      const std::string& vectors = on_host.report().device.vectors;
      EXPECT_NE(vectors.find(why), std::string::npos) << vectors;
    };
    options.method = MethodChoice::pivot;
    copied(options, "the host solves");
    options.method = MethodChoice::automatic;
    options.devices = "host";
    copied(options, "'host' do not include");
  });
}

SCALAR_TEST(Queues, AreLostWithADeviceThatFails) {
  const Faults faults;
  const Bands<T> bands = random_dominant<T>(LineSet::one(3001), 3);
  const std::vector<T> ones(3001, T(1));
  this->with_every_transfer([&](Options options) {
    options.on_device_failure = OnDeviceFailure::quiet;
    const Caller& caller = caller_of(options);
    Solver<T> solver = test::solver_for(bands, options, {.queue = caller.device_queue()});
    const DeviceVector<T> y(caller.handles(), ones), x(caller.handles(), ones);
    Faults::at(ocl::Place::launch, -1);
    EXPECT_THROW(this->enqueue(solver, caller.device_queue(), y.get(), x.get()), DeviceError);
    Faults::none();
    EXPECT_EQ(y.values(), ones);
    this->set_up(solver, bands, caller.device_queue());
    EXPECT_FALSE(solver.takes(caller.device_queue()));
    EXPECT_NE(solver.report().device.vectors.find("failed"), std::string::npos) << solver.report().device.vectors;
    EXPECT_LE(this->backward_error(solver, bands), 100);
    Solver<T> another = test::solver_for(bands, options, {.queue = caller.device_queue()});
    this->expect_the_same(another, caller, ones);
  });
}

// Queues of a caller: the order of commands, and how long solvers, queues and contexts live.

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

SCALAR_TEST(Queues, HaveAnswersInTheirOrder) {
  const LineSet lines = LineSet::one(9001);
  const Bands<T> bands = random_dominant<T>(lines, 3);
  const std::vector<T> y = random_vector<T>(lines.extent());
  const std::size_t bytes = y.size() * sizeof(T);
  this->with_every_kind([&](const Options& options) {
    const Caller& caller = caller_of(options);
    Solver<T> solver = test::solver_for(bands, options, {.queue = caller.device_queue()});
    const std::vector<T> expected = answer(solver, y);
    const std::vector<T> nothing(y.size(), T(7));
    const DeviceVector<T> from(caller.handles(), nothing), to(caller.handles(), nothing);
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

SCALAR_TEST(Queues, OfOneContextMayTakeTurnsAndServeSeveralSolvers) {
  const LineSet lines = LineSet::one(20'011);
  const Bands<T> one = random_dominant<T>(lines, 3, 1), other = random_dominant<T>(lines, 5, 2);
  const std::vector<T> y = random_vector<T>(lines.extent());
  this->with_every_kind([&](const Options& options) {
    const Caller& caller = caller_of(options);
    const cl::CommandQueue second = caller.make_queue(CL_QUEUE_PROFILING_ENABLE);
    Solver<T> solver(options), beside(options);
    this->set_up(solver, one, caller.device_queue());
    this->set_up(beside, other, Caller::of(second));
    const std::vector<T> expected = answer(solver, y), expected_beside = answer(beside, y);
    const DeviceVector<T> from(caller.handles(), y);
    for (int again = 0; again < 3; ++again) {
      const DeviceVector<T> a(caller.handles(), y), b(caller.handles(), y), c(caller.handles(), y);
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

/// Two passes use the solver's own memory, by queues of their own.
SCALAR_TEST(Queues, MayBeAtWorkWhenTheSolverIsUsedOtherwiseOrGoes) {
  const LineSet lines = LineSet::one(9001);
  const Bands<T> bands = random_dominant<T>(lines, 1.5), others = random_dominant<T>(lines, 2);
  const std::vector<T> y = random_vector<T>(lines.extent()), ones(y.size(), T(1));
  this->with_every_kind([&](const Options& kind) {
    with_methods(kind, {MethodChoice::truncated_streamed, MethodChoice::exact_twopass}, [&](const Options& options) {
      const Caller& caller = caller_of(options);
      std::optional<Solver<T>> solver(options);
      this->set_up(*solver, bands, caller.device_queue());
      const std::vector<T> expected = answer(*solver, y), expected_ones = answer(*solver, ones);
      const DeviceVector<T> from(caller.handles(), y);
      const auto while_enqueued = [&](const char* what, const auto& work) {
        SCOPED_TRACE(what);
        const DeviceVector<T> to(caller.handles(), ones);
        {
          const Gate gate(caller);
          this->enqueue(*solver, caller.device_queue(), from.get(), to.get());
          work();
        }
        EXPECT_EQ(to.values(), expected);
      };
      while_enqueued("apply", [&] { EXPECT_EQ(answer(*solver, ones), expected_ones); });
      while_enqueued("another set-up", [&] { this->set_up(*solver, others, caller.device_queue()); });
      EXPECT_NE(answer(*solver, y), expected);
      this->expect_the_same(*solver, caller, y);
      this->set_up(*solver, bands, caller.device_queue());
      while_enqueued("other bands", [&] {
        Bands<T>& taken = solver->bands(lines);
        std::fill_n(taken.diag(), lines.extent(), T(9));
        solver->set_up({.queue = caller.device_queue()});
      });
      this->set_up(*solver, bands, caller.device_queue());
      while_enqueued("destruction", [&] { solver.reset(); });
    });
  });
}

class Contexts : public Queues<double> {
 protected:
  /// PoCL's threads hold on to the last command for a moment.
  static cl_uint references_of(const Caller& caller, cl_uint expected) {
    for (int look = 0; look < 1000 && caller.references() != expected; ++look) {
      std::this_thread::sleep_for(std::chrono::milliseconds(10));
    }
    return caller.references();
  }
};

TEST_F(Contexts, AreForgottenWithTheDevices) {
  using T = double;
  const LineSet lines = LineSet::one(3001);
  const Bands<T> bands = random_dominant<T>(lines, 3);
  const std::vector<T> y = random_vector<T>(lines.extent());
  with_every_transfer([&](Options options) {
    if (!builds_quickly(options) && (options.use.transfer == Transfer::automatic || options.variant == "cpu")) return;
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
        const DeviceVector<T> from(caller.handles(), y), to(caller.handles(), y);
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
  const Bands<double> bands = random_dominant<double>(lines, 3);
  const std::vector<double> y = random_vector<double>(lines.extent());
  Options options{.devices = "0", .method = MethodChoice::truncated_halo};
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
}  // namespace oclspkt::test
