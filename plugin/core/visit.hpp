// SPDX-License-Identifier: BSD-2-Clause
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "oclspkt/line_set.hpp"

namespace oclspkt {

template <typename T>
class DeviceSolver;

/// The solvers of a visit. They work on one device, with vectors of one length.
template <typename T>
struct VisitSteps {
  std::vector<DeviceSolver<T>*> solvers;  ///< the solver of each step, at least 2; consecutive solvers differ. They
                                          ///< must live, without a new set-up, until the last take()
  bool sum = false;            ///< true: every step solves for y, and x is the sum; false: every step solves for the
                               ///< result of the step before
  const T* between = nullptr;  ///< shape [extent]; multiplies each step's result before the next step; null: 1
};

/// Copies vectors of the host to a device once, for several solvers that work there one after the other.
template <typename T>
class Visit {
 public:
  virtual ~Visit() = default;
  /// Take a step, and wait for the device. After the last step, the first step follows again.
  /// @param y  the first step reads it; other steps ignore it
  /// @param x  the last step writes it; other steps ignore it
  /// @throws DeviceError of the step's solver; x is then undefined and y untouched
  virtual void take(std::size_t step, const T* y, T* x) = 0;
  /// Bytes of the visit, without the bytes of its solvers.
  virtual std::int64_t bytes() const = 0;
};

}  // namespace oclspkt
