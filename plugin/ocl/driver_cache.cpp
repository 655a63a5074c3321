// SPDX-License-Identifier: BSD-2-Clause
#include "driver_cache.hpp"

#include <ftw.h>
#include <stdlib.h>
#include <unistd.h>

#include <cstdio>
#include <cstdlib>

#include "user_files.hpp"

namespace oclspkt::ocl {
namespace {

/// Room for some dozens of kernels, and for temporary files while one is built.
constexpr std::int64_t kRoom = 32 << 20;

std::string variable(const char* name) {
  const char* value = std::getenv(name);
  return value != nullptr ? value : "";
}

/// PoCL's cache folder, found as PoCL finds it.
std::string pocl_folder() {
  if (std::string named = variable(kPoclCacheVariable); !named.empty()) return named;
  std::string parent = variable("XDG_CACHE_HOME");
  if (std::string home = variable("HOME"); parent.empty() && !home.empty()) parent = home + "/.cache";
  return (parent.empty() ? "/tmp" : parent) + "/pocl/kcache";
}

/// A temporary folder that is removed with its contents when the process that made it ends.
class Temporary {
 public:
  /// @return its path; empty if no writable folder can be made
  static const std::string& folder() {
    static const Temporary only;
    return only.path_;
  }

 private:
  Temporary() : process_(getpid()) {
    for (const std::string& parent : {variable("TMPDIR"), variable("XDG_RUNTIME_DIR"), std::string("/tmp"),
                                      std::string("/var/tmp"), std::string("/dev/shm")}) {
      std::string path = parent + "/oclspkt-pocl-XXXXXX";
      if (parent.empty() || mkdtemp(path.data()) == nullptr) continue;
      path_ = std::move(path);
      if (why_no_room(path_, kRoom).empty()) return;
      remove();
    }
  }
  ~Temporary() {
    if (process_ == getpid()) remove();  // a forked child does not remove it
  }
  void remove() {
    if (path_.empty()) return;
    constexpr int kMostOpen = 16;
    nftw(
        path_.c_str(), [](const char* path, const struct stat*, int, struct FTW*) { return std::remove(path); },
        kMostOpen, FTW_DEPTH | FTW_PHYS | FTW_MOUNT);
    path_.clear();
  }

  std::string path_;
  pid_t process_;
};

}  // namespace

DriverCache provide_cache(const Driver& driver) {
  if (driver.library.find("pocl", driver.library.rfind('/') + 1) == std::string::npos) return {};
  const std::string folder = pocl_folder(), why = why_no_room(folder, kRoom);
  if (why.empty()) return {};
  const std::string text = "its cache folder " + folder + " cannot be used: " + why;
  const std::string cure = std::string("; set ") + kPoclCacheVariable + " to a folder with 32 MB of space";
  if (Temporary::folder().empty()) return {text + ", nor a temporary one" + cure, false};
  setenv(kPoclCacheVariable, Temporary::folder().c_str(), 1);
  return {"builds kernels anew in every run: " + text + cure, true};
}

}  // namespace oclspkt::ocl
