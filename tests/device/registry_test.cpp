// SPDX-License-Identifier: BSD-2-Clause
// Devices, their life, and what happens when something is asked of them that they cannot do.
#include <cstdlib>
#include <iostream>
#include <sstream>
#include <thread>

#include "build_program.hpp"
#include "devices.hpp"
#include "error_name.hpp"
#include "registry.hpp"
#include "runtime.hpp"

namespace oclspkt::test {
namespace {

using ocl::Geometry;
using ocl::Kernel;
using ocl::Registry;

testing::AssertionResult contains(const std::string& text, const std::string& part) {
  if (text.find(part) != std::string::npos) return testing::AssertionSuccess();
  return testing::AssertionFailure() << "'" << text << "' does not contain '" << part << "'";
}

bool platform_is_there(const std::string& part) {
  for (const DeviceInfo& info : module().devices()) {
    if (info.platform.find(part) != std::string::npos) return true;
  }
  return false;
}

TEST(Devices, AreThereAsRequired) {
  for (const DeviceInfo& info : module().devices()) {
    std::cout << info.index << " " << name(info.type) << " " << info.name << ", " << info.platform << std::endl;
  }
  EXPECT_TRUE(platform_is_there("Portable Computing Language")) << "install pocl-opencl-icd";
  const char* required = std::getenv("OCLSPKT_REQUIRE_DEVICES");
  std::istringstream parts(required != nullptr ? required : "");
  for (std::string part; std::getline(parts, part, ',');) {
    EXPECT_TRUE(platform_is_there(part)) << "no platform named like '" << part << "'";
  }
}

TEST(Devices, DescribeThemselves) {
  for (const DeviceInfo& info : module().devices()) {
    SCOPED_TRACE(info.name);
    EXPECT_EQ(&info - module().devices().data(), info.index);
    EXPECT_FALSE(info.name.empty());
    EXPECT_FALSE(info.physical.empty());
    EXPECT_GE(info.cores, 1);
    EXPECT_GT(info.memory, 0);
    EXPECT_GT(info.max_allocation, 0);
    EXPECT_EQ(info.physical == "cpu", info.type == DeviceType::cpu);
    EXPECT_EQ(info.emulated, info.platform.find("Emulation") != std::string::npos);
    if (info.emulated) {
      EXPECT_EQ(info.type, DeviceType::fpga);
    }
    const DeviceTraits traits = module().traits(info.index, false, {});
    EXPECT_TRUE(traits.lanes == 4 || traits.lanes == 8 || traits.lanes == 16) << traits.lanes;
    EXPECT_GE(traits.cache_bytes, 1 << 17);
  }
  EXPECT_THROW(module().traits(99, false, {}), InvalidInput);
  EXPECT_THROW(make_solver<float>(-1), InvalidInput);
}

TEST(Devices, AreMeasuredOnceAndQuickly) {
  for (const DeviceInfo& info : module().devices()) {
    SCOPED_TRACE(info.name);
    const DeviceProfile profile = module().profile(info.index, false);
    EXPECT_GT(profile.launch_seconds, 1e-8);
    EXPECT_LT(profile.launch_seconds, 0.1);
    EXPECT_GT(profile.rows_per_second, 1e5);
    EXPECT_EQ(std::isinf(profile.copy_bytes_per_second), info.host_unified);
    const DeviceProfile again = module().profile(info.index, false);
    EXPECT_EQ(again.launch_seconds, profile.launch_seconds);
    EXPECT_EQ(again.rows_per_second, profile.rows_per_second);
  }
}

template <typename T>
class Stream : public testing::Test {};

SCALAR_TEST(Stream, AddsTheFourArrays) {
  for (const Index n : {1, 15, 16, 17, 1000, 100'003}) {
    const auto a = random_vector<T>(n, 1), b = random_vector<T>(n, 2), c = random_vector<T>(n, 3),
               y = random_vector<T>(n, 4);
    on_every_device<T>([&](const DeviceInfo& info) {
      std::vector<T> x(a.size() + 2, T(-1));
      EXPECT_GT(module().stream(info.index, StreamArrays<T>{a.data(), b.data(), c.data(), y.data(), x.data() + 1, n}),
                0);
      for (std::size_t i = 0; i < a.size(); ++i) ASSERT_EQ(x[i + 1], (a[i] + b[i]) + (c[i] + y[i])) << i;
      EXPECT_EQ(x.front(), T(-1));
      EXPECT_EQ(x.back(), T(-1));
    });
  }
}

TEST(ResidentStream, TakesTimeWithOneToFourArraysAndRefusesOthers) {
  for (const DeviceInfo& info : module().devices()) {
    SCOPED_TRACE(info.name);
    for (int reads = 1; reads <= 4; ++reads) {
      const auto stream = module().make_stream(info.index, 100'003, reads, false);
      EXPECT_GT(stream->run(), 0);
      EXPECT_GT(stream->run(), 0);
    }
    EXPECT_THROW(module().make_stream(info.index, 1000, 0, false), InvalidInput);
    EXPECT_THROW(module().make_stream(info.index, 1000, 5, false), InvalidInput);
    EXPECT_THROW(module().make_stream(info.index, 0, 4, false), InvalidInput);
  }
}

TEST(Registry, SolversOutliveAReleaseAndComeBackAtTheNextSetUp) {
  const Index n = 10'000;
  auto bands = closed(constant<double>(LineSet::one(n), -1, 4, -1));
  const auto y = random_vector<double>(n);
  on_every_device<double>([&](const DeviceInfo& info) {
    const Plan plan = plan_for<double>(info.index, n, {Method::truncated_halo, 40, 0});
    const auto kept = make_solver<double>(info.index);
    auto destroyed = make_solver<double>(info.index, {.use = {.transfer = Transfer::copy}});
    std::vector<double> x(y.size()), first(y.size());
    kept->set_up(plan, bands);
    destroyed->set_up(plan, bands);
    kept->apply(y.data(), first.data());
    module().release();
    EXPECT_TRUE(
        contains(thrown_text<DeviceError>([&] { kept->apply(y.data(), x.data()); }), "set the solver up again"));
    destroyed.reset();
    kept->set_up(plan, bands);
    kept->apply(y.data(), x.data());
    EXPECT_EQ(x, first);
  });
  module().release();
  module().release();
}

TEST(Registry, ReleaseWaitsForSolversAtWork) {
  const Index n = 200'000;
  auto bands = closed(constant<float>(LineSet::one(n), -1, 4, -1));
  const auto y = random_vector<float>(n);
  on_every_device<float>([&](const DeviceInfo& info) {
    const auto solver = make_solver<float>(info.index);
    solver->set_up(plan_for<float>(info.index, n, {Method::truncated_halo, 40, 0}), bands);
    std::string end;
    std::thread worker([&] {
      std::vector<float> x(y.size());
      try {
        for (;;) solver->apply(y.data(), x.data());
      } catch (const std::exception& e) {
        end = e.what();
      }
    });
    std::this_thread::sleep_for(std::chrono::milliseconds(5));
    module().release();
    worker.join();
    EXPECT_TRUE(contains(end, "was released"));
  });
}

TEST(Registry, AKernelThatDoesNotBuildShowsDeviceAndLog) {
  for (const DeviceInfo& info : module().devices()) {
    const auto device = Registry::instance().open(info.index);
    const std::string text = thrown_text<BuildError>([&] {
      ocl::build_program(device->found(), device->context(),
                         {"broken", "__kernel void broken() { nonsense; }\n", "-cl-std=CL1.2"});
    });
    EXPECT_TRUE(contains(text, info.name));
    EXPECT_TRUE(contains(text, "nonsense"));
    EXPECT_TRUE(contains(text, "CL_BUILD_PROGRAM_FAILURE"));
    EXPECT_TRUE(contains(thrown_text<DeviceError>([&] { device->kernel("no_such_kernel", false); }), "no_such_kernel"));
  }
}

// As many registers as a quarter of a core has for 32 work-items in step, whatever number of them is on it.
TEST(Registry, BoundsRegistersByHowManyWorkGroupsACoreIsToHave) {
  ocl::FoundDevice nvidia;
  nvidia.info.platform = "NVIDIA CUDA";
  const auto bound = [&](int items, Index groups) { return ocl::core_groups(nvidia, items, groups); };
  EXPECT_EQ(bound(64, 8), " -D CORE_GROUPS=8 -D NO_GROUP_REQUIRED -cl-nv-maxrregcount=128");
  EXPECT_EQ(bound(64, 6), " -D CORE_GROUPS=6 -D NO_GROUP_REQUIRED -cl-nv-maxrregcount=168");
  EXPECT_EQ(bound(32, 12), " -D CORE_GROUPS=12 -D NO_GROUP_REQUIRED -cl-nv-maxrregcount=168");
  EXPECT_EQ(bound(128, 2), " -D CORE_GROUPS=2 -D NO_GROUP_REQUIRED -cl-nv-maxrregcount=255");
  nvidia.info.cuda = true;
  EXPECT_EQ(bound(64, 8), " -D CORE_GROUPS=8");
  // A text that requires no size of work-groups builds as well.
  for (const DeviceInfo& info : module().devices()) {
    if (info.type == DeviceType::fpga) continue;
    SCOPED_TRACE(info.name);
    const auto device = Registry::instance().open(info.index);
    EXPECT_EQ(ocl::core_groups(device->found(), 64, 8), " -D CORE_GROUPS=8");
    const Kernel kernel =
        device->kernel("tile_substitute", false, 1, "-D GROUP_ITEMS=4 -D ITEM_ROWS=4 -D NO_GROUP_REQUIRED");
    EXPECT_EQ(kernel.handle.getWorkGroupInfo<CL_KERNEL_COMPILE_WORK_GROUP_SIZE>(device->found().handle)[0], 0U);
  }
}

TEST(Launch, RefusesWhatDoesNotFitAndNamesKernelAndDevice) {
  for (const DeviceInfo& info : module().devices()) {
    const auto device = Registry::instance().open(info.index);
    Kernel kernel = device->kernel("stream", false);
    const cl::Buffer small(device->context(), CL_MEM_READ_WRITE, 64), none;
    alignas(64) char memory[256] = {};
    ocl::set_arguments(*device, kernel, small, small, small, small, small, cl_long{0});
    const cl::Buffer odd(device->context(), cl_mem_flags{CL_MEM_READ_WRITE | CL_MEM_USE_HOST_PTR}, std::size_t{128},
                         memory + 2);
    const auto refusal = [&](Geometry geometry, std::initializer_list<ocl::BufferNeed> needs) {
      const std::string text =
          thrown_text<DeviceError>([&] { ocl::enqueue_kernel(*device, kernel, geometry, needs, nullptr); });
      EXPECT_TRUE(contains(text, info.name));
      EXPECT_TRUE(contains(text, "stream"));
      return text;
    };
    EXPECT_TRUE(contains(refusal({0}, {}), "work-groups"));
    EXPECT_TRUE(contains(refusal({std::int64_t{1} << 40}, {}), "work-groups"));
    EXPECT_TRUE(contains(refusal({1, std::size_t{1} << 30}, {}), "work-items"));
    EXPECT_TRUE(contains(refusal({1}, {{"y", &none, 4, 4}}), "buffer y was never made"));
    EXPECT_TRUE(contains(refusal({1}, {{"y", &small, 65, 4}}), "holds 64 bytes, 65 are needed"));
    EXPECT_TRUE(contains(refusal({1}, {{"y", &odd, 64, 4}}), "not aligned to 4 bytes"));
    kernel.local_bytes = std::size_t{1} << 40;
    EXPECT_TRUE(contains(refusal({1}, {}), "local memory"));
    kernel.local_bytes = 0;
    ocl::launch(*device, kernel, {1}, small, small, small, ocl::BufferNeed{"y", &small, 64, 4}, small, cl_long{0})
        .wait();
    EXPECT_TRUE(
        contains(thrown_text<DeviceError>([&] { ocl::set_arguments(*device, kernel, cl_int{1}); }), "argument 0"));
  }
}

TEST(Launch, VectorsMustBeAlignedToTheirScalar) {
  auto bands = closed(constant<double>(LineSet::one(100), -1, 4, -1));
  std::vector<double> y(102, 1.0), x(102);
  on_every_device<double>([&](const DeviceInfo& info) {
    if (!info.host_unified) return;
    const auto solver = make_solver<double>(info.index);
    solver->set_up(plan_for<double>(info.index, 100, {}), bands);
    const auto* crooked = reinterpret_cast<const double*>(reinterpret_cast<const char*>(y.data()) + 4);
    EXPECT_TRUE(contains(thrown_text<DeviceError>([&] { solver->apply(crooked, x.data()); }), "not aligned"));
    EXPECT_NO_THROW(solver->apply(y.data(), x.data()));
  });
}

TEST(ErrorName, KnowsTheCodesAndPassesOthersOn) {
  EXPECT_EQ(ocl::error_name(CL_OUT_OF_RESOURCES), "CL_OUT_OF_RESOURCES (-5)");
  EXPECT_EQ(ocl::error_name(-12345), "OpenCL error -12345");
}

}  // namespace
}  // namespace oclspkt::test
