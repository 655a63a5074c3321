// SPDX-License-Identifier: BSD-2-Clause
#pragma once

#include <memory>
#include <string>

#include "device.hpp"
#include "ways.hpp"

namespace oclspkt {

/// The solver of the host: `pivot`, or stored factors, which carry every other method.
template <typename T>
std::unique_ptr<DeviceSolver<T>> make_host_solver(Method method);

/// The solver that a choice has come to, where it works, and how long it and those before it took.
template <typename T>
class Chosen {
 public:
  explicit operator bool() const { return solver_ != nullptr; }
  DeviceSolver<T>* get() const { return solver_.get(); }
  DeviceSolver<T>* operator->() const { return solver_.get(); }
  int device() const { return device_; }  ///< -1: the host
  bool by_cuda() const { return by_cuda_; }

  /// Make the solver of a way, or reuse the present one; it is to be set up.
  /// @throws DeviceError
  void take(const Way& way, const Options& options);
  /// The next one is made anew: a device solver keeps the settings that it was made with.
  void renew() { reusable_ = false; }
  /// Give the solver back, but for its times.
  void retire();
  /// The same, and several processors solve from now on.
  void give_way();

  /// Seconds of applies that the user asked for.
  Times times() const { return (solver_ ? finished_ + solver_->times() : finished_) - trials_; }
  /// Seconds that the present solver took since `start` were for trials.
  void leave_out_since(const Times& start) { trials_ = trials_ + (solver_->times() - start); }
  std::int64_t bytes() const { return solver_ ? solver_->bytes() : 0; }

 private:
  std::unique_ptr<DeviceSolver<T>> solver_;
  int device_ = -1;
  bool by_cuda_ = false;   ///< the device is driven by CUDA
  bool reusable_ = false;  ///< solver_ may be set up again for the same method and device
  Method method_{};
  std::string name_, platform_;  ///< of the processor
  Times finished_;               ///< of solvers that are gone
  Times trials_;                 ///< of set-ups
};

extern template class Chosen<float>;
extern template class Chosen<double>;

}  // namespace oclspkt
