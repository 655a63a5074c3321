// SPDX-License-Identifier: BSD-2-Clause
#pragma once

#include <functional>
#include <optional>
#include <string>
#include <vector>

namespace oclspkt {

/// What tells the energy or the power of one part of a machine. A function that is empty: it does not tell; a call
/// without a value: it cannot any more.
struct PowerProbe {
  std::function<std::optional<double>()> joules;  ///< of a counter since some moment
  double wraps_at = 0;                            ///< joules at which the counter begins anew; 0: never
  std::function<std::optional<double>()> watts;   ///< at this moment
};

/// The probes of one device, or why there are none.
struct Probes {
  std::vector<PowerProbe> all;
  std::string words;    ///< what they are, such as "NVIDIA H200 by NVML"
  std::string trouble;  ///< cause and cure
};

/// RAPL counters of the processors' packages and of memory, as Linux lists them in a folder.
Probes powercap_probes(const std::string& folder);
/// A card of NVIDIA, by a library that is opened here.
/// @param pci   address, such as 0000:41:00.0; empty: not known
/// @param name  of the card
Probes nvml_probes(const std::string& library, const std::string& pci, const std::string& name);

}  // namespace oclspkt
