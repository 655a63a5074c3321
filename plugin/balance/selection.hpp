// SPDX-License-Identifier: BSD-2-Clause
#pragma once

#include <string>
#include <vector>

#include "device.hpp"
#include "node.hpp"
#include "oclspkt/export.hpp"

namespace oclspkt {

/// The words of a list that are joined by commas, without blanks at their ends.
std::vector<std::string> split_words(const std::string& language);

/// What a selection names.
struct Selection {
  bool host = false;         ///< the host solver is among the candidates
  bool automatic = false;    ///< `auto`: the cheapest for the size, host included
  std::vector<int> devices;  ///< indices into the list of devices, each once, in the order named
  std::vector<int> cores;    ///< shape [devices]; of each that are used, 0: all
  bool repeated = false;     ///< a device was named more than once
};

/// Parse the selection language of -pc_oclspkt_devices: words joined by commas, each of
///   auto         host and every device that is not emulated
///   all          every device that is not emulated
///   host         the host solver
///   cpu gpu fpga every device of that type, emulated ones too
///   a number     the device of that index
///   other text   every device whose name or platform contains it (letters of either case)
///   any:4        the same, four cores of each; not of the host, which has those that the process may use
/// Of two drivers of one physical device both are listed; the cheaper one solves.
/// @throws InvalidInput if a word matches nothing; the text lists what there is, and `problems`
OCLSPKT_API Selection select_devices(const std::string& language, const std::vector<DeviceInfo>& devices,
                                     const std::vector<std::string>& problems);

/// Share the GPUs of a selection out among the ranks of a node, in turn: of several, a rank keeps every one whose turn
/// it is. Devices of other types are for all.
/// @return the devices of this rank, in the same order
OCLSPKT_API std::vector<int> devices_of_rank(const std::vector<int>& selected, const std::vector<DeviceInfo>& devices,
                                             const NodePlace& place);

/// True if the selection can be decided without looking at any device (`host`).
OCLSPKT_API bool needs_no_device(const std::string& language);

}  // namespace oclspkt
