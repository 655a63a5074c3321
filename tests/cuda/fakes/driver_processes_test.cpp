// SPDX-License-Identifier: BSD-2-Clause
// The module for CUDA over a fake driver, in processes of their own: their ends, forks, and what may be missing.
#include <cstdlib>
#include <iostream>

#include "card.hpp"
#include "process.hpp"

namespace oclspkt::test {
namespace {

/// Run in a process of its own, whose end it lives to see: exit handlers of the driver are through before ours.
TEST(CudaAtTheEnd, SolversMayLive) {
  static Solver<double> solver(on_cards("0"));
  set_up(solver, random_dominant<double>(LineSet::one(kRows), 3));
  EXPECT_EQ(solver.report().device.name, "Fake card 0");
}

class CudaFork : public OnCards<double> {};
TEST_F(CudaFork, AChildCallsNothingOfTheDriver) {
  const Options options = on_cards("0", OnDeviceFailure::quiet);
  auto solver = std::make_unique<Solver<double>>(options);
  set_up(*solver, bands_);
  ASSERT_EQ(solver->report().device.name, "Fake card 0");
  const auto calls_nothing = [&] {
    fake::restart();
    const std::vector<double> y(kRows, 1.0);
    answer(*solver, y);
    Solver<double> fresh(options);
    set_up(fresh, bands_);
    answer(fresh, y);
    const bool on_host = solver->report().device.name == "host" && fresh.report().device.name == "host";
    solver.reset();
    release_devices();
    return on_host && calls_of(fake::functions()) == 0;
  };
  EXPECT_EQ(status_of_child(calls_nothing), 0);
}

/// Where cards cannot be used, for the reason in OCLSPKT_EXPECTED; where that is empty, nobody complains.
TEST(CudaIsNotThere, TheHostAnswersAndTheReportSaysWhy) {
  const char* expected = std::getenv("OCLSPKT_EXPECTED");
  ASSERT_NE(expected, nullptr) << "run by tests/cuda/fakes/CMakeLists.txt";
  std::string why;
  DeviceModule* module = device_module(&why);
  const std::string problems = module != nullptr ? all_of(module->problems()) : "";
  if (*expected != '\0') {
    expect_in(problems, expected);
  } else {
    EXPECT_EQ(problems.find("CUDA"), std::string::npos) << problems;
  }
  ASSERT_TRUE(module == nullptr || module->devices().empty());
  const Bands<double> bands = random_dominant<double>(LineSet::one(1'000'000), 3);
  CUcontext context = nullptr;
  const bool has_card = cuInit(0) == kSuccess && cuDevicePrimaryCtxRetain(&context, 0) == kSuccess;
  if (has_card) cuCtxPushCurrent_v2(context);
  Solver<double> solver;
  set_up(solver, bands, {.queue = {DeviceQueue::Kind::cuda, nullptr}});
  EXPECT_LE(backward_error(solver, bands), 100);
  EXPECT_EQ(solver.report().device.name, "host");
  if (has_card) expect_in(solver.report().device.vectors, expected);
  EXPECT_FALSE(solver.report().device.vectors.empty());
  std::cout << solver.report().device.why << "\n" << solver.report().device.vectors << "\n";
}

/// Beside OpenCL, which sees no card.
TEST(CudaBesideOpenCL, CardsFollowTheOtherDevices) {
  const std::vector<DeviceInfo>& all = opened().devices();
  ASSERT_GE(all.size(), 3U);
  EXPECT_FALSE(all.front().cuda);
  EXPECT_TRUE(all.back().cuda);
  EXPECT_EQ(all.back().name, "Fake card 1");
  EXPECT_EQ(all.back().index, static_cast<int>(all.size()) - 1);
  const Bands<double> bands = random_dominant<double>(LineSet::one(kRows), 3);
  for (const char* devices : {"Fake card 1", "cpu"}) {
    Solver<double> solver(on_cards(devices));
    set_up(solver, bands);
    EXPECT_EQ(solver.report().device.type, *devices == 'c' ? "cpu" : "gpu");
    EXPECT_LE(backward_error(solver, bands), 100);
  }
  expect_clean_cards();
}

}  // namespace
}  // namespace oclspkt::test
