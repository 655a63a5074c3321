// SPDX-License-Identifier: BSD-2-Clause
// Which queues and buffers of a caller a solver takes, and how it refuses the others.
#include "faults.hpp"
#include "queues.hpp"

namespace oclspkt::test {
namespace {

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

}  // namespace
}  // namespace oclspkt::test
