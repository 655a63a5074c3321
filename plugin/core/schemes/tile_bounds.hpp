// SPDX-License-Identifier: BSD-2-Clause
// What bounds on rounding of several schemes by work-groups share.
#pragma once

#include "certificate.hpp"
#include "evidence.hpp"
#include "rounding.hpp"
#include "rounding_runs.hpp"

namespace oclspkt {

/// The bound of tiles of lines laid end to end: by what the survey finds of all rows, or else by the values.
/// @param by_dominance  numbers settle once, so that row dominance bounds them
/// @param by_limits     (const RatioLimits&) -> Rounding
/// @param by_values     () -> Rounding
template <typename ByLimits, typename ByValues>
Rounding bound_of_tiles(const Plan& plan, const Survey& survey, bool by_dominance, const ByLimits& by_limits,
                        const ByValues& by_values) {
  if (plan.n == 0) return {0};
  if (!survey.finite) return {kNothingKnown};
  if (by_dominance && survey.dominance >= kSurveyedDominance) return {rounding_by_dominance(survey.dominance)};
  const RatioLimits limits(survey);
  if (survey.dominance >= 1 && limits.shrink()) {
    if (const Rounding rounding = by_limits(limits); rounding.eps <= kRoundingLimit) return rounding;
  }
  return by_values();
}

/// Of tiles that are condensed to their first rows, which are known once.
template <typename T>
Rounding bound_condensed(const Plan& plan, const BandsView<T>& bands, const Survey& survey) {
  return bound_of_tiles(
      plan, survey, false, [&](const RatioLimits& limits) { return bound_folds(plan, limits); },
      [&] { return bound_folds(plan, bands); });
}

}  // namespace oclspkt
