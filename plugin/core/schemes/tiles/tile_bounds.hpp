// SPDX-License-Identifier: BSD-2-Clause
// Bounds on rounding, and the storage form, of several schemes by work-groups.
#pragma once

#include <algorithm>

#include "certificate.hpp"
#include "evidence.hpp"
#include "rounding.hpp"
#include "schemes/proposal.hpp"
#include "schemes/tiles/rounding_runs.hpp"
#include "schemes/tiles/tile_plans.hpp"

namespace oclspkt {

/// The bound of tiles of lines laid end to end: by what the survey finds of all rows, or else by the values.
/// @param by_limits     (const RatioLimits&) -> Rounding
/// @param by_values     () -> Rounding
template <typename ByLimits, typename ByValues>
Rounding bound_of_tiles(const Plan& plan, const Survey& survey, const ByLimits& by_limits, const ByValues& by_values) {
  constexpr double kEnough = 30;  // eps, below any limit that a caller sets for rows as dominant as that
  if (plan.n == 0) return {0};
  if (!survey.finite) return {kNothingKnown};
  const bool surveyed = survey.dominance >= kSurveyedDominance;
  const double by_dominance = surveyed ? rounding_by_dominance(survey.dominance) : kNothingKnown;
  if (by_dominance <= kEnough) return {by_dominance};
  const RatioLimits limits(survey);
  const bool limited = survey.dominance >= 1 && limits.shrink();
  const double by_ratios = limited ? by_limits(limits).eps : kNothingKnown;
  if (surveyed)
    return {std::min(by_dominance, by_ratios)};  // an unknown bound is infinite or NaN, and never the smaller one
  return by_ratios <= kRoundingLimit ? Rounding{by_ratios} : by_values();
}

/// Look at the values for the storage form that takes the fewest words, of bands or factors.
template <typename T>
void choose_form_by_groups(const Problem<T>& problem, Plan& plan) {
  const LineSet& lines = problem.bands.lines();
  if (problem.survey.shared && share_line(plan, lines.length(0), sizeof(T))) return;
  serve_if_symmetric(problem, plan);
}

/// Places of stored arrays. If lines share their factors, the arrays of one line serve all chunks.
inline StoredPlaces places_of_shared(const Plan& plan) {
  return {plan.form == Form::shared ? shared_tiles(plan).period : 0};
}

}  // namespace oclspkt
