// SPDX-License-Identifier: BSD-2-Clause
#include <dirent.h>
#include <stdlib.h>
#include <sys/stat.h>

#include <algorithm>
#include <cerrno>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <fstream>
#include <memory>
#include <sstream>
#include <stdexcept>

#include "drivers.hpp"
#include "user_files.hpp"

namespace oclspkt::ocl {
namespace {

constexpr const char* kVendorFolder = "/etc/OpenCL/vendors";
constexpr const char* kIcd = ".icd";
constexpr std::int64_t kLongestIcd = 1 << 16;

bool is_icd(const std::string& path) { return path.size() > 4 && path.compare(path.size() - 4, 4, kIcd) == 0; }

/// Returns the driver that an ICD file names. Like the loader, it takes the whole first line, spaces included.
Driver named_in(const std::string& file) {
  const std::string text = read_file(file, kLongestIcd).value_or("");
  return {text.substr(0, text.find('\n')), file};
}

/// Returns the drivers of a folder's ICD files. Uses system calls; std::filesystem ends the process if memory runs out.
std::vector<Driver> drivers_of_folder(const std::string& folder) {
  const auto shut = [](DIR* open) { closedir(open); };
  const std::unique_ptr<DIR, decltype(shut)> open(opendir(folder.c_str()), shut);
  std::vector<std::string> names;
  for (const dirent* entry = nullptr; open && (entry = readdir(open.get())) != nullptr;) {
    if (is_icd(entry->d_name)) names.emplace_back(entry->d_name);
  }
  std::sort(names.begin(), names.end());
  std::vector<Driver> drivers;
  drivers.reserve(names.size());
  for (std::string& name : names) drivers.push_back(named_in(name.insert(0, folder + "/")));
  return drivers;
}

bool is_folder(const std::string& path) {
  struct stat about;
  return stat(path.c_str(), &about) == 0 && S_ISDIR(about.st_mode);
}

[[noreturn]] void refuse(const std::string& where) {
  throw std::runtime_error("cannot write to the temporary folder " + where + ": " + std::strerror(errno) +
                           "; set TMPDIR to a folder that exists and can be written");
}

}  // namespace

std::optional<std::string> variable(const char* name) {
  const char* value = std::getenv(name);
  return value != nullptr && *value != '\0' ? std::optional<std::string>(value) : std::nullopt;
}

std::vector<Driver> named_drivers() {
  const char* name = variable(kVendorVariable) ? kVendorVariable : kOtherVendorVariables[0];
  const std::string path = variable(name).value_or(kVendorFolder);
  std::vector<Driver> drivers;
  if (is_icd(path)) {
    drivers.push_back(named_in(path.find('/') != std::string::npos ? path : kVendorFolder + ("/" + path)));
  } else if (is_folder(path) || !variable(name)) {
    drivers = drivers_of_folder(path);
  } else {
    drivers.push_back({path, name});
  }
  std::istringstream more(variable(kOtherVendorVariables[1]).value_or(""));
  for (std::string library; std::getline(more, library, ':');) {
    if (!library.empty()) drivers.push_back({library, kOtherVendorVariables[1]});
  }
  return drivers;
}

VendorFolders::VendorFolders() {
  const std::string parent = variable("TMPDIR").value_or("/tmp");
  std::string path = parent + "/oclspkt-XXXXXX";
  paths_.reserve(1);
  if (mkdtemp(path.data()) == nullptr) refuse(parent);
  paths_.push_back(std::move(path));
}

VendorFolders::~VendorFolders() {
  for (auto path = paths_.rbegin(); path != paths_.rend(); ++path) std::remove(path->c_str());
}

std::string VendorFolders::add(const std::vector<std::string>& libraries) {
  // The destructor needs every path, so paths are recorded before they are created.
  std::string folder = paths_.emplace_back(paths_.front() + "/" + std::to_string(paths_.size()));
  if (mkdir(folder.c_str(), S_IRWXU) != 0) refuse(folder);
  for (std::size_t i = 0; i < libraries.size(); ++i) {
    char name[32];
    std::snprintf(name, sizeof name, "/%06zu%s", i, kIcd);
    std::ofstream stream(paths_.emplace_back(folder + name));
    stream << libraries[i] << '\n';
    stream.close();
    if (!stream) refuse(folder);
  }
  return folder + '/';  // Khronos' loader of 2020, which CUDA 13 contains, appends names without a slash
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
