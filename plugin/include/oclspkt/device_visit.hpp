// SPDX-License-Identifier: BSD-2-Clause
#pragma once

#include <cstdint>
#include <memory>
#include <vector>

#include "oclspkt/cut_solver.hpp"
#include "oclspkt/export.hpp"
#include "oclspkt/line_set.hpp"

namespace oclspkt {

template <typename T>
class Visit;

/// Applies several solvers of the same vectors as one operator. If one device with its own memory solves all lines of
/// all solvers, host vectors go to it once and come back once. Otherwise call each solver by itself.
/// @tparam T float or double
template <typename T>
class OCLSPKT_API DeviceVisit {
 public:
  /// The solvers in the order in which they are applied. They must live, and not move, until the next set_up() or
  /// forget().
  struct Order {
    std::vector<Solver<T>*> solvers;  ///< at least 2; a solver may occur several times, but not twice in a row
    bool sum = false;                 ///< x = sum of A_k^-1 y; else x = A_n^-1 D ... D A_2^-1 D A_1^-1 y
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

  /// True if apply() may be called: the last set_up() found that one transfer suffices, and since then no solver was
  /// set up or lost its device.
  bool ready() const;

  /// Apply the operator to several vectors. The results equal those of the solvers called one after the other, bit for
  /// bit.
  /// @param[in]  y shape [columns][extent], column k at y + k y_stride
  /// @param[out] x shape [columns][extent], column k at x + k x_stride; must not overlap y
  /// @return false if not ready(), or if the device failed; x is then undefined, and the solver concerned has chosen
  ///         another processor, as its apply() would have
  /// @throws as Solver::apply() if a device fails
  bool apply(const T* y, Index y_stride, T* x, Index x_stride, Index columns);

  /// Bytes held in addition to those of the solvers.
  std::int64_t bytes() const;

 private:
  Order order_;
  std::vector<std::int64_t> uploads_;  ///< shape [solvers]; Counts::uploads of each when the visit was made
  std::unique_ptr<Visit<T>> visit_;    ///< null if one transfer does not suffice
};

extern template class DeviceVisit<float>;
extern template class DeviceVisit<double>;

}  // namespace oclspkt
