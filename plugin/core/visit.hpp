// SPDX-License-Identifier: BSD-2-Clause
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "oclspkt/line_set.hpp"

namespace oclspkt {

template <typename T>
class DeviceSolver;

/// The solvers of a visit, all of one device and for vectors of one length.
template <typename T>
struct VisitSteps {
  std::vector<DeviceSolver<T>*> solvers;  ///< of each step, no two in a row the same; at least 2. Each lives, and keeps
                                          ///< its set-up, until the last take()
  bool sum = false;            ///< every step solves for y, and x is the sum; else each solves for the previous result
  const T* between = nullptr;  ///< shape [extent]; multiplies the result of a step before the next one; null: 1
};

/// Vectors of the host visit a device once, while several solvers follow each other there.
template <typename T>
class Visit {
 public:
  virtual ~Visit() = default;
  /// Take a step, the first one after the last one; waits for the device.
  /// @param y  read by the first step; else ignored
  /// @param x  written by the last step; else ignored
  /// @throws DeviceError of the step's solver; x is then undefined and y untouched
  virtual void take(std::size_t step, const T* y, T* x) = 0;
  /// Bytes held beside those of the solvers.
  virtual std::int64_t bytes() const = 0;
};

}  // namespace oclspkt
