// SPDX-License-Identifier: BSD-2-Clause
// Energy of work in windows, on counters of fakes, without waiting.
#include <gtest/gtest.h>

#include <cmath>
#include <utility>

#include "fake_machine.hpp"
#include "measure_energy.hpp"
#include "thrown.hpp"

namespace oclspkt::bench::paper {
namespace {

/// A protocol by the clock of a machine.
EnergyProtocol on(Machine& machine, EnergyProtocol protocol = {}) {
  protocol.thread = false;
  protocol.now = [&] { return machine.now(); };
  protocol.sleep = [&](double seconds) { machine.pass(seconds, machine.idle); };
  return protocol;
}

TEST(EnergyOfWork, OfWindowsBelowTwoSecondsIsRefused) {
  Machine machine;
  Meter meter({kHost}, machine.settings());
  EXPECT_TRUE(has(test::thrown_text([&] { measure_energy(meter, [] {}, {.seconds = 1}); }), "2 s or more"));
}

TEST(EnergyOfWork, IsMeasuredInThreeWindowsWithIdlePowerApart) {
  Machine machine;
  Meter meter({kCard, kHost}, machine.settings());
  int windows = 0;
  double begun = -1;
  const auto work = [&] {
    if (begun < 0 || meter.seconds() < begun) ++windows;
    begun = meter.seconds();
    machine.at_work[2] = 690 + 5 * windows;  // 695, 700, 705
    machine.work();
  };
  const auto energy = measure_energy(meter, work, on(machine));
  EXPECT_EQ(windows, 3);
  EXPECT_NEAR(energy[0].watts(), 700, 1);
  EXPECT_NEAR(energy[0].spread, 10. / 700, 1e-3);
  EXPECT_NEAR(energy[0].idle_watts, 70, 1);
  EXPECT_NEAR(energy[1].idle_watts, 25, 0.1);
  EXPECT_NEAR(energy[0].rounds, 40, 1);
  EXPECT_NEAR(energy[0].by_samples, energy[0].by_counter, 0.05 * energy[0].by_counter);
}

/// Windows of 2 s that begin anywhere in steps of 0.11 s would differ by 5 %.
TEST(EnergyOfWork, WindowsBeginAndEndWithAStepOfTheCounter) {
  Machine machine;
  machine.card_step = 0.11;
  machine.host_counts = false;
  Meter meter({kCard}, machine.settings());
  for (double seconds = 2; seconds < 2.1; seconds += 0.01) {
    const EnergyProtocol protocol{.seconds = seconds, .cool_down = 0.5 + seconds / 3};
    const WindowsOfWork energy = measure_energy(
        meter, [&] { machine.pass(0.006, machine.at_work); }, on(machine, protocol))[0];
    EXPECT_EQ(energy.kind, PowerKind::counter);
    EXPECT_LT(energy.spread, 0.01) << seconds;
    EXPECT_NEAR(energy.watts(), 700, 7) << seconds;
  }
}

TEST(EnergyOfWork, CountersThatShowMoreIdleThanAtWorkAreRefused) {
  Machine machine;
  std::swap(machine.idle, machine.at_work);
  Meter meter({kCard, kHost}, machine.settings());
  const auto energy = measure_energy(
      meter, [&] { machine.work(); }, on(machine));
  for (const WindowsOfWork& e : energy) {
    EXPECT_EQ(e.kind, PowerKind::rated);
    EXPECT_TRUE(has(e.words, "more power idle than at work")) << e.words;
    EXPECT_TRUE(std::isnan(e.idle_watts));
  }
  EXPECT_NEAR(energy[0].watts(), 700, 1e-9);
}

/// A thread reads the devices while the work goes on.
TEST(EnergyOfWork, IsSampledByAThread) {
  Machine machine;
  machine.host_counts = machine.card_counts = false;
  Meter meter({kCard}, [&] {
    MeterSettings settings = machine.settings();
    settings.now = steady_seconds;
    return settings;
  }());
  Machine::cards().card[0].watts = 300;
  const WindowsOfWork energy =
      measure_energy(meter, [] { sleep_seconds(0.5); }, {.repeats = 1, .cool_down = 0, .idle = 0})[0];
  EXPECT_EQ(energy.kind, PowerKind::samples) << energy.words;
  EXPECT_NEAR(energy.watts(), 300, 1);
  EXPECT_NEAR(energy.rounds, 5, 1);
}

}  // namespace
}  // namespace oclspkt::bench::paper
