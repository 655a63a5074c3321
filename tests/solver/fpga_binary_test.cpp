// SPDX-License-Identifier: BSD-2-Clause
// Files with programs, as users name them: what is wrong with one costs the device, not the answer.
#include <unistd.h>

#include <filesystem>
#include <fstream>

#include "every_device.hpp"
#include "solver_fixture.hpp"

namespace oclspkt {
namespace {

namespace fs = std::filesystem;

class FpgaBinary : public test::SolverFixture<float> {
 protected:
  static constexpr Index kRows = 5003;
  FpgaBinary() : folder_(fs::temp_directory_path() / ("oclspkt-fpga-binary-" + std::to_string(getpid()))) {
    fs::create_directories(folder_);
  }
  ~FpgaBinary() override { fs::remove_all(folder_); }

  /// Call f(options) for each device with an FPGA, emulated or not.
  template <typename F>
  static void with_every_fpga(const F& f) {
    int found = 0;
    test::with_every_device([&](Options options) {
      if (options.devices == "host") return;
      const DeviceInfo& info = device_module(nullptr)->devices().at(std::stoul(options.devices));
      if (info.type != DeviceType::fpga) return;
      ++found;
      f(options);
    });
    if (found == 0) GTEST_SKIP() << "there is no FPGA and no emulator";
  }
  std::string path(const std::string& name) const { return (folder_ / name).string(); }

  const Bands<float> bands_ = test::random_dominant<float>(LineSet::one(kRows), 3);
  const fs::path folder_;
};

TEST_F(FpgaBinary, ThatIsDamagedLeavesTheRowsToTheHost) {
  std::ofstream(path("cut.bin")) << "half of a program";
  std::ofstream(path("cut.bin.json")) << "{\"oclspkt\": \"program 1\", \"dev";
  with_every_fpga([&](Options options) {
    options.fpga_binary = path("cut.bin");
    options.on_device_failure = OnDeviceFailure::quiet;
    Solver<float> solver(options);
    set_up(solver, bands_);
    EXPECT_LE(backward_error(solver, bands_), 100);
    const Report& report = solver.report();
    EXPECT_EQ(report.device.type, "host");
    ASSERT_EQ(report.degraded.size(), 1U);
    for (const std::string& text : {path("cut.bin"), std::string("damaged"), std::string("oclspkt-fpga-build")}) {
      EXPECT_NE(report.degraded[0].find(text), std::string::npos) << report.degraded[0];
    }
    options.on_device_failure = OnDeviceFailure::error;
    Solver<float> strict(options);
    EXPECT_THROW(set_up(strict, bands_), DeviceError);
  });
}

TEST_F(FpgaBinary, OfOtherKernelsLeavesACompilerItsWork) {
  ProgramMaker* const maker = device_module(nullptr)->programs();
  ASSERT_NE(maker, nullptr);
  with_every_fpga([&](Options options) {
    const int index = std::stoi(options.devices);
    if (!device_module(nullptr)->info(index).compiler) return;
    Solver<float> solver(options);
    set_up(solver, bands_);
    const std::vector<float> y = test::random_vector<float>(kRows);
    std::vector<float> built(y.size()), beside(y.size());
    solver.apply(y.data(), built.data());
    maker->build(index, {"stream"}, folder_.string());
    options.fpga_binary = folder_.string();
    Solver<float> other(options);
    set_up(other, bands_);
    other.apply(y.data(), beside.data());
    EXPECT_EQ(built, beside);
    EXPECT_NE(other.report().device.type, "host");
  });
}

TEST_F(FpgaBinary, IsNothingToDevicesThatAreNoFpgas) {
  test::with_every_device([&](Options options) {
    if (options.devices == "host" ||
        device_module(nullptr)->devices().at(std::stoul(options.devices)).type == DeviceType::fpga) {
      return;
    }
    options.fpga_binary = path("nowhere.bin");
    Solver<float> solver(options);
    set_up(solver, bands_);
    EXPECT_LE(backward_error(solver, bands_), 100);
    EXPECT_NE(solver.report().device.type, "host");
  });
}

}  // namespace
}  // namespace oclspkt
