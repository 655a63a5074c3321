// SPDX-License-Identifier: BSD-2-Clause
#pragma once

#include <map>
#include <memory>

#include "vectors_on_devices.hpp"

// Solvers that are told of a caller's queue.
namespace oclspkt::test {

/// A caller for the device that options name; one for all tests, so that kernels are built once.
inline const Caller& caller_of(const Options& options) {
  static auto* callers = new std::map<std::string, std::unique_ptr<Caller>>;  // contexts outlive static destructors
  std::unique_ptr<Caller>& caller = (*callers)[options.devices];
  if (!caller) caller = std::make_unique<Caller>(device_like(device_of(options)));
  return *caller;
}

/// Whether the device builds kernels within milliseconds. Intel's run-times take a second for some, in every context
/// anew; what the host does is the same for every device.
inline bool builds_quickly(const Options& options) {
  return device_of(options).platform.find("Portable") != std::string::npos;
}

template <typename T>
class Queues : public SolverFixture<T> {
 protected:
  using SolverFixture<T>::set_up;
  static void set_up(Solver<T>& solver, const Bands<T>& bands, const DeviceQueue& queue) {
    set_up(solver, bands, {.queue = queue});
  }

  static void enqueue(Solver<T>& solver, const DeviceQueue& queue, cl_mem y, cl_mem x) {
    solver.enqueue(queue, y, 0, x, 0, 1);
  }

  static void expect_the_same(Solver<T>& solver, const Caller& caller, const std::vector<T>& y) {
    const DeviceQueue queue = caller.device_queue();
    ASSERT_TRUE(solver.takes(queue)) << solver.report().device.vectors;
    EXPECT_EQ(solver.report().device.vectors, "on the device, no copy");
    expect_bits_of_the_host(solver, caller.handles(), y,
                            [&](cl_mem from, cl_mem to) { enqueue(solver, queue, from, to); });
  }
  static void expect_the_same(const Options& options, const RandomSystem<T>& system) {
    Solver<T> solver(options);
    set_up(solver, system.bands, caller_of(options).device_queue());
    expect_the_same(solver, caller_of(options), system.y);
  }

  /// Call f(options) for each device and transfer; the slow ones in double alone.
  template <typename F>
  static void with_every_transfer(const F& f) {
    test::with_every_transfer([&](const Options& options) {
      if (builds_quickly(options) || sizeof(T) == sizeof(double)) f(options);
    });
  }

  /// The same, and kernels for GPUs where they are built quickly.
  template <typename F>
  static void with_every_kind(const F& f) {
    with_every_transfer([&](const Options& options) {
      f(options);
      if (builds_quickly(options)) with_variants(options, {"gpu"}, f);
    });
  }
};

}  // namespace oclspkt::test
