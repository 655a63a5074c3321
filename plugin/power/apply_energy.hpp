// SPDX-License-Identifier: BSD-2-Clause
#pragma once

#include <string>
#include <vector>

#include "meter.hpp"
#include "oclspkt/report.hpp"

namespace oclspkt {

/// Adds up the joules of applies over windows of kLeastWindow or longer, however short an apply is. It has no thread;
/// some applies read the devices at their end. A pause ends a window.
class ApplyEnergy {
 public:
  /// Opens no library or file yet. @param devices  no two of one `physical`
  ApplyEnergy(std::vector<PoweredDevice> devices, MeterSettings settings);

  const std::vector<PoweredDevice>& devices() const { return devices_; }
  /// Begin an apply. The first one opens the libraries and files of the meter.
  void begin();
  /// End a successful apply. @param queued  it may still run
  /// @return true if report() has changed since the last time
  bool end(std::int64_t applies, bool queued);
  /// The report of all windows that have ended.
  const EnergyReport& report() const { return report_; }
  /// Measured watts of a device since the last forget(), while applies took share() of the time; NaN: not known.
  double watts(const std::string& physical) const;
  /// True if the meter can read the device.
  bool measures(const std::string& physical) const;
  double share() const;
  /// True if watts() hardly tells more later on: since the last forget() a window has ended, or pauses ended several.
  bool told() const;
  /// Prepare for a change of the work that applies do: the open window is left out.
  void forget();

 private:
  struct Counted {
    std::int64_t applies = 0;
    double seconds = 0;
    bool queued = false;
  };
  void close(bool at_last_poll);

  std::vector<PoweredDevice> devices_;
  MeterSettings settings_;
  std::unique_ptr<Meter> meter_;
  double begun_ = 0, ended_ = 0, polled_at_ = 0;
  Counted now_, polled_;  ///< in the open window: up to now, and up to the last poll
  bool changed_ = false;
  EnergyReport report_, before_;  ///< now, and at the last forget()
};

/// The report in words: joules of applies, then of each device. Empty if no energy was asked for.
OCLSPKT_API std::vector<std::string> energy_lines(const EnergyReport& report);

}  // namespace oclspkt
