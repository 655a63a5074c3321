// SPDX-License-Identifier: BSD-2-Clause
#pragma once

#include <functional>
#include <vector>

#include "meter.hpp"

namespace oclspkt::bench::paper {

/// The joules of one device in the window with the median watts.
struct WindowsOfWork : Energy {
  double idle_watts = kNone;  ///< while nothing works; NaN for rated power
  double spread = kNone;      ///< of the windows: (most - least) / median; NaN for rated power
  double rounds = 0;          ///< calls of the work in the window
};

void sleep_seconds(double seconds);

/// How energy is measured.
struct EnergyProtocol {
  double seconds = kLeastWindow;  ///< least length of each window
  int repeats = 3;                ///< number of windows
  double cool_down = 1;           ///< seconds without work before each window, including that of idle power
  double idle = kLeastWindow;     ///< seconds of the window for idle power; 0: it is not measured
  bool thread = true;             ///< a thread reads the devices during a window; else they are read between rounds
  // Tests have clocks of their own:
  std::function<double()> now = steady_seconds;
  std::function<void(double)> sleep = sleep_seconds;
};

/// Measure the joules of work: idle power first, then windows of whole calls of `work`, with a pause before each.
/// @param work  one round; returns when it is done
/// @return one for each device of the meter. A counter that shows more watts idle than at work is refused, as on some
///         virtual machines
/// @throws InvalidInput for windows below kLeastWindow, or no repeats
std::vector<WindowsOfWork> measure_energy(Meter& meter, const std::function<void()>& work,
                                          const EnergyProtocol& protocol = {});

}  // namespace oclspkt::bench::paper
