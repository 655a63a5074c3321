// SPDX-License-Identifier: BSD-2-Clause
// Helpers of schemes that propose plans of truncated-streamed.
#pragma once

#include <cmath>
#include <optional>
#include <string>
#include <utility>

#include "schemes/proposal.hpp"

namespace oclspkt {

/// Passes of the host for stored factors that are truncated `reach` rows away: few if the survey covers them, none
/// where one line's serve all, and many if certificate and bounds look at the values.
inline double passes_of_stored(const Plan& plan, const Survey& survey, Index reach, double by_survey,
                               double by_values) {
  constexpr double kSmallest = 1e-16;
  const double d = survey.decay();
  const bool shared = plan.form == Form::shared;
  if (d > 1 && bound_stored(d, reach) <= kSmallest) return shared ? 0 : by_survey;
  return shared ? by_values / 2 : by_values;
}

/// A covered plan; trial solves judge it if the interface systems could multiply rounding by more than is trusted
/// unseen.
inline Proposal covered_with_growth(const Plan& plan, double bound, double growth, double tol, const Survey& survey) {
  Proposal proposal = covered(plan, bound, tol, survey);
  proposal.needs_trial = proposal.needs_trial || growth > kGrowthLimit;
  return proposal;
}

/// Why the streamed form does not hold. @param limit  of the growth
inline std::string streamed_refusal(const Certificate& c, double tol, double limit = kGrowthLimit) {
  return c.bound <= tol ? format("solving the interface systems amplifies rounding errors %.1e times (limit %.0f)",
                                 c.growth, limit)
                        : format("certificate %.1e > %.1e (", c.bound, tol) + where(c) + ")";
}

/// A streamed plan that does not hold, for a user who named the method.
template <typename T>
std::optional<Proposal> insist_on_streamed(const Problem<T>& problem, const Plan& plan, const Certificate& certificate,
                                           double tol, const Rejection& rejection) {
  if (!problem.insist || !std::isfinite(certificate.bound)) return std::nullopt;
  Proposal proposal = uncovered(plan, certificate, tol);
  if (certificate.bound <= tol) proposal.why = "used because its method is named; " + rejection.why;
  return proposal;
}

/// Let a plan have narrow factors if the user allows it, or say why not.
/// @param narrow  (Plan&) -> bool: makes them narrow if they can be
template <typename T, typename Narrow>
Proposal as_narrow_as_allowed(const Problem<T>& problem, Proposal proposal, const Narrow& narrow) {
  if (!narrows<T>(problem.options)) return proposal;
  proposal.why_wide = why_factors_stay_wide(proposal.plan, problem.survey);
  if (proposal.why_wide.empty() && !narrow(proposal.plan)) {
    proposal.why_wide = "the tiles do not divide into vectors of floats";
  }
  return proposal;
}

}  // namespace oclspkt
