// SPDX-License-Identifier: BSD-2-Clause
#include <cstdio>

#include "oclspkt/report.hpp"

namespace oclspkt {
namespace {

std::string seconds_text(double seconds) {
  char text[32];
  const bool micro = seconds < 1e-3;
  std::snprintf(text, sizeof text, "%.3g %s", seconds * (micro ? 1e6 : 1e3), micro ? "us" : "ms");
  return text;
}

std::string words_text(double words) {
  char text[32];
  std::snprintf(text, sizeof text, "%.3g words a row", words);
  return text;
}

std::string candidate_line(const Candidate& c) {
  std::string line = name(c.method);
  if (!c.shape.empty()) line += ", " + c.shape;
  line += std::string(c.taken ? ": taken, " : ": rejected, ") + c.why;
  if (c.words_per_row > 0) line += "; " + words_text(c.words_per_row);
  if (c.seconds > 0) line += ", " + seconds_text(c.seconds) + " predicted";
  return line;
}

}  // namespace

std::vector<std::string> explain(const Report& report) {
  std::vector<std::string> lines;
  for (const Candidate& candidate : report.candidates) lines.push_back(candidate_line(candidate));
  return lines;
}

}  // namespace oclspkt
