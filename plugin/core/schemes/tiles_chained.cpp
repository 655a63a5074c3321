// SPDX-License-Identifier: BSD-2-Clause
// exact-factored by work-groups and stored factors, for lines laid end to end: the maps that tiles are, down and up, are
// composed over all of them.
#include "geometry.hpp"
#include "rounding_runs.hpp"
#include "schemes/proposal.hpp"
#include "schemes/scheme.hpp"
#include "schemes/streamed.hpp"
#include "schemes/texts.hpp"
#include "schemes/tile_bounds.hpp"

namespace oclspkt {
namespace {

class TilesChained final : public SchemeOf<TilesChained> {
 public:
  const char* name() const override { return "tiles-chained"; }
  bool owns(const Plan& plan) const override { return chains_tiles(plan); }
  std::string shape(const Plan& plan) const override { return "stored factors, tiles chained by " + groups_text(plan); }
  double words(const Plan& plan) const override { return plan.symmetric() ? 6 : 7; }
  int launches() const override { return 3; }
  /// Against exact-twopass by work-groups, H200, 1e8 rows: tiles wait for each other, floats as long as doubles.
  double stream_words(const Plan& plan, int word) const override {
    if (word == static_cast<int>(sizeof(float))) return plan.symmetric() ? 10 : 12.5;
    return plan.symmetric() ? 7.5 : 10.5;
  }
  double passes(const Plan&, const Survey&) const override { return 11; }
  Cut cut(const Plan& plan) const override { return {plan.group_rows(), 0, 0, true}; }
  bool solves_interfaces() const override { return true; }
  Elimination elimination() const override { return {.excess = true}; }
  template <typename T>
  Rounding bound(const Plan& plan, const LineSet&, const BandsView<T>& bands, const Survey& survey) const {
    return bound_of_tiles(
        plan, survey, [&](const RatioLimits& limits) { return bound_chain(plan, limits); },
        [&] { return bound_chain(plan, bands); });
  }

  template <typename T>
  bool suits(Method method, const Problem<T>& problem) const {
    return method == Method::exact_factored && by_tiles(problem);
  }
  /// Where the memory does not hold all rows at once it is left to other methods.
  template <typename T>
  std::optional<Proposal> proposal(const Problem<T>& problem, Rejection& rejection) const {
    std::optional<Plan> plan = cheapest(problem);
    if (!plan) return std::nullopt;
    serve_if_symmetric(problem, *plan);
    std::optional<Proposal> proposal = unless_growth(problem, exact_proposal(problem, *plan), rejection);
    if (proposal) proposal->rounding = rounding_of(problem, *plan);
    return proposal;
  }
  template <typename T>
  std::optional<Plan> cheapest(const Problem<T>& problem) const {
    const Index n = problem.bands.lines().rows();
    Plan plan = make_chain_plan(n, problem.options.partition, sizeof(T), problem.traits);
    return plan.chunk_tiles == 0 && n > 0 ? std::nullopt : std::optional(std::move(plan));
  }
};

}  // namespace

const Scheme& tiles_chained() {
  static const TilesChained scheme;
  return scheme;
}

}  // namespace oclspkt
