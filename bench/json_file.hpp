// SPDX-License-Identifier: BSD-2-Clause
#pragma once

#include <fstream>
#include <nlohmann/json.hpp>
#include <string>

namespace oclspkt::bench {

/// An object as JSON: a key a line, and of a list of records a record a line, so that files of hundreds are short and
/// can be compared.
std::string record_lines(const nlohmann::ordered_json& document);

/// The file that --json names. It is opened before anything is timed, so that a wrong path costs no measurement.
class JsonFile {
 public:
  /// @param path no file if empty
  /// @throws InvalidInput if it cannot be written
  explicit JsonFile(const std::string& path);
  /// Write the document, if there is a file.
  /// @throws InvalidInput
  void write(const nlohmann::ordered_json& document);

 private:
  std::string path_;
  std::ofstream file_;
};

}  // namespace oclspkt::bench
