// SPDX-License-Identifier: BSD-2-Clause
// What solvers that share rows measure is kept in a file, for the next solver and for other programs.
#include <gtest/gtest.h>

#include <algorithm>
#include <ctime>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <limits>
#include <nlohmann/json.hpp>
#include <string>
#include <utility>
#include <vector>

#include "apply_energy.hpp"
#include "every_device.hpp"
#include "line_judge.hpp"
#include "matrices.hpp"
#include "residual.hpp"
#include "solver_fixture.hpp"
#include "surroundings.hpp"
#include "usual_settings.hpp"

namespace oclspkt {
namespace {

/// Give every processor that was measured beside others a figure by itself: the first 1 ns a row, the next 1.4 ns; all
/// together 100 ns.
int level_figures(nlohmann::json& value) {
  int count = 0;
  nlohmann::json added = nlohmann::json::object();
  for (auto& [key, figure] : value.items()) {
    if (!figure.is_structured()) continue;
    count += level_figures(figure);
    const std::size_t end = key.rfind('|');
    if (end == std::string::npos) continue;
    const std::string how = key.substr(end + 1);
    if (how == "together") figure["seconds_per_row"] = 1e-7;
    if (how != "beside") continue;
    nlohmann::json alone = figure;
    alone["seconds_per_row"] = (1 + 0.4 * count++) * 1e-9;
    added[key.substr(0, end) + "|alone"] = alone;
  }
  if (value.is_object()) value.update(added);
  return count;
}

/// Two processors, and a file for what is measured of them.
class SharingProfile : public ::testing::Test {
 protected:
  SharingProfile() {
    options.devices = "host,0";
    options.profile = file;
  }

  static void apply(Solver<double>& solver, const Bands<double>& bands, int times) {
    const std::vector<double> y = test::random_vector<double>(bands.lines().extent());
    std::vector<double> x(y.size());
    for (int k = 0; k < times; ++k) solver.apply(y.data(), x.data());
  }

  /// What the file holds after some applies with even shares, by level_figures().
  nlohmann::json levelled_profile(const Bands<double>& bands) const {
    {
      Options even = options;
      even.balance = "even";
      Solver<double> solver(even);
      test::set_up(solver, bands);
      apply(solver, bands, 4);
    }
    nlohmann::json profile = nlohmann::json::parse(std::ifstream(file));
    EXPECT_EQ(level_figures(profile), 2) << profile.dump(1);
    return profile;
  }

  const test::FreshFolder folder;
  const std::string file = (folder.path() / "profile.json").string();
  Options options;
};

TEST_F(SharingProfile, ThatCannotBeUsedIsToldOf) {
  options.profile = "/dev/null/profile.json";
  Solver<double> solver(options);
  for (int step = 0; step < 2; ++step) {
    test::set_up(solver, test::constant<double>(LineSet::one(1 << 18), -1, 4, -1));
    const std::string& why = solver.report().sharing.why;
    EXPECT_NE(why.find("profile /dev/null/profile.json is not "), std::string::npos) << why;
  }
}

/// What one life of a solver leaves in the file is what the next one begins with.
TEST_F(SharingProfile, IsKeptBetweenSolversAndSurvivesDamage) {
  options.balance = "even";
  const Bands<double> bands = test::constant<double>(LineSet::one(200'000), -1, 3, -1);
  const auto life = [&] {
    Solver<double> solver(options);
    test::set_up(solver, bands);
    apply(solver, bands, 5);
    return solver.report().sharing;
  };
  const SharesReport first = life();
  ASSERT_EQ(first.shares.size(), 2u) << first.why;
  ASSERT_TRUE(std::filesystem::exists(file));
  const SharesReport second = life();
  for (std::size_t k = 0; k < 2; ++k) {
    EXPECT_NEAR(second.shares[k].predicted_seconds, first.shares[k].seconds, 1e-3 * first.shares[k].seconds)
        << "what was measured is predicted";
  }
  for (const DeviceInfo& device : test::emulated_devices()) {
    options.devices = "host," + std::to_string(device.index);
    EXPECT_EQ(life().shares.size(), 2u);
    std::ifstream stream(file);
    const std::string text{std::istreambuf_iterator<char>(stream), {}}, named = "emulated " + device.name;
    EXPECT_NE(text.find(named), std::string::npos) << text;
    for (std::size_t at = 0; (at = text.find(device.name, at)) != std::string::npos; ++at) {
      EXPECT_EQ(text.substr(at - std::min<std::size_t>(at, 9), named.size()), named)
          << "a figure of no emulated device";
    }
  }
  options.devices = "host,0";
  std::filesystem::resize_file(file, 20);
  EXPECT_EQ(life().shares.size(), 2u);
  EXPECT_GT(std::filesystem::file_size(file), 20u) << "written anew";
  options.profile = "none";
  EXPECT_EQ(life().shares.size(), 2u);
  options.profile = file + "/no/folder";
  EXPECT_EQ(life().shares.size(), 2u);
}

/// A processor that was slow when it was measured is measured anew some day.
TEST_F(SharingProfile, ForgetsWhatWasSlowForOnce) {
  const Bands<double> bands = test::constant<double>(LineSet::one(100'000), -1, 3, -1);
  const auto set_up = [&](Solver<double>& solver) {
    test::set_up(solver, bands);
    return solver.report();
  };
  const nlohmann::json profile = levelled_profile(bands);
  std::ofstream(file) << profile;
  Solver<double> solver(options);
  std::string usual;  // no applies, no new figures: the faster one solves
  for (int i = 1; i < 32; ++i) {
    const Report report = set_up(solver);
    EXPECT_EQ(report.sharing.why.find("measured anew"), std::string::npos) << i << ": " << report.sharing.why;
    EXPECT_TRUE(usual.empty() || usual == report.device.name) << usual << " and " << report.device.name;
    usual = report.device.name;
  }
  const Report again = set_up(solver);
  EXPECT_NE(again.sharing.why.find("measured anew, after 140 us against 1"), std::string::npos) << again.sharing.why;
  EXPECT_NE(again.device.name, usual);
  EXPECT_EQ(set_up(solver).device.name, usual);
}

/// Leave one processor measured by itself, in `seconds` a row, and forget what was measured of the other one.
void forget_other(nlohmann::json& value, double seconds) {
  bool first = true;
  for (auto at = value.begin(); at != value.end();) {
    const std::string key = value.is_object() ? at.key() : "";
    if (key.ends_with("|alone")) {
      if (!std::exchange(first, false)) {
        at = value.erase(at);
        continue;
      }
      (*at)["seconds_per_row"] = seconds;
    } else if (at->is_structured()) {
      forget_other(*at, seconds);
    }
    ++at;
  }
}

/// A processor that may be the faster one by itself, though it is not by prediction, is measured: once.
TEST_F(SharingProfile, MeasuresByItselfWhoeverMayBeFaster) {
  const Bands<double> bands = test::constant<double>(LineSet::one(100'000), -1, 3, -1);
  const auto life = [&](Solver<double>& solver) {
    test::set_up(solver, bands);
    apply(solver, bands, 4);
    return solver.report();
  };
  nlohmann::json profile = levelled_profile(bands);
  // What is predicted of the other one depends on the machine: the first figure that it is near to is half of it at
  // least.
  std::string usual;
  for (double seconds = 1e-11; seconds < 1e-5; seconds *= 1.5) {
    SCOPED_TRACE(std::to_string(1e9 * seconds) + " ns a row");
    forget_other(profile, seconds);
    std::ofstream(file) << profile;
    Solver<double> solver(options);
    const Report report = life(solver);
    if (report.sharing.why.find("measured alone for once") == std::string::npos) {
      EXPECT_NE(report.sharing.why.find("measured"), std::string::npos) << report.sharing.why;
      usual = report.device.name;
      continue;
    }
    EXPECT_NE(report.device.name, usual);
    EXPECT_EQ(life(solver).sharing.why.find("for once"), std::string::npos);
    return;
  }
  FAIL() << "never measured";
}

/// A program that applies once after each set-up has figures of that, and tries nothing for ever.
TEST_F(SharingProfile, LearnsOfSingleApplies) {
  const Bands<double> bands = test::constant<double>(LineSet::one(300'000), -1, 3, -1);
  {
    Solver<double> solver(options);
    constexpr int kTries = 5;  // one by itself, the other one, both, and both with other rows; the first is of no kind
    for (int k = 0; k < 12; ++k) {
      test::set_up(solver, bands);
      const std::string why = solver.report().sharing.why;
      EXPECT_TRUE(k <= kTries || why.find("for once") == std::string::npos) << k << ": " << why;
      apply(solver, bands, 1);
    }
  }
  std::ifstream stream(file);
  const std::string text{std::istreambuf_iterator<char>(stream), {}};
  EXPECT_NE(text.find(", once|alone"), std::string::npos) << text;
  EXPECT_EQ(text.find("2^19|alone"), std::string::npos) << "one apply says nothing of many: " << text;
}

/// Two programs at once with one profile: two_at_once.sh runs this twice.
TEST(SharingPrograms, SolveOnTheSameDevices) {
  Options options;
  options.devices = "host";
  for (const DeviceInfo& device : device_module(nullptr)->devices()) {
    if (!device.emulated) options.devices += "," + std::to_string(device.index);
  }
  options.profile = ::testing::TempDir() + "oclspkt-two-programs.json";
  const Bands<double> bands = test::constant<double>(LineSet::one(60'000), -1, 3, -1);
  const std::vector<double> y = test::random_vector<double>(bands.lines().extent());
  std::vector<double> x(y.size());
  for (const char* balance : {"time", "even"}) {
    options.balance = balance;
    Solver<double> solver(options);
    for (int i = 0; i < 25; ++i) {
      test::set_up(solver, bands);
      for (int k = 0; k < 20; ++k) {
        solver.apply(y.data(), x.data());
        ASSERT_LE(componentwise_backward_error(bands.lines(), bands.view(), x.data(), y.data()),
                  20 * std::numeric_limits<double>::epsilon());
      }
    }
    EXPECT_TRUE(solver.report().degraded.empty());
  }
  EXPECT_TRUE(nlohmann::json::accept(std::ifstream(options.profile)));
}

/// A host whose counter shows 90 W, on a clock that only runs while this process works, five times as fast.
void count_90_watts(const std::string& folder) {
  const std::string zone = folder + "/intel-rapl:0";
  std::filesystem::create_directories(zone);
  std::ofstream(zone + "/name") << "package-0";
  MeterSettings& settings = usual_meter_settings();
  settings.powercap = folder;
  // A file takes as long to write as thousands of rows: the counter moves in steps.
  settings.now = [zone, written = -1.]() mutable {
    const double now = 5. * static_cast<double>(std::clock()) / CLOCKS_PER_SEC;
    if (now > written + 0.1) std::ofstream(zone + "/energy_uj") << static_cast<long long>(90e6 * (written = now));
    return now;
  };
  settings.now();  // the file is there
}

/// Balance by energy begins with rated power, and goes on with what the meter showed.
TEST_F(SharingProfile, LearnsThePowerOfAProcessor) {
  count_90_watts((folder.path() / "powercap").string());
  options.balance = "energy";
  options.energy = true;
  options.rated_power = "cpu=1000";
  Solver<double> solver(options);
  const Bands<double> bands = test::constant<double>(LineSet::one(1 << 20), -1, 4, -1);
  test::set_up(solver, bands);
  const SharesReport rated = solver.report().sharing;
  EXPECT_NE(rated.why.find("shared for the least energy, by rated power"), std::string::npos) << rated.why;
  EXPECT_NE(rated.objectives.find("; energy: "), std::string::npos) << rated.objectives;
  const std::vector<double> y = test::random_vector<double>(bands.lines().extent());
  std::vector<double> x(y.size());
  for (int k = 0; k < 2000 && solver.report().energy.windows < 2; ++k) solver.apply(y.data(), x.data());
  const EnergyReport energy = solver.report().energy;
  ASSERT_GE(energy.windows, 2);
  EXPECT_NEAR(energy.window_joules() / energy.seconds, 90, 8);
  EXPECT_GT(energy.apply_seconds, 0.9 * energy.seconds);
  test::set_up(solver, bands);
  const SharesReport measured = solver.report().sharing;
  EXPECT_NE(measured.why.find("by measured power of "), std::string::npos) << measured.why;
  usual_meter_settings() = {};
}

}  // namespace
}  // namespace oclspkt
