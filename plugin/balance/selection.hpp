// SPDX-License-Identifier: BSD-2-Clause
#pragma once

#include <string>
#include <vector>

#include "device.hpp"
#include "oclspkt/export.hpp"

namespace oclspkt {

/// What a selection names.
struct Selection {
  bool host = false;         ///< the host solver is among the candidates
  bool automatic = false;    ///< `auto`: the cheapest for the size, host included
  std::vector<int> devices;  ///< indices into the list of devices, each once, in the order named
};

/// Parse the selection language of -pc_oclspkt_devices: words joined by commas, each of
///   auto         host and every device that is not emulated
///   all          every device that is not emulated
///   host         the host solver
///   cpu gpu fpga every device of that type, emulated ones too
///   a number     the device of that index
///   other text   every device whose name or platform contains it (letters of either case)
/// Of two drivers of one physical device both are listed; the cheaper one solves.
/// @throws InvalidInput if a word matches nothing; the text lists what there is, and `problems`
OCLSPKT_API Selection select_devices(const std::string& language, const std::vector<DeviceInfo>& devices,
                                     const std::vector<std::string>& problems);

/// True if the selection can be decided without looking at any device (`host`).
OCLSPKT_API bool needs_no_device(const std::string& language);

}  // namespace oclspkt
