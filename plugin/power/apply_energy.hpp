// SPDX-License-Identifier: BSD-2-Clause
#pragma once

#include <string>
#include <vector>

#include "meter.hpp"
#include "oclspkt/report.hpp"

namespace oclspkt {

/// Adds up the joules of applies over windows of at least kLeastWindow seconds. A window contains one apply or many.
/// The class has no thread: some applies poll the devices at their end. A pause between applies ends a window.
class ApplyEnergy {
 public:
  /// Opens no library or file yet. @param devices  no two have the same `physical`
  ApplyEnergy(std::vector<PoweredDevice> devices, MeterSettings settings);

  const std::vector<PoweredDevice>& devices() const { return devices_; }
  /// Begin an apply. The first call opens the libraries and files of the meter.
  void begin();
  /// End applies that were successful.
  /// @param applies  number of applies since begin()
  /// @param queued   true: the applies may still run
  /// @return true if report() has changed since the last call
  bool end(std::int64_t applies, bool queued);
  /// The report of all windows that have ended.
  const EnergyReport& report() const { return report_; }
  /// Mean watts of a device in the windows since the last forget(), including pauses (see share()). NaN: not measured.
  double watts(const std::string& physical) const;
  bool measures(const std::string& physical) const;
  /// The fraction of time in which applies ran, in the windows since the last forget().
  double share() const;
  /// True if waiting longer for watts() is useless: since the last forget(), a window has ended, or pauses have
  /// ended several windows too early.
  bool told() const;
  /// Begin anew because applies will do other work. Drops the open window.
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
  Counted now_, polled_;  ///< applies of the open window: until now, and until the last poll
  bool changed_ = false;
  EnergyReport report_, before_;  ///< the report now, and at the last forget()
};

/// The report in words: joules of applies, then of each device. Empty if the user did not ask for energy.
OCLSPKT_API std::vector<std::string> energy_lines(const EnergyReport& report);

}  // namespace oclspkt
