// SPDX-License-Identifier: BSD-2-Clause
#pragma once

#include <string>
#include <vector>

#include "device.hpp"

namespace oclspkt {

/// A device that failed.
struct LostDevice {
  int index = -1;
  std::string line;  ///< "<device>: <cause>"
};

/// The device that a set-up will use.
struct DeviceChoice {
  DeviceModule* module = nullptr;  ///< null: the host
  int index = -1;
  DeviceInfo info;
  DeviceProfile profile;
  std::string why;
  std::string costs;             ///< the predicted times behind `why`, which differ from run to run
  std::vector<LostDevice> lost;  ///< devices that failed while they were measured
  bool host() const { return module == nullptr; }
};

/// What the device must be able to do.
struct Demand {
  const LineSet& lines;
  bool is_double = true;
  double words_per_row = 5;  ///< of the method that is likely to be chosen
  int launches = 1;
  Form form = Form::general;  ///< general or shared, as the bands are
  Index halo = -1;            ///< with which lines side by side may be cut into segments; -1: they may not
  bool few_applies = false;   ///< between set-ups: the host's stored factors cost more than what they are used for
};

/// Choose among the devices that the options name: the cheapest for the rows at hand, vectors on the host. The host
/// where none is left.
/// @param lost  devices not to be considered
/// @throws InvalidInput if the selection matches nothing, or names only devices that lack double
/// @throws DeviceError  under OnDeviceFailure::error if a device fails while it is measured
DeviceChoice choose_device(const Options& options, const Demand& demand, const std::vector<LostDevice>& lost);

}  // namespace oclspkt
