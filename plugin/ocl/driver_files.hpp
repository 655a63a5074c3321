// SPDX-License-Identifier: BSD-2-Clause
#pragma once

#include <optional>
#include <string>
#include <utility>
#include <vector>

namespace oclspkt::ocl {

/// The variable that points the ICD loader to its drivers; both loaders know it.
inline constexpr const char* kVendorVariable = "OCL_ICD_VENDORS";
/// Other variables that name drivers, each for some loader.
inline constexpr const char* kOtherVendorVariables[] = {"OPENCL_VENDOR_PATH", "OCL_ICD_FILENAMES"};

/// A driver that the ICD loader would load.
struct Driver {
  std::string library;  ///< as the loader would hand it to dlopen(); empty if its file cannot be read or is empty
  std::string source;   ///< the ICD file or the variable that names it
};

/// All drivers that the ICD loader would load, in its order.
std::vector<Driver> named_drivers();

/// A temporary folder of folders of ICD files, removed by the destructor.
class VendorFolders {
 public:
  /// @throws std::runtime_error with cause and cure if the folder cannot be made
  VendorFolders();
  ~VendorFolders();
  VendorFolders(const VendorFolders&) = delete;
  VendorFolders& operator=(const VendorFolders&) = delete;
  /// Make one folder that names these drivers, in this order. @return its path
  /// @throws std::runtime_error with cause and cure if it cannot be written
  std::string add(const std::vector<std::string>& libraries);

 private:
  const std::string& note(std::string path);

  std::vector<std::string> paths_;  ///< the folder and all its contents, in the order of creation
};

/// While it lives, the ICD loader finds drivers in one folder only, in this process and its children.
class Redirection {
 public:
  explicit Redirection(const std::string& folder);
  ~Redirection();
  Redirection(const Redirection&) = delete;
  Redirection& operator=(const Redirection&) = delete;

 private:
  std::vector<std::pair<const char*, std::optional<std::string>>> before_;  ///< variables, and their former values
};

}  // namespace oclspkt::ocl
