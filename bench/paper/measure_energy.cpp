// SPDX-License-Identifier: BSD-2-Clause
#include "measure_energy.hpp"

#include <algorithm>
#include <chrono>
#include <condition_variable>
#include <future>
#include <mutex>
#include <optional>
#include <string>
#include <thread>
#include <utility>

#include "oclspkt/error.hpp"

namespace oclspkt::bench::paper {
namespace {

using AllWindows = std::vector<WindowsOfWork>;  // of each device

/// Seconds between two reads, which take 4 ms: with 20 ms, applies of a card were 3 to 6 % slower (H200).
constexpr double kPollSeconds = 0.1;
/// Seconds of work before a window, so that a counter's lag covers the same power at both ends of the window.
constexpr double kWarmUp = 0.3;
/// The longest wait for a step of a counter, in seconds. Counters of cards move in steps of up to 0.1 s, which are 5 %
/// of a window, so a window begins and ends with a step.
constexpr double kLongestStep = 0.25;
/// Idle power may exceed power at work by this factor if the work hardly takes any power.
constexpr double kIdleNoise = 1.05;

/// Work until every counter that moves has moved once. Another thread looks, where there may be one: a look takes as
/// long as several rounds of work. @return rounds
double work_to_step(const Meter& meter, const std::function<void()>& work, const EnergyProtocol& protocol) {
  std::vector<std::pair<const PowerProbe*, double>> shown;
  for (const Probes& probes : meter.probes()) {
    for (const PowerProbe& probe : probes.all) {
      if (probe.joules) shown.emplace_back(&probe, probe.joules().value_or(0));
    }
  }
  if (shown.empty()) return 0;
  const double begun = protocol.now();
  const auto waits = [&] {
    std::erase_if(shown, [](const auto& at) { return at.first->joules().value_or(0) != at.second; });
    return !shown.empty() && protocol.now() - begun < kLongestStep;
  };
  double rounds = 0;
  if (!protocol.thread) {
    for (; waits(); ++rounds) work();
    return rounds;
  }
  const auto watcher = std::async(std::launch::async, [&] {
    while (waits()) {
    }
  });
  for (; watcher.wait_for(std::chrono::seconds(0)) != std::future_status::ready; ++rounds) work();
  return rounds;
}

/// Reads the devices of a meter until it goes.
class Poller {
 public:
  explicit Poller(Meter& meter)
      : thread_([&meter](const std::stop_token& stop) {
          std::mutex mutex;
          std::condition_variable_any wake;
          std::unique_lock lock(mutex);
          const auto stopped = [&] { return stop.stop_requested(); };
          while (!wake.wait_for(lock, stop, std::chrono::duration<double>(kPollSeconds), stopped)) meter.poll();
        }) {}

 private:
  std::jthread thread_;
};

AllWindows measure_window(Meter& meter, double length, const std::function<void()>& work,
                          const EnergyProtocol& protocol) {
  protocol.sleep(protocol.cool_down);
  for (const double begun = protocol.now(); protocol.now() - begun < kWarmUp;) work();
  work_to_step(meter, work, protocol);
  meter.begin();
  double rounds = 0;
  {
    std::optional<Poller> poller;
    if (protocol.thread) poller.emplace(meter);
    for (; meter.seconds() < length; ++rounds) {
      work();
      if (!poller) meter.poll();
    }
    rounds += work_to_step(meter, work, protocol);
  }
  AllWindows all;
  for (Energy& e : meter.end()) {
    all.push_back({std::move(e)});
    all.back().rounds = rounds;
  }
  return all;
}

/// Refuse figures that show more power idle than at work.
void refuse_lies(const Meter& meter, std::size_t device, WindowsOfWork& e, const Energy& idle) {
  bool lies = false;
  const auto check = [&](double& at_work, double at_rest) {
    if (!(at_rest / idle.seconds > kIdleNoise * at_work / e.seconds)) return;
    at_work = Energy::kNone;
    lies = true;
  };
  check(e.by_counter, idle.by_counter);
  check(e.by_samples, idle.by_samples);
  if (lies) meter.settle(device, e, "refused: more power idle than at work, as virtual machines may show");
  if (e.kind != PowerKind::rated)
    e.idle_watts = (e.kind == PowerKind::counter ? idle.by_counter : idle.by_samples) / idle.seconds;
}

/// The window with the median watts, with the spread of all windows; the worst kind of source counts for all.
WindowsOfWork median_of_windows(AllWindows windows) {
  std::sort(windows.begin(), windows.end(), [](const Energy& a, const Energy& b) { return a.watts() < b.watts(); });
  const auto poorest =
      std::max_element(windows.begin(), windows.end(), [](auto& a, auto& b) { return a.kind < b.kind; });
  WindowsOfWork e = windows[windows.size() / 2];
  if (poorest->kind != e.kind) e = *poorest;
  if (e.kind != PowerKind::rated) e.spread = (windows.back().watts() - windows.front().watts()) / e.watts();
  return e;
}

}  // namespace

void sleep_seconds(double seconds) {
  if (seconds > 0) std::this_thread::sleep_for(std::chrono::duration<double>(seconds));
}

std::vector<WindowsOfWork> measure_energy(Meter& meter, const std::function<void()>& work,
                                          const EnergyProtocol& protocol) {
  if (protocol.repeats < 1 || protocol.seconds < kLeastWindow || (protocol.idle != 0 && protocol.idle < kLeastWindow)) {
    throw InvalidInput("energy is measured in one window or more, each of 2 s or more, as counters move in steps");
  }
  AllWindows idle;
  if (protocol.idle > 0) {
    idle = measure_window(
        meter, protocol.idle, [&] { protocol.sleep(kPollSeconds); }, protocol);
  }
  std::vector<AllWindows> of_device(meter.sources().size());
  for (int i = 0; i < protocol.repeats; ++i) {
    AllWindows one = measure_window(meter, protocol.seconds, work, protocol);
    for (std::size_t d = 0; d < one.size(); ++d) {
      if (!idle.empty()) refuse_lies(meter, d, one[d], idle[d]);
      of_device[d].push_back(std::move(one[d]));
    }
  }
  AllWindows all;
  for (AllWindows& windows : of_device) all.push_back(median_of_windows(std::move(windows)));
  return all;
}

}  // namespace oclspkt::bench::paper
