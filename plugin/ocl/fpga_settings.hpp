// SPDX-License-Identifier: BSD-2-Clause
#pragma once

#include <map>
#include <string>
#include <vector>

namespace oclspkt::fpga {

/// The job of oclspkt-fpga-build: from its command line, completed by a file of settings.
struct Order {
  enum class What { build, report, image };
  What what = What::build;
  bool help = false;
  std::string device = "fpga", out = ".", settings;
  /// Values of the file's lines KEY=VALUE; keys are those of kKeys.
  std::map<std::string, std::string> values;
  std::vector<std::string> kernels;
  std::string defines;  ///< -D options, joined by blanks

  /// The value of a key, or `otherwise` if there is none.
  std::string value(const std::string& key, const std::string& otherwise) const;
  /// @throws InvalidInput that names the key and the file if there is none
  std::string needed(const std::string& key) const;
};

inline constexpr const char* kKeys[] = {"compiler", "board", "flags",  "kernels",  "scalar",
                                        "m",        "form",  "device", "platform", "driver"};

/// Read a command line and the settings that it names.
/// @throws InvalidInput that names the error: an unknown option or key, with the legal ones
Order read_order(const std::vector<std::string>& arguments);

}  // namespace oclspkt::fpga
