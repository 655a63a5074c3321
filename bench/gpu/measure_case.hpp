// SPDX-License-Identifier: BSD-2-Clause
#pragma once

#include <functional>
#include <string>

#include "cases.hpp"
#include "device.hpp"
#include "report.hpp"

namespace oclspkt::bench::gpu {

/// Where cases are solved.
struct Place {
  DeviceModule& module;
  const DeviceInfo& device;
  std::string variant;    ///< of the kernels, see Options
  bool enqueued = false;  ///< see Settings
};

/// Solve a case by each of its methods: check the answer, then time streams and applies in turn. What fails is a record
/// with the error's text, and the others go on.
/// @param report called with each record as soon as it is made
void measure(const Case& c, const Place& place, const std::function<void(const DeviceRecord&)>& report);

/// The record of a case that was not begun.
/// @param kernels  Place::variant
DeviceRecord left_out(const Case& c, const std::string& kernels, const std::string& why);

}  // namespace oclspkt::bench::gpu
