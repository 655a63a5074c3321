// SPDX-License-Identifier: BSD-2-Clause
// exact-twopass by work-groups, for lines laid end to end: tiles are reduced to their last rows, level by level.
#include <cmath>
#include <limits>

#include "certificate.hpp"
#include "schemes/proposal.hpp"
#include "schemes/scheme.hpp"
#include "schemes/texts.hpp"
#include "schemes/tiles/rounding_runs.hpp"
#include "schemes/tiles/tile_plans.hpp"

namespace oclspkt {
namespace {

/// Dominance from which nothing grows: tiles carry excesses, and forgive one rounding of a diagonal, so that they
/// eliminate as if rows with sums 0 had come unrounded.
template <typename T>
constexpr double kForgiven = 1 - static_cast<double>(std::numeric_limits<T>::epsilon());

class TilesTwopass final : public SchemeOf<TilesTwopass> {
 public:
  const char* name() const override { return "tiles-twopass"; }
  std::string shape(const Plan& plan) const override { return "tiles reduced by " + groups_text(plan); }
  /// Of one row of a work-item three numbers are kept from pass to pass.
  Kernels kernels() const override { return Kernels::groups; }
  double words(const Plan& plan) const override { return (plan.symmetric() ? 7 : 9) + 6.0 / plan.item_rows; }
  int launches(const Plan&) const override { return 5; }
  Cut cut(const Plan& plan) const override { return {plan.group_rows(), 0, 0, true}; }
  bool solves_interfaces() const override { return true; }
  Elimination elimination(const Plan&) const override { return {.excess = true, .upwards = true}; }
  template <typename T>
  Rounding bound(const Plan& plan, const LineSet&, const BandsView<T>&, const Survey& survey) const {
    if (plan.n == 0) return {0};
    return survey.finite && survey.dominance >= kForgiven<T> ? bound_reduced<T>(plan, survey) : Rounding{kNothingKnown};
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
    const Form form = is_symmetric(problem.bands.lines(), problem.bands.view()) ? Form::symmetric : Form::general;
    const Plan plan = make_reduce_plan(n, problem.options.partition, sizeof(T), problem.traits, form);
    if (plan.chunk_tiles == 0 && n > 0) return std::nullopt;
    std::optional<Proposal> proposal = unless_growth(problem, exact_proposal(problem, plan), rejection,
                                                     {.twopass = plan.item_rows, .enough = kForgiven<T>});
    if (proposal) proposal->rounding = rounding(problem, plan);
    return proposal;
  }
  template <typename T>
  std::optional<Plan> cheapest(const Problem<T>& problem) const {
    const Index n = problem.bands.lines().rows();
    const Plan plan = make_reduce_plan(n, problem.options.partition, sizeof(T), problem.traits);
    return plan.chunk_tiles == 0 && n > 0 ? std::nullopt : std::optional(plan);
  }

 private:
  /// By the values where what the survey shows of all rows is too much, with what judge() adds for given diagonals.
  template <typename T>
  static Rounding rounding(const Problem<T>& problem, const Plan& plan) {
    const Rounding surveyed = rounding_of(problem, plan);
    constexpr double kOfDiagonals = 1;
    if (surveyed.eps + kOfDiagonals <= problem.rounding_limit || !std::isfinite(surveyed.eps)) return surveyed;
    const Rounding found = of_first_order(bound_reduced(plan, problem.bands.view()));
    return found.eps < surveyed.eps ? found : surveyed;
  }
};

}  // namespace

const Scheme& tiles_twopass() { return only<TilesTwopass>(); }

}  // namespace oclspkt
