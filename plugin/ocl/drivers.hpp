// SPDX-License-Identifier: BSD-2-Clause
#pragma once

#include <optional>
#include <string>
#include <utility>
#include <vector>

namespace oclspkt::ocl {

/// The environment variable that tells ICD loaders where drivers are. Khronos' loader and ocl-icd both read it.
inline constexpr const char* kVendorVariable = "OCL_ICD_VENDORS";
/// Other environment variables that name drivers. Only some ICD loaders read them.
inline constexpr const char* kOtherVendorVariables[] = {"OPENCL_VENDOR_PATH", "OCL_ICD_FILENAMES"};

/// A driver that the ICD loader would load.
struct Driver {
  std::string library;  ///< the library's name for dlopen(); empty if its ICD file is empty or unreadable
  std::string source;   ///< the ICD file or the variable that names it
};

/// Returns all drivers that the ICD loader would load, in its order.
std::vector<Driver> named_drivers();

/// A temporary folder. Each add() makes a folder of ICD files in it. The destructor removes everything.
class VendorFolders {
 public:
  /// @throws std::runtime_error with cause and cure if the folder cannot be made
  VendorFolders();
  ~VendorFolders();
  VendorFolders& operator=(VendorFolders&&) = delete;
  /// Make a folder that names these drivers, in this order. @return the folder's path
  /// @throws std::runtime_error with cause and cure if the folder cannot be written
  std::string add(const std::vector<std::string>& libraries);

 private:
  std::vector<std::string> paths_;  ///< the folder and all its contents, in the order of creation
};

/// While the object lives, the ICD loader of this process and of its children finds drivers only in one folder.
class Redirection {
 public:
  explicit Redirection(const std::string& folder);
  ~Redirection();
  Redirection& operator=(Redirection&&) = delete;

 private:
  std::vector<std::pair<const char*, std::optional<std::string>>> before_;  ///< the variables and their former values
};

/// Returns the text of an environment variable; none if the variable is unset or empty.
std::optional<std::string> variable(const char* name);

/// The helper program, beside the library of this code. Call it as `oclspkt-driver-check TOKEN LIBRARY`, with
/// OCL_ICD_VENDORS set to a folder that names only this driver. It uses the driver as discover() will. Its answer on
/// standard output is TOKEN, a new line, and the driver's fault, if any. All other output goes to standard error.
inline constexpr const char* kDriverCheck = "oclspkt-driver-check";

/// Maximum bytes of the answer after the token. A pipe takes so few bytes in one piece.
inline constexpr std::size_t kLongestAnswer = 2000;

inline constexpr const char* kDriverSecondsVariable = "OCLSPKT_DRIVER_SECONDS";
/// Time limit for a driver in seconds, because a hanging driver delays the process. A driver on a network may take long
/// to load for the first time.
inline constexpr int kDriverSeconds = 60;

/// Let child processes try drivers, all at once. A driver that throws, crashes, exits or hangs would take this process
/// with it. An exception of a static initialiser passes dlopen(), which then keeps its lock for ever.
/// @param folders  receives the children's ICD files
/// @return the fault of each driver; empty if its child finished and found no fault
/// @throws std::runtime_error with cause and cure if the helper program is missing or cannot be trusted
///         (docs/experiments/drivers-and-faults.md)
std::vector<std::string> try_in_children(const std::vector<Driver>& drivers, VendorFolders& folders);

}  // namespace oclspkt::ocl
