// SPDX-License-Identifier: BSD-2-Clause
#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include "device.hpp"

namespace oclspkt {

struct LostDevice {
  int index = -1;
  std::string line;  ///< "<device>: <cause>"
};

/// A device, or the host, as a processor that solves lines.
struct Processor {
  DeviceModule* module = nullptr;  ///< null: the host
  int index = -1;                  ///< index of the device in its module; -1: the host
  DeviceInfo info = {};
  DeviceProfile profile = {};  ///< measured for the layout of the lines, end to end or side by side; unset for the host
  bool host() const { return module == nullptr; }
  std::string name() const { return host() ? "host" : info.name; }
  /// Its name in lists of processors. An emulated device never has the name of the board that it emulates.
  std::string known_as() const { return (info.emulated ? "emulated " : "") + name(); }
  /// The key of its measured figures. They hold for one version of the driver.
  std::string figures_of() const { return known_as() + " " + info.driver_version; }
  /// Its word in Options::devices.
  std::string word() const {
    if (host()) return "host";
    if (info.whole < 0) return std::to_string(index);
    return std::to_string(info.whole) + ":" + std::to_string(info.cores);
  }
};

/// The processors that the options name, as far as they can be used.
struct Processors {
  std::vector<Processor> devices;    ///< in the order of the options
  bool host = false;                 ///< the host is among those named
  bool automatic = false;            ///< `auto` is named: the fastest processor solves
  bool several = false;              ///< several devices are named, whether they can be used or not
  std::vector<std::string> remarks;  ///< remarks on words of the options that have no effect
  std::string why_host;              ///< why only the host can be used; else empty
  std::vector<LostDevice> lost;      ///< devices that failed while they were measured
  int of_queue = -1;                 ///< the device of Demand::queue, if it is in `devices`; else -1
  std::string why_not_of_queue;      ///< why of_queue is -1, if a queue was given
  std::string why_copied;            ///< why another run-time drives this device, see DeviceModule::device_beside()

  std::size_t count() const { return devices.size() + (host ? 1 : 0); }
  /// Remove all processors except one. @param index  Processor::index
  void keep_only(int index);
};

/// The solve for which processors are wanted.
struct Demand {
  const LineSet& lines;
  bool is_double = true;  ///< numbers, or the parts of complex numbers, are double
  bool is_complex = false;
  double host_seconds = 0;  ///< seconds of an apply on the host, with its share of the set-up
  DeviceQueue queue = {};   ///< its device holds the vectors, and solves if it can and the options name it
};

/// Find the processors that the options name. A device is measured once in a process.
/// @param lost  devices that are not considered
/// @throws InvalidInput if the selection matches nothing, or names only devices that lack double
/// @throws DeviceError  under OnDeviceFailure::error if a device fails while it is measured
Processors find_processors(const Options& options, const Demand& demand, const std::vector<LostDevice>& lost);

}  // namespace oclspkt
