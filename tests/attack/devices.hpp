// SPDX-License-Identifier: BSD-2-Clause
#pragma once

#include "device.hpp"
#include "trial.hpp"

namespace oclspkt::attack {

/// Every device that is not emulated, with the kernels of its type and with those for GPUs.
inline std::vector<Setting> every_device(MethodChoice method) {
  std::string why;
  DeviceModule* module = device_module(&why);
  if (module == nullptr) throw std::runtime_error("no OpenCL module: " + why);
  std::vector<Setting> all;
  for (const DeviceInfo& info : module->devices()) {
    if (info.emulated) continue;
    for (const char* variant : {"default", "gpu"}) all.push_back({std::to_string(info.index), variant, method});
  }
  return all;
}

/// The host, and every device.
inline std::vector<Setting> everywhere(MethodChoice method) {
  std::vector<Setting> all = every_device(method);
  all.insert(all.begin(), {"host", "default", method});
  return all;
}

}  // namespace oclspkt::attack
