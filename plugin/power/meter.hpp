// SPDX-License-Identifier: BSD-2-Clause
#pragma once

#include <functional>
#include <limits>
#include <memory>
#include <string>
#include <vector>

#include "device.hpp"
#include "oclspkt/export.hpp"

namespace oclspkt {

/// How joules are known, best first.
enum class PowerKind {
  counter,  ///< the device adds them up
  samples,  ///< watts that the device tells now and then, integrated
  rated,    ///< watts of a table times seconds: nothing is measured
};

/// A processor whose joules are asked for.
struct PoweredDevice {
  std::string physical = "cpu";  ///< as DeviceInfo::physical; "cpu": the processors of the host and their memory
  DeviceType type = DeviceType::cpu;
  int cores = 1;              ///< at work, for the rated watts of a CPU
  std::string name = "host";  ///< in words

  bool operator==(const PoweredDevice&) const = default;
};

/// The device in words of the meter. An emulated device is a core of the host.
OCLSPKT_API PoweredDevice powered(const DeviceInfo& device);

/// Watts while a device works, where nothing is measured.
struct RatedWatts {
  double gpu = 0, cpu = 0, fpga = 0;  ///< a card, a core of a CPU, a board; 0: by the table
};

/// Parse "gpu=700,cpu=8,fpga=60", each of them at most once; "" for the table.
/// @throws InvalidInput for other words, and watts that are not positive and finite
OCLSPKT_API RatedWatts parse_rated(const std::string& text);
/// Rated watts: what `given` says, else the table: by words of the device's name, or 400 W a GPU, 8 W a core and 60 W
/// a board.
OCLSPKT_API double rated_watts(const PoweredDevice& device, const RatedWatts& given);

/// Seconds of a steady clock.
OCLSPKT_API double steady_seconds();

/// Where a meter looks, and how it waits. Tests give folders, libraries and clocks of their own.
struct MeterSettings {
  RatedWatts rated;
  std::string powercap = "/sys/class/powercap";
  std::string nvml = "libnvidia-ml.so.1";
  bool thread = true;                      ///< sample in a thread between begin() and end(); else poll() alone samples
  std::function<double()> now = {};        ///< empty: steady_seconds()
  std::function<void(double)> sleep = {};  ///< empty: the machine's
};

/// Where the joules of one device come from.
struct PowerSource {
  std::string physical;  ///< PoweredDevice::physical
  PowerKind kind = PowerKind::rated;
  std::string words;    ///< such as "counter of NVIDIA H200 by NVML" or "rated power, 128 W"
  std::string trouble;  ///< why nothing better is used, and the cure; empty: a counter is
};

/// The joules of one device in a window.
struct Energy {
  static constexpr double kNone = std::numeric_limits<double>::quiet_NaN();
  PowerKind kind = PowerKind::rated;  ///< of `joules`; less than the source's if its figures were refused
  std::string words;                  ///< as in PowerSource, and why figures were refused
  double joules = 0;
  double seconds = 0;
  double by_counter = kNone, by_samples = kNone;  ///< joules by each; NaN: not there, or refused
  double rated_watts = 0;                         ///< that are used if nothing is measured
  // Set by Meter::measure() alone:
  double idle_watts = kNone;  ///< while nothing works; NaN for rated power
  double spread = kNone;      ///< of the windows: (most - least) / median; NaN for rated power
  double rounds = 0;          ///< calls of `work` in the window
  double watts() const { return joules / seconds; }
};

/// Windows are at least so long: counters move every 20 to 100 ms, and samples see a part of the time.
inline constexpr double kLeastWindow = 2;

/// How Meter::measure() measures.
struct EnergyProtocol {
  double seconds = kLeastWindow;  ///< of each window, at least
  int repeats = 3;                ///< windows
  double cool_down = 1;           ///< seconds without work before each window, that of idle power included
  double idle = kLeastWindow;     ///< seconds of the window of idle power; 0: it is not measured
};

/// Joules of devices, by counters where there are any, by samples where not, by rated power at last. What others do
/// with a device, and with the host, is in them. For one thread at a time.
class OCLSPKT_API Meter {
 public:
  /// Find the best source of each device: NVML (opened at run time) for cards of NVIDIA, powercap (RAPL: packages and
  /// memory) for the host. What is missing is no error: PowerSource::trouble says so.
  explicit Meter(std::vector<PoweredDevice> devices, MeterSettings settings = {});
  ~Meter();
  Meter(const Meter&) = delete;
  Meter& operator=(const Meter&) = delete;

  /// One a device, in the order given.
  const std::vector<PowerSource>& sources() const;

  /// Begin a window; one that is open is dropped.
  void begin();
  /// Read counters and samples of the open window. Only needed without a thread, often enough for samples and for
  /// counters that wrap within minutes.
  void poll();
  /// Close the window without figures.
  void drop();
  /// Seconds since begin(); of the last poll(), with `polled`. 0 without a window.
  double seconds(bool polled = false) const;
  /// End the window now, or at its last poll().
  /// @return shape [sources()]. A counter that stands still or jumps back is refused, and so are samples that are too
  ///         few: the next kind of figures is used, and Energy::words says why
  /// @throws InvalidInput if it is shorter than kLeastWindow; nothing is rounded. It is closed then, too.
  std::vector<Energy> end(bool at_last_poll = false);

  /// Measure the joules of work: idle power first, then windows of whole calls of `work`, with a pause before each.
  /// Joules, seconds and rounds are those of the window with the median watts.
  /// @param work  one round; returns when it is done
  /// @return shape [sources()]. A counter that shows more watts idle than at work is refused, as those of some virtual
  ///         machines have to be
  /// @throws InvalidInput for windows below kLeastWindow, or no repeats
  std::vector<Energy> measure(const std::function<void()>& work, const EnergyProtocol& protocol = {});

 private:
  class Impl;
  std::unique_ptr<Impl> impl_;
};

}  // namespace oclspkt
