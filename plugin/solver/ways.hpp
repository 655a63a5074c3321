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

/// True if the method that the user named is exact_factored, or the family exact.
inline bool names_factored(MethodChoice choice) {
  return choice == MethodChoice::exact || choice == MethodChoice::exact_factored;
}

/// A way to solve the lines: a scheme with a method on a processor.
struct Way {
  const Processor* processor;
  const Scheme* scheme;
  Method method;
  Plan plan;              ///< cheapest possible plan; after the way is judged, the actual plan
  std::string_view form;  ///< form of the cheapest possible plan
  double words = 0;       ///< stream_words(), to compare ways of one processor
  double apply = 0;       ///< predicted seconds of an apply
  double seconds = 0;     ///< predicted seconds of an apply and its share of the set-up, to compare processors
  bool remedy = false;    ///< tried only after all other ways have failed
  bool singular = false;  ///< pivoting found singular lines
  std::optional<Proposal> judged = {};  ///< result of judge(), if the bands have not changed since
};

/// The name of a way. It does not depend on the way's final plan.
struct WayName {
  int device = -1;  ///< Processor::index
  std::string_view form;
  Method method = Method::pivot;
  friend bool operator==(const WayName&, const WayName&) = default;
};

/// The facts of a set-up from which ways are found and judged.
/// @tparam T  a real scalar, also if the numbers of the system are complex, see System::judged()
template <typename T>
struct Outlook {
  const Options& options;
  const Bands<T>& bands;
  const Survey& survey;
  bool symmetric;  ///< the operator has to be symmetric
  double applies;  ///< expected number of applies until the next set-up
  double rounding_limit;
  int word = sizeof(T);  ///< bytes of a number of the system

  bool is_complex() const { return word > static_cast<int>(sizeof(T)); }
};

template <typename T>
Problem<T> problem_on(const Processor& processor, const Outlook<T>& outlook);

DeviceSettings device_settings(const Options& options);

/// All ways to solve the lines by the method that the user asked for, in the order of processors, methods and schemes.
/// @param host  the host, as a processor
template <typename T>
std::vector<Way> find_ways(const Processors& processors, const Processor& host, const Outlook<T>& outlook);

/// The first reason why the device's schemes do not solve the lines; empty if no scheme gives a reason.
/// @pre find_ways() found no way on the device
template <typename T>
std::string why_no_way(const Processor& device, const Outlook<T>& outlook);

/// Update the predicted figures of a way from its plan.
template <typename T>
void weigh(Way& way, const Outlook<T>& outlook);

/// The way that takes the least time. The candidate of each processor is its way with the fewest words. The first
/// candidate within 10 % of the fastest wins, so that the noise of measurements does not decide. Remedies come last.
/// @pre ways are not empty
std::vector<Way>::iterator least(std::vector<Way>& ways);

/// Among the ways of a processor without remedies, the way that streams the fewest words; the end if there is none.
std::vector<Way>::iterator least_of(std::vector<Way>& ways, const Processor* processor);

/// Seconds of an apply on the host with stored factors, plus its share of the set-up.
template <typename T>
double host_seconds(const Outlook<T>& outlook);

/// Let a scheme plan problem.method, and judge whether the plan holds, without the trial solve.
/// @pre scheme.takes(problem.method, problem)
/// @param[out] rejection set if the result is empty: a text with the deciding numbers, and the lines if only some fail;
///                       it stays empty if the scheme has no plan for such lines
template <typename T>
std::optional<Proposal> judge(const Problem<T>& problem, const Scheme& scheme, Rejection& rejection);

/// The solver of the host: by pivoting for method `pivot`, by stored factors for all other methods.
template <typename T>
std::unique_ptr<DeviceSolver<T>> make_host_solver(Method method);

/// The chosen solver, its device, and the times of this solver and of earlier solvers.
template <typename T>
class Chosen {
 public:
  explicit operator bool() const { return solver_ != nullptr; }
  DeviceSolver<T>* get() const { return solver_.get(); }
  DeviceSolver<T>* operator->() const { return solver_.get(); }
  int device() const { return device_; }  ///< -1: the host
  bool by_cuda() const { return by_cuda_; }

  /// Make the solver of a way, or reuse the present solver. The caller must set it up.
  /// @throws DeviceError
  void take(const Way& way, const Options& options);
  /// Let the next take() make a new solver, because a device solver keeps the settings that it was made with.
  void renew() { reusable_ = false; }
  /// Delete the solver, but keep its times.
  void retire();
  /// Delete the solver, because several processors solve from now on; keep its times.
  void give_way();

  /// Times of the user's applies, without trial solves.
  Times times() const { return (solver_ ? finished_ + solver_->times() : finished_) - trials_; }
  /// Exclude the times of the present solver since `start` from times(), because it solved trials.
  void leave_out_since(const Times& start) { trials_ = trials_ + (solver_->times() - start); }
  std::int64_t bytes() const { return solver_ ? solver_->bytes() : 0; }
  /// Counts for this solver and earlier solvers.
  Counts& counts() { return counts_; }
  const Counts& counts() const { return counts_; }

 private:
  std::unique_ptr<DeviceSolver<T>> solver_;
  int device_ = -1;
  bool by_cuda_ = false;   ///< the device is driven by CUDA
  bool reusable_ = false;  ///< solver_ may be set up again for the same method and device
  Method method_{};
  std::string name_, platform_;
  Times finished_;  ///< times of deleted solvers
  Times trials_;    ///< times of trial solves during set-ups
  Counts counts_;
};

}  // namespace oclspkt
