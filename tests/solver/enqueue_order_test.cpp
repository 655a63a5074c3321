// SPDX-License-Identifier: BSD-2-Clause
// Queues of a caller: the order of commands, and how long solvers, queues and contexts live.
#include <chrono>
#include <optional>
#include <thread>

#include "queues.hpp"

namespace oclspkt::test {
namespace {

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
    for (int look = 0; look < 100 && caller.references() != expected; ++look) {
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
