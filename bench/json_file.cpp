// SPDX-License-Identifier: BSD-2-Clause
#include "json_file.hpp"

#include "oclspkt/error.hpp"

namespace oclspkt::bench {

JsonFile::JsonFile(const std::string& path) : path_(path) {
  if (path_.empty()) return;
  file_.open(path_);
  if (!file_) throw InvalidInput("cannot write --json " + path_ + ": name a file in a folder that exists");
}

void JsonFile::write(const nlohmann::ordered_json& document) {
  if (path_.empty()) return;
  file_ << document.dump(2) << '\n';
  file_.close();
  if (!file_) throw InvalidInput("writing --json " + path_ + " failed: is the disk full?");
}

}  // namespace oclspkt::bench
