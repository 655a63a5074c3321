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

/// What the eliminations of a reduction round in the rows that are left, in u = eps / 2 against |A|.
///
/// Both passes are one Gaussian elimination, so that no number is known twice. An elimination that takes p from q,
/// which couples to it by l and gets the coupling l' <= l to what is beyond, rounds 4 u |l| by the multiplier, which
/// the diagonal as a sum and what is left of l show, u |l'| by the new coupling, in both, u |t| (s + 2 |a|) by the
/// excess of p, and u (|f'| + s') by the right-hand side and the excess of q: 7 u |l| + u (|A'| + s'). With L = |l| +
/// |c| of either side, L_j behind j eliminations a side, |A_j| is at most |A| and the excess |A| - 2 L_j, so that one
/// on each side rounds 7 L_j + 4 (|A| - L_j) at most: 4 |A| + 3 L_j, and L = |A| / (1 + d). Couplings decay with the
/// rows that they span, whatever the order of elimination; one that is below rounding changes the row by no more than 2
/// |l|, twice.
class Reduction {
 public:
  Reduction(double dominance, double decay, double u) : share_(1 / (1 + dominance)), decay_(decay), u_(u) {}

  /// Reduce tiles of rows that are `apart` rows of the system apart: each work-item its rows from both sides, then
  /// places by halves. What comes of the two sides is added once.
  void reduce(double apart, Index item_rows, Index items) {
    constexpr double kAddition = 2;
    for (Index j = 1; j <= item_rows / 2; ++j) eliminate(apart * static_cast<double>(j));
    for (Index places = 1; places < items; places *= 2) eliminate(apart * static_cast<double>(item_rows * places));
    rounds_ += kAddition;
  }
  double rounds() const { return rounds_; }

 private:
  /// One row on each side. @param span  rows that the couplings to them span
  void eliminate(double span) {
    const double left = share_ * std::pow(decay_, -span);
    rounds_ += std::min(4 + 3 * left, (4 / u_ + 7) * left);
  }
  double share_, decay_, u_, rounds_ = 0;
};

/// exact-twopass by work-groups. A row is substituted from its neighbours with the reciprocal of its pivot, 8.5 u |A|
/// in all; u |A| more is what rounding unknowns of levels to T leaves, and 2 u |A| that an excess is forgiven.
/// @pre rows of dominance 1 at least, but for one rounding of the diagonal, which is forgiven
template <typename T>
double bound_reduced(const Plan& plan, const Survey& survey) {
  constexpr double kOfEachRow = 12, kRoundings = std::numeric_limits<T>::epsilon() / 2.0;
  Reduction reduction(std::max(1.0, survey.dominance), std::max(1.0, survey.decay()), kRoundings);
  reduction.reduce(1, plan.item_rows, plan.items);
  // The levels behind the first are in double.
  const Index level_rows = Index{plan.as<Levels>().items} * kLevelItemRows;
  auto apart = static_cast<double>(plan.group_rows());
  for (Index rows = plan.tiles(); rows > 1 && sizeof(T) > sizeof(float); rows = quotient_up(rows, level_rows)) {
    reduction.reduce(apart, kLevelItemRows, plan.as<Levels>().items);
    apart *= static_cast<double>(level_rows);
  }
  return (kOfEachRow + reduction.rounds()) / 2;
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
    return {survey.finite && survey.dominance >= forgiven ? bound_reduced<T>(plan, survey) : kNothingKnown};
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
