// SPDX-License-Identifier: BSD-2-Clause
#pragma once

#include <functional>
#include <limits>
#include <optional>
#include <string>
#include <vector>

#include "device.hpp"
#include "oclspkt/export.hpp"

namespace oclspkt {

/// How joules are determined, best first.
enum class PowerKind {
  counter,  ///< the device counts them
  samples,  ///< watts that the device reports from time to time, integrated
  rated,    ///< watts of a table times seconds: no measurement
};

/// A processor whose joules are wanted.
struct PoweredDevice {
  std::string physical = "cpu";  ///< as DeviceInfo::physical; "cpu": the processors of the host and their memory
  DeviceType type = DeviceType::cpu;
  int cores = 1;              ///< cores at work, for the rated watts of a CPU
  std::string name = "host";  ///< name in words

  bool operator==(const PoweredDevice&) const = default;
};

/// The meter's description of a device. An emulated device is a core of the host.
OCLSPKT_API PoweredDevice powered(const DeviceInfo& device);

/// Watts of a device at work, for devices without a measurement.
struct RatedWatts {
  double gpu = 0, cpu = 0, fpga = 0;  ///< a card, a core of a CPU, a board; 0: by the table
};

/// Parse "gpu=700,cpu=8,fpga=60", each of them at most once; "" for the table.
/// @throws InvalidInput for other words, and watts that are not positive and finite
OCLSPKT_API RatedWatts parse_rated(const std::string& text);
/// Rated watts: those of `given`, else of the table, which goes by words in the device's name; else 400 W a GPU, 8 W a
/// core and 60 W a board.
OCLSPKT_API double rated_watts(const PoweredDevice& device, const RatedWatts& given);

/// Seconds of a steady clock.
OCLSPKT_API double steady_seconds();

/// Where a meter finds its sources. Tests set their own folders, libraries and clocks.
struct MeterSettings {
  RatedWatts rated;
  std::string powercap = "/sys/class/powercap";
  std::string nvml = "libnvidia-ml.so.1", amdsmi = "libamd_smi.so";
  std::function<double()> now = steady_seconds;
};
/// Settings of the solvers' meters, except rated power. Tests change them before any solver is set up.
OCLSPKT_API MeterSettings& usual_meter_settings();

/// Reads the energy or the power of one part of a machine. An empty function means that the part does not tell; a call
/// without a value, that it no longer does.
struct PowerProbe {
  std::function<std::optional<double>()> joules;  ///< of a counter that began at some moment
  double wraps_at = 0;                            ///< joules at which the counter begins anew; 0: never
  std::function<std::optional<double>()> watts;   ///< at this moment
};

/// The probes of one device, or the reason why there are none.
struct Probes {
  std::vector<PowerProbe> all;
  std::string words;    ///< what they are, such as "NVIDIA H200 by NVML"
  std::string trouble;  ///< cause and cure
};

/// RAPL counters of the processors' packages and of memory, as Linux lists them in a folder.
Probes powercap_probes(const std::string& folder);
/// The probe of a card, by NVML or by AMD SMI, which this function opens.
/// @param pci   address, such as 0000:41:00.0; empty: not known
/// @param name  of the card
Probes card_probes(const MeterSettings& settings, const std::string& pci, const std::string& name);

/// Where the joules of one device come from.
struct PowerSource {
  PowerKind kind = PowerKind::rated;
  std::string words;    ///< such as "counter of NVIDIA H200 by NVML" or "rated power, 128 W"
  std::string trouble;  ///< why nothing better is used, and the cure; empty if a counter is used
};

/// The joules of one device in a window.
struct Energy {
  static constexpr double kNone = std::numeric_limits<double>::quiet_NaN();
  PowerKind kind = PowerKind::rated;  ///< of `joules`; worse than the source's if its figures were refused
  std::string words;                  ///< as in PowerSource, and why figures were refused
  double joules = 0;
  double seconds = 0;
  double by_counter = kNone, by_samples = kNone;  ///< joules by each kind; NaN: not available, or refused
  double rated_watts = 0;                         ///< used if nothing is measured
  double watts() const { return joules / seconds; }
};

/// The least length of a window: counters advance every 20 to 100 ms, and samples cover only part of the time.
inline constexpr double kLeastWindow = 2;

/// Joules of devices: from counters if there are any, else from samples, at last from rated power. They include all
/// other work on a device and the host. For one thread at a time, but
/// another one may poll() while this one asks for seconds().
class OCLSPKT_API Meter {
 public:
  /// Find the best source of each device: NVML or AMD SMI (opened at run time) for cards, powercap (RAPL: packages and
  /// memory) for the host. A missing source is no error: PowerSource::trouble names it.
  explicit Meter(std::vector<PoweredDevice> devices, MeterSettings settings = {});
  ~Meter();
  Meter(const Meter&) = delete;
  Meter& operator=(const Meter&) = delete;

  /// One source for each device, in the given order.
  const std::vector<PowerSource>& sources() const { return sources_; }
  const std::vector<Probes>& probes() const { return probes_; }

  /// Begin a window; an open one is dropped.
  void begin();
  /// Read counters and samples of the open window: often enough for samples, and for counters that wrap within minutes.
  void poll();
  /// Close the window without a result.
  void drop() { open_ = false; }
  /// Seconds since begin(), or with `polled` from begin() to the last poll(). 0 without a window.
  double seconds(bool polled = false) const;
  /// End the window now, or at its last poll().
  /// @return shape [sources()]. A counter that stands still or jumps is refused, and so are too few samples: the next
  ///         kind of source is used, and Energy::words says why
  /// @throws InvalidInput if the window is shorter than kLeastWindow; it is then closed, too
  std::vector<Energy> end(bool at_last_poll = false);

  /// Use the best of the figures that are left for a device, and say so.
  /// @param refused  why others are not used; may be empty
  void settle(std::size_t device, Energy& e, const std::string& refused) const;

 private:
  struct Tally;
  void read(bool first);
  Energy energy(std::size_t device, double seconds);

  std::vector<PoweredDevice> devices_;
  MeterSettings settings_;
  std::vector<double> watts_;  ///< rated
  std::vector<Probes> probes_;
  std::vector<PowerSource> sources_;
  bool open_ = false;
  double begun_ = 0, polled_ = 0;
  std::vector<std::vector<Tally>> tallies_;
};

}  // namespace oclspkt
