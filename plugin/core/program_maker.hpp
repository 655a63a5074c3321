// SPDX-License-Identifier: BSD-2-Clause
#pragma once

#include <string>
#include <vector>

namespace oclspkt {

struct ProgramOrder {
  std::string kernel;
  bool is_double = false;
  std::string defines = {};  ///< -D options of the kernel, such as -D TASK_ROWS=32
};

/// The board for a program that another machine builds, as oclspkt-devices names it.
struct BoardName {
  std::string device, platform, driver;
};

/// Makes the program files that solvers load on devices without a compiler.
class ProgramMaker {
 public:
  virtual ~ProgramMaker() = default;
  /// Names of the module's kernels: all kernels, or the kernels for FPGAs alone.
  virtual std::vector<std::string> kernels(bool for_fpgas) const = 0;
  /// @throws DeviceError if there is no such kernel
  virtual std::string text(const std::string& kernel) const = 0;
  virtual std::string options(const ProgramOrder& order) const = 0;
  /// The name of the file for a board's program, without its ending.
  virtual std::string name(const ProgramOrder& order) const = 0;
  /// Build a program from its text on a device with a compiler, and write the program and a note of its purpose.
  /// @return the path of the program
  /// @throws DeviceError, BuildError; InvalidInput if a file cannot be written
  virtual std::string build(int device, const ProgramOrder& order, const std::string& folder) = 0;
  /// Write a note of the program's purpose beside a program file that another compiler made.
  /// @throws InvalidInput if the file cannot be read or the note not written
  virtual void describe(const std::string& file, const ProgramOrder& order, const BoardName& board) const = 0;
};

}  // namespace oclspkt
