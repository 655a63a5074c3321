// SPDX-License-Identifier: BSD-2-Clause
#pragma once

#include <cstdio>
#include <string>

namespace oclspkt::bench {

/// A line for a person, as printf has it; what is longer than 255 characters is cut off.
template <typename... Values>
std::string text(const char* format, Values... values) {
  char buffer[256];
  std::snprintf(buffer, sizeof buffer, format, values...);
  return buffer;
}

}  // namespace oclspkt::bench
