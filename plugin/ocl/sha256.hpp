// SPDX-License-Identifier: BSD-2-Clause
#pragma once

#include <cstdint>
#include <span>
#include <string>

#include "oclspkt/export.hpp"

namespace oclspkt::ocl {

/// Returns the SHA-256 of some bytes, as 64 hexadecimal digits.
/// @source FIPS 180-4
OCLSPKT_API std::string sha256(std::span<const unsigned char> bytes);

}  // namespace oclspkt::ocl
