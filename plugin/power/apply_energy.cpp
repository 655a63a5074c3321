// SPDX-License-Identifier: BSD-2-Clause
#include "apply_energy.hpp"

#include <algorithm>
#include <utility>

#include "format.hpp"

namespace oclspkt {
namespace {

/// Maximum pause between two applies of a window, in seconds.
constexpr double kPause = 0.25;
/// Minimum time between two polls of the devices, in seconds. A poll of a device takes 4 ms (H200).
constexpr double kBetweenPolls = 0.2;

}  // namespace

ApplyEnergy::ApplyEnergy(std::vector<PoweredDevice> devices, MeterSettings settings)
    : devices_(std::move(devices)), settings_(std::move(settings)) {}

void ApplyEnergy::begin() {
  if (!meter_) {
    meter_ = std::make_unique<Meter>(devices_, settings_);
    for (std::size_t i = 0; i < devices_.size(); ++i) {
      const PowerSource& source = meter_->sources()[i];
      report_.sources.push_back({devices_[i].name, source.words, source.trouble, 0, source.kind != PowerKind::rated});
    }
    before_ = report_;
    changed_ = true;
  }
  if (meter_->seconds() > 0 && settings_.now() - ended_ > kPause) close(true);
  begun_ = settings_.now();
  if (meter_->seconds() > 0) return;
  now_ = polled_ = {};
  meter_->begin();
  begun_ = polled_at_ = settings_.now();
}

bool ApplyEnergy::end(std::int64_t applies, bool queued) {
  if (!meter_) return false;  // the object that began the apply was replaced, because a device failed
  ended_ = settings_.now();
  now_.applies += applies;
  now_.seconds += ended_ - begun_;
  now_.queued = now_.queued || queued;
  if (meter_->seconds() >= kLeastWindow) {
    close(false);
  } else if (ended_ - polled_at_ >= kBetweenPolls) {
    meter_->poll();
    polled_ = now_;
    polled_at_ = settings_.now();
  }
  return std::exchange(changed_, false);
}

void ApplyEnergy::close(bool at_last_poll) {
  changed_ = true;
  if (at_last_poll && meter_->seconds(true) < kLeastWindow) {
    meter_->drop();
    ++report_.dropped;
    return;
  }
  const std::vector<Energy> all = meter_->end(at_last_poll);
  const Counted& counted = at_last_poll ? polled_ : now_;
  report_.seconds += all.front().seconds;
  report_.apply_seconds += std::min(counted.seconds, all.front().seconds);
  report_.applies += counted.applies;
  ++report_.windows;
  report_.queued = report_.queued || counted.queued;
  for (std::size_t i = 0; i < all.size(); ++i) {
    EnergySource& source = report_.sources[i];
    source.joules += all[i].joules;
    // If a single window uses rated power, the sum is not a measurement.
    if (all[i].kind == PowerKind::rated && std::exchange(source.measured, false)) source.words = all[i].words;
  }
}

double ApplyEnergy::watts(const std::string& physical) const {
  const double seconds = report_.seconds - before_.seconds;
  for (std::size_t i = 0; i < report_.sources.size() && seconds > 0; ++i) {
    const EnergySource& source = report_.sources[i];
    if (devices_[i].physical != physical || !source.measured) continue;
    return (source.joules - before_.sources[i].joules) / seconds;
  }
  return Energy::kNone;
}

bool ApplyEnergy::measures(const std::string& physical) const {
  for (std::size_t i = 0; i < report_.sources.size(); ++i) {
    if (devices_[i].physical == physical) return report_.sources[i].measured;
  }
  return false;
}

double ApplyEnergy::share() const {
  const double seconds = report_.seconds - before_.seconds;
  return seconds > 0 ? (report_.apply_seconds - before_.apply_seconds) / seconds : 0;
}

bool ApplyEnergy::told() const {
  constexpr std::int64_t kMostShort = 3;
  return report_.windows > before_.windows || report_.dropped - before_.dropped >= kMostShort;
}

void ApplyEnergy::forget() {
  if (meter_) meter_->drop();
  before_ = report_;
}

std::vector<std::string> energy_lines(const EnergyReport& report) {
  if (report.sources.empty()) return {};
  const std::string dropped =
      report.dropped > 0 ? ", " + std::to_string(report.dropped) + " windows ended by a pause left out" : "";
  if (report.windows == 0) {
    return {"energy: not known, as no applies took " + format("%g s", kLeastWindow) + " without a pause" + dropped};
  }
  const double joules = report.joules();
  std::vector<std::string> lines{
      format("energy: %.4g J of applies", joules) +
      format(", %.3g J each", joules / static_cast<double>(report.applies)) + ", measured in " +
      std::to_string(report.windows) + format(" windows of %.3g s", report.seconds) +
      (report.queued ? " in all, what lies between applies included"
                     : format(" in all, %.3g %% of it in applies", 100 * report.apply_seconds / report.seconds)) +
      dropped + "; what others do with the devices is in it"};
  for (const EnergySource& source : report.sources) {
    lines.push_back("energy of " + source.device + format(": %.4g J in windows, ", source.joules) + source.words +
                    (source.trouble.empty() ? "" : " (" + source.trouble + ")"));
  }
  return lines;
}

}  // namespace oclspkt
