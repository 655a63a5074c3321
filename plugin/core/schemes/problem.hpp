// SPDX-License-Identifier: BSD-2-Clause
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "oclspkt/bands.hpp"
#include "oclspkt/options.hpp"
#include "plan.hpp"
#include "rounding.hpp"
#include "survey.hpp"

namespace oclspkt {

/// Why a method is rejected, and which lines cause it.
struct Rejection {
  std::string why{};           ///< the reason; empty: no rejection
  std::vector<Index> lines{};  ///< the lines that cause the rejection; if empty and `why` is set: all lines
  std::optional<Plan> plan{};  ///< the judged plan; none if no plan was made
  explicit operator bool() const { return !why.empty(); }
};

/// A proposed plan. Unless above_tolerance is set, it truncates nothing, or a certificate bounds its truncation.
struct Proposal {
  Plan plan;
  std::string why;
  double certificate = 0;
  std::optional<Rounding> rounding{};
  bool above_tolerance = false;  ///< no certificate covers the plan, but the user named the method
  bool needs_trial = false;      ///< dominance does not bound the rounding, so the trial solve decides
  std::string why_wide{};        ///< why stored factors stay wide under precision narrow; else empty
};

/// Everything on which the choice of a method depends.
/// @tparam T  a real scalar, also if the numbers of the system are complex, see System::judged()
template <typename T>
struct Problem {
  const Options& options;
  const Bands<T>& bands;
  const Survey& survey;
  DeviceTraits traits;
  bool symmetric = false;                  ///< the matrix is symmetric, and its operator must be, too
  double rounding_limit = kRoundingLimit;  ///< the largest rounding bound that the caller accepts, see Known
  bool insist = false;                     ///< the user named the method, and there is no other scheme to try
  Method method = Method::pivot;
  int word = sizeof(T);  ///< bytes of a number of the system

  bool is_complex() const { return word > static_cast<int>(sizeof(T)); }
  /// oclspkt::narrows() for the numbers of the system.
  bool narrows() const { return options.precision == Precision::narrow && !is_complex() && sizeof(T) > sizeof(float); }
};

}  // namespace oclspkt
