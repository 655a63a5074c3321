// SPDX-License-Identifier: BSD-2-Clause
#pragma once

#include <chrono>

#include "registry.hpp"

namespace oclspkt::ocl {

/// Pauses between two looks at a command. A short wait spins; a longer wait sleeps.
class Pause {
 public:
  void operator()();
  /// End a wait. The next wait spins again.
  void over() { waiting_ = false; }

 private:
  std::chrono::steady_clock::time_point since_;
  bool waiting_ = false;
};

/// Waits for commands of a device. With a time limit, a wait polls. Without a limit (run-times of the host), the driver
/// waits; on a part of a processor, the thread sleeps.
class OCLSPKT_API Waiter {
 public:
  /// @param limit  seconds from now on
  Waiter(const OpenDevice& device, bool limited, double limit)
      : device_(device), limited_(limited), limit_(limit), start_(Clock::now()) {}

  /// Wait for a command and all commands before it.
  /// @throws DeviceError if the command failed, or if the time limit has passed, which abandons the device
  void wait(const cl::Event& event) const;

  /// Wait for all commands of a queue.
  /// @throws the errors of wait(), cl::Error
  void drain(const cl::CommandQueue& queue) const;

  /// True if a command has ended. Its queue must have been flushed.
  /// @throws cl::Error if the command failed; DeviceError, as wait() does, if it has not ended within the time limit
  bool done(const cl::Event& event) const;

 private:
  using Clock = std::chrono::steady_clock;
  const OpenDevice& device_;
  bool limited_;
  double limit_;
  Clock::time_point start_;
};

/// Returns the seconds that a finished command took on the device; 0 if the driver reports no times.
OCLSPKT_API double seconds(const cl::Event& event);

}  // namespace oclspkt::ocl
