// SPDX-License-Identifier: BSD-2-Clause
#include "meter.hpp"

#include <algorithm>
#include <charconv>
#include <chrono>
#include <cmath>
#include <utility>

#include "format.hpp"
#include "oclspkt/error.hpp"
#include "split.hpp"

namespace oclspkt {
namespace {

/// The minimum number of samples per second in a window.
constexpr double kSampleRate = 4;
/// If a counter shows more watts than this limit, the counter has jumped.
constexpr double kMostWatts = 5000;

struct RatedRow {
  const char* word;  ///< a word in the name of the device
  double watts;
};
/// Rated watts from the makers' data sheets. The first entry whose word matches is used.
constexpr RatedRow kRatedTable[] = {{"H200", 700},   {"H100 PCIe", 350}, {"H100", 700}, {"A100-PCIE", 250},
                                    {"A100", 400},   {"V100", 300},      {"L40S", 350}, {"MI300X", 750},
                                    {"MI250X", 560}, {"MI210", 300},     {"U280", 225}, {"U250", 225},
                                    {"M4000", 120},  {"A10PL4", 33}};
constexpr double kAnyGpu = 400, kAnyCore = 8, kAnyBoard = 60;

Probes find(const PoweredDevice& device, const MeterSettings& settings) {
  if (device.physical == "cpu" || device.type == DeviceType::host) return powercap_probes(settings.powercap);
  if (device.type != DeviceType::gpu) return {{}, "", "nothing measures " + device.name};
  const std::string pci = device.physical.starts_with("pci:") ? device.physical.substr(4) : "";
  return card_probes(settings, pci, device.name);
}

std::string words_of(PowerKind kind, const std::string& what, double watts) {
  if (kind == PowerKind::rated) return format("rated power, %.4g W", watts);
  return (kind == PowerKind::counter ? "counter of " : "samples of ") + what;
}

PowerSource source_of(const Probes& probes, double watts) {
  const bool counts = !probes.all.empty() && probes.all.front().joules;
  const PowerKind kind = counts ? PowerKind::counter : probes.all.empty() ? PowerKind::rated : PowerKind::samples;
  PowerSource source{kind, words_of(kind, probes.words, watts), probes.trouble};
  if (kind == PowerKind::samples) source.trouble = probes.words + " has no counter of energy";
  return source;
}

}  // namespace

double steady_seconds() {
  return std::chrono::duration<double>(std::chrono::steady_clock::now().time_since_epoch()).count();
}

MeterSettings& usual_meter_settings() {
  static MeterSettings settings;
  return settings;
}

PoweredDevice powered(const DeviceInfo& device) {
  if (device.emulated) return {"cpu", DeviceType::cpu, 1, device.name};
  return {device.physical, device.type, device.cores, device.name};
}

RatedWatts parse_rated(const std::string& text) {
  RatedWatts rated;
  for (const std::string& part : split(text, ',')) {
    const std::string word = part.substr(0, part.find('=')),
                      number = part.substr(std::min(word.size() + 1, part.size()));
    double* const field = word == "gpu"    ? &rated.gpu
                          : word == "cpu"  ? &rated.cpu
                          : word == "fpga" ? &rated.fpga
                                           : nullptr;
    double watts = 0;
    const char* const last = number.data() + number.size();
    const bool read = std::from_chars(number.data(), last, watts).ptr == last;
    if (field == nullptr || *field != 0 || !read || !std::isfinite(watts) || watts <= 0) {
      throw InvalidInput("rated power '" + part +
                         "' is not understood: give watts above 0 of a card, a core and a board, "
                         "each at most once, such as gpu=700,cpu=8,fpga=60");
    }
    *field = watts;
  }
  return rated;
}

double rated_watts(const PoweredDevice& device, const RatedWatts& given) {
  if (device.type == DeviceType::cpu || device.type == DeviceType::host) {
    return device.cores * (given.cpu > 0 ? given.cpu : kAnyCore);
  }
  const bool gpu = device.type == DeviceType::gpu;
  if (const double watts = gpu ? given.gpu : given.fpga; watts > 0) return watts;
  for (const RatedRow& row : kRatedTable) {
    if (device.name.find(row.word) != std::string::npos) return row.watts;
  }
  return gpu ? kAnyGpu : kAnyBoard;
}

/// The readings of one probe in a window.
struct Meter::Tally {
  const PowerProbe* probe;
  double joules = 0, at = 0;  ///< joules since begin(), and the counter's last value
  double watts_sum = 0;
  std::size_t samples = 0;
  std::string bad_counter, bad_samples;  ///< why the readings are refused; empty if they are not

  void read(double seconds, bool first) {
    if (probe->joules && bad_counter.empty()) count(probe->joules(), seconds, first);
    if (!probe->watts || first || !bad_samples.empty()) return;
    const std::optional<double> watts = probe->watts();
    if (!watts) bad_samples = "power cannot be read any more";
    watts_sum += watts.value_or(0);
    ++samples;
  }

 private:
  /// Add a reading of the counter. @param seconds  time since the last reading
  void count(std::optional<double> now, double seconds, bool first) {
    if (!now) {
      bad_counter = "the counter cannot be read any more";
      return;
    }
    const double before = std::exchange(at, *now);
    if (first) return;
    const double step = *now >= before ? *now - before : *now + probe->wraps_at - before;
    // A counter may catch up with earlier energy, so the limit allows 0.1 s more.
    if (step < 0 || step > kMostWatts * (seconds + 0.1)) {
      bad_counter = format("the counter jumped from %.4g to ", before) + format("%.4g J", *now);
      return;
    }
    joules += step;
  }
};

Meter::Meter(std::vector<PoweredDevice> devices, MeterSettings given)
    : devices_(std::move(devices)), settings_(std::move(given)) {
  for (const PoweredDevice& device : devices_) {
    watts_.push_back(rated_watts(device, settings_.rated));
    probes_.push_back(find(device, settings_));
    sources_.push_back(source_of(probes_.back(), watts_.back()));
  }
}

Meter::~Meter() = default;

void Meter::begin() {
  tallies_.assign(probes_.size(), {});
  for (std::size_t i = 0; i < probes_.size(); ++i) {
    for (const PowerProbe& probe : probes_[i].all)
      tallies_[i].push_back({.probe = &probe, .bad_counter = {}, .bad_samples = {}});
  }
  open_ = true;
  read(true);
  begun_ = polled_;
}

void Meter::poll() {
  if (open_) read(false);
}

double Meter::seconds(bool polled) const { return open_ ? (polled ? polled_ : settings_.now()) - begun_ : 0; }

std::vector<Energy> Meter::end(bool at_last_poll) {
  if (!at_last_poll) poll();
  const double seconds = std::exchange(open_, false) ? polled_ - begun_ : 0;
  if (!(seconds >= kLeastWindow)) {
    throw InvalidInput(format("energy was measured for %.4g s: measure ", seconds) +
                       format("%.4g s or more, as counters move in steps", kLeastWindow));
  }
  std::vector<Energy> all;
  for (std::size_t i = 0; i < tallies_.size(); ++i) all.push_back(energy(i, seconds));
  return all;
}

void Meter::read(bool first) {
  const double now = settings_.now(), passed = now - polled_;
  for (auto& device : tallies_) {
    for (Tally& tally : device) tally.read(passed, first);
  }
  polled_ = now;
}

/// Add up the probes of a device. If one probe is refused, the sum is refused.
Energy Meter::energy(std::size_t device, double seconds) {
  Energy e;
  e.seconds = seconds;
  e.rated_watts = watts_[device];
  const bool any = !tallies_[device].empty();
  double counted = any ? 0 : Energy::kNone, sampled = counted;
  std::string refused;
  for (Tally& tally : tallies_[device]) {
    if (tally.probe->joules && tally.bad_counter.empty() && tally.joules <= 0)
      tally.bad_counter = "the counter stands still";
    if (tally.probe->watts && tally.bad_samples.empty() && static_cast<double>(tally.samples) < kSampleRate * seconds) {
      tally.bad_samples = "there are " + std::to_string(tally.samples) + " samples only";
    }
    counted += tally.probe->joules && tally.bad_counter.empty() ? tally.joules : Energy::kNone;
    sampled += tally.probe->watts && tally.bad_samples.empty()
                   ? tally.watts_sum / static_cast<double>(tally.samples) * seconds
                   : Energy::kNone;
    for (const std::string& why : {tally.bad_counter, std::isnan(counted) ? tally.bad_samples : std::string()}) {
      if (!why.empty()) refused += (refused.empty() ? "" : "; ") + why;
    }
  }
  e.by_counter = counted;
  e.by_samples = sampled;
  settle(device, e, refused);
  return e;
}

void Meter::settle(std::size_t device, Energy& e, const std::string& refused) const {
  const double rated = e.rated_watts * e.seconds;
  e.kind = !std::isnan(e.by_counter)   ? PowerKind::counter
           : !std::isnan(e.by_samples) ? PowerKind::samples
                                       : PowerKind::rated;
  e.joules = e.kind == PowerKind::counter ? e.by_counter : e.kind == PowerKind::samples ? e.by_samples : rated;
  e.words = words_of(e.kind, probes_[device].words, e.rated_watts);
  if (!refused.empty()) e.words += " (" + refused + ")";
}

}  // namespace oclspkt
