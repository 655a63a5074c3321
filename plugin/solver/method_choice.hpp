// SPDX-License-Identifier: BSD-2-Clause
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "line_group.hpp"
#include "oclspkt/report.hpp"
#include "schemes/proposal.hpp"

namespace oclspkt {

/// A method, and whether the host is to carry it although a device was chosen.
struct Attempt {
  Method method;
  bool on_host = false;
  bool leaves_idle = false;  ///< Problem::leaves_idle
  friend bool operator==(const Attempt&, const Attempt&) = default;
};

/// What is known before methods are tried.
struct Circumstances {
  bool on_host = false;      ///< no device was chosen
  bool end_to_end = true;    ///< lines are contiguous()
  bool few_applies = false;  ///< factors would hardly be used: methods that store none come first on devices
  bool halo_first = false;   ///< truncated-halo holds_at_once() for those, or the device has kernels for GPUs
  bool by_groups = false;    ///< it has
  bool many_cores = false;   ///< more than a sweep from both ends keeps busy
  bool factors = true;       ///< the device has a scheme for exact-factored and these lines
};

/// The methods to try, in order, for what the user asked.
std::vector<Attempt> methods_to_try(MethodChoice choice, const Circumstances& circumstances);

/// True if there is a scheme for a method, these lines and this processor.
template <typename T>
bool has_scheme(const Problem<T>& problem, Method method);

/// True if truncated-halo holds by what the survey found, so that its set-up costs next to nothing: with a short halo,
/// or with whole lines, which dominant rows let it solve without one.
template <typename T>
bool holds_at_once(const Problem<T>& problem);

/// Plan `method` and see whether it holds, short of the trial solve.
/// @param[out] rejection the numbers in a line, if the result is empty, and the lines that alone stand in the way
template <typename T>
std::optional<Proposal> propose(const Problem<T>& problem, Method method, Rejection& rejection);

/// Rows of halo with which lines side by side may be cut into segments on a device; -1 if they may not.
template <typename T>
Index segment_halo(const Options& options, const Survey& survey, bool symmetric);

/// Words a row of the method that is likely to be chosen on a device, before anything is known of the device.
template <typename T>
double likely_words(const Options& options, const Survey& survey, bool symmetric);

}  // namespace oclspkt
