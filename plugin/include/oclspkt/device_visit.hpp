// SPDX-License-Identifier: BSD-2-Clause
#pragma once

#include <complex>
#include <cstdint>
#include <memory>
#include <vector>

#include "oclspkt/cut_solver.hpp"
#include "oclspkt/export.hpp"
#include "oclspkt/line_set.hpp"

namespace oclspkt {

template <typename T>
class Visit;

/// Applies several solvers to the same vectors as one operator. This needs one device with its own memory that solves
/// all lines of all solvers. Host vectors then travel to the device once and back once.
/// @tparam T float, double, std::complex<float> or std::complex<double>
template <typename T>
class OCLSPKT_API DeviceVisit {
 public:
  /// The solvers in the order of application; their matrices are A_1 to A_n. They must live, and not move, until the
  /// next set_up() or forget().
  struct Order {
    std::vector<Solver<T>*> solvers;  ///< at least 2; neighbouring entries must differ
    bool sum = false;                 ///< true: x = sum of A_k^-1 y; false: x = A_n^-1 D ... D A_2^-1 D A_1^-1 y
    const T* between = nullptr;       ///< the diagonal of D, shape [extent], read by set_up() alone; null: D = 1
  };

  DeviceVisit();
  ~DeviceVisit();
  DeviceVisit(DeviceVisit&&) noexcept;
  DeviceVisit& operator=(DeviceVisit&&) noexcept;

  /// Test whether one transfer to the device and back suffices, see ready(). Call this after each set_up() of a solver.
  /// @throws DeviceError only under OnDeviceFailure::error
  void set_up(Order order);
  void forget();

  /// True if apply() may be called. The last set_up() must have found that one transfer suffices. A later set-up of a
  /// solver, or the loss of its device, makes the result false.
  bool ready() const;

  /// Apply the operator to several vectors. The results have the same bits as calls of the solvers one by one.
  /// @param[in]  y shape [columns][extent], column k at y + k y_stride
  /// @param[out] x shape [columns][extent], column k at x + k x_stride; must not overlap y
  /// @return false if not ready(), or if the device failed. x is then undefined. A solver whose device failed has
  ///         already chosen another processor
  /// @throws the errors of Solver::apply() for a failed device
  bool apply(const T* y, Index y_stride, T* x, Index x_stride, Index columns);

  /// Bytes that this object holds in addition to the solvers.
  std::int64_t bytes() const;

 private:
  Order order_;
  std::vector<std::int64_t> uploads_;  ///< shape [solvers]; Counts::uploads of each solver at the last set_up()
  std::unique_ptr<Visit<T>> visit_;    ///< null if one transfer does not suffice
};

extern template class DeviceVisit<float>;
extern template class DeviceVisit<double>;
extern template class DeviceVisit<std::complex<float>>;
extern template class DeviceVisit<std::complex<double>>;

}  // namespace oclspkt
