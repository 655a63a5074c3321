// SPDX-License-Identifier: BSD-2-Clause
// FPGA emulators that the environment changes: several boards in one process, small buffers, two programs at once. Each
// suite is a run of its own, see CMakeLists.txt.
#include <algorithm>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>

#include "every_device.hpp"
#include "solver_fixture.hpp"

namespace oclspkt {
namespace {

constexpr std::int64_t kSmallBuffer = std::int64_t{64} << 20, kSmallerBuffer = std::int64_t{8} << 20;
constexpr int kBoards = 3;

/// There may be nothing to test, which is a failure where emulators are required.
class Emulated : public test::SolverFixture<double> {
 protected:
  void SetUp() override {
    if (!emulators_.empty()) return;
    const char* required = std::getenv("OCLSPKT_REQUIRE_DEVICES");
    ASSERT_TRUE(required == nullptr || std::string(required).find("Emulation") == std::string::npos)
        << "the emulator that is required is not there";
    GTEST_SKIP() << "there is no emulator";
  }
  static Options options_for(const std::string& devices, const std::string& variant = "default") {
    return {.devices = devices, .profile = "none", .variant = variant, .on_device_failure = OnDeviceFailure::error};
  }
  /// Set up, and expect that kernels for FPGAs solve, rightly.
  static void expect_solved(Solver<double>& solver, const Bands<double>& bands) {
    set_up(solver, bands);
    EXPECT_NE(solver.report().shape.find("one work-item"), std::string::npos) << solver.report().shape;
    EXPECT_LE(backward_error(solver, bands), 20);
    EXPECT_TRUE(solver.report().device.emulated) << solver.report().device.name << ": " << solver.report().device.why;
    EXPECT_TRUE(solver.report().degraded.empty());
  }

  const std::vector<DeviceInfo> emulators_ =
      device_module(nullptr) != nullptr ? test::emulated_devices() : std::vector<DeviceInfo>();
};

using Boards = Emulated;

TEST_F(Boards, OfOneProcessShareASystem) {
  ASSERT_EQ(emulators_.size(), kBoards) << "run by CL_CONFIG_CPU_EMULATE_DEVICES=3";
  Options options = options_for("fpga");
  options.balance = "even";
  for (const double diagonal : {3.0, 2.0}) {
    Solver<double> solver(options);
    expect_solved(solver, test::constant<double>(LineSet::one(300'007), -1, diagonal, -1));
    const std::vector<ShareReport>& shares = solver.report().sharing.shares;
    ASSERT_EQ(shares.size(), kBoards) << solver.report().sharing.why;
    for (const ShareReport& share : shares) {
      EXPECT_TRUE(share.emulated);
      EXPECT_GE(share.rows, 90'000);
      EXPECT_GT(share.seconds, 0);
    }
  }
}

TEST_F(Boards, AreUsedByTheirIndex) {
  ASSERT_EQ(emulators_.size(), kBoards) << "run by CL_CONFIG_CPU_EMULATE_DEVICES=3";
  const Bands<double> bands = test::random_dominant<double>(LineSet::one(50'021), 3);
  const std::vector<double> y = test::random_vector<double>(bands.lines().extent());
  std::vector<_cl_device_id*> used;
  std::vector<double> first;
  for (const DeviceInfo& info : emulators_) {
    Solver<double> solver(options_for(std::to_string(info.index)));
    expect_solved(solver, bands);
    const std::vector<double> x = test::answer(solver, y);
    if (first.empty()) first = x;
    EXPECT_EQ(x, first) << "board " << info.index << " gives other bits";
    for (const auto* other : used) EXPECT_NE(solver.device_handles().device, other);
    used.push_back(solver.device_handles().device);
  }
}

using SmallBuffers = Emulated;

/// What an apply takes, for docs/experiments/fpga.md; nothing is expected of it.
void print_times(Solver<double>& solver, const std::string& what, Index rows) {
  constexpr std::size_t kApplies = 5;
  const std::vector<double> y = test::random_vector<double>(rows);
  std::vector<double> x(y.size()), total, kernels, copies;
  for (std::size_t i = 0; i < kApplies; ++i) {
    const Times before = solver.times();
    solver.apply(y.data(), x.data());
    const Times spent = solver.times() - before;
    total.push_back(spent.total_seconds);
    kernels.push_back(spent.kernel_seconds);
    copies.push_back(spent.transfer_seconds);
  }
  for (std::vector<double>* times : {&total, &kernels, &copies}) std::sort(times->begin(), times->end());
  std::printf("%s: an apply %.4f s, its kernels %.4f s, its copies %.4f s (medians of %zu)\n", what.c_str(),
              total[kApplies / 2], kernels[kApplies / 2], copies[kApplies / 2], kApplies);
}

TEST_F(SmallBuffers, AreEnoughForBlocksThatStream) {
  const DeviceInfo info = emulators_.front();
  ASSERT_EQ(info.max_allocation, kSmallBuffer) << "run by CL_CONFIG_CPU_FORCE_MAX_MEM_ALLOC_SIZE=64MB";
  const Bands<double> bands = test::constant<double>(LineSet::one(10'000'000), -1, 10, -1);
  ASSERT_GT(bands.lines().rows() * static_cast<Index>(sizeof(double)), info.max_allocation);
  for (const char* variant : {"fpga-spktrunc", "fpga-spkboth", "fpga-spkjac"}) {
    SCOPED_TRACE(variant);
    Solver<double> solver(options_for(std::to_string(info.index), variant));
    expect_solved(solver, bands);
    EXPECT_EQ(solver.report().method, Method::truncated_streamed);
    print_times(solver, variant, bands.lines().rows());
  }
}

using SmallerBuffers = Emulated;

TEST_F(SmallerBuffers, LeaveWhatTakesAllRowsToTheNextDevice) {
  const DeviceInfo info = emulators_.front();
  ASSERT_EQ(info.max_allocation, kSmallerBuffer) << "run by CL_CONFIG_CPU_FORCE_MAX_MEM_ALLOC_SIZE=8MB";
  Options options = options_for(std::to_string(info.index));
  const auto expect_host = [&](const Bands<double>& bands) {
    Solver<double> solver = test::solver_for(bands, options);
    EXPECT_EQ(solver.report().device.type, "host");
    EXPECT_TRUE(solver.report().degraded.empty()) << "nothing failed";
    EXPECT_LE(backward_error(solver, bands), 20);
    std::string said = solver.report().device.why;
    for (const std::string& line : explain(solver.report())) said += "\n" + line;
    EXPECT_NE(said.find("largest buffer"), std::string::npos) << said;
  };
  // One row more than a buffer holds, in whole blocks.
  const Index fits = kSmallerBuffer / static_cast<Index>(sizeof(double));
  const Bands<double> larger = test::constant<double>(LineSet::one(fits + 1), -1, 2, -1);
  options.method = MethodChoice::exact;
  expect_host(larger);
  options.method = MethodChoice::automatic;
  options.variant = "fpga-tdma";
  expect_host(larger);
  Options any = options_for(std::to_string(info.index));
  Solver<double> automatic = test::solver_for(larger, any);
  EXPECT_EQ(automatic.report().device.type, "host");
  Solver<double> solver(options);
  expect_solved(solver, test::constant<double>(LineSet::one(fits), -1, 2, -1));
  EXPECT_EQ(solver.report().method, Method::exact_factored);
}

using AtOnce = Emulated;

/// Programs that run this at the same time print the same line.
TEST_F(AtOnce, ProgramsSolveAlike) {
  std::uint64_t sum = 0;
  for (const double diagonal : {3.0, 2.0}) {
    const Bands<double> bands = test::constant<double>(LineSet::one(200'003), -1, diagonal, -1);
    const std::vector<double> y = test::random_vector<double>(bands.lines().extent());
    for (int life = 0; life < 3; ++life) {
      Solver<double> solver(options_for("fpga"));
      expect_solved(solver, bands);
      for (int apply = 0; apply < 10; ++apply) {
        for (const double value : test::answer(solver, y)) {
          std::uint64_t bits = 0;
          std::memcpy(&bits, &value, sizeof bits);
          sum = sum * 31 + bits;
        }
      }
    }
  }
  std::printf("bits %016llx\n", static_cast<unsigned long long>(sum));
}

}  // namespace
}  // namespace oclspkt
