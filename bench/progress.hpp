// SPDX-License-Identifier: BSD-2-Clause
#pragma once

#include <chrono>
#include <string>

namespace oclspkt::bench {

/// Say on stderr what is being done: one line written over on a terminal, else a line now and then.
class Progress {
 public:
  Progress();
  ~Progress();
  Progress(const Progress&) = delete;
  Progress& operator=(const Progress&) = delete;

  /// A step that may be one of many; off a terminal shown at most every two seconds.
  void step(const std::string& text);
  /// Clear the line before other output.
  void finish();

 private:
  bool terminal_, dirty_ = false;
  std::chrono::steady_clock::time_point shown_{};
};

}  // namespace oclspkt::bench
