// SPDX-License-Identifier: BSD-2-Clause
// Bounds on the rounding of lines laid end to end by work-groups, and the choice of their storage form.
#pragma once

#include <algorithm>

#include "certificate.hpp"
#include "rounding.hpp"
#include "schemes/proposal.hpp"
#include "schemes/tiles/tile_plans.hpp"

namespace oclspkt {

/// The certificate of runs of tiles. If runs are lines, nothing enters them from above. Between tiles, truncation
/// happens a tile away, or not at all.
template <typename T>
Certificate certify_runs(const Plan& plan, const BandsView<T>& bands) {
  const bool lines = runs_are_lines(plan);
  return certify_runs(
      {plan.n, plan.group_rows(), lines ? plan.group_rows() : plan.halo, !lines, !lines || plan.run_tiles > 2}, bands);
}

/// The bound on rounding of runs of tiles (kernels/gpu/tile_stored.cl, truncated-streamed), from the values of the
/// rows.
/// @cost 1 division, some 50 additions and multiplications a row, by all processors of this process
template <typename T>
Rounding bound_runs(const Plan& plan, const BandsView<T>& bands);

/// Limits that hold for all rows, in the notation of rounding.hpp: lower_share and upper_share for |a_i| / |b_i| and
/// |c_i| / |b_i|, down and up for |a_i p_i| and |c_i p_i|, where p_i = 1 / u_i.
struct RatioLimits {
  double lower_share, upper_share, down, up;
  explicit RatioLimits(const Survey& survey);
  /// True if rounding does not grow in either sweep.
  bool shrink() const { return down <= 1 && up <= 1; }
};
Rounding bound_runs(const Plan& plan, const RatioLimits& limits);

/// The bound on rounding of tiles, with halo or without, whose work-groups keep the factors of one line
/// (kernels/gpu/tile_shared.cl).
Rounding bound_kept(const Plan& plan, const RatioLimits& limits);

/// The bound on rounding of tiles whose interface systems are solved by cyclic reduction (kernels/gpu/tile_halo.cl),
/// from the values of the rows.
/// @cost 3 divisions, some 60 additions and multiplications a row, by all processors of this process
template <typename T>
Rounding bound_tiles(const Plan& plan, const BandsView<T>& bands);
Rounding bound_tiles(const Plan& plan, const RatioLimits& limits);

/// The bound on rounding of tiles that are reduced to their last rows (kernels/gpu/tile_reduce.cl), from the survey.
/// @pre all rows have dominance 1 at least, except that one rounding of the diagonal is forgiven
template <typename T>
Rounding bound_reduced(const Plan& plan, const Survey& survey);

/// The bound on rounding of tiles that are reduced to their last rows, from the values of the rows.
/// @cost 1 division, some 40 additions and multiplications a row, by all processors of this process
template <typename T>
Rounding bound_reduced(const Plan& plan, const BandsView<T>& bands);

/// The bound on rounding of tiles of lines laid end to end: from the survey if this bound is within kEnough, else from
/// the values of the rows.
/// @param by_limits     (const RatioLimits&) -> Rounding
/// @param by_values     () -> Rounding
template <typename ByLimits, typename ByValues>
Rounding bound_of_tiles(const Plan& plan, const Survey& survey, const ByLimits& by_limits, const ByValues& by_values) {
  constexpr double kEnough = 30;  // in eps; less than any limit that a caller sets for rows of this dominance
  if (plan.n == 0) return {0};
  if (!survey.finite) return {kNothingKnown};
  const bool surveyed = survey.dominance >= kSurveyedDominance;
  const double by_dominance = surveyed ? rounding_by_dominance(survey.dominance) : kNothingKnown;
  if (by_dominance <= kEnough) return {by_dominance};
  const RatioLimits limits(survey);
  const bool limited = survey.dominance >= 1 && limits.shrink();
  const double by_ratios = limited ? by_limits(limits).eps : kNothingKnown;
  // by_dominance comes first: std::min returns it if by_ratios is NaN or infinite.
  if (surveyed) return {std::min(by_dominance, by_ratios)};
  return by_ratios <= kRoundingLimit ? Rounding{by_ratios} : by_values();
}

/// Choose the storage form of bands or factors that takes the fewest words, by the values of the matrix.
template <typename T>
void choose_form_by_groups(const Problem<T>& problem, Plan& plan) {
  const LineSet& lines = problem.bands.lines();
  if (problem.survey.shared && share_line(plan, lines.length(0), problem.word)) return;
  serve_if_symmetric(problem, plan);
}

/// Places of the stored arrays. If lines share their factors, the arrays of one line serve all chunks.
inline StoredPlaces places_of_shared(const Plan& plan) {
  return {plan.form == Form::shared ? shared_tiles(plan).period : 0};
}

}  // namespace oclspkt
