// SPDX-License-Identifier: BSD-2-Clause
#pragma once

#include <optional>
#include <string>
#include <utility>
#include <vector>

namespace oclspkt::ocl {

/// The environment variable that tells an ICD loader where its drivers are. Khronos' loader and ocl-icd both read it.
inline constexpr const char* kVendorVariable = "OCL_ICD_VENDORS";
/// Other environment variables that name drivers. Only some ICD loaders read them.
inline constexpr const char* kOtherVendorVariables[] = {"OPENCL_VENDOR_PATH", "OCL_ICD_FILENAMES"};

/// A driver that the ICD loader would load.
struct Driver {
  std::string library;  ///< as the loader would hand it to dlopen(); empty if its file cannot be read or is empty
  std::string source;   ///< the ICD file or the variable that names it
};

/// All drivers that the ICD loader would load, in its order.
std::vector<Driver> named_drivers();

/// A temporary folder, with one folder of ICD files for each add(). The destructor removes it.
class VendorFolders {
 public:
  /// @throws std::runtime_error with cause and cure if the folder cannot be made
  VendorFolders();
  ~VendorFolders();
  VendorFolders& operator=(VendorFolders&&) = delete;  // neither moved nor copied
  /// Make one folder that names these drivers, in this order. @return its path
  /// @throws std::runtime_error with cause and cure if it cannot be written
  std::string add(const std::vector<std::string>& libraries);

 private:
  std::vector<std::string> paths_;  ///< the folder and all its contents, in the order of creation
};

/// While such an object lives, the ICD loader of this process and its children finds drivers in one folder only.
class Redirection {
 public:
  explicit Redirection(const std::string& folder);
  ~Redirection();
  Redirection& operator=(Redirection&&) = delete;  // neither moved nor copied

 private:
  std::vector<std::pair<const char*, std::optional<std::string>>> before_;  ///< variables, and their former values
};

/// The text of an environment variable; none if the variable is unset or empty.
std::optional<std::string> variable(const char* name);

/// The helper program, beside the library that holds this code. It is called as `oclspkt-driver-check TOKEN LIBRARY`,
/// with OCL_ICD_VENDORS set to a folder that names this one driver. It uses the driver as discover() will, and answers
/// on its standard output: TOKEN, a new line, and the driver's fault, if any. All other output goes to its standard
/// error.
inline constexpr const char* kDriverCheck = "oclspkt-driver-check";

/// Most bytes of the answer after the token. A pipe takes so few bytes in one write, whole or not at all.
inline constexpr std::size_t kLongestAnswer = 2000;

inline constexpr const char* kDriverSecondsVariable = "OCLSPKT_DRIVER_SECONDS";
/// Time limit for a driver, because a hanging one delays the process. A driver on a network may take long to load for
/// the first time.
inline constexpr int kDriverSeconds = 60;

/// Let child processes try drivers, all at once, because a driver that throws, crashes, exits or hangs would take this
/// process with it. If a static initialiser throws, the exception passes dlopen(), which keeps its lock for ever.
/// @param folders  takes the children's ICD files
/// @return the fault of each driver; empty if its child finished and found none
/// @throws std::runtime_error with cause and cure if the helper program is missing or cannot be trusted, see
/// docs/experiments/drivers-and-faults.md
std::vector<std::string> try_in_children(const std::vector<Driver>& drivers, VendorFolders& folders);

}  // namespace oclspkt::ocl
