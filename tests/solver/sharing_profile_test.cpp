// SPDX-License-Identifier: BSD-2-Clause
// What solvers that share rows measure is kept in a file, for the next solver and for other programs.
#include <gtest/gtest.h>

#include <algorithm>
#include <ctime>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <limits>
#include <string>
#include <utility>
#include <vector>

#include "apply_energy.hpp"
#include "backward_error.hpp"
#include "every_device.hpp"
#include "line_judge.hpp"
#include "matrices.hpp"
#include "solver_fixture.hpp"
#include "surroundings.hpp"

namespace oclspkt {
namespace {

/// A figure of a profile as its file has it.
struct Figure {
  std::string when, host, who, kind, how;
};

/// The figures that a file holds, and its first line.
std::vector<Figure> figures_in(const std::string& file, std::string& first_line) {
  std::ifstream stream(file);
  std::getline(stream, first_line);
  std::vector<Figure> figures;
  Figure figure;
  for (std::string number; std::getline(stream, figure.when, '\t');) {
    for (int k = 0; k < 2; ++k) std::getline(stream, number, '\t');  // set-ups, figure
    std::getline(stream, figure.host, '\t');
    std::getline(stream, figure.who, '|');
    std::getline(stream, figure.kind, '|');
    std::getline(stream, figure.how);
    figures.push_back(figure);
  }
  return figures;
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

  /// Solve with even shares, and then write to the file what was measured of both processors by themselves and beside
  /// each other, after two set-ups.
  /// @param first_set_ups  after how many the first one
  void level_profile(const Bands<double>& bands, double first, double second, double together,
                     int first_set_ups = 2) const {
    std::filesystem::remove(file);
    {
      Options even = options;
      even.balance = "even";
      Solver<double> solver = test::solver_for(bands, even);
      apply(solver, bands, 20);
    }
    std::string text;
    const std::vector<Figure> figures = figures_in(file, text);
    text += "\n";
    int measured = 0;
    const auto add = [&](const Figure& f, const char* how, double seconds, int set_ups = 2) {
      text += f.when + "\t" + std::to_string(set_ups) + "\t" + std::to_string(1e9 * seconds) + "e-9\t" + f.host + "\t" +
              f.who + "|" + f.kind + "|" + how + "\n";
    };
    for (const Figure& f : figures) {
      if (f.how == "together") add(f, "together", together);
      if (f.how != "beside") continue;
      const bool is_first = ++measured == 1;
      add(f, "beside", is_first ? first : second);
      add(f, "alone", is_first ? first : second, is_first ? first_set_ups : 2);
    }
    EXPECT_EQ(measured, 2) << text;
    std::ofstream(file) << text;
  }

  const test::FreshFolder folder;
  const std::string file = (folder.path() / "profile.txt").string();
  Options options;
};

TEST_F(SharingProfile, ThatCannotBeUsedIsToldOf) {
  options.profile = "/dev/null/profile.txt";
  Solver<double> solver(options);
  for (int step = 0; step < 2; ++step) {
    test::set_up(solver, test::constant<double>(LineSet::one(1 << 18), -1, 4, -1));
    const std::string& why = solver.report().sharing.why;
    EXPECT_NE(why.find("profile /dev/null/profile.txt is not "), std::string::npos) << why;
  }
}

/// What one life of a solver leaves in the file is what the next one begins with.
TEST_F(SharingProfile, IsKeptBetweenSolversAndSurvivesDamage) {
  options.balance = "even";
  const Bands<double> bands = test::constant<double>(LineSet::one(200'000), -1, 3, -1);
  const auto life = [&] {
    Solver<double> solver = test::solver_for(bands, options);
    apply(solver, bands, 20);
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

/// What was measured decides, whatever is predicted: all together, or the one that is faster by itself.
TEST_F(SharingProfile, DecidesByWhatWasMeasured) {
  const Bands<double> bands = test::constant<double>(LineSet::one(200'000), -1, 3, -1);
  std::string faster;
  for (const bool first : {true, false}) {
    level_profile(bands, 1e-9, first ? 3e-9 : 0.3e-9, 100e-9);
    Solver<double> solver = test::solver_for(bands, options);
    EXPECT_TRUE(solver.report().sharing.shares.empty());
    const std::string& why = solver.report().sharing.why;
    EXPECT_NE(why.find(first ? "one processor 200 us measured" : "one processor 60 us measured"), std::string::npos)
        << why;
    EXPECT_NE(solver.report().device.name, faster);
    faster = solver.report().device.name;
  }
}

/// A processor that was slow once, as in a bad moment, is measured again, and then solves.
TEST_F(SharingProfile, MeasuresAgainWhatWasSlowOnce) {
  const Bands<double> bands = test::constant<double>(LineSet::one(200'000), -1, 3, -1);
  const auto why_of = [&](int set_ups_when_slow) {
    level_profile(bands, 1e-5, 1e-6, 1e-5, set_ups_when_slow);
    Solver<double> solver = test::solver_for(bands, options);
    const std::string first = solver.report().sharing.why, name = solver.report().device.name;
    apply(solver, bands, 20);
    test::set_up(solver, bands);
    EXPECT_EQ(solver.report().device.name, name);
    return first + "\n" + solver.report().sharing.why;
  };
  const std::string again = why_of(1), never = why_of(2);
  EXPECT_NE(again.find(" is measured, 2e+06 us measured: one processor 2e+05 us measured"), std::string::npos) << again;
  EXPECT_EQ(again.find(" is measured, ", again.find('\n')), std::string::npos) << again;
  EXPECT_TRUE(never.starts_with("rows are not shared: ")) << never;
}

/// A program that applies once after each set-up never shares, and comes to an end with what it tries.
TEST_F(SharingProfile, LearnsOfSingleApplies) {
  const Bands<double> bands = test::constant<double>(LineSet::one(300'000), -1, 3, -1);
  {
    Solver<double> solver(options);
    constexpr int kTries = 6;  // either processor three times; when, depends on how long the other one took
    int tries = 0;
    for (int k = 0; k < 20; ++k) {
      test::set_up(solver, bands);
      const SharesReport& sharing = solver.report().sharing;
      EXPECT_TRUE(k == 0 || sharing.shares.empty()) << k << ": " << sharing.why;
      if (sharing.why.find(" is measured, ") != std::string::npos) ++tries;
      apply(solver, bands, 1);
    }
    EXPECT_LE(tries, kTries);
  }
  std::string first;
  int few = 0;
  for (const Figure& f : figures_in(file, first)) {
    EXPECT_EQ(f.how, "alone");
    EXPECT_TRUE(f.kind.ends_with(", 2^1 applies")) << "one apply says nothing of many: " << f.kind;
    ++few;
  }
  EXPECT_GE(few, 1);
}

/// Two programs at once with one profile: two_at_once.sh runs this twice.
TEST(SharingPrograms, SolveOnTheSameDevices) {
  Options options{.devices = "host"};
  for (const DeviceInfo& device : device_module(nullptr)->devices()) {
    if (!device.emulated) options.devices += "," + std::to_string(device.index);
  }
  options.profile = ::testing::TempDir() + "oclspkt-two-programs.txt";
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
  std::ifstream stream(options.profile);
  const std::string text{std::istreambuf_iterator<char>(stream), {}};
  EXPECT_TRUE(text.starts_with("oclspkt profile ") && text.ends_with("\n")) << text;
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
  const Bands<double> bands = test::constant<double>(LineSet::one(1 << 20), -1, 4, -1);
  Solver<double> solver = test::solver_for(bands, options);
  const SharesReport rated = solver.report().sharing;
  EXPECT_NE(rated.why.find("for the least energy, by rated power"), std::string::npos) << rated.why;
  EXPECT_NE(rated.objectives.find("; energy: "), std::string::npos) << rated.objectives;
  const std::vector<double> y = test::random_vector<double>(bands.lines().extent());
  std::vector<double> x(y.size());
  for (int k = 0; k < 2000 && solver.report().energy.windows < 2; ++k) solver.apply(y.data(), x.data());
  const EnergyReport energy = solver.report().energy;
  ASSERT_GE(energy.windows, 2);
  EXPECT_NEAR(energy.window_joules() / energy.seconds, 90, 8);
  EXPECT_GT(energy.apply_seconds, 0.9 * energy.seconds);
  // Who has not worked yet works alone first: what rated power says may be several times too much. On a slow machine a
  // set-up and one apply are a window.
  bool alone = false;
  for (int i = 0; i < 8; ++i) {
    test::set_up(solver, bands);
    alone = alone || solver.report().sharing.why.find(" works alone, to measure its power") != std::string::npos;
    if (i < 4) {  // too few applies for a window of the meter, which goes on behind the next set-up
      solver.apply(y.data(), x.data());
      continue;
    }
    const std::int64_t windows = solver.report().energy.windows;
    for (int k = 0; k < 2000 && solver.report().energy.windows < windows + 2; ++k) solver.apply(y.data(), x.data());
  }
  EXPECT_TRUE(alone);
  test::set_up(solver, bands);
  const SharesReport measured = solver.report().sharing;
  EXPECT_NE(measured.why.find("by measured power"), std::string::npos) << measured.why;
  usual_meter_settings() = {};
}

}  // namespace
}  // namespace oclspkt
