// SPDX-License-Identifier: BSD-2-Clause
// Vectors in buffers of the device that solves.
#include <limits>

#include "every_device.hpp"
#include "faults.hpp"
#include "opencl_vectors.hpp"
#include "solver_fixture.hpp"

namespace oclspkt {
namespace {

template <typename T>
class DeviceVectors : public test::SolverFixture<T> {
 protected:
  static constexpr MethodChoice kMethods[] = {MethodChoice::automatic, MethodChoice::truncated_halo,
                                              MethodChoice::truncated_streamed, MethodChoice::exact_twopass,
                                              MethodChoice::exact_factored};

  /// The answer for y with vectors on the device is that for vectors of the host, to the bit, and what is in no line
  /// stays.
  static void expect_the_same(Solver<T>& solver, const std::vector<T>& y) {
    std::vector<T> expected(y.size(), T(7));
    const std::vector<T> nothing = expected;
    solver.apply(y.data(), expected.data());
    const DeviceHandles handles = solver.device_handles();
    ASSERT_TRUE(handles);
    const test::DeviceVector<T> from(handles, y), to(handles, nothing);
    const Times before = solver.times();
    for (int again = 0; again < 2; ++again) {
      solver.apply_on_device(from.get(), to.get());
      EXPECT_EQ(to.values(), expected);
    }
    const Times spent = solver.times() - before;
    EXPECT_EQ(spent.applies, 2);
    EXPECT_EQ(spent.bytes_from_device, 0);
    EXPECT_EQ(from.values(), y);
  }

  /// Call f for each device, transfer and kernels.
  template <typename F>
  static void with_every_kind(const F& f) {
    test::with_every_transfer([&](Options options) {
      for (const std::string& variant : {options.variant, std::string("gpu")}) {
        SCOPED_TRACE("variant " + variant);
        options.variant = variant;
        f(options);
      }
    });
  }
};
using Scalars = ::testing::Types<float, double>;
TYPED_TEST_SUITE(DeviceVectors, Scalars);

TYPED_TEST(DeviceVectors, AreTimedByTheDeviceWhereThatIsAskedFor) {
  using T = TypeParam;
  const LineSet lines = LineSet::one(9001);
  const Bands<T> bands = test::random_dominant<T>(lines, 3);
  const std::vector<T> y = test::random_vector<T>(lines.extent());
  TestFixture::with_every_kind([&](Options options) {
    for (const bool asked : {false, true}) {
      options.kernel_times = asked;
      Solver<T> solver(options);
      this->set_up(solver, bands);
      this->expect_the_same(solver, y);
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

TYPED_TEST(DeviceVectors, GiveTheBitsOfVectorsOnTheHost) {
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
        const bool for_gpus = options.variant == "gpu";
        if (for_gpus && lines.contiguous() && method == MethodChoice::exact_factored) continue;
        SCOPED_TRACE(name(method));
        options.method = method;
        Solver<T> solver(options);
        this->set_up(solver, bands);
        ASSERT_NE(solver.report().device.name, "host");
        this->expect_the_same(solver, y);
      }
    });
  }
}

TYPED_TEST(DeviceVectors, InThePapersFormGiveTheSameBits) {
  using T = TypeParam;
  for (const LineSet& lines : {LineSet::one(9001), LineSet::equal(91, 101)}) {
    SCOPED_TRACE(lines.describe());
    const Bands<T> bands = test::random_dominant<T>(lines, 3);
    const std::vector<T> y = test::random_vector<T>(lines.extent());
    test::with_every_transfer([&](Options options) {
      for (const char* variant : {"paper", "paper-gpu"}) {
        SCOPED_TRACE(std::string("variant ") + variant);
        options.variant = variant;
        Solver<T> solver(options);
        this->set_up(solver, bands);
        this->expect_the_same(solver, y);
      }
    });
  }
}

TYPED_TEST(DeviceVectors, NeedNotHoldWholeBlocks) {
  using T = TypeParam;
  for (const LineSet& lines : {LineSet::one(9001), LineSet::equal(91, 101)}) {
    SCOPED_TRACE(lines.describe());
    const Bands<T> bands = test::random_dominant<T>(lines, 10);
    const std::vector<T> y = test::random_vector<T>(lines.extent());
    test::with_every_transfer([&](Options options) {
      options.method = MethodChoice::truncated_streamed;
      for (const char* variant : {"fpga", "fpga-spkboth", "fpga-spktrunc"}) {
        SCOPED_TRACE(std::string("variant ") + variant);
        options.variant = variant;
        for (const Index chunk : {0, 4096}) {
          options.chunk = chunk;
          Solver<T> solver(options);
          this->set_up(solver, bands);
          EXPECT_NE(solver.report().shape.find("one work-item"), std::string::npos) << solver.report().shape;
          this->expect_the_same(solver, y);
        }
      }
    });
  }
}

TYPED_TEST(DeviceVectors, OfManyPiecesGiveTheSameBitsToo) {
  using T = TypeParam;
  const LineSet lines = LineSet::one(5'000'000 / static_cast<Index>(sizeof(T)));
  const Bands<T> bands = test::random_dominant<T>(lines, 3);
  const std::vector<T> y = test::random_vector<T>(lines.extent());
  test::with_every_transfer([&](Options options) {
    for (const MethodChoice method : {MethodChoice::truncated_streamed, MethodChoice::truncated_halo}) {
      SCOPED_TRACE(name(method));
      options.method = method;
      Solver<T> solver(options);
      this->set_up(solver, bands);
      this->expect_the_same(solver, y);
    }
  });
}

/// Vectors of the host go by three queues, those in buffers by one.
TYPED_TEST(DeviceVectors, OfManyPiecesGiveTheSameBitsByKernelsForFpgas) {
  using T = TypeParam;
  const LineSet lines = LineSet::one(10'000'000 / static_cast<Index>(sizeof(T)));
  const Bands<T> bands = test::random_dominant<T>(lines, 10);
  const std::vector<T> y = test::random_vector<T>(lines.extent());
  test::with_every_device([&](Options options) {
    if (options.variant != "cpu") return;  // those that stand in for FPGAs
    for (const char* variant : {"default", "fpga-tdma"}) {
      SCOPED_TRACE(std::string("variant ") + variant);
      options.variant = variant;
      for (const Index chunk : {Index{0}, lines.extent() / 3}) {
        options.chunk = chunk;
        Solver<T> solver(options);
        this->set_up(solver, bands);
        EXPECT_NE(solver.report().shape.find("one work-item"), std::string::npos) << solver.report().shape;
        this->expect_the_same(solver, y);
      }
    }
  });
}

TYPED_TEST(DeviceVectors, MayBelongToASystemLargerThanTheRestOfTheMemory) {
  using T = TypeParam;
  const LineSet lines = LineSet::one(200'003);
  const Bands<T> bands = test::random_dominant<T>(lines, 3);
  const std::vector<T> y = test::random_vector<T>(lines.extent());
  TestFixture::with_every_kind([&](Options options) {
    options.device_memory = bands.bytes() / 4;
    for (const MethodChoice method :
         {MethodChoice::truncated_halo, MethodChoice::truncated_streamed, MethodChoice::exact_twopass}) {
      SCOPED_TRACE(name(method));
      options.method = method;
      Solver<T> solver(options);
      this->set_up(solver, bands);
      this->expect_the_same(solver, y);
    }
  });
}

TYPED_TEST(DeviceVectors, MayBePartsOfBuffers) {
  using T = TypeParam;
  const Index n = 4096;
  const std::size_t bytes = n * sizeof(T);
  const Bands<T> bands = test::random_dominant<T>(LineSet::one(n), 3);
  std::vector<T> both = test::random_vector<T>(n);
  both.resize(2 * n, T(7));
  test::with_every_transfer([&](const Options& options) {
    Solver<T> solver(options);
    this->set_up(solver, bands);
    std::vector<T> expected(n);
    solver.apply(both.data(), expected.data());
    const test::DeviceVector<T> vector(solver.device_handles(), both);
    cl_mem y = test::part_of(vector.get(), 0, bytes), x = test::part_of(vector.get(), bytes, bytes);
    solver.apply_on_device(y, x);
    const std::vector<T> values = vector.values();
    EXPECT_EQ(std::vector<T>(values.begin() + n, values.end()), expected);
    test::expect_refusal([&] { solver.apply_on_device(y, y); }, "overlap");
    test::expect_refusal([&] { solver.apply_on_device(vector.get(), x); }, "overlap");
    clReleaseMemObject(y);
    clReleaseMemObject(x);
  });
}

TYPED_TEST(DeviceVectors, ThatDoNotFitAreRefusedByNameAndCure) {
  using T = TypeParam;
  const Index n = 1000;
  const Bands<T> bands = test::random_dominant<T>(LineSet::one(n), 3);
  const std::vector<T> ones(n, T(1)), few(n - 1, T(1));
  test::with_every_transfer([&](const Options& options) {
    Solver<T> solver(options);
    test::expect_refusal([&] { solver.apply_on_device(nullptr, nullptr); }, "set_up");
    EXPECT_FALSE(solver.device_handles());
    this->set_up(solver, bands);
    const DeviceHandles handles = solver.device_handles();
    const test::DeviceVector<T> y(handles, ones), x(handles, ones), small(handles, few),
        write_only(handles, ones, CL_MEM_WRITE_ONLY), read_only(handles, ones, CL_MEM_READ_ONLY);
    cl_int error = CL_SUCCESS;
    cl_device_id device = handles.device;
    cl_context other = clCreateContext(nullptr, 1, &device, nullptr, nullptr, &error);
    ASSERT_EQ(error, CL_SUCCESS);
    {
      const test::DeviceVector<T> stranger({other, handles.device, handles.queue}, ones);
      test::expect_refusal([&] { solver.apply_on_device(stranger.get(), x.get()); }, "another context");
      test::expect_refusal([&] { solver.apply_on_device(y.get(), stranger.get()); }, "another context");
    }
    clReleaseContext(other);
    test::expect_refusal([&] { solver.apply_on_device(nullptr, x.get()); }, "null handle");
    test::expect_refusal([&] { solver.apply_on_device(y.get(), small.get()); }, "bytes");
    test::expect_refusal([&] { solver.apply_on_device(y.get(), y.get()); }, "overlap");
    test::expect_refusal([&] { solver.apply_on_device(write_only.get(), x.get()); }, "WRITE_ONLY");
    test::expect_refusal([&] { solver.apply_on_device(y.get(), read_only.get()); }, "READ_ONLY");
    solver.apply_on_device(read_only.get(), write_only.get());
    solver.apply_on_device(y.get(), x.get());
  });
}

TYPED_TEST(DeviceVectors, WantADeviceThatSolves) {
  using T = TypeParam;
  Solver<T> on_host({.devices = "host"});
  this->set_up(on_host, test::random_dominant<T>(LineSet::one(100), 3));
  EXPECT_FALSE(on_host.device_handles());
  test::expect_refusal([&] { on_host.apply_on_device(nullptr, nullptr); }, "host");
  // One singular line is a fallback line.
  const Index length = 50, count = 40;
  Bands<T> bands = test::random_dominant<T>(LineSet::equal(count, length), 3);
  std::fill_n(bands.lower() + length, length, T(-1));
  std::fill_n(bands.upper() + length, length, T(-1));
  std::fill_n(bands.diag() + length, length, T(2));
  bands.diag()[length] = bands.diag()[2 * length - 1] = T(1);
  test::with_every_transfer([&](Options options) {
    options.singular = Singular::pin;
    Solver<T> solver(options);
    this->set_up(solver, bands);
    ASSERT_FALSE(solver.report().groups.empty());
    test::expect_refusal([&] { solver.apply_on_device(nullptr, nullptr); }, "fallback line");
  });
}

TYPED_TEST(DeviceVectors, AreLostWithADeviceThatFails) {
  using T = TypeParam;
  const test::Faults faults;
  const Bands<T> bands = test::random_dominant<T>(LineSet::one(3001), 3);
  const std::vector<T> ones(3001, T(1));
  test::with_every_transfer([&](Options options) {
    for (const OnDeviceFailure on_failure : {OnDeviceFailure::quiet, OnDeviceFailure::error}) {
      options.on_device_failure = on_failure;
      Solver<T> solver(options);
      this->set_up(solver, bands);
      const std::string device = solver.report().device.name;
      {
        const test::DeviceVector<T> y(solver.device_handles(), ones), x(solver.device_handles(), ones);
        for (const ocl::Place place : {ocl::Place::argument, ocl::Place::launch, ocl::Place::wait}) {
          test::Faults::at(place, std::stoi(options.devices));
          EXPECT_THROW(solver.apply_on_device(y.get(), x.get()), DeviceError) << ocl::name(place);
          test::Faults::none();
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

TYPED_TEST(DeviceVectors, GiveTheSameBitsByExactKernelsForFpgas) {
  using T = TypeParam;
  for (const LineSet& lines : {LineSet::one(9001), LineSet::equal(91, 101), LineSet::grid_axis(1, 37, 101, 5)}) {
    const Bands<T> bands = test::random_dominant<T>(lines, 1.2);
    const std::vector<T> y = test::random_vector<T>(lines.extent());
    test::with_every_device([&](Options options) {
      if (options.devices == "host") return;
      options.variant = "fpga";
      options.method = MethodChoice::exact;
      Solver<T> solver(options);
      this->set_up(solver, bands);
      this->expect_the_same(solver, y);
    });
  }
}

}  // namespace
}  // namespace oclspkt
