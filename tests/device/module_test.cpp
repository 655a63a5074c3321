// SPDX-License-Identifier: BSD-2-Clause
// The OpenCL module as programs get it: opened by the solver library from beside it.
#include <cstdlib>
#include <regex>

#include "device.hpp"
#include "matrices.hpp"
#include "oclspkt/solver.hpp"
#include "thrown.hpp"

namespace oclspkt::test {
namespace {

DeviceModule& opened() {
  std::string why;
  DeviceModule* module = device_module(&why);
  if (module == nullptr) throw std::runtime_error(why);
  return *module;
}

TEST(Module, IsOpenedOnceFromBesideTheSolverLibrary) {
  EXPECT_EQ(&opened(), device_module(nullptr));
  EXPECT_EQ(&opened(), open_device_module());
  EXPECT_FALSE(opened().devices().empty());
}

TEST(Module, ItsErrorsAreCaughtByTypeAcrossTheLibraries) {
  EXPECT_THROW(opened().make_float(99, {}), InvalidInput);
  Bands<float> bands(LineSet::one(10));
  const auto solver = opened().make_float(0, {});
  EXPECT_THROW(solver->apply(bands.lower(), bands.diag()), DeviceError);
}

/// A solver that the process's end destroys, when the drivers may be gone.
struct AtExit {
  std::unique_ptr<DeviceSolver<float>> solver;
};
AtExit at_exit;

TEST(Module, SolversMayLiveUntilTheProcessEnds) {
  const Bands<float> bands = closed(constant<float>(LineSet::one(100), -1, 4, -1));
  Plan plan;
  plan.made_by = "lanes-halo";
  plan.method = Method::truncated_halo;
  plan.n = 100;
  plan.m = 16;
  plan.halo = 16;
  plan.lanes = opened().traits(0, false, {}).tile_lanes;
  plan.chunk_tiles = plan.tiles();
  std::vector<float> y(100, 2.0F), x(100);
  at_exit.solver = opened().make_float(0, {});
  at_exit.solver->set_up(plan, bands);
  at_exit.solver->apply(y.data(), x.data());
  EXPECT_NEAR(x[50], 1.0F, 1e-6F);
  static AtExit younger{opened().make_float(0, {})};  // destroyed before the registry's exit handler runs
  younger.solver->set_up(plan, bands);
}

/// Solve 1 4 1 on what the options name. @return the report, or the text of the error
Report solve_for_ones(const Options& options) {
  const Index n = 1'000'000;
  Solver<double> solver(options);
  solver.bands(LineSet::one(n)).copy_from(closed(constant<double>(LineSet::one(n), -1, 4, -1)).view());
  solver.set_up();
  const std::vector<double> y(n, 2);
  std::vector<double> x(n);
  solver.apply(y.data(), x.data());
  EXPECT_NEAR(x[n / 2], 1, 1e-15);
  return solver.report();
}

/// Where no driver can be used, for the reason that OCLSPKT_EXPECTED matches.
TEST(NoDriver, TheHostAnswersAndTheReportSaysWhy) {
  const char* expected = std::getenv("OCLSPKT_EXPECTED");
  ASSERT_NE(expected, nullptr) << "run by tests/device/drivers.cmake";
  const Report report = solve_for_ones({});
  EXPECT_EQ(report.device.name, "host");
  EXPECT_TRUE(std::regex_search(report.device.why, std::regex(expected))) << report.device.why;
  EXPECT_TRUE(opened().devices().empty());
  const std::string refusal = thrown_text([] { solve_for_ones({.devices = "cpu"}); });
  EXPECT_TRUE(std::regex_search(refusal, std::regex(expected))) << refusal;
}

/// Where the only device is a board without a compiler: run by tests/device/drivers.cmake.
TEST(Board, WithoutAFileLeavesTheRowsToTheHostAndSaysHowToGiveOne) {
  ASSERT_EQ(opened().devices().size(), 1U);
  EXPECT_EQ(opened().devices()[0].type, DeviceType::fpga);
  EXPECT_FALSE(opened().devices()[0].compiler);
  Options options;
  EXPECT_TRUE(solve_for_ones(options).degraded.empty()) << "nobody named the board";
  options.devices = "fpga";
  options.on_device_failure = OnDeviceFailure::quiet;
  for (const char* file : {"", "/nowhere-at-all.aocx"}) {
    options.use.fpga_binary = file;
    const Report report = solve_for_ones(options);
    EXPECT_EQ(report.device.type, "host");
    if (*file) continue;
    ASSERT_EQ(report.degraded.size(), 1U);
    EXPECT_NE(report.degraded[0].find("-pc_oclspkt_fpga_binary"), std::string::npos) << report.degraded[0];
  }
  options.use.fpga_binary = "";
  options.on_device_failure = OnDeviceFailure::error;
  EXPECT_THROW(solve_for_ones(options), DeviceError);
}

}  // namespace
}  // namespace oclspkt::test
