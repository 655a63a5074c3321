// SPDX-License-Identifier: BSD-2-Clause
// The meter of energy on counters of fakes, without waiting.

#include <vector>

#include "apply_energy.hpp"
#include "fake_machine.hpp"
#include "thrown.hpp"

namespace oclspkt {
namespace {

class Power : public testing::Test {
 protected:
  Machine machine;
};
using EnergyOfApplies = Power;

/// What a window of work by a meter tells.
std::vector<Energy> window(Machine& machine, Meter& meter, double seconds = 2.5) {
  meter.begin();
  while (meter.seconds() < seconds) {
    machine.work();
    meter.poll();
  }
  return meter.end();
}

TEST_F(Power, IsCountedOfCardsAndOfTheHost) {
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

TEST_F(Power, CountersOfTheHostWrap) {
  Meter meter({kHost}, machine.settings());
  // 2500 joules of the package wrap twice.
  EXPECT_NEAR(window(machine, meter, 25)[0].joules, 25 * 125, 10);
}

TEST_F(Power, AWindowBelowTwoSecondsIsRefused) {
  Meter meter({kHost}, machine.settings());
  meter.begin();
  machine.pass(1.9, machine.at_work);
  EXPECT_TRUE(has(test::thrown_text([&] { meter.end(); }), "1.9 s: measure 2 s or more"));
  EXPECT_TRUE(has(test::thrown_text([&] { meter.end(); }), "0 s"));
}

TEST_F(Power, CountersThatStandStillAreRefused) {
  machine.host_counts = machine.card_counts = false;
  Meter meter({kCard, kHost}, machine.settings());
  const auto energy = window(machine, meter);
  EXPECT_EQ(energy[0].kind, PowerKind::samples);
  EXPECT_NEAR(energy[0].watts(), 700, 20);
  EXPECT_EQ(energy[1].kind, PowerKind::rated);
  EXPECT_NEAR(energy[1].watts(), 8, 1e-9);
  EXPECT_TRUE(has(energy[1].words, "rated power, 8 W (the counter stands still")) << energy[1].words;
}

TEST_F(Power, ACounterThatJumpsBackIsRefused) {
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
TEST_F(Power, ACounterThatGoesBackALittleHasNotWrapped) {
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

TEST_F(Power, NoPermissionNamesTheFileAndTheCure) {
  machine.write("intel-rapl:0:1/energy_uj",
                "");  // root reads everything: what cannot be read stands for what may not be
  const Meter meter({kHost}, machine.settings());
  EXPECT_EQ(meter.sources()[0].kind, PowerKind::rated);
  EXPECT_TRUE(has(meter.sources()[0].trouble, machine.file("intel-rapl:0:1/energy_uj") + " cannot be read"));
  EXPECT_TRUE(has(meter.sources()[0].trouble, "chmod a+r"));
}

TEST_F(Power, WithoutAnyCounterItIsRated) {
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
TEST_F(Power, OfACardOfAmdIsCounted) {
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

TEST_F(Power, ACardIsFoundByItsPlaceOrIfItIsTheOnlyOne) {
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

TEST_F(Power, ACardThatDisappearsIsMarked) {
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

TEST_F(Power, RatedWattsAreWhatTheUserSays) {
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

TEST_F(EnergyOfApplies, AddsUpWindowsOfShortApplies) {
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

TEST_F(EnergyOfApplies, IsThatOfAppliesByTheirPartOfTheTime) {
  ApplyEnergy energy({kHost}, machine.settings());
  apply_for(machine, energy, 6, 0.05);
  EXPECT_NEAR(energy.share(), 0.5, 0.05);
  EXPECT_NEAR(energy.report().joules(), 0.5 * energy.report().window_joules(), 0.05 * energy.report().window_joules());
}

TEST_F(EnergyOfApplies, APauseEndsAWindowAndIsNotInIt) {
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

TEST_F(EnergyOfApplies, SaysThatItIsRated) {
  MeterSettings settings = machine.settings();
  settings.powercap = machine.file("none");
  ApplyEnergy energy({kHost}, settings);
  apply_for(machine, energy, 2.05);
  EXPECT_TRUE(std::isnan(energy.watts("cpu")));
  EXPECT_TRUE(has(energy_lines(energy.report()).at(1), "rated power, 8 W")) << energy_lines(energy.report()).at(1);
}

TEST_F(EnergyOfApplies, OfOtherAppliesIsNoneOfThoseBefore) {
  ApplyEnergy energy({kHost}, machine.settings());
  apply_for(machine, energy, 3);  // the second window is open
  energy.forget();
  EXPECT_TRUE(std::isnan(energy.watts("cpu")));
  apply_for(machine, energy, 1.5);
  EXPECT_EQ(energy.report().windows, 1);
  EXPECT_FALSE(energy.told());
  EXPECT_TRUE(std::isnan(energy.watts("cpu")));
  apply_for(machine, energy, 2.05);
  EXPECT_NEAR(energy.watts("cpu"), 125, 2);
  EXPECT_TRUE(energy.told());
}

}  // namespace
}  // namespace oclspkt
