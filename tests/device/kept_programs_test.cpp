// SPDX-License-Identifier: BSD-2-Clause
// Programs that are kept for run-times of OpenCL that keep none. What the keeper does with its files: tests/cuda/fakes.
#include <filesystem>
#include <string>
#include <vector>

#include "build_program.hpp"
#include "devices.hpp"
#include "program_cache.hpp"
#include "registry.hpp"
#include "surroundings.hpp"

namespace oclspkt::test {
namespace {

namespace fs = std::filesystem;
using namespace oclspkt::ocl;

constexpr const char* kPutText = "__kernel void put(__global int* x) { x[get_global_id(0)] = VALUE; }\n";

/// A fresh folder, which the keeper is told to use.
class KeptPrograms : public ::testing::Test {
 protected:
  /// Build the program in a context of its own. @return what its kernel puts
  static int put(const FoundDevice& device, int value, std::vector<unsigned char>* bytes = nullptr) {
    const cl::Context context(device.handle);
    const std::string options = "-cl-std=CL1.2 -D VALUE=" + std::to_string(value);
    const cl::Program program = build_program(device, context, {"put", kPutText, options});
    if (bytes != nullptr) *bytes = bytes_of_program(program);
    cl::Kernel kernel(program, "put");
    const cl::CommandQueue queue(context, device.handle);
    const cl::Buffer buffer(context, CL_MEM_READ_WRITE, sizeof(cl_int));
    cl_int x = 0;
    kernel.setArg(0, buffer);
    queue.enqueueNDRangeKernel(kernel, cl::NullRange, cl::NDRange(1));
    queue.enqueueReadBuffer(buffer, CL_TRUE, 0, sizeof x, &x);
    return x;
  }
  std::vector<std::string> keys() const {
    std::vector<std::string> all;
    for (const auto& entry : fs::directory_iterator(folder_.path())) all.push_back(entry.path().stem());
    return all;
  }
  void forget() const {
    for (const auto& entry : fs::directory_iterator(folder_.path())) fs::remove_all(entry.path());
  }

  /// Call f for each device whose run-time keeps nothing.
  template <typename F>
  void each(const F& f) const {
    for (const DeviceInfo& info : module().devices()) {
      if (info.platform.starts_with("Intel(R)")) f(Registry::instance().device(info.index));
    }
  }

  /// Forget all, and build the program that puts 1. @return the name under which it is kept
  std::string keep_one(const FoundDevice& device) const {
    forget();
    EXPECT_EQ(put(device, 1), 1);
    const std::vector<std::string> all = keys();
    EXPECT_EQ(all.size(), 1U);
    return all.empty() ? "" : all.front();
  }

  const FreshFolder folder_;
  Variable cache_{"OCLSPKT_KERNEL_CACHE", folder_.path().c_str()};
};

TEST_F(KeptPrograms, AreLoadedByLaterProcesses) {
  each([&](const FoundDevice& device) {
    SCOPED_TRACE(device.info.name);
    const std::string key = keep_one(device);
    ASSERT_FALSE(key.empty());
    std::vector<unsigned char> other;
    EXPECT_EQ(put(device, 2, &other), 2);
    EXPECT_EQ(keys().size(), 2U) << "other options, another program";
    // Another program under this name shows that it is the file that runs.
    ProgramCache().keep(key, {other.begin(), other.end()});
    EXPECT_EQ(put(device, 1), 2);
    EXPECT_EQ(put(device, 2), 2);
    EXPECT_EQ(keys().size(), 2U);
  });
}

TEST_F(KeptPrograms, ThatTheDriverDoesNotTakeAreBuiltAnew) {
  each([&](const FoundDevice& device) {
    SCOPED_TRACE(device.info.name);
    const std::string key = keep_one(device);
    ASSERT_FALSE(key.empty());
    ProgramCache().keep(key, "no program");
    EXPECT_EQ(put(device, 1), 1);
    EXPECT_GT(ProgramCache().find(key).size(), 100U) << "not written anew";
    cache_.set("none");
    EXPECT_EQ(put(device, 1), 1);
    cache_.set(folder_.path().c_str());
  });
}

TEST_F(KeptPrograms, AreThoseOfTheDevice) {
  std::size_t devices = 0;
  each([&](const FoundDevice& device) {
    EXPECT_EQ(put(device, 1), 1);
    EXPECT_EQ(keys().size(), ++devices) << device.info.name;
  });
}

TEST_F(KeptPrograms, AreNotThoseOfRunTimesThatKeepTheirOwn) {
  for (const DeviceInfo& info : module().devices()) {
    if (info.platform.starts_with("Intel(R)")) continue;
    EXPECT_EQ(put(Registry::instance().device(info.index), 1), 1) << info.name;
  }
  EXPECT_TRUE(keys().empty());
}

}  // namespace
}  // namespace oclspkt::test
