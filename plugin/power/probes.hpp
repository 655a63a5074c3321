// SPDX-License-Identifier: BSD-2-Clause
#pragma once

#include <functional>
#include <optional>
#include <string>
#include <vector>

namespace oclspkt {

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
/// The probe of an NVIDIA card, by a library that this function opens.
/// @param pci   address, such as 0000:41:00.0; empty: not known
/// @param name  of the card
Probes nvml_probes(const std::string& library, const std::string& pci, const std::string& name);

}  // namespace oclspkt
