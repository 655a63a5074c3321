// SPDX-License-Identifier: BSD-2-Clause
// The meter of energy on counters of fakes, without waiting.
#include <dlfcn.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <array>
#include <cmath>
#include <filesystem>
#include <fstream>
#include <functional>
#include <string>
#include <utility>
#include <vector>

#include "apply_energy.hpp"
#include "fake_power.hpp"
#include "meter.hpp"
#include "thrown.hpp"

namespace oclspkt {
namespace {

namespace fs = std::filesystem;

constexpr double kRange = 1000;  // joules at which the fakes' counters of the host wrap

bool has(const std::string& text, const std::string& part) { return text.find(part) != std::string::npos; }

/// A machine with a host of two counters and two cards, on a clock of its own.
class Machine {
 public:
  Machine() : folder_(fs::path(testing::TempDir()) / ("power" + std::to_string(::getpid()))) {
    fs::remove_all(folder_);
    zone("intel-rapl:0", "package-0");
    zone("intel-rapl:0:0", "core");
    zone("intel-rapl:0:1", "dram");
    zone("intel-rapl:1", "psys");
    zone("intel-rapl-mmio:0", "package-0");
    cards() = {};
  }
  ~Machine() { fs::remove_all(folder_); }
  Machine(const Machine&) = delete;
  Machine& operator=(const Machine&) = delete;

  static FakeCards& cards() {
    void* library = dlopen(OCLSPKT_FAKE_POWER, RTLD_NOW | RTLD_LOCAL);
    return *static_cast<FakeCards*>(dlsym(library, "fake_cards"));
  }
  void zone(const std::string& name, const std::string& of, double joules = 10) {
    fs::create_directories(folder_ / name);
    write(name + "/name", of);
    write(name + "/max_energy_range_uj", std::to_string(static_cast<long long>(kRange * 1e6)));
    count(name, joules);
  }
  void count(const std::string& name, double joules) const {
    write(name + "/energy_uj", std::to_string(static_cast<long long>(joules * 1e6)));
  }
  void write(const std::string& name, const std::string& text) const { std::ofstream(folder_ / name) << text << "\n"; }
  std::string file(const std::string& name) const { return (folder_ / name).string(); }

  MeterSettings settings() {
    MeterSettings settings;
    settings.powercap = folder_.string();
    settings.nvml = settings.amdsmi = OCLSPKT_FAKE_POWER;
    settings.thread = false;
    settings.now = [this] { return now_; };
    settings.sleep = [this](double seconds) { pass(seconds, idle); };
    return settings;
  }
  /// Let time pass with watts of the package, of memory and of the first card.
  void pass(double seconds, const std::array<double, 3>& watts) {
    now_ += seconds;
    for (std::size_t i = 0; i < 2; ++i) joules_[i] = std::fmod(joules_[i] + watts[i] * seconds, kRange);
    if (host_counts) {
      count("intel-rapl:0", joules_[0]);
      count("intel-rapl:0:1", joules_[1]);
    }
    cards().card[0].watts = watts[2];
    card_joules_ += watts[2] * seconds;
    if (!card_counts || now_ < shown_at_ + card_step) return;
    shown_at_ = now_;
    cards().card[0].joules += std::exchange(card_joules_, 0);
  }
  void work() { pass(0.05, at_work); }

  std::array<double, 3> idle{20, 5, 70}, at_work{100, 25, 700};
  bool host_counts = true, card_counts = true;
  double card_step = 0;  ///< seconds after which the card's counter moves

 private:
  fs::path folder_;
  double now_ = 5, card_joules_ = 0, shown_at_ = 0;
  std::array<double, 2> joules_{10, 10};
};

const PoweredDevice kCard{"pci:0000:41:00.0", DeviceType::gpu, 1, "NVIDIA H200"};
const PoweredDevice kHost{};

/// What a window of work by a meter tells.
std::vector<Energy> window(Machine& machine, Meter& meter, double seconds = 2.5) {
  meter.begin();
  while (meter.seconds() < seconds) {
    machine.work();
    meter.poll();
  }
  return meter.end();
}

TEST(Power, IsCountedOfCardsAndOfTheHost) {
  Machine machine;
  Meter meter({kCard, kHost}, machine.settings());
  ASSERT_EQ(meter.sources().size(), 2U);
  EXPECT_EQ(meter.sources()[0].words, "counter of NVIDIA H200 by NVML");
  EXPECT_EQ(meter.sources()[1].words, "counter of the host's packages and memory by RAPL");
  EXPECT_EQ(meter.sources()[1].trouble, "");
  const auto energy = window(machine, meter);
  EXPECT_EQ(energy[0].kind, PowerKind::counter);
  EXPECT_NEAR(energy[0].watts(), 700, 1);
  EXPECT_NEAR(energy[0].by_samples, energy[0].by_counter, 0.01 * energy[0].joules);
  EXPECT_NEAR(energy[1].watts(), 125, 0.1);  // neither cores, which are in packages, nor psys, which has all
}

TEST(Power, CountersOfTheHostWrap) {
  Machine machine;
  Meter meter({kHost}, machine.settings());
  // 2500 joules of the package wrap twice.
  EXPECT_NEAR(window(machine, meter, 25)[0].joules, 25 * 125, 10);
}

TEST(Power, AWindowBelowTwoSecondsIsRefused) {
  Machine machine;
  Meter meter({kHost}, machine.settings());
  meter.begin();
  machine.pass(1.9, machine.at_work);
  EXPECT_TRUE(has(test::thrown_text([&] { meter.end(); }), "1.9 s: measure 2 s or more"));
  EXPECT_TRUE(has(test::thrown_text([&] { meter.measure([] {}, {.seconds = 1}); }), "2 s or more"));
  EXPECT_TRUE(has(test::thrown_text([&] { meter.end(); }), "0 s"));
}

TEST(Power, CountersThatStandStillAreRefused) {
  Machine machine;
  machine.host_counts = machine.card_counts = false;
  Meter meter({kCard, kHost}, machine.settings());
  const auto energy = window(machine, meter);
  EXPECT_EQ(energy[0].kind, PowerKind::samples);
  EXPECT_NEAR(energy[0].watts(), 700, 20);
  EXPECT_EQ(energy[1].kind, PowerKind::rated);
  EXPECT_NEAR(energy[1].watts(), 8, 1e-9);
  EXPECT_TRUE(has(energy[1].words, "rated power, 8 W (the counter stands still")) << energy[1].words;
}

TEST(Power, ACounterThatJumpsBackIsRefused) {
  Machine machine;
  Meter meter({kCard}, machine.settings());
  meter.begin();
  machine.pass(1, machine.at_work);
  meter.poll();
  Machine::cards().card[0].joules = 3;
  for (int i = 0; i < 30; ++i) {
    machine.work();
    meter.poll();
  }
  const Energy energy = meter.end()[0];
  EXPECT_TRUE(std::isnan(energy.by_counter));
  EXPECT_EQ(energy.kind, PowerKind::samples);
  EXPECT_TRUE(has(energy.words, "jumped from 700")) << energy.words;
}

/// A counter of the host that goes back looks as if it had wrapped, with more joules than there are.
TEST(Power, ACounterThatGoesBackALittleHasNotWrapped) {
  Machine machine;
  Meter meter({kHost}, machine.settings());
  meter.begin();
  machine.pass(1, machine.at_work);
  meter.poll();
  machine.host_counts = false;
  machine.count("intel-rapl:0", 100);
  machine.work();
  meter.poll();
  machine.pass(1.2, machine.at_work);
  const Energy energy = meter.end()[0];
  EXPECT_EQ(energy.kind, PowerKind::rated);
  EXPECT_TRUE(has(energy.words, "jumped from 110 to 100 J")) << energy.words;
}

TEST(Power, NoPermissionNamesTheFileAndTheCure) {
  Machine machine;
  machine.write("intel-rapl:0:1/energy_uj",
                "");  // root reads everything: what cannot be read stands for what may not be
  const Meter meter({kHost}, machine.settings());
  EXPECT_EQ(meter.sources()[0].kind, PowerKind::rated);
  EXPECT_TRUE(has(meter.sources()[0].trouble, machine.file("intel-rapl:0:1/energy_uj") + " cannot be read"));
  EXPECT_TRUE(has(meter.sources()[0].trouble, "chmod a+r"));
}

TEST(Power, WithoutAnyCounterItIsRated) {
  Machine machine;
  MeterSettings settings = machine.settings();
  settings.powercap = machine.file("none");
  settings.nvml = settings.amdsmi = "libthere-is-none.so.1";
  const Meter meter({kCard, kHost, {"pci:0000:05:00.0", DeviceType::fpga, 1, "a board"}}, settings);
  EXPECT_EQ(meter.sources()[0].words, "rated power, 700 W");
  EXPECT_TRUE(has(meter.sources()[0].trouble, "libthere-is-none.so.1 cannot be used")) << meter.sources()[0].trouble;
  EXPECT_TRUE(has(meter.sources()[1].trouble, "has no counters of packages"));
  EXPECT_EQ(meter.sources()[2].words, "rated power, 60 W");
}

/// Driver's names of AMD's cards are of no help: what NVML does not know is asked of AMD SMI.
TEST(Power, OfACardOfAmdIsCounted) {
  Machine machine;
  Machine::cards().nvml = false;
  Machine::cards().amd = true;
  const PoweredDevice second{"pci:0000:c1:00.0", DeviceType::gpu, 1, "gfx942"},
      first{"pci:0000:41:00.0", DeviceType::gpu, 1, "gfx942"};
  Meter meter({first, second}, machine.settings());
  EXPECT_EQ(meter.sources()[0].words, "counter of the card by AMD SMI");
  EXPECT_EQ(meter.sources()[0].trouble, "");
  const auto energy = window(machine, meter);
  EXPECT_EQ(energy[0].kind, PowerKind::counter);
  EXPECT_NEAR(energy[0].watts(), 700, 1);
  EXPECT_EQ(energy[1].kind, PowerKind::rated);  // its counter stands still
  EXPECT_TRUE(has(energy[1].words, "stands still")) << energy[1].words;

  const Meter unknown({{"AMD:0", DeviceType::gpu, 1, "gfx942"}, {"pci:0000:99:00.0", DeviceType::gpu, 1, "gfx942"}},
                      machine.settings());
  EXPECT_TRUE(has(unknown.sources()[0].trouble, "AMD SMI does not find gfx942:")) << unknown.sources()[0].trouble;
  EXPECT_TRUE(has(unknown.sources()[1].trouble, "AMD SMI does not find gfx942 at 0000:99:00.0: see whether amd-smi"));
  Machine::cards().count = 1;
  const Meter only({{"AMD:0", DeviceType::gpu, 1, "gfx942"}}, machine.settings());
  EXPECT_EQ(only.sources()[0].kind, PowerKind::counter);
  Machine::cards().card[0].counts = false;
  const Meter silent({first}, machine.settings());
  EXPECT_TRUE(has(silent.sources()[0].trouble, "tells neither energy nor power: virtual machines are not told"));
}

TEST(Power, ACardIsFoundByItsPlaceOrIfItIsTheOnlyOne) {
  Machine machine;
  const PoweredDevice elsewhere{"pci:0000:00:00.6", DeviceType::gpu, 1, "NVIDIA H200"};
  const PoweredDevice unknown{"NVIDIA CUDA:0", DeviceType::gpu, 1, "NVIDIA H200"};
  const PoweredDevice other{"pci:0000:99:00.0", DeviceType::gpu, 1, "AMD Instinct MI210"};
  const Meter of_two({elsewhere, unknown}, machine.settings());
  EXPECT_TRUE(has(of_two.sources()[0].trouble, "does not find NVIDIA H200 at 0000:00:00.6 (Not Found)"));
  EXPECT_TRUE(has(of_two.sources()[1].trouble, "does not find NVIDIA H200: see")) << of_two.sources()[1].trouble;
  Machine::cards().count = 1;
  const Meter of_one({elsewhere, unknown, other}, machine.settings());
  EXPECT_EQ(of_one.sources()[0].kind, PowerKind::counter);
  EXPECT_EQ(of_one.sources()[1].kind, PowerKind::counter);
  EXPECT_EQ(of_one.sources()[2].kind, PowerKind::rated);
}

TEST(Power, ACardThatDisappearsIsMarked) {
  Machine machine;
  Meter meter({kCard, kHost}, machine.settings());
  meter.begin();
  machine.pass(1, machine.at_work);
  meter.poll();
  Machine::cards().card[0].counts = Machine::cards().card[0].samples = false;
  machine.pass(1.5, machine.at_work);
  const auto energy = meter.end();
  EXPECT_EQ(energy[0].kind, PowerKind::rated);
  EXPECT_TRUE(has(energy[0].words, "cannot be read any more")) << energy[0].words;
  EXPECT_EQ(energy[1].kind, PowerKind::counter);
}

TEST(Power, IsMeasuredInThreeWindowsWithIdlePowerApart) {
  Machine machine;
  Meter meter({kCard, kHost}, machine.settings());
  int windows = 0;
  double begun = -1;
  const auto energy = meter.measure([&] {
    if (begun < 0 || meter.seconds() < begun) ++windows;
    begun = meter.seconds();
    machine.at_work[2] = 690 + 5 * windows;  // 695, 700, 705
    machine.work();
  });
  EXPECT_EQ(windows, 3);
  EXPECT_NEAR(energy[0].watts(), 700, 1);
  EXPECT_NEAR(energy[0].spread, 10. / 700, 1e-3);
  EXPECT_NEAR(energy[0].idle_watts, 70, 1);
  EXPECT_NEAR(energy[1].idle_watts, 25, 0.1);
  EXPECT_NEAR(energy[0].rounds, 40, 1);
  EXPECT_NEAR(energy[0].by_samples, energy[0].by_counter, 0.05 * energy[0].by_counter);
}

/// Windows of 2 s that begin anywhere in steps of 0.11 s would differ by 5 %.
TEST(Power, WindowsBeginAndEndWithAStepOfTheCounter) {
  Machine machine;
  machine.card_step = 0.11;
  machine.host_counts = false;
  Meter meter({kCard}, machine.settings());
  for (double seconds = 2; seconds < 2.1; seconds += 0.01) {
    const EnergyProtocol protocol{.seconds = seconds, .cool_down = 0.5 + seconds / 3};
    const Energy energy = meter.measure([&] { machine.pass(0.006, machine.at_work); }, protocol)[0];
    EXPECT_EQ(energy.kind, PowerKind::counter);
    EXPECT_LT(energy.spread, 0.01) << seconds;
    EXPECT_NEAR(energy.watts(), 700, 7) << seconds;
  }
}

TEST(Power, CountersThatShowMoreIdleThanAtWorkAreRefused) {
  Machine machine;
  std::swap(machine.idle, machine.at_work);
  Meter meter({kCard, kHost}, machine.settings());
  const auto energy = meter.measure([&] { machine.work(); });
  for (const Energy& e : energy) {
    EXPECT_EQ(e.kind, PowerKind::rated);
    EXPECT_TRUE(has(e.words, "more power idle than at work")) << e.words;
    EXPECT_TRUE(std::isnan(e.idle_watts));
  }
  EXPECT_NEAR(energy[0].watts(), 700, 1e-9);
}

TEST(Power, RatedWattsAreWhatTheUserSays) {
  const RatedWatts rated = parse_rated("gpu=500,cpu=12.5");
  EXPECT_EQ(rated_watts(kCard, rated), 500);
  EXPECT_EQ(rated_watts({"cpu", DeviceType::cpu, 4, "a CPU"}, rated), 50);
  EXPECT_EQ(rated_watts({"", DeviceType::fpga, 1, "a board"}, rated), 60);
  EXPECT_EQ(rated_watts({"", DeviceType::gpu, 1, "NVIDIA H100 PCIe"}, {}), 350);
  EXPECT_EQ(rated_watts({"", DeviceType::gpu, 1, "a GPU"}, {}), 400);
  for (const char* wrong :
       {"gpu", "gpu=", "gpu=x", "gpu=0", "gpu=-1", "gpu=inf", "card=3", "gpu=1,gpu=2", "gpu=1;cpu=2"}) {
    EXPECT_TRUE(has(test::thrown_text([&] { parse_rated(wrong); }), "such as gpu=700")) << wrong;
  }
}

/// Apply for some seconds, with pauses between applies.
void apply_for(Machine& machine, ApplyEnergy& energy, double seconds, double pause = 0) {
  for (double done = 0; done < seconds - 1e-9; done += 0.05 + pause) {
    energy.begin();
    machine.work();
    energy.end(1, false);
    if (pause > 0) machine.pass(pause, machine.idle);
  }
}

TEST(ApplyEnergy, AddsUpWindowsOfShortApplies) {
  Machine machine;
  ApplyEnergy energy({kCard, kHost}, machine.settings());
  EXPECT_TRUE(energy_lines(energy.report()).empty());
  apply_for(machine, energy, 7);
  const EnergyReport& report = energy.report();
  EXPECT_EQ(report.windows, 3);
  EXPECT_NEAR(static_cast<double>(report.applies), 120, 2);
  EXPECT_NEAR(report.seconds, 6, 0.2);
  EXPECT_NEAR(report.joules(), report.seconds * 825, 60);
  EXPECT_NEAR(energy.watts("pci:0000:41:00.0"), 700, 10);
  EXPECT_NEAR(energy.watts("cpu"), 125, 2);
  EXPECT_TRUE(has(energy_lines(report).at(0), "in 3 windows"));
  EXPECT_TRUE(has(energy_lines(report).at(1), "counter of NVIDIA H200 by NVML"));
}

TEST(ApplyEnergy, IsThatOfAppliesByTheirPartOfTheTime) {
  Machine machine;
  ApplyEnergy energy({kHost}, machine.settings());
  apply_for(machine, energy, 6, 0.05);
  EXPECT_NEAR(energy.share(), 0.5, 0.05);
  EXPECT_NEAR(energy.report().joules(), 0.5 * energy.report().window_joules(), 0.05 * energy.report().window_joules());
}

TEST(ApplyEnergy, APauseEndsAWindowAndIsNotInIt) {
  Machine machine;
  ApplyEnergy energy({kHost}, machine.settings());
  apply_for(machine, energy, 1);
  machine.pass(60, machine.idle);
  apply_for(machine, energy, 1);
  EXPECT_EQ(energy.report().windows, 0);
  EXPECT_EQ(energy.report().dropped, 1);
  EXPECT_TRUE(has(energy_lines(energy.report()).at(0), "not known, as no applies took 2 s"));
  machine.pass(60, machine.idle);
  apply_for(machine, energy, 2.05);
  EXPECT_EQ(energy.report().windows, 1);
  EXPECT_NEAR(energy.report().joules() / energy.report().seconds, 125, 2);
}

TEST(ApplyEnergy, SaysThatItIsRated) {
  Machine machine;
  MeterSettings settings = machine.settings();
  settings.powercap = machine.file("none");
  ApplyEnergy energy({kHost}, settings);
  apply_for(machine, energy, 2.05);
  EXPECT_TRUE(std::isnan(energy.watts("cpu")));
  EXPECT_TRUE(has(energy_lines(energy.report()).at(1), "rated power, 8 W")) << energy_lines(energy.report()).at(1);
}

TEST(ApplyEnergy, OfOtherAppliesIsNoneOfThoseBefore) {
  Machine machine;
  ApplyEnergy energy({kHost}, machine.settings());
  apply_for(machine, energy, 3);  // the second window is open
  energy.forget();
  EXPECT_TRUE(std::isnan(energy.watts("cpu")));
  apply_for(machine, energy, 1.5);
  EXPECT_EQ(energy.report().windows, 2);
  EXPECT_TRUE(std::isnan(energy.watts("cpu")));
  apply_for(machine, energy, 2.05);
  EXPECT_NEAR(energy.watts("cpu"), 125, 2);
}

}  // namespace
}  // namespace oclspkt
