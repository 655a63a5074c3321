// SPDX-License-Identifier: BSD-2-Clause
#pragma once

#include <string>
#include <vector>

namespace oclspkt::ocl {

/// Compiled programs in files, for run-times without a cache of their own. NVRTC compiles a program in 0.2 to 0.6 s;
/// Intel's run-times for CPUs and FPGA emulation take 0.4 to 1.4 s.
///
/// OCLSPKT_KERNEL_CACHE names the folder; the default is oclspkt/kernels in the user's cache (core/user_files.hpp).
/// With OCLSPKT_KERNEL_CACHE=none nothing is stored. Whoever can write to the folder decides what kernels do. Therefore
/// a folder or file is not used if it belongs to another user, or if others may write it. Files are replaced
/// atomically, so any number of threads and programs may share a folder. If a file or the folder is faulty, the program
/// is compiled. The functions throw only std::bad_alloc.
class ProgramCache {
 public:
  /// Reads the environment at this moment.
  ProgramCache();

  /// Returns the name of a program's file.
  /// @param parts  everything that the code depends on, always in the same order
  static std::string key(const std::vector<std::string>& parts);

  /// @return the program's code; empty if it has no file, or if the file is damaged or belongs to another program
  std::string find(const std::string& key) const;

  /// Store code. Once in a process, the oldest files are removed if all files together exceed kMostBytes.
  void keep(const std::string& key, const std::string& code) const;

  static constexpr long long kMostBytes = 128 << 20;

 private:
  std::string folder_;  ///< empty: nothing is stored
};

}  // namespace oclspkt::ocl
