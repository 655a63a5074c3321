// SPDX-License-Identifier: BSD-2-Clause
// What bounds on rounding of several schemes by lanes share.
#pragma once

#include <algorithm>
#include <limits>

#include "evidence.hpp"
#include "rounding.hpp"
#include "survey.hpp"

namespace oclspkt {

/// Partitions with halos that are swept apart: an unknown at a joint is known twice. Where rows are alike, with
/// |c p| and |a / u| of at most r, pivots err by 3 / (1 - r^2), what is swept down in all by 1 / (1 - r) times what a
/// row adds, and so do unknowns on the way back; in units of eps / 2, relative to max |x|.
inline double rounding_of_halos(const Survey& survey) {
  const double by_dominance = rounding_by_dominance(survey.dominance), d = survey.decay();
  if (!shrinks(survey) || !(d > 1)) return by_dominance;
  const double r = 1 / d, all = 1 / (1 - r), pivot = 3 / (1 - r * r);
  const double unknown = all * (all * (2 + pivot) * (1 + r) + (1 + pivot) * r + 1);
  const double upper = survey.upper_share / (1 + survey.upper_share);
  return std::min(by_dominance, 5 + upper * unknown);
}

/// The bound of partitions with halos, or of what they hold whole. @param whole  nothing is cut
template <typename T>
Rounding bound_halos(const Plan& plan, bool whole, const BandsView<T>& bands, const Survey& survey) {
  if (!whole) return {rounding_of_halos(survey)};
  return {
      rounding_by_growth(survey.dominance >= 1 ? kDominantGrowth : elimination_growth(bands, plan.m, 0, 0, plan.n))};
}

}  // namespace oclspkt
