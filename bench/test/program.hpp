// SPDX-License-Identifier: BSD-2-Clause
#pragma once

#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <cstdio>
#include <filesystem>
#include <fstream>
#include <nlohmann/json.hpp>
#include <string>

namespace oclspkt::bench::test {

struct Outcome {
  int status = -1;
  std::string output;  ///< stdout and stderr
};

/// Run oclspkt-bench as a user would.
/// @param arguments words without blanks or quotes
inline Outcome run_program(const std::string& arguments) {
  Outcome outcome;
  FILE* pipe = popen((std::string("'") + OCLSPKT_BENCH_PROGRAM + "' " + arguments + " 2>&1").c_str(), "r");
  if (pipe == nullptr) return outcome;
  std::array<char, 4096> buffer;
  for (std::size_t got; (got = fread(buffer.data(), 1, buffer.size(), pipe)) > 0;) {
    outcome.output.append(buffer.data(), got);
  }
  const int status = pclose(pipe);
  if (WIFEXITED(status)) outcome.status = WEXITSTATUS(status);
  return outcome;
}

/// A JSON file that is gone at the end.
class JsonFile {
 public:
  JsonFile()
      : path_(std::filesystem::temp_directory_path() / ("oclspkt-bench-" + std::to_string(getpid()) + ".json")) {}
  ~JsonFile() { std::filesystem::remove(path_); }
  std::string path() const { return path_.string(); }
  nlohmann::json read() const {
    std::ifstream file(path_);
    return nlohmann::json::parse(file);
  }

 private:
  std::filesystem::path path_;
};

}  // namespace oclspkt::bench::test
