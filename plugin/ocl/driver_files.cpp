// SPDX-License-Identifier: BSD-2-Clause
#include "driver_files.hpp"

#include <stdlib.h>

#include <algorithm>
#include <cerrno>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <fstream>
#include <sstream>
#include <stdexcept>

namespace oclspkt::ocl {
namespace {

namespace fs = std::filesystem;

constexpr const char* kVendorFolder = "/etc/OpenCL/vendors";
constexpr const char* kIcd = ".icd";

std::optional<std::string> variable(const char* name) {
  const char* value = std::getenv(name);
  return value != nullptr && *value != '\0' ? std::optional<std::string>(value) : std::nullopt;
}

/// The loader takes the whole first line: paths may hold spaces.
Driver named_in(const fs::path& file) {
  std::ifstream stream(file);
  Driver driver{{}, file.string()};
  std::getline(stream, driver.library);
  return driver;
}

std::vector<Driver> drivers_of_folder(const fs::path& folder) {
  std::vector<fs::path> files;
  std::error_code error;
  for (fs::directory_iterator at(folder, error), end; !error && at != end; at.increment(error)) {
    if (at->path().extension() == kIcd) files.push_back(at->path());
  }
  std::sort(files.begin(), files.end());
  std::vector<Driver> drivers;
  for (const fs::path& file : files) drivers.push_back(named_in(file));
  return drivers;
}

[[noreturn]] void refuse(const fs::path& where) {
  throw std::runtime_error("cannot write to the temporary folder " + where.string() + ": " + std::strerror(errno) +
                           "; set TMPDIR to a folder that exists and can be written");
}

}  // namespace

std::vector<Driver> named_drivers() {
  const char* name = variable(kVendorVariable) ? kVendorVariable : kOtherVendorVariables[0];
  const fs::path path = variable(name).value_or(kVendorFolder);
  std::error_code error;
  std::vector<Driver> drivers;
  if (path.extension() == kIcd) {
    drivers.push_back(named_in(path.has_parent_path() ? path : fs::path(kVendorFolder) / path));
  } else if (fs::is_directory(path, error) || !variable(name)) {
    drivers = drivers_of_folder(path);
  } else {
    drivers.push_back({path.string(), name});
  }
  std::istringstream more(variable(kOtherVendorVariables[1]).value_or(""));
  for (std::string library; std::getline(more, library, ':');) {
    if (!library.empty()) drivers.push_back({library, kOtherVendorVariables[1]});
  }
  return drivers;
}

VendorFolders::VendorFolders() {
  const auto set = variable("TMPDIR");
  std::string path = (fs::path(set.value_or("/tmp")) / "oclspkt-XXXXXX").string();
  if (mkdtemp(path.data()) == nullptr) refuse(set.value_or("/tmp"));
  root_ = path;
}

VendorFolders::~VendorFolders() {
  std::error_code ignored;
  fs::remove_all(root_, ignored);
}

std::string VendorFolders::add(const std::vector<std::string>& libraries) {
  const fs::path folder = root_ / std::to_string(folders_++);
  std::error_code error;
  if (!fs::create_directory(folder, error)) refuse(folder);
  for (std::size_t i = 0; i < libraries.size(); ++i) {
    char name[32];
    std::snprintf(name, sizeof name, "%06zu%s", i, kIcd);
    std::ofstream stream(folder / name);
    stream << libraries[i] << '\n';
    stream.close();
    if (!stream) refuse(folder);
  }
  return folder.string();
}

Redirection::Redirection(const std::string& folder) {
  before_.emplace_back(kVendorVariable, variable(kVendorVariable));
  for (const char* name : kOtherVendorVariables) before_.emplace_back(name, variable(name));
  setenv(kVendorVariable, folder.c_str(), 1);
  for (const char* name : kOtherVendorVariables) unsetenv(name);
}

Redirection::~Redirection() {
  for (const auto& [name, value] : before_) value ? setenv(name, value->c_str(), 1) : unsetenv(name);
}

}  // namespace oclspkt::ocl
