// SPDX-License-Identifier: BSD-2-Clause
#pragma once

#include <gtest/gtest.h>

#include <stdexcept>
#include <string>
#include <vector>

#include "device.hpp"
#include "emulators.hpp"
#include "oclspkt/options.hpp"
#include "oclspkt/report.hpp"

namespace oclspkt::test {

/// True if nothing is truncated and nothing pivots; which of both methods it is depends on the cores of the device.
inline bool is_exact(const Report& report) {
  return report.method == Method::exact_twopass || report.method == Method::exact_factored;
}

/// The devices that stand in for others.
inline std::vector<DeviceInfo> emulated_devices() {
  std::vector<DeviceInfo> found;
  for (const DeviceInfo& device : device_module(nullptr)->devices()) {
    if (device.emulated) found.push_back(device);
  }
  return found;
}

/// Call f(options) with options that name each device in turn, the host last. Those that stand in for FPGAs run kernels
/// made for CPUs: those for FPGAs have tests of their own. On a busy machine the default time limit of ten seconds may
/// pass.
/// @throws std::runtime_error without the OpenCL module: the test must fail
template <typename F>
void with_every_device(const F& f) {
  std::string why;
  DeviceModule* module = device_module(&why);
  if (module == nullptr) throw std::runtime_error("no OpenCL module: " + why);
  Options options{.use = {.timeout = 300}, .on_device_failure = OnDeviceFailure::error};
  for (const DeviceInfo& info : module->devices()) {
    SCOPED_TRACE("device " + std::to_string(info.index) + ": " + info.name + " (" + info.platform + ")");
    options.devices = std::to_string(info.index);
    options.variant = info.emulated ? "cpu" : "default";
    f(options);
  }
  SCOPED_TRACE("host");
  options.devices = "host";
  options.variant = "default";
  f(options);
}

/// The device that options name by its index.
inline const DeviceInfo& device_of(const Options& options) {
  return device_module(nullptr)->devices().at(std::stoul(options.devices));
}

/// Call f(options) for each device but the host.
template <typename F>
void with_every_true_device(const F& f) {
  with_every_device([&](const Options& options) {
    if (options.devices != "host") f(options);
  });
}

/// Call f(options) for each device but the host that runs kernels of T made for GPUs, see emulators.hpp.
template <typename T, typename F>
void with_every_device_for_gpus(const char* variant, const F& f) {
  with_every_true_device([&](Options options) {
    options.variant = variant;
    if (runs_kernels_for_gpus(device_of(options))) f(options);
  });
}

/// Call f(options) for each device but the host, in place where it shares the host's memory, and copying.
template <typename F>
void with_every_transfer(const F& f) {
  with_every_true_device([&](Options options) {
    for (const Transfer transfer : {Transfer::automatic, Transfer::copy}) {
      if (transfer == Transfer::automatic && !device_of(options).host_unified) continue;  // copies in any case
      SCOPED_TRACE(std::string("transfer ") + name(transfer));
      options.use.transfer = transfer;
      f(options);
    }
  });
}

}  // namespace oclspkt::test
