// SPDX-License-Identifier: BSD-2-Clause
// Which bound a plan by work-groups has.
#include <algorithm>
#include <cmath>
#include <limits>

#include "certificate.hpp"
#include "rounding.hpp"
#include "rounding_runs.hpp"

namespace oclspkt {
namespace {

/// Halvings until one is left.
double halvings(Index count) { return std::ceil(std::log2(static_cast<double>(std::max<Index>(1, count)))); }

/// Eliminations that a row sees that is left when a tile is reduced: of the rows of its work-item and of the next one,
/// and of two places in every halving (kernels/gpu/tile_excess.clh).
double eliminations(Index items, Index item_rows) { return static_cast<double>(item_rows) + 2 * halvings(items); }

/// exact-twopass by work-groups: both passes are one Gaussian elimination, so that no number is known twice. What
/// rounds are the couplings, the excess and the right-hand side of rows from which others are taken out. With u = eps /
/// 2, couplings l and c and excess s, each time a row loses one at most 6 u |l| by the multiplier and the coupling that
/// takes the place of l, u (|l| + |c| + s) twice by the right-hand side and its diagonal, and 2 u s by the excess; with
/// |l| + |c| + s at most the diagonal that is 2.75 u |A| for two of either side.
/// @pre rows of dominance 1 at least, but for one rounding of the diagonal, which is forgiven
double bound_reduced(const Plan& plan, int word) {
  // Substitution, and the rounding that is forgiven.
  constexpr double kOfEachRow = 8, kOfElimination = 2.75 / 2;
  double most = eliminations(plan.items, plan.item_rows);
  // The levels behind the first are in double.
  for (Index rows = plan.tiles(); rows > 1 && word > static_cast<int>(sizeof(float));) {
    most += eliminations(plan.level_items, kLevelItemRows);
    rows = quotient_up(rows, Index{plan.level_items} * kLevelItemRows);
  }
  return kOfEachRow + kOfElimination * most;
}

Rounding bound_within(const Plan& plan, const RatioLimits& limits) {
  if (plan.folds() || plan.takes_lines()) return bound_folds(plan, limits);
  if (plan.keeps_factors()) return bound_kept(plan, limits);
  return plan.stored ? bound_runs(plan, limits) : bound_tiles(plan, limits);
}

template <typename T>
Rounding bound_by_values(const Plan& plan, const LineSet& lines, const BandsView<T>& bands) {
  if (plan.folds() || plan.takes_lines()) return bound_folds(plan, bands);
  if (!plan.stored) return bound_tiles(plan, bands);
  if (!plan.keeps_factors()) return bound_runs(plan, bands);
  // One tile of whole lines stands for all, or the parts of one line.
  Plan alike = plan;
  alike.n = plan.halo > 0 ? lines.length(0) : std::min(plan.n, plan.m);
  return bound_runs(alike, bands);
}

}  // namespace

template <typename T>
Rounding bound_group_rounding(const Plan& plan, const LineSet& lines, const BandsView<T>& bands, const Survey& survey) {
  if (plan.n == 0) return {0};
  if (!survey.finite) return {kNothingKnown};
  if (plan.paper) return bound_paper_form(plan, bands);
  if (plan.reduces_tiles()) {
    const double forgiven = 1 - static_cast<double>(std::numeric_limits<T>::epsilon());
    return {survey.dominance >= forgiven ? bound_reduced(plan, sizeof(T)) : kNothingKnown};
  }
  const bool settles_once = !plan.folds() && !plan.takes_lines();
  if (settles_once && survey.dominance >= kSurveyedDominance) return {rounding_by_dominance(survey.dominance)};
  const RatioLimits limits(survey);
  if (survey.dominance >= 1 && limits.shrink()) {
    if (const Rounding rounding = bound_within(plan, limits); rounding.eps <= kRoundingLimit) return rounding;
  }
  return bound_by_values(plan, lines, bands);
}

template Rounding bound_group_rounding(const Plan&, const LineSet&, const BandsView<float>&, const Survey&);
template Rounding bound_group_rounding(const Plan&, const LineSet&, const BandsView<double>&, const Survey&);

}  // namespace oclspkt
