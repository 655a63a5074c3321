// SPDX-License-Identifier: BSD-2-Clause
#pragma once

#include <iterator>
#include <sstream>
#include <string>
#include <vector>

namespace oclspkt {

/// Characters that trimmed() removes from the lines of a file. Lines may end with \r\n.
inline constexpr const char* kBlanksOfLines = " \t\r";

/// The text without blanks at its ends.
inline std::string trimmed(const std::string& text, const char* blanks = " \t") {
  const auto first = text.find_first_not_of(blanks), last = text.find_last_not_of(blanks);
  return first == std::string::npos ? "" : text.substr(first, last - first + 1);
}

/// The parts of a list, trimmed. A separator at the end adds no part.
inline std::vector<std::string> split(const std::string& list, char separator) {
  std::vector<std::string> parts;
  std::istringstream stream(list);
  for (std::string part; std::getline(stream, part, separator);) parts.push_back(trimmed(part));
  return parts;
}

/// The words of a text, which blanks separate.
inline std::vector<std::string> split(const std::string& text) {
  std::istringstream stream(text);
  return {std::istream_iterator<std::string>(stream), {}};
}

}  // namespace oclspkt
