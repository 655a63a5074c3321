// SPDX-License-Identifier: BSD-2-Clause
#pragma once

#include <limits>
#include <nlohmann/json.hpp>
#include <string>

#include "device.hpp"
#include "scheme_cases.hpp"

namespace oclspkt::bench::gpu {

/// Where and how long schemes are timed.
struct SchemePlace {
  const DeviceInfo* device = nullptr;                        ///< null: the host
  std::string variant = "default";                           ///< Options::variant: the kernels that are steered among
  double seconds = std::numeric_limits<double>::infinity();  ///< of a case; no scheme begins later
  int applies = 7;                                           ///< that are timed
  bool chosen = false;                                       ///< time what the library chooses, and nothing else
  bool host_beside = true;                                   ///< that is on CPUs of the host's way as well

  bool on_gpu() const { return device != nullptr && device->type == DeviceType::gpu; }
};

/// A case with a record of every scheme that takes it, whether it holds or not, or of what is chosen for 1, 10 and 100
/// applies a set-up.
nlohmann::ordered_json measure_schemes(const SchemeCase& c, const SchemePlace& place);

}  // namespace oclspkt::bench::gpu
