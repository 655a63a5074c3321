// SPDX-License-Identifier: BSD-2-Clause
#include "driver_files.hpp"

#include <dlfcn.h>
#include <stdlib.h>

#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <fstream>

#include "driver_check.hpp"
#include "error_name.hpp"

namespace oclspkt::ocl {
namespace {

namespace fs = std::filesystem;

constexpr const char* kVendorFolder = "/etc/OpenCL/vendors";
constexpr const char* kVendorVariable = "OCL_ICD_VENDORS";  // both loaders know it

/// The folder, file or library that the loader was pointed at.
std::string vendor_path() {
  for (const char* variable : {kVendorVariable, "OPENCL_VENDOR_PATH"}) {
    const char* value = std::getenv(variable);
    if (value != nullptr && *value != '\0') return value;
  }
  return kVendorFolder;
}

std::vector<fs::path> icd_files(const fs::path& path) {
  std::vector<fs::path> files;
  std::error_code ignored;
  if (path.extension() == ".icd") {
    files.push_back(path.is_absolute() ? path : fs::path(kVendorFolder) / path);
  } else {
    for (const auto& entry : fs::directory_iterator(path, ignored)) {
      if (entry.path().extension() == ".icd") files.push_back(entry.path());
    }
  }
  std::sort(files.begin(), files.end());
  return files;
}

std::string first_word(const fs::path& file) {
  std::ifstream stream(file);
  std::string word;
  stream >> word;
  return word;
}

/// What is wrong with a driver, or nothing. The loader has asked the same before, so that nothing runs here that has
/// not run already.
std::string fault(const std::string& library) {
  void* handle = dlopen(library.c_str(), RTLD_LAZY | RTLD_LOCAL);
  if (handle == nullptr) {
    const char* why = dlerror();
    return std::string("does not load: ") + (why != nullptr ? why : "unknown reason");
  }
  using Address = void* (*)(const char*);
  using Platforms = int (*)(unsigned, void**, unsigned*);
  const auto address = reinterpret_cast<Address>(dlsym(handle, "clGetExtensionFunctionAddress"));
  const auto platforms = address != nullptr ? reinterpret_cast<Platforms>(address("clIcdGetPlatformIDsKHR")) : nullptr;
  std::string what;
  unsigned count = 0;
  if (platforms == nullptr) {
    what = "is no OpenCL driver: it does not give clIcdGetPlatformIDsKHR";
  } else if (const int code = platforms(0, nullptr, &count); code != 0 || count == 0) {
    what = "offers no platform, " + error_name(code);
  }
  dlclose(handle);  // the loader keeps a handle of its own
  return what;
}

std::string problem(const std::string& library, const fs::path& file, const std::string& what) {
  return std::string("driver ").append(library).append(", named in ").append(file).append(", ").append(what);
}

}  // namespace

DriverGuard::DriverGuard() {
  std::vector<std::string> libraries, good;
  std::vector<fs::path> files;
  for (const fs::path& file : icd_files(vendor_path())) {
    if (std::string library = first_word(file); !library.empty()) {
      libraries.push_back(std::move(library));
      files.push_back(file);
    }
  }
  const std::vector<std::string> ends = check_in_children(libraries);
  for (std::size_t i = 0; i < ends.size(); ++i) {
    if (ends[i].empty()) {
      good.push_back(libraries[i]);
    } else {
      problems_.push_back(problem(libraries[i], files[i], ends[i]));
    }
  }
  if (!problems_.empty()) redirect(good);
}

/// Point the loader to a folder of our own, in the order that it had.
void DriverGuard::redirect(const std::vector<std::string>& good) {
  std::error_code ignored;
  std::string folder = (fs::temp_directory_path(ignored) / "oclspkt-XXXXXX").string();
  if (mkdtemp(folder.data()) == nullptr) return;
  folder_ = folder;
  for (std::size_t i = 0; i < good.size(); ++i) {
    std::string name = std::to_string(i);
    name.insert(0, 4 - std::min<std::size_t>(4, name.size()), '0');
    std::ofstream(fs::path(folder_) / (name + ".icd")) << good[i] << '\n';
  }
  const char* value = std::getenv(kVendorVariable);
  was_set_ = value != nullptr;
  if (was_set_) before_ = value;
  setenv(kVendorVariable, folder_.c_str(), 1);
}

DriverGuard::~DriverGuard() {
  if (folder_.empty()) return;
  if (was_set_) {
    setenv(kVendorVariable, before_.c_str(), 1);
  } else {
    unsetenv(kVendorVariable);
  }
  std::error_code ignored;
  fs::remove_all(folder_, ignored);
}

std::vector<std::string> faulty_drivers() {
  std::vector<std::string> problems;
  for (const fs::path& file : icd_files(vendor_path())) {
    const std::string library = first_word(file);
    if (library.empty()) {
      problems.push_back("driver file " + file.string() + " cannot be read or names no library");
    } else if (const std::string what = fault(library); !what.empty()) {
      problems.push_back(problem(library, file, what));
    }
  }
  return problems;
}

}  // namespace oclspkt::ocl
