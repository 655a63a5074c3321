// SPDX-License-Identifier: BSD-2-Clause
#include "energy.hpp"

#include <algorithm>
#include <cmath>

#include "measure_energy.hpp"
#include "run.hpp"
#include "text.hpp"

namespace oclspkt::bench::paper {
namespace {

void add(Joules& all, double joules, double seconds, const std::string& words) {
  all.joules += joules;
  all.watts += joules / seconds;
  all.source += (all.source.empty() ? "" : " + ") + words;
}

std::vector<PoweredDevice> powered_all(const std::vector<DeviceInfo>& devices) {
  std::vector<PoweredDevice> all;
  for (const DeviceInfo& device : devices) all.push_back(powered(device));
  return all;
}

}  // namespace

Joules joules_of(const std::vector<DeviceInfo>& devices, const RatedWatts& rated, double seconds,
                 const std::function<void()>& solve, Windows windows, int each) {
  const std::vector<PoweredDevice> all = powered_all(devices);
  Joules sum;
  MeterSettings settings;
  settings.rated = rated;
  Meter meter(all, settings);
  const auto is_rated = [](const PowerSource& source) { return source.kind == PowerKind::rated; };
  if (!solve || std::all_of(meter.sources().begin(), meter.sources().end(), is_rated)) {
    for (const PoweredDevice& device : all) {
      const double watts = rated_watts(device, rated);
      add(sum, watts * seconds, seconds, text("rated power, %g W", watts));
    }
    return sum;
  }
  EnergyProtocol protocol;
  if (windows == Windows::one) protocol = {.repeats = 1, .cool_down = 0, .idle = 0};
  if (windows == Windows::several) protocol.idle = 0;
  for (const WindowsOfWork& energy : measure_energy(meter, solve, protocol)) {
    const double solves = each * energy.rounds;
    add(sum, energy.joules / solves, energy.seconds / solves, energy.words);
    if (energy.kind == PowerKind::rated || !std::isnan(sum.spread)) continue;
    sum.by_counter = energy.by_counter / solves;
    sum.by_samples = energy.by_samples / solves;
    sum.spread = energy.spread;
    sum.idle_watts = energy.idle_watts;
  }
  return sum;
}

std::vector<DeviceInfo> that_count(const std::vector<DeviceInfo>& devices, const std::string& works) {
  const Meter meter(powered_all(devices));
  std::vector<DeviceInfo> count;
  for (std::size_t i = 0; i < devices.size(); ++i) {
    const bool rated = meter.sources()[i].kind == PowerKind::rated;
    if (!rated || devices[i].name == works) count.push_back(devices[i]);
  }
  return count;
}

void add_joules(const std::vector<DeviceInfo>& devices, const RatedWatts& rated, const std::function<void()>& solve,
                Windows windows, nlohmann::ordered_json& record, int each) {
  const double rows = record["rows"].get<double>(), seconds = record["seconds"].get<double>();
  const Joules joules = joules_of(devices, rated, seconds, solve, windows, each);
  record["rows_per_second"] = figure(rows / seconds);
  record["watts"] = figure(joules.watts);
  record["joules"] = figure(joules.joules);
  record["rows_per_joule"] = figure(rows / joules.joules);
  record["energy"] = joules.source;
  const auto add_known = [&](const char* key, double value) {
    if (!std::isnan(value)) record[key] = figure(value);
  };
  add_known("joules_by_counter", joules.by_counter);
  add_known("joules_by_samples", joules.by_samples);
  add_known("idle_watts", joules.idle_watts);
  if (windows != Windows::one) add_known("energy_spread", joules.spread);
}

}  // namespace oclspkt::bench::paper
