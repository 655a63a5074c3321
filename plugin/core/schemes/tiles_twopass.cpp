// SPDX-License-Identifier: BSD-2-Clause
// exact-twopass by work-groups, for lines laid end to end: tiles are reduced to their last rows, level by level.
#include <algorithm>
#include <cmath>
#include <limits>

#include "certificate.hpp"
#include "geometry.hpp"
#include "schemes/proposal.hpp"
#include "schemes/scheme.hpp"
#include "schemes/texts.hpp"

namespace oclspkt {
namespace {

/// Halvings until one is left.
double halvings(Index count) { return std::ceil(std::log2(static_cast<double>(std::max<Index>(1, count)))); }

/// Eliminations that a row sees that is left when a tile is reduced: of the rows of its work-item and of the next one,
/// and of two places in every halving (kernels/gpu/tile_excess.clh).
double eliminations(Index items, Index item_rows) { return static_cast<double>(item_rows) + 2 * halvings(items); }

/// exact-twopass by work-groups: both passes are one Gaussian elimination, so that no number is known twice. What
/// rounds are the couplings, the excess and the right-hand side of rows from which others are eliminated. With u = eps
/// / 2, couplings l and c and excess s, each time a row loses one at most 6 u |l| by the multiplier and the coupling
/// that takes the place of l, u (|l| + |c| + s) twice by the right-hand side and its diagonal, and 2 u s by the excess;
/// with |l| + |c| + s at most the diagonal that is 2.75 u |A| for two of either side.
/// @pre rows of dominance 1 at least, but for one rounding of the diagonal, which is forgiven
double bound_reduced(const Plan& plan, int word) {
  // Substitution, and the rounding that is forgiven.
  constexpr double kOfEachRow = 8, kOfElimination = 2.75 / 2;
  double most = eliminations(plan.items, plan.item_rows);
  // The levels behind the first are in double.
  for (Index rows = plan.tiles(); rows > 1 && word > static_cast<int>(sizeof(float));) {
    most += eliminations(plan.as<Levels>().items, kLevelItemRows);
    rows = quotient_up(rows, Index{plan.as<Levels>().items} * kLevelItemRows);
  }
  return kOfEachRow + kOfElimination * most;
}

class TilesTwopass final : public SchemeOf<TilesTwopass> {
 public:
  const char* name() const override { return "tiles-twopass"; }
  bool owns(const Plan& plan) const override { return reduces_tiles(plan); }
  std::string shape(const Plan& plan) const override { return "tiles reduced by " + groups_text(plan); }
  /// Of one row of a work-item three numbers are kept from pass to pass.
  double words(const Plan& plan) const override { return (plan.symmetric() ? 7 : 9) + 6.0 / plan.item_rows; }
  int launches() const override { return 5; }
  Cut cut(const Plan& plan) const override { return {plan.group_rows(), 0, 0, true}; }
  bool solves_interfaces() const override { return true; }
  Elimination elimination() const override { return {.excess = true, .upwards = true}; }
  template <typename T>
  Rounding bound(const Plan& plan, const LineSet&, const BandsView<T>&, const Survey& survey) const {
    if (plan.n == 0) return {0};
    const double forgiven = 1 - static_cast<double>(std::numeric_limits<T>::epsilon());
    return {survey.finite && survey.dominance >= forgiven ? bound_reduced(plan, sizeof(T)) : kNothingKnown};
  }

  template <typename T>
  bool suits(Method method, const Problem<T>& problem) const {
    return method == Method::exact_twopass && by_tiles(problem);
  }
  /// exact-twopass by tiles that work-groups reduce to their last rows. Where the memory does not hold all rows at once
  /// it is left to partitions.
  template <typename T>
  std::optional<Proposal> proposal(const Problem<T>& problem, Rejection& rejection) const {
    const Index n = problem.bands.lines().rows();
    Plan plan = make_reduce_plan(n, problem.options.partition, sizeof(T), problem.traits);
    if (plan.chunk_tiles == 0 && n > 0) return std::nullopt;
    serve_if_symmetric(problem, plan);
    return unless_growth(problem, exact_proposal(problem, plan), rejection);
  }
  template <typename T>
  std::optional<Plan> cheapest(const Problem<T>& problem) const {
    const Index n = problem.bands.lines().rows();
    const Plan plan = make_reduce_plan(n, problem.options.partition, sizeof(T), problem.traits);
    return plan.chunk_tiles == 0 && n > 0 ? std::nullopt : std::optional(plan);
  }
};

}  // namespace

const Scheme& tiles_twopass() {
  static const TilesTwopass scheme;
  return scheme;
}

}  // namespace oclspkt
