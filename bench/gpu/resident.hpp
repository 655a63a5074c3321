// SPDX-License-Identifier: BSD-2-Clause
#pragma once

#include <cstddef>
#include <memory>

#include "measure_case.hpp"
#include "oclspkt/solver.hpp"

namespace oclspkt::bench::gpu {

/// A right-hand side and a solution in memory of the device that a solver works on.
class Resident {
 public:
  virtual ~Resident() = default;
  virtual void write(const void* y) = 0;
  virtual void read(void* x) = 0;
  /// Apply once and wait. @return seconds of the kernels by the device's clock; in a caller's queue of OpenCL, which
  ///         has none, of the apply by the host's
  virtual double apply() = 0;
  /// Enqueue so many applies into the caller's queue and wait once. @return seconds of each, by the host's clock; NaN
  /// if there is no such queue
  virtual double batch(int count) = 0;
  /// Apply again and again, and count the times that x has other bits than `first`.
  virtual int count_others(const void* first, int times) = 0;
};

/// What has to be there before a solver is set up on a device.
class Setting {
 public:
  virtual ~Setting() = default;
  /// What Solver::set_up() is told.
  virtual Known known() const { return {}; }
  virtual std::unique_ptr<Resident> resident(Solver<float>& solver, std::size_t bytes) = 0;
  virtual std::unique_ptr<Resident> resident(Solver<double>& solver, std::size_t bytes) = 0;
};

/// Buffers of OpenCL, or memory of CUDA in the card's primary context, whichever drives the device. With
/// Place::enqueued, and by CUDA always, vectors and queue are the caller's.
/// @throws DeviceError
std::unique_ptr<Setting> make_setting(const Place& place);

}  // namespace oclspkt::bench::gpu
