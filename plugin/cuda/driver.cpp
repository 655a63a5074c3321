// SPDX-License-Identifier: BSD-2-Clause
#include "driver.hpp"

#include <dlfcn.h>
#include <sys/stat.h>

#include <algorithm>
#include <cstdlib>
#include <vector>

#include "own_library.hpp"

namespace oclspkt::cuda {
namespace {

/// Looks up functions of a library, and remembers the first missing function.
class Symbols {
 public:
  explicit Symbols(void* library) : library_(library) {}
  template <typename F>
  void take(F& function, const char* name) {
    function = reinterpret_cast<F>(dlsym(library_, name));
    if (function == nullptr && missing_ == nullptr) missing_ = name;
  }
  const char* missing() const { return missing_; }

 private:
  void* library_;
  const char* missing_ = nullptr;
};

#define OCLSPKT_TAKE(member, symbol, ...) symbols.take(functions.member, #symbol);
const char* load(Driver& functions, void* library) {
  Symbols symbols(library);
  OCLSPKT_CUDA_FUNCTIONS(OCLSPKT_TAKE)
  return symbols.missing();
}

const char* load(Compiler& functions, void* library) {
  Symbols symbols(library);
  OCLSPKT_NVRTC_FUNCTIONS(OCLSPKT_TAKE)
  symbols.take(functions.error_text, "nvrtcGetErrorString");
  return symbols.missing();
}
#undef OCLSPKT_TAKE

/// Open the first library that exists. It is never closed, because threads that it starts may outlive this module.
void* open_first(const std::vector<std::string>& names, std::string& why) {
  for (const std::string& name : names) {
    std::string reason;
    if (void* library = open_library(name, RTLD_NOW | RTLD_LOCAL | RTLD_NODELETE, reason)) return library;
    if (why.empty()) why = reason;
  }
  return nullptr;
}

struct LoadedDriver {
  Driver functions{};
  std::string why;
  bool absent = false;
  LoadedDriver() {
    void* library = open_first({"libcuda.so.1"}, why);
    if (library == nullptr) {
      absent = true;
      why = "no driver for CUDA: " + why;
    } else if (const char* missing = load(functions, library)) {
      why = std::string("the driver for CUDA is too old: libcuda.so.1 lacks ") + missing;
    } else if (const CUresult result = functions.init(0); result != kSuccess) {
      const char* name = nullptr;
      functions.error_name(result, &name);
      absent = result == kNoDevice;
      why = std::string("the driver for CUDA does not start: ") + (name != nullptr ? name : std::to_string(result));
    }
  }
};

const LoadedDriver& loaded_driver() {
  static const auto* loaded = new LoadedDriver;
  return *loaded;
}

/// Candidate files of the compiler, in the order of preference.
std::vector<std::string> compiler_files() {
  constexpr int kFirst = 12, kNewest = 13;  // CUDA 11 has one file for all versions since 11.2
  if (const char* named = std::getenv("OCLSPKT_NVRTC"); named != nullptr && *named != '\0') return {named};
  int version = 0;
  if (const LoadedDriver& d = loaded_driver(); d.why.empty()) d.functions.version(&version);
  const int own = version > 0 ? version / 1000 : kNewest;
  std::vector<std::string> files;
  const auto add = [&](int major) { files.push_back("libnvrtc.so." + std::to_string(major)); };
  for (int major = own; major >= kFirst; --major) add(major);
  files.emplace_back("libnvrtc.so.11.2");
  for (int major = std::max(own + 1, kFirst); major <= kNewest; ++major) add(major);
  files.emplace_back("libnvrtc.so");
  return files;
}

std::string identity_of(const Compiler& c) {
  int major = 0, minor = 0;
  c.version(&major, &minor);
  std::string identity = std::to_string(major);
  identity.append(".").append(std::to_string(minor));
  Dl_info info;
  struct stat status {};
  if (dladdr(reinterpret_cast<void*>(c.version), &info) != 0 && info.dli_fname != nullptr &&
      stat(info.dli_fname, &status) == 0) {
    identity.append(" ").append(std::to_string(status.st_size)).append(" ").append(std::to_string(status.st_mtime));
  }
  return identity;
}

struct LoadedCompiler {
  Compiler functions{};
  std::string why;
  LoadedCompiler() {
    void* library = open_first(compiler_files(), why);
    if (library == nullptr) {
      why = "CUDA's run-time compiler is not there (" + why +
            "): install the package with libnvrtc.so of CUDA 11.2 or later, or name the file in OCLSPKT_NVRTC";
    } else if (const char* missing = load(functions, library)) {
      why = std::string("CUDA's run-time compiler is too old: libnvrtc.so lacks ") + missing +
            "; install that of CUDA 11.2 or later";
    } else {
      functions.identity = identity_of(functions);
    }
  }
};

}  // namespace

const Driver* driver(std::string* why) {
  const LoadedDriver& loaded = loaded_driver();
  if (loaded.why.empty()) return &loaded.functions;
  if (why != nullptr) *why = loaded.why;
  return nullptr;
}

bool is_absent() { return loaded_driver().absent; }

const Compiler* compiler(std::string* why) {
  static auto* loaded = new LoadedCompiler;
  if (loaded->why.empty()) return &loaded->functions;
  if (why != nullptr) *why = loaded->why;
  return nullptr;
}

}  // namespace oclspkt::cuda
