// SPDX-License-Identifier: BSD-2-Clause
#pragma once

#include <string>
#include <vector>

#include "device.hpp"
#include "node.hpp"
#include "oclspkt/export.hpp"

namespace oclspkt {

/// The words of a list separated by commas, without blanks at their ends; some may be empty.
std::vector<std::string> split_words(const std::string& language);

/// The processors that a selection names.
struct Selection {
  bool host = false;         ///< the host solver is among the candidates
  bool automatic = false;    ///< `auto`: the fastest processor for the size, host included
  std::vector<int> devices;  ///< indices into the list of devices, each once, in the order named
  std::vector<int> cores;    ///< shape [devices]; cores used of each; 0: all
  bool repeated = false;     ///< a device was named more than once
};

/// Parse the selection language of -pc_oclspkt_devices. It consists of words separated by commas:
///   auto         host and every device that is not emulated
///   all          every device that is not emulated
///   host         the host solver
///   cpu gpu fpga every device of that type, emulated ones too
///   a number     the device of that index
///   other text   every device whose name or platform contains it (letters of either case)
///   any:4        four cores of each device that the word before the colon selects; not for the host
/// If a physical device has two drivers, both are selected, and the one with the lower cost solves.
/// @throws InvalidInput if a word matches nothing; the text lists the devices and `problems`
OCLSPKT_API Selection select_devices(const std::string& language, const std::vector<DeviceInfo>& devices,
                                     const std::vector<std::string>& problems);

/// Deal the GPUs of a selection out to the ranks of a node, in turn. All ranks keep devices of other types.
/// @return the devices of this rank, in the same order
OCLSPKT_API std::vector<int> devices_of_rank(const std::vector<int>& selected, const std::vector<DeviceInfo>& devices,
                                             const NodePlace& place);

/// True if the selection (`host`) does not depend on the devices.
OCLSPKT_API bool needs_no_device(const std::string& language);

}  // namespace oclspkt
