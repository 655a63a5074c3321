// SPDX-License-Identifier: BSD-2-Clause
#include "meter.hpp"

#include <algorithm>
#include <atomic>
#include <charconv>
#include <chrono>
#include <cmath>
#include <condition_variable>
#include <cstdio>
#include <mutex>
#include <thread>
#include <utility>

#include "oclspkt/error.hpp"
#include "probes.hpp"

namespace oclspkt {
namespace {

/// Seconds between two polls, which take 4 ms: with 20 ms, applies of a card were 3 to 6 % slower (H200).
constexpr double kPollSeconds = 0.1;
/// Seconds of work before a window, so that a counter's lag covers the same power at both ends of the window.
constexpr double kWarmUp = 0.3;
/// The longest wait for a step of a counter, in seconds. Counters of cards move in steps of up to 0.1 s, which are 5 %
/// of a window, so a window begins and ends with a step.
constexpr double kLongestStep = 0.25;
/// The least number of samples a second in a window.
constexpr double kSampleRate = 4;
/// If a counter shows more watts, it has jumped: no part of a machine takes so many.
constexpr double kMostWatts = 5000;
/// Idle power may exceed power at work by this factor if the work hardly takes any power.
constexpr double kIdleNoise = 1.05;

struct RatedRow {
  const char* word;  ///< in the device's name
  double watts;
};
/// From the makers' data sheets; the first matching word counts.
constexpr RatedRow kRatedTable[] = {{"H200", 700},   {"H100 PCIe", 350}, {"H100", 700}, {"A100-PCIE", 250},
                                    {"A100", 400},   {"V100", 300},      {"L40S", 350}, {"MI300X", 750},
                                    {"MI250X", 560}, {"MI210", 300},     {"U280", 225}, {"U250", 225},
                                    {"M4000", 120},  {"A10PL4", 33}};
constexpr double kAnyGpu = 400, kAnyCore = 8, kAnyBoard = 60;

std::string short_number(double number, const char* unit) {
  char text[48];
  std::snprintf(text, sizeof text, "%.4g %s", number, unit);
  return text;
}

/// Readings of one probe in a window.
struct Tally {
  const PowerProbe* probe;
  double joules = 0, at = 0;  ///< joules since begin(), and the counter's last value
  double watts_sum = 0;
  std::size_t samples = 0;
  std::string bad_counter, bad_samples;  ///< why the readings are refused

  void read(double seconds, bool first) {
    if (probe->joules && bad_counter.empty()) count(probe->joules(), seconds, first);
    if (!probe->watts || first || !bad_samples.empty()) return;
    const std::optional<double> watts = probe->watts();
    if (!watts) bad_samples = "power cannot be read any more";
    watts_sum += watts.value_or(0);
    ++samples;
  }

 private:
  /// @param seconds  since the last time
  void count(std::optional<double> now, double seconds, bool first) {
    if (!now) {
      bad_counter = "the counter cannot be read any more";
      return;
    }
    const double before = std::exchange(at, *now);
    if (first) return;
    const double step = *now >= before ? *now - before : *now + probe->wraps_at - before;
    // A counter may catch up with energy that it had not shown yet.
    if (step < 0 || step > kMostWatts * (seconds + 0.1)) {
      bad_counter = "the counter jumped from " + short_number(before, "to ") + short_number(*now, "J");
      return;
    }
    joules += step;
  }
};

}  // namespace

double steady_seconds() {
  return std::chrono::duration<double>(std::chrono::steady_clock::now().time_since_epoch()).count();
}

PoweredDevice powered(const DeviceInfo& device) {
  if (device.emulated) return {"cpu", DeviceType::cpu, 1, device.name};
  return {device.physical, device.type, device.cores, device.name};
}

RatedWatts parse_rated(const std::string& text) {
  RatedWatts rated;
  for (std::size_t begin = 0; begin < text.size();) {
    const std::size_t end = std::min(text.find(',', begin), text.size());
    const std::string part = text.substr(begin, end - begin);
    const std::size_t equals = std::min(part.find('='), part.size());
    const std::string word = part.substr(0, equals);
    double* const field = word == "gpu"    ? &rated.gpu
                          : word == "cpu"  ? &rated.cpu
                          : word == "fpga" ? &rated.fpga
                                           : nullptr;
    double watts = 0;
    const char* const last = part.data() + part.size();
    const bool number = equals < part.size() && std::from_chars(part.data() + equals + 1, last, watts).ptr == last;
    if (field == nullptr || *field != 0 || !number || !std::isfinite(watts) || watts <= 0) {
      throw InvalidInput("rated power '" + part +
                         "' is not understood: give watts above 0 of a card, a core and a board, "
                         "each at most once, such as gpu=700,cpu=8,fpga=60");
    }
    *field = watts;
    begin = end + 1;
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

class Meter::Impl {
 public:
  Impl(std::vector<PoweredDevice> devices, MeterSettings given)
      : devices_(std::move(devices)), settings_(std::move(given)) {
    if (!settings_.now) settings_.now = steady_seconds;
    if (!settings_.sleep) {
      settings_.sleep = [](double seconds) { std::this_thread::sleep_for(std::chrono::duration<double>(seconds)); };
    }
    for (const PoweredDevice& device : devices_) {
      watts_.push_back(rated_watts(device, settings_.rated));
      probes_.push_back(find(device));
      sources_.push_back(source_of(device, probes_.back(), watts_.back()));
    }
  }
  ~Impl() { stop(); }
  Impl(const Impl&) = delete;
  Impl& operator=(const Impl&) = delete;

  const std::vector<PowerSource>& sources() const { return sources_; }

  void begin() {
    stop();
    tallies_.assign(probes_.size(), {});
    for (std::size_t i = 0; i < probes_.size(); ++i) {
      for (const PowerProbe& probe : probes_[i].all)
        tallies_[i].push_back({.probe = &probe, .bad_counter = {}, .bad_samples = {}});
    }
    open_ = true;
    read(true);
    begun_ = polled_;
    if (!settings_.thread) return;
    stopped_ = false;
    thread_ = std::thread([this] {
      std::unique_lock lock(mutex_);
      while (!wake_.wait_for(lock, std::chrono::duration<double>(kPollSeconds), [this] { return stopped_; }))
        read(false);
    });
  }

  void drop() {
    stop();
    open_ = false;
  }

  void poll() {
    const std::lock_guard lock(mutex_);
    if (open_) read(false);
  }

  double seconds(bool polled) {
    const std::lock_guard lock(mutex_);
    return open_ ? (polled ? polled_ : settings_.now()) - begun_ : 0;
  }

  std::vector<Energy> end(bool at_last_poll) {
    if (!at_last_poll) poll();
    stop();
    const double seconds = std::exchange(open_, false) ? polled_ - begun_ : 0;
    if (!(seconds >= kLeastWindow)) {
      throw InvalidInput("energy was measured for " + short_number(seconds, "s") + ": measure " +
                         short_number(kLeastWindow, "s or more, as counters move in steps"));
    }
    std::vector<Energy> all;
    for (std::size_t i = 0; i < tallies_.size(); ++i) all.push_back(energy(i, seconds));
    return all;
  }

  std::vector<Energy> measure(const std::function<void()>& work, const EnergyProtocol& protocol) {
    if (protocol.repeats < 1 || protocol.seconds < kLeastWindow ||
        (protocol.idle != 0 && protocol.idle < kLeastWindow)) {
      throw InvalidInput("energy is measured in one window or more, each of " +
                         short_number(kLeastWindow, "s or more, as counters move in steps"));
    }
    std::vector<Energy> idle;
    if (protocol.idle > 0) idle = window(protocol.cool_down, protocol.idle, [this] { pause(kPollSeconds); });
    std::vector<std::vector<Energy>> windows;
    windows.reserve(static_cast<std::size_t>(protocol.repeats));
    for (int i = 0; i < protocol.repeats; ++i) windows.push_back(window(protocol.cool_down, protocol.seconds, work));
    std::vector<Energy> all;
    for (std::size_t i = 0; i < probes_.size(); ++i) {
      std::vector<Energy> of_device;
      for (auto& one : windows) {
        if (!idle.empty()) refuse_lies(i, one[i], idle[i]);
        of_device.push_back(std::move(one[i]));
      }
      all.push_back(median(std::move(of_device)));
    }
    return all;
  }

 private:
  Probes find(const PoweredDevice& device) const {
    if (device.physical == "cpu" || device.type == DeviceType::host) return powercap_probes(settings_.powercap);
    if (device.type != DeviceType::gpu) return {{}, "", "nothing measures " + device.name};
    const std::string pci = device.physical.starts_with("pci:") ? device.physical.substr(4) : "";
    return nvml_probes(settings_.nvml, pci, device.name);
  }

  static std::string words_of(PowerKind kind, const std::string& what, double watts) {
    if (kind == PowerKind::rated) return "rated power, " + short_number(watts, "W");
    return (kind == PowerKind::counter ? "counter of " : "samples of ") + what;
  }

  static PowerSource source_of(const PoweredDevice& device, const Probes& probes, double watts) {
    const bool counts = !probes.all.empty() && probes.all.front().joules;
    const PowerKind kind = counts ? PowerKind::counter : probes.all.empty() ? PowerKind::rated : PowerKind::samples;
    PowerSource source{device.physical, kind, words_of(kind, probes.words, watts), probes.trouble};
    if (kind == PowerKind::samples) source.trouble = probes.words + " has no counter of energy";
    return source;
  }

  /// @pre mutex_ is locked, or there is no thread
  void read(bool first) {
    const double now = settings_.now(), passed = now - polled_;
    for (auto& device : tallies_) {
      for (Tally& tally : device) tally.read(passed, first);
    }
    polled_ = now;
  }

  void stop() {
    if (!thread_.joinable()) return;
    {
      const std::lock_guard lock(mutex_);
      stopped_ = true;
    }
    wake_.notify_all();
    thread_.join();
  }

  /// Add up the probes of a device; if one is refused, so is the sum.
  Energy energy(std::size_t device, double seconds) {
    Energy e;
    e.seconds = seconds;
    e.rated_watts = watts_[device];
    const bool any = !tallies_[device].empty();
    double counted = any ? 0 : Energy::kNone, sampled = counted;
    std::string refused;
    for (Tally& tally : tallies_[device]) {
      if (tally.probe->joules && tally.bad_counter.empty() && tally.joules <= 0)
        tally.bad_counter = "the counter stands still";
      if (tally.probe->watts && tally.bad_samples.empty() &&
          static_cast<double>(tally.samples) < kSampleRate * seconds) {
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

  /// Use the best remaining figures, and say so.
  void settle(std::size_t device, Energy& e, const std::string& refused) const {
    const double rated = e.rated_watts * e.seconds;
    e.kind = !std::isnan(e.by_counter)   ? PowerKind::counter
             : !std::isnan(e.by_samples) ? PowerKind::samples
                                         : PowerKind::rated;
    e.joules = e.kind == PowerKind::counter ? e.by_counter : e.kind == PowerKind::samples ? e.by_samples : rated;
    e.words = words_of(e.kind, probes_[device].words, e.rated_watts);
    if (!refused.empty()) e.words += " (" + refused + ")";
  }

  /// Refuse figures that show more power idle than at work.
  void refuse_lies(std::size_t device, Energy& e, const Energy& idle) const {
    bool lies = false;
    const auto check = [&](double& at_work, double at_rest) {
      if (!(at_rest / idle.seconds > kIdleNoise * at_work / e.seconds)) return;
      at_work = Energy::kNone;
      lies = true;
    };
    check(e.by_counter, idle.by_counter);
    check(e.by_samples, idle.by_samples);
    if (lies) settle(device, e, "refused: more power idle than at work, as virtual machines may show");
    if (e.kind != PowerKind::rated)
      e.idle_watts = (e.kind == PowerKind::counter ? idle.by_counter : idle.by_samples) / idle.seconds;
  }

  /// The window with the median watts, with the spread of all windows; the worst kind of source counts for all.
  static Energy median(std::vector<Energy> windows) {
    std::sort(windows.begin(), windows.end(), [](const Energy& a, const Energy& b) { return a.watts() < b.watts(); });
    const auto poorest =
        std::max_element(windows.begin(), windows.end(), [](auto& a, auto& b) { return a.kind < b.kind; });
    Energy e = windows[windows.size() / 2];
    if (poorest->kind != e.kind) e = *poorest;
    if (e.kind != PowerKind::rated) e.spread = (windows.back().watts() - windows.front().watts()) / e.watts();
    return e;
  }

  std::vector<Energy> window(double cool_down, double length, const std::function<void()>& work) {
    pause(cool_down);
    for (const double begun = settings_.now(); settings_.now() - begun < kWarmUp;) work();
    work_to_step(work);
    begin();
    double rounds = 0;
    for (; seconds(false) < length; ++rounds) {
      work();
      if (!settings_.thread) poll();
    }
    rounds += work_to_step(work);
    std::vector<Energy> all = end(false);
    for (Energy& e : all) e.rounds = rounds;
    return all;
  }

  /// Work until every counter that moves has moved once. Another thread looks, where there may be one: a look takes as
  /// long as several rounds of work. @return rounds
  double work_to_step(const std::function<void()>& work) {
    std::vector<std::pair<const PowerProbe*, double>> shown;
    for (const Probes& probes : probes_) {
      for (const PowerProbe& probe : probes.all) {
        if (probe.joules) shown.emplace_back(&probe, probe.joules().value_or(0));
      }
    }
    const double begun = settings_.now();
    const auto waits = [&] {
      std::erase_if(shown, [](const auto& at) { return at.first->joules().value_or(0) != at.second; });
      return !shown.empty() && settings_.now() - begun < kLongestStep;
    };
    std::atomic<bool> done = shown.empty();
    std::jthread watcher;
    if (settings_.thread && !done) {
      watcher = std::jthread([&] {
        while (waits()) {
        }
        done = true;
      });
    }
    double rounds = 0;
    for (; !done; ++rounds) {
      work();
      if (!settings_.thread) done = !waits();
    }
    return rounds;
  }

  void pause(double length) const {
    if (length > 0) settings_.sleep(length);
  }

  std::vector<PoweredDevice> devices_;
  MeterSettings settings_;
  std::vector<double> watts_;  ///< rated
  std::vector<Probes> probes_;
  std::vector<PowerSource> sources_;
  std::mutex mutex_;  ///< for all below while thread_ runs
  std::condition_variable wake_;
  std::thread thread_;
  bool stopped_ = true, open_ = false;
  double begun_ = 0, polled_ = 0;
  std::vector<std::vector<Tally>> tallies_;
};

Meter::Meter(std::vector<PoweredDevice> devices, MeterSettings settings)
    : impl_(std::make_unique<Impl>(std::move(devices), std::move(settings))) {}
Meter::~Meter() = default;
const std::vector<PowerSource>& Meter::sources() const { return impl_->sources(); }
void Meter::begin() { impl_->begin(); }
void Meter::drop() { impl_->drop(); }
void Meter::poll() { impl_->poll(); }
double Meter::seconds(bool polled) const { return impl_->seconds(polled); }
std::vector<Energy> Meter::end(bool at_last_poll) { return impl_->end(at_last_poll); }
std::vector<Energy> Meter::measure(const std::function<void()>& work, const EnergyProtocol& protocol) {
  return impl_->measure(work, protocol);
}

}  // namespace oclspkt
