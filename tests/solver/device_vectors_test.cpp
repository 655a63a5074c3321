// SPDX-License-Identifier: BSD-2-Clause
// Vectors in buffers of the device that solves.
#include "faults.hpp"
#include "vectors_on_devices.hpp"

namespace oclspkt::test {
namespace {

template <typename T>
class DeviceVectors : public SolverFixture<T> {
 protected:
  static void expect_the_same(Solver<T>& solver, const std::vector<T>& y) {
    const DeviceHandles handles = solver.device_handles();
    ASSERT_TRUE(handles);
    expect_bits_of_the_host(solver, handles, y, [&](cl_mem from, cl_mem to) { solver.apply_on_device(from, to); });
  }
  /// @return the shape of the kernels
  static std::string expect_the_same(const Options& options, const RandomSystem<T>& system) {
    Solver<T> solver(options);
    DeviceVectors::set_up(solver, system.bands);
    EXPECT_NE(solver.report().device.name, "host");
    expect_the_same(solver, system.y);
    return solver.report().shape;
  }

  /// Call f(options) for each device and transfer, with its own kernels and those for GPUs.
  template <typename F>
  static void with_every_kind(const F& f) {
    with_every_transfer([&](const Options& options) { with_variants(options, {options.variant, "gpu"}, f); });
  }
};

SCALAR_TEST(DeviceVectors, AreTimedByTheDeviceWhereThatIsAskedFor) {
  const RandomSystem<T> system(LineSet::one(9001), 3);
  this->with_every_kind([&](Options options) {
    for (const bool asked : {false, true}) {
      options.use.kernel_times = asked;
      Solver<T> solver = test::solver_for(system.bands, options);
      this->expect_the_same(solver, system.y);
      EXPECT_GT(solver.times().kernel_seconds, 0);
      cl_command_queue_properties queue = 0;
      clGetCommandQueueInfo(solver.device_handles().queue, CL_QUEUE_PROPERTIES, sizeof queue, &queue, nullptr);
      const bool times = (queue & CL_QUEUE_PROFILING_ENABLE) != 0;
      if (asked || options.variant == "gpu") {
        EXPECT_EQ(times, asked);
      }
    }
  });
}

SCALAR_TEST(DeviceVectors, GiveTheBitsOfVectorsOnTheHost) {
  with_systems<T>(sets_of_every_layout(), 3, [&](const auto& system) {
    this->with_every_kind([&](const Options& kind) {
      with_methods(kind, methods_for(system.lines, kind),
                   [&](const Options& options) { this->expect_the_same(options, system); });
    });
  });
}

SCALAR_TEST(DeviceVectors, MayBelongToASystemLargerThanTheRestOfTheMemory) {
  const RandomSystem<T> system(LineSet::one(200'003), 3);
  this->with_every_kind([&](Options kind) {
    kind.use.device_memory = system.bands.bytes() / 4;
    with_methods(kind, kMethodsInChunks, [&](const Options& options) { this->expect_the_same(options, system); });
  });
}

SCALAR_TEST(DeviceVectors, MayBePartsOfBuffers) {
  const Bands<T> bands = random_dominant<T>(LineSet::one(4096), 3);
  with_every_transfer([&](const Options& options) {
    Solver<T> solver = test::solver_for(bands, options);
    expect_parts_taken(solver, solver.device_handles(), [&](cl_mem y, cl_mem x) { solver.apply_on_device(y, x); });
  });
}

SCALAR_TEST(DeviceVectors, ThatDoNotFitAreRefusedByNameAndCure) {
  const Bands<T> bands = random_dominant<T>(LineSet::one(1000), 3);
  with_every_transfer([&](const Options& options) {
    Solver<T> solver(options);
    expect_refusal([&] { solver.apply_on_device(nullptr, nullptr); }, "set_up");
    EXPECT_FALSE(solver.device_handles());
    this->set_up(solver, bands);
    const Caller stranger(cl::Device(solver.device_handles().device));
    expect_unfit_refused(solver, solver.device_handles(), stranger.handles(),
                         [&](cl_mem y, cl_mem x) { solver.apply_on_device(y, x); });
  });
}

SCALAR_TEST(DeviceVectors, WantADeviceThatSolves) {
  Solver<T> on_host = test::solver_for(random_dominant<T>(LineSet::one(100), 3), {.devices = "host"});
  EXPECT_FALSE(on_host.device_handles());
  expect_refusal([&] { on_host.apply_on_device(nullptr, nullptr); }, "host");
  const Bands<T> bands = with_a_singular_line<T>();
  with_every_transfer([&](Options options) {
    options.singular = Singular::pin;
    Solver<T> solver = test::solver_for(bands, options);
    ASSERT_FALSE(solver.report().groups.empty());
    expect_refusal([&] { solver.apply_on_device(nullptr, nullptr); }, "fallback line");
  });
}

SCALAR_TEST(DeviceVectors, AreLostWithADeviceThatFails) {
  const Faults faults;
  const Bands<T> bands = random_dominant<T>(LineSet::one(3001), 3);
  const std::vector<T> ones(3001, T(1));
  with_every_transfer([&](Options options) {
    for (const OnDeviceFailure on_failure : {OnDeviceFailure::quiet, OnDeviceFailure::error}) {
      options.on_device_failure = on_failure;
      Solver<T> solver = test::solver_for(bands, options);
      const std::string device = solver.report().device.name;
      {
        const DeviceVector<T> y(solver.device_handles(), ones), x(solver.device_handles(), ones);
        for (const ocl::Place place : {ocl::Place::argument, ocl::Place::launch, ocl::Place::wait}) {
          Faults::at(place, std::stoi(options.devices));
          EXPECT_THROW(solver.apply_on_device(y.get(), x.get()), DeviceError) << ocl::name(place);
          Faults::none();
          EXPECT_EQ(y.values(), ones);
        }
      }
      EXPECT_LE(this->backward_error(solver, bands), 100);
      this->set_up(solver, bands);
      EXPECT_EQ(solver.report().device.name, on_failure == OnDeviceFailure::error ? device : "host");
      EXPECT_EQ(solver.report().losses, on_failure == OnDeviceFailure::error ? 0U : 1U);
      EXPECT_LE(this->backward_error(solver, bands), 100);
    }
  });
}

}  // namespace
}  // namespace oclspkt::test
