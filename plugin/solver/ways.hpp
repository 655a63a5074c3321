// SPDX-License-Identifier: BSD-2-Clause
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "device.hpp"
#include "oclspkt/report.hpp"
#include "processors.hpp"
#include "schemes/problem.hpp"
#include "schemes/scheme.hpp"

namespace oclspkt {

/// True if the method that the user named is stored factors, or a family that they belong to.
inline bool names_factored(MethodChoice choice) {
  return choice == MethodChoice::exact || choice == MethodChoice::exact_factored;
}

/// A scheme on a processor by a method.
struct Way {
  const Processor* processor;
  const Scheme* scheme;
  Method method;
  Plan plan;              ///< the least that it may come to, and once it was judged the plan that it came to
  std::string_view form;  ///< of the least
  double words = 0;       ///< stream_words(): by these ways of one processor are compared
  double apply = 0;       ///< seconds that are predicted
  double seconds = 0;     ///< the same with a share of the set-up: by these processors are compared
  bool remedy = false;    ///< for when nothing else holds
  bool singular = false;  ///< lines of it are, which pivoting found
  std::optional<Proposal> judged = {};  ///< what judge() said, as far as the bands are still the same
};

/// A way, whatever plan it comes to.
struct WayName {
  int device = -1;  ///< Processor::index
  std::string_view form;
  Method method = Method::pivot;
  friend bool operator==(const WayName&, const WayName&) = default;
};

/// What is known of a set-up before ways are judged.
template <typename T>
struct Outlook {
  const Options& options;
  const Bands<T>& bands;
  const Survey& survey;
  bool symmetric;  ///< the operator has to be
  double applies;  ///< that are expected before the next one
  double rounding_limit;
};

/// The bands as a processor is to solve them.
template <typename T>
Problem<T> problem_on(const Processor& processor, const Outlook<T>& outlook);

DeviceSettings device_settings(const Options& options);

/// All that may solve the lines by the method that the user asked for, in the order of processors and of the table.
/// @param host  the host, as a processor
template <typename T>
std::vector<Way> find_ways(const Processors& processors, const Processor& host, const Outlook<T>& outlook);

/// What the first scheme that a device has for the lines and the method objects to; empty if it has none, or all of
/// them are silent.
/// @pre find_ways() found no way on the device
template <typename T>
std::string why_no_way(const Processor& device, const Outlook<T>& outlook);

/// Write a plan's figures into a way.
template <typename T>
void weigh(Way& way, const Outlook<T>& outlook);

/// The way that takes the least time: on each processor by what it streams, and of processors the first that takes at
/// most a tenth more than the best, so that the noise of measurements does not decide; remedies after all others.
/// @pre ways are not empty
std::vector<Way>::iterator least(std::vector<Way>& ways);

/// Seconds of an apply on the host by stored factors, with its share of the set-up.
template <typename T>
double host_seconds(const Outlook<T>& outlook);

/// Let a scheme plan problem.method, and judge whether the plan holds, without the trial solve.
/// @pre scheme.takes(problem.method, problem)
/// @param[out] rejection if the result is empty, the deciding numbers in a text, and the lines that alone fail; none if
///                       the scheme has no plan for such lines
template <typename T>
std::optional<Proposal> judge(const Problem<T>& problem, const Scheme& scheme, Rejection& rejection);

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
  /// Of this solver and those before it.
  Counts& counts() { return counts_; }
  const Counts& counts() const { return counts_; }

 private:
  std::unique_ptr<DeviceSolver<T>> solver_;
  int device_ = -1;
  bool by_cuda_ = false;   ///< the device is driven by CUDA
  bool reusable_ = false;  ///< solver_ may be set up again for the same method and device
  Method method_{};
  std::string name_, platform_;  ///< of the processor
  Times finished_;               ///< of solvers that are gone
  Times trials_;                 ///< of set-ups
  Counts counts_;
};

}  // namespace oclspkt
