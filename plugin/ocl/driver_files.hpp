// SPDX-License-Identifier: BSD-2-Clause
#pragma once

#include <string>
#include <vector>

namespace oclspkt::ocl {

/// Keeps the ICD loader away from drivers that take the process with them. It goes by the first call of OpenCL in the
/// process, so let one of these live around it. Without such a driver nothing is changed.
class DriverGuard {
 public:
  DriverGuard();
  ~DriverGuard();
  DriverGuard(const DriverGuard&) = delete;
  DriverGuard& operator=(const DriverGuard&) = delete;
  /// One line for each driver that is kept out.
  const std::vector<std::string>& problems() const { return problems_; }

 private:
  void redirect(const std::vector<std::string>& good);

  std::vector<std::string> problems_;
  std::string folder_;  ///< of ICD files that name the others; empty if all are good
  bool was_set_ = false;
  std::string before_;  ///< what the loader's variable was
};

/// One line for each driver that the ICD loader is told of and that does not work; the loader itself is silent there.
/// Call it after the loader has looked for platforms, with the guard still there.
std::vector<std::string> faulty_drivers();

}  // namespace oclspkt::ocl
