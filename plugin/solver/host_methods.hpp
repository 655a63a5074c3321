// SPDX-License-Identifier: BSD-2-Clause
#pragma once

#include "device.hpp"
#include "reference.hpp"

namespace oclspkt {

/// The method `pivot`: LAPACK's Gaussian elimination with partial pivoting behind the device interface.
template <typename T>
class PivotSolver final : public DeviceSolver<T> {
 public:
  void set_up(const Plan& plan, const Bands<T>& bands) override;
  void apply(const T* y, T* x) override;
  Times times() const override { return times_; }
  double rounding() const override { return reference_.rounding(); }
  std::int64_t bytes() const override { return reference_.bytes(); }
  const Reference<T>& reference() const { return reference_; }

 private:
  Reference<T> reference_;
  Times times_;
};

/// The solver of the host: `pivot`, or stored factors, which carry every other method.
template <typename T>
std::unique_ptr<DeviceSolver<T>> make_host_solver(Method method);

}  // namespace oclspkt
