// SPDX-License-Identifier: BSD-2-Clause
#pragma once

#include <chrono>

#include "registry.hpp"

namespace oclspkt::ocl {

/// Passes the time between two looks: short waits are spun through, longer ones sleep.
class Pause {
 public:
  void operator()();
  /// What was waited for has come: the next wait begins.
  void over() { waiting_ = false; }

 private:
  std::chrono::steady_clock::time_point since_;
  bool waiting_ = false;
};

/// Waits for commands of a device: run-times on the host without limit, for parts of a processor asleep; other devices
/// by polling against a limit.
class OCLSPKT_API Waiter {
 public:
  /// @param limit  seconds from now on
  Waiter(const OpenDevice& device, bool limited, double limit);

  /// Wait for a command and those before it.
  /// @throws DeviceError if it failed, or if the limit has passed; the device is then abandoned
  void wait(const cl::Event& event) const;

  /// Wait for all that a queue holds.
  /// @throws as wait(), cl::Error
  void drain(const cl::CommandQueue& queue) const;

  /// Look whether a command has ended. Its queue must have been flushed.
  /// @throws cl::Error if it failed; DeviceError if it has not and the limit has passed, as wait() does
  bool done(const cl::Event& event) const;

 private:
  using Clock = std::chrono::steady_clock;
  void poll(const cl::Event& event) const;

  const OpenDevice& device_;
  bool limited_;
  double limit_;
  Clock::time_point start_;
};

/// Seconds a finished command took on the device; 0 where the driver does not tell.
OCLSPKT_API double seconds(const cl::Event& event);

}  // namespace oclspkt::ocl
