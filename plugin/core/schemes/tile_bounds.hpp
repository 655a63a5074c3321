// SPDX-License-Identifier: BSD-2-Clause
// What bounds on rounding of several schemes by work-groups share.
#pragma once

#include "certificate.hpp"
#include "evidence.hpp"
#include "rounding.hpp"
#include "rounding_runs.hpp"

namespace oclspkt {

/// The bound of tiles of lines laid end to end: by what the survey finds of all rows, or else by the values.
/// @param by_limits     (const RatioLimits&) -> Rounding
/// @param by_values     () -> Rounding
template <typename ByLimits, typename ByValues>
Rounding bound_of_tiles(const Plan& plan, const Survey& survey, const ByLimits& by_limits, const ByValues& by_values) {
  if (plan.n == 0) return {0};
  if (!survey.finite) return {kNothingKnown};
  if (survey.dominance >= kSurveyedDominance) return {rounding_by_dominance(survey.dominance)};
  const RatioLimits limits(survey);
  if (survey.dominance >= 1 && limits.shrink()) {
    if (const Rounding rounding = by_limits(limits); rounding.eps <= kRoundingLimit) return rounding;
  }
  return by_values();
}

}  // namespace oclspkt
