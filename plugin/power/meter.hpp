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

/// The ways to determine joules, from best to worst.
enum class PowerKind {
  counter,  ///< a counter of the device
  samples,  ///< the integral of watts that the device reports
  rated,    ///< rated watts times seconds, which is not a measurement
};

/// A device whose joules the meter determines.
struct PoweredDevice {
  std::string physical = "cpu";  ///< DeviceInfo::physical; "cpu": the host's processors and their memory
  DeviceType type = DeviceType::cpu;
  int cores = 1;              ///< cores at work, for the rated watts of a CPU
  std::string name = "host";  ///< name for users

  bool operator==(const PoweredDevice&) const = default;
};

/// Returns the meter's description of a device. An emulated device counts as a core of the host.
OCLSPKT_API PoweredDevice powered(const DeviceInfo& device);

/// Watts at work, for devices without a measurement.
struct RatedWatts {
  double gpu = 0, cpu = 0, fpga = 0;  ///< watts of a card, of a CPU core, of a board; 0: use the table
};

/// Parse a text such as "gpu=700,cpu=8,fpga=60". Each word may occur once. A type that does not occur uses the table.
/// @throws InvalidInput for other words, and for watts that are not positive and finite
OCLSPKT_API RatedWatts parse_rated(const std::string& text);
/// Returns the rated watts of a device: from `given`, else from the table, by words in the device's name. Without an
/// entry: 400 W for a GPU, 8 W for a core, 60 W for a board.
OCLSPKT_API double rated_watts(const PoweredDevice& device, const RatedWatts& given);

OCLSPKT_API double steady_seconds();

/// The sources of a meter. Tests set their own folders, libraries and clocks.
struct MeterSettings {
  RatedWatts rated;
  std::string powercap = "/sys/class/powercap";
  std::string nvml = "libnvidia-ml.so.1", amdsmi = "libamd_smi.so";
  std::function<double()> now = steady_seconds;
};
/// Settings of the solvers' meters, except rated power. Tests change them before any solver is set up.
OCLSPKT_API MeterSettings& usual_meter_settings();

/// Reads the energy or the power of one part of a machine. A function is empty if the part never reports its figure.
/// The result of a function is empty if the part no longer reports it.
struct PowerProbe {
  std::function<std::optional<double>()> joules;  ///< the counter's value; its zero is arbitrary
  double wraps_at = 0;                            ///< joules at which the counter wraps to 0; 0: it never wraps
  std::function<std::optional<double>()> watts;   ///< present watts
};

/// The probes of one device, or the reason why it has no probes.
struct Probes {
  std::vector<PowerProbe> all;
  std::string words;    ///< description, such as "NVIDIA H200 by NVML"
  std::string trouble;  ///< without probes: the reason, and the cure
};

/// RAPL counters of the processors' packages and of memory, as Linux lists them in a folder.
Probes powercap_probes(const std::string& folder);
/// Opens NVML or AMD SMI. Returns the probe of a card.
/// @param pci   PCI address, such as 0000:41:00.0; empty: unknown
/// @param name  name of the card
Probes card_probes(const MeterSettings& settings, const std::string& pci, const std::string& name);

/// The source of the joules of one device.
struct PowerSource {
  PowerKind kind = PowerKind::rated;
  std::string words;    ///< such as "counter of NVIDIA H200 by NVML" or "rated power, 128 W"
  std::string trouble;  ///< why no better source is used, and the cure; empty for a counter
};

/// The joules of one device in a window.
struct Energy {
  static constexpr double kNone = std::numeric_limits<double>::quiet_NaN();
  PowerKind kind = PowerKind::rated;  ///< kind of `joules`, worse than the source's if figures were refused
  std::string words;                  ///< description as in PowerSource, and why figures were refused
  double joules = 0;
  double seconds = 0;
  double by_counter = kNone, by_samples = kNone;  ///< joules by each kind; NaN: not available, or refused
  double rated_watts = 0;                         ///< watts that are used without a measurement
  double watts() const { return joules / seconds; }
};

/// Minimum seconds of a window. Counters advance every 20 to 100 ms, and samples cover only part of the time.
inline constexpr double kLeastWindow = 2;

/// Measures joules of devices by counters. Without counters it uses samples, and without samples rated power. The
/// joules include all other work on a device and on the host. Only one thread at a time may use a meter, with one
/// exception: a thread may poll() while another thread calls seconds().
class OCLSPKT_API Meter {
 public:
  /// Find the best source of each device. Cards use NVML or AMD SMI (opened at run time). The host uses powercap (RAPL:
  /// packages and memory). A missing source is no error: PowerSource::trouble names it.
  explicit Meter(std::vector<PoweredDevice> devices, MeterSettings settings = {});
  ~Meter();
  Meter(const Meter&) = delete;
  Meter& operator=(const Meter&) = delete;

  /// Returns one source for each device, in the order of the devices.
  const std::vector<PowerSource>& sources() const { return sources_; }
  const std::vector<Probes>& probes() const { return probes_; }

  /// Begin a window. Drops an open window.
  void begin();
  /// Read counters and samples of the open window. Calls must be frequent enough for samples, and for counters that
  /// wrap within minutes.
  void poll();
  /// Close the window without a result.
  void drop() { open_ = false; }
  /// Seconds since begin(), or with `polled` from begin() to the last poll(). 0 if no window is open.
  double seconds(bool polled = false) const;
  /// End the window now, or at its last poll().
  /// @return shape [sources()]. If a counter stands still or jumps, or if samples are too few, the next kind of source
  ///         is used; Energy::words has the reason
  /// @throws InvalidInput if the window is shorter than kLeastWindow; the window is closed in any case
  std::vector<Energy> end(bool at_last_poll = false);

  /// Choose the best figure of a device that was not refused. Write it to `e`, with its description in e.words.
  /// @param refused  why better figures were refused; may be empty
  void settle(std::size_t device, Energy& e, const std::string& refused) const;

 private:
  struct Tally;
  void read(bool first);
  Energy energy(std::size_t device, double seconds);

  std::vector<PoweredDevice> devices_;
  MeterSettings settings_;
  std::vector<double> watts_;  ///< rated power of each device
  std::vector<Probes> probes_;
  std::vector<PowerSource> sources_;
  bool open_ = false;
  double begun_ = 0, polled_ = 0;
  std::vector<std::vector<Tally>> tallies_;
};

}  // namespace oclspkt
