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

/// Why a method is rejected, and by which lines.
struct Rejection {
  std::string why{};           ///< empty: none
  std::vector<Index> lines{};  ///< the lines that alone stand in the way; empty with a reason: all of them do
  std::optional<Plan> plan{};  ///< the plan that was judged, if one was made
  explicit operator bool() const { return !why.empty(); }
};

/// A plan whose truncation is covered by a certificate, or that truncates nothing.
struct Proposal {
  Plan plan;
  std::string why;
  double certificate = 0;
  std::optional<Rounding> rounding{};  ///< the bound on rounding, if it was computed
  bool above_tolerance = false;        ///< named by the user, taken without cover
  bool needs_trial = false;            ///< rounding is not bounded by dominance: the trial solve decides
  std::string why_wide{};              ///< under precision narrow, why stored factors are not narrow; empty: see plan
};

/// Everything the choice of a method depends on.
template <typename T>
struct Problem {
  const Options& options;
  const Bands<T>& bands;
  const Survey& survey;
  DeviceTraits traits;
  bool symmetric = false;                  ///< and its operator must be, too
  double rounding_limit = kRoundingLimit;  ///< Known::rounding_limit
  bool insist = false;                     ///< the user named the method, and no other way to carry it is left to try
  Method method = Method::pivot;           ///< for which a plan is wanted
};

}  // namespace oclspkt
