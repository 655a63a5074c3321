// SPDX-License-Identifier: BSD-2-Clause
#include <algorithm>
#include <cmath>
#include <limits>

#include "evidence.hpp"
#include "rounding_joints.hpp"

namespace oclspkt {
namespace {

constexpr double kUnbounded = std::numeric_limits<double>::infinity();

/// Rows that are swept whole. Below dominance 1 stored factors tell their growth when they are made.
Rounding whole_lines() { return {rounding_by_growth(kDominantGrowth)}; }

/// Tiles that are walked: a partition's first unknown is what the rows below it take off in another order than that of
/// the substitution, so that it rounds twice in each of them; what it counts for shrinks with |c p|.
double walked(const Survey& survey, Index m) {
  const double d = survey.decay(), upper = survey.upper_share / (1 + survey.upper_share);
  if (!(survey.dominance >= 1)) return kUnbounded;
  const double rows = d > 1 ? std::min(static_cast<double>(m), d / (d - 1)) : static_cast<double>(m);
  return 10 + 3 * upper * rows;
}

/// Partitions with halos that are swept apart: an unknown at a joint is known twice. Where rows are alike, with
/// |c p| and |a / u| of at most r, pivots err by 3 / (1 - r^2), what is swept down in all by 1 / (1 - r) times what a
/// row adds, and so do unknowns on the way back; in units of eps / 2, relative to max |x|.
double apart(const Survey& survey) {
  const double by_dominance = rounding_by_dominance(survey.dominance), d = survey.decay();
  if (!shrinks(survey) || !(d > 1)) return by_dominance;
  const double r = 1 / d, all = 1 / (1 - r), pivot = 3 / (1 - r * r);
  const double unknown = all * (all * (2 + pivot) * (1 + r) + (1 + pivot) * r + 1);
  const double upper = survey.upper_share / (1 + survey.upper_share);
  return std::min(by_dominance, 5 + upper * unknown);
}

template <typename T>
Rounding with_halo(const Plan& plan, const LineSet& lines, const BandsView<T>& bands, const Survey& survey) {
  if (plan.walked) return {walked(survey, plan.m)};
  const bool whole =
      plan.segments > 0 ? plan.segments == 1 : plan.partitions() == 1 || (plan.halo == 0 && lines.count() > 1);
  if (!whole) return {apart(survey)};
  return {
      rounding_by_growth(survey.dominance >= 1 ? kDominantGrowth : elimination_growth(bands, plan.m, 0, 0, plan.n))};
}

template <typename T>
Rounding by_stored_factors(const Plan& plan, const BandsView<T>& bands, const Survey& survey) {
  const double known = rounding_of_joints(survey, plan.m);
  if (!plan.corrects && known <= kRoundingLimit) return {known};
  const JointRounding found = bound_stored_joints(plan, bands);
  return plan.corrects ? found.corrected : found.plain;
}

}  // namespace

template <typename T>
Rounding bound_lane_rounding(const Plan& plan, const LineSet& lines, const BandsView<T>& bands, const Survey& survey) {
  switch (plan.method) {
    case Method::truncated_halo:
      return with_halo(plan, lines, bands, survey);
    case Method::truncated_streamed:
      return plan.stored ? by_stored_factors(plan, bands, survey) : Rounding{apart(survey)};
    case Method::exact_twopass:
      return plan.from_ends ? bound_taken_off(plan, bands) : bound_twopass(plan, bands);
    case Method::exact_factored:
      return plan.twisted() ? bound_taken_off(plan, bands) : whole_lines();
    case Method::pivot:
      break;
  }
  return {kUnbounded};
}

template Rounding bound_lane_rounding(const Plan&, const LineSet&, const BandsView<float>&, const Survey&);
template Rounding bound_lane_rounding(const Plan&, const LineSet&, const BandsView<double>&, const Survey&);

}  // namespace oclspkt
