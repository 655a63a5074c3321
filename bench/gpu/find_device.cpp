// SPDX-License-Identifier: BSD-2-Clause
#include "find_device.hpp"

#include "oclspkt/error.hpp"
#include "selection.hpp"

namespace oclspkt::bench::gpu {
namespace {

/// @throws DeviceError
DeviceModule& load(DeviceModule* (*module_of)(std::string*)) {
  std::string why;
  DeviceModule* const module = module_of(&why);
  if (module == nullptr) throw DeviceError(why);
  return *module;
}

}  // namespace

const DeviceInfo* find_device(const std::string& words) {
  if (words == "host") return nullptr;
  DeviceModule& module = load(device_module);
  const Selection selection = select_devices(words, module.devices(), module.problems());
  if (selection.devices.empty())
    throw InvalidInput("--device " + words +
                       " names no OpenCL device, nor the host; oclspkt-devices lists what there is");
  return &module.devices()[static_cast<std::size_t>(selection.devices.front())];
}

Driven find_driven(const std::string& words) {
  if (words == "cuda") {
    DeviceModule& module = load(cuda_module);
    if (!module.devices().empty()) return {module, module.devices().front()};
    throw InvalidInput("--device cuda: " +
                       (module.problems().empty() ? "CUDA has no driver or no card here" : module.problems().front()));
  }
  const DeviceInfo* const device = find_device(words);
  if (device == nullptr) throw InvalidInput("--device host: name a device of OpenCL, or cuda");
  return {load(device_module), *device};
}

}  // namespace oclspkt::bench::gpu
