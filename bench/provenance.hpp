// SPDX-License-Identifier: BSD-2-Clause
#pragma once

#include <nlohmann/json.hpp>
#include <string>

#include "device.hpp"

namespace oclspkt::bench {

/// Refuse to time anything but a Release build without sanitizers.
/// @throws InvalidInput
void require_release(const std::string& build_type, const std::string& sanitizers);

/// The same for this build.
void require_release();

/// What the kernel calls the processor; its machine name where it gives none.
std::string cpu_model();

/// The widest of baseline, avx, avx2 and avx512 that the processor carries.
std::string instruction_set();

/// Where figures come from: commit, date, processor (kind, instruction set, caches in bytes, cores, threads), compiler,
/// build type, device, driver, platform, command.
nlohmann::ordered_json provenance(const DeviceInfo& device, const std::string& command);

}  // namespace oclspkt::bench
