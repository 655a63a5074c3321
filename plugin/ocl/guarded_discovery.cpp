// SPDX-License-Identifier: BSD-2-Clause
#include <ftw.h>
#include <stdlib.h>
#include <unistd.h>

#include <cstdio>
#include <cstdlib>
#include <new>

#include "discovery.hpp"
#include "drivers.hpp"
#include "user_files.hpp"

namespace oclspkt::ocl {
namespace {

/// The variable that names the folder where PoCL builds and caches kernels.
constexpr const char* kPoclCacheVariable = "POCL_CACHE_DIR";

/// The result of testing a driver's cache folder.
struct DriverCache {
  std::string problem;  ///< the folder's problem, our remedy, and the cure; empty: no problem
  bool usable = true;   ///< the driver has a folder that it can write to
};

/// Bytes that must be free: room for several dozen kernels, and for temporary files of a build.
constexpr std::int64_t kRoom = 32 << 20;

/// Returns PoCL's cache folder, by PoCL's own rules.
std::string pocl_folder() {
  if (const auto named = variable(kPoclCacheVariable)) return *named;
  const auto parent = variable("XDG_CACHE_HOME"), home = variable("HOME");
  return (parent ? *parent : home ? *home + "/.cache" : "/tmp") + "/pocl/kcache";
}

/// A temporary folder. It is removed with its contents when the process that made it ends.
class Temporary {
 public:
  /// @return the path; empty if no writable folder can be made
  static const std::string& folder() {
    static const Temporary only;
    return only.path_;
  }

 private:
  Temporary() : process_(getpid()) {
    for (const std::string& parent : {variable("TMPDIR").value_or(""), variable("XDG_RUNTIME_DIR").value_or(""),
                                      std::string("/tmp"), std::string("/var/tmp"), std::string("/dev/shm")}) {
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

/// Test PoCL's cache folder before the driver is loaded. If the folder is full, PoCL ends the process. If PoCL cannot
/// write to the folder, it has no device. PoCL builds kernels there even with caching off. After a failed test,
/// POCL_CACHE_DIR names a temporary folder. It exists until this process ends; child processes inherit the variable.
/// Other drivers work without their caches.
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

std::string problem_of(const Driver& driver, const std::string& what) {
  return "driver " + driver.library + ", named in " + driver.source + ", " + what;
}

/// List the devices of all drivers without a fault. The loader finds only these drivers.
Discovery discover_good(const std::vector<Driver>& drivers) {
  std::vector<std::string> good, problems;
  std::vector<Driver> tried;
  for (const Driver& driver : drivers) {
    const DriverCache cache = provide_cache(driver);
    if (!cache.problem.empty()) problems.push_back(problem_of(driver, cache.problem));
    if (cache.usable) tried.push_back(driver);
  }
  VendorFolders folders;
  const std::vector<std::string> verdicts = try_in_children(tried, folders);
  for (std::size_t i = 0; i < tried.size(); ++i) {
    if (verdicts[i].empty()) {
      good.push_back(tried[i].library);
    } else {
      problems.push_back(problem_of(tried[i], verdicts[i]));
    }
  }
  std::optional<Redirection> redirection;
  if (good.size() < drivers.size()) redirection.emplace(folders.add(good));
  Discovery result = look_at_platforms();
  result.problems.insert(result.problems.begin(), problems.begin(), problems.end());
  return result;
}

}  // namespace

Discovery discover() {
  const std::vector<Driver> drivers = named_drivers();
  if (drivers.empty()) return look_at_platforms();  // the loader loads no driver, so no test is needed
  try {
    return discover_good(drivers);
  } catch (const std::bad_alloc&) {
    throw;
  } catch (const std::exception& error) {
    Discovery none;
    none.problems.push_back(std::string("no driver is loaded because none can be tested first: ") + error.what());
    return none;
  }
}

}  // namespace oclspkt::ocl
