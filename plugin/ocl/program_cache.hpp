// SPDX-License-Identifier: BSD-2-Clause
#pragma once

#include <string>
#include <vector>

namespace oclspkt::ocl {

/// Compiled programs, kept in files between runs for run-times that keep none themselves: NVRTC takes 0.2 to 0.6 s for
/// each, Intel's for CPUs and its FPGA emulator 0.4 to 1.4 s.
///
/// The folder is the one that OCLSPKT_KERNEL_CACHE names, else oclspkt/kernels in the user's cache
/// (core/user_files.hpp); OCLSPKT_KERNEL_CACHE=none keeps nothing. Who can write a file there decides what kernels do,
/// so a folder or file that does not belong to the user, or that others may write, is not used. Files are replaced at
/// once, so any number of threads and programs may use one folder. Whatever is wrong with a file or the folder, a
/// program is compiled as if there were none; nothing here throws but std::bad_alloc.
class ProgramCache {
 public:
  /// By the environment as it is now.
  ProgramCache();

  /// The name of a program.
  /// @param parts  all that its code depends on, in an order of their own
  static std::string key(const std::vector<std::string>& parts);

  /// @return its code; empty if there is none, or its file is damaged or another's
  std::string find(const std::string& key) const;

  /// Keep code. Once in a process the oldest files go where all together are beyond kMostBytes.
  void keep(const std::string& key, const std::string& code) const;

  static constexpr long long kMostBytes = 128 << 20;

 private:
  std::string folder_;  ///< empty: nothing is kept
};

}  // namespace oclspkt::ocl
