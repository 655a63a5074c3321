// SPDX-License-Identifier: BSD-2-Clause
#include "driver_files.hpp"

#include <dlfcn.h>

#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <fstream>

#include "error_name.hpp"

namespace oclspkt::ocl {
namespace {

namespace fs = std::filesystem;

constexpr const char* kVendorFolder = "/etc/OpenCL/vendors";

/// The folder, file or library that the loader was pointed at.
std::string vendor_path() {
  for (const char* variable : {"OCL_ICD_VENDORS", "OPENCL_VENDOR_PATH"}) {
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

}  // namespace

std::vector<std::string> faulty_drivers() {
  std::vector<std::string> problems;
  for (const fs::path& file : icd_files(vendor_path())) {
    const std::string library = first_word(file);
    if (library.empty()) {
      problems.push_back("driver file " + file.string() + " cannot be read or names no library");
    } else if (const std::string what = fault(library); !what.empty()) {
      problems.push_back(
          std::string("driver ").append(library).append(", named in ").append(file).append(", ").append(what));
    }
  }
  return problems;
}

}  // namespace oclspkt::ocl
