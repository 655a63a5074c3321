// SPDX-License-Identifier: BSD-2-Clause
#include "find_device.hpp"

#include "oclspkt/error.hpp"
#include "selection.hpp"

namespace oclspkt::bench::gpu {

const DeviceInfo* find_device(const std::string& words) {
  if (words == "host") return nullptr;
  std::string why;
  DeviceModule* module = device_module(&why);
  if (module == nullptr) throw DeviceError(why);
  const Selection selection = select_devices(words, module->devices(), module->problems());
  if (selection.devices.empty()) throw InvalidInput("--device " + words + " names no OpenCL device, nor the host");
  return &module->devices()[static_cast<std::size_t>(selection.devices.front())];
}

}  // namespace oclspkt::bench::gpu
