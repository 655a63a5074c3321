// SPDX-License-Identifier: BSD-2-Clause
#pragma once

#include <cstdio>
#include <string>

namespace oclspkt {

/// The text that printf() would print, cut after 159 characters.
template <typename... Args>
std::string format(const char* pattern, Args... args) {
  char text[160];
  std::snprintf(text, sizeof text, pattern, args...);
  return text;
}

}  // namespace oclspkt
