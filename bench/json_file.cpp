// SPDX-License-Identifier: BSD-2-Clause
#include "json_file.hpp"

#include <utility>

#include "oclspkt/error.hpp"

namespace oclspkt::bench {

JsonFile::JsonFile(const std::string& path) : path_(path) {
  if (path_.empty()) return;
  file_.open(path_);
  if (!file_) throw InvalidInput("cannot write --json " + path_ + ": name a file in a folder that exists");
}

std::string record_lines(const nlohmann::ordered_json& document) {
  std::string text;
  for (const auto& [key, value] : document.items()) {
    text += (text.empty() ? "{\n" : ",\n") + nlohmann::json(key).dump() + ": ";
    const bool records = value.is_array() && !value.empty() && value.front().is_object();
    if (!records) {
      text += value.dump();
      continue;
    }
    const char* between = "[\n";
    for (const auto& record : value) text += std::exchange(between, ",\n") + record.dump();
    text += "\n]";
  }
  return (text.empty() ? "{" : text) + "\n}\n";
}

void JsonFile::write(const nlohmann::ordered_json& document) {
  if (path_.empty()) return;
  file_ << record_lines(document);
  file_.close();
  if (!file_) throw InvalidInput("writing --json " + path_ + " failed: is the disk full?");
}

}  // namespace oclspkt::bench
