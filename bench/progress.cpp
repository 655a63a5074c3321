// SPDX-License-Identifier: BSD-2-Clause
#include "progress.hpp"

#include <unistd.h>

#include <cstdio>

namespace oclspkt::bench {

Progress::Progress() : terminal_(isatty(STDERR_FILENO) == 1) {}
Progress::~Progress() { finish(); }

void Progress::step(const std::string& text) {
  const auto now = std::chrono::steady_clock::now();
  if (terminal_) {
    std::fprintf(stderr, "\r\033[K%s", text.c_str());
    dirty_ = true;
  } else if (now - shown_ > std::chrono::seconds(2)) {
    std::fprintf(stderr, "%s\n", text.c_str());
    shown_ = now;
  }
  std::fflush(stderr);
}

void Progress::finish() {
  if (dirty_) std::fprintf(stderr, "\r\033[K");
  dirty_ = false;
}

}  // namespace oclspkt::bench
