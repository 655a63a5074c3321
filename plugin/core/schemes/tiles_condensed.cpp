// SPDX-License-Identifier: BSD-2-Clause
// exact-factored by work-groups, for lines laid end to end: tiles are condensed to their first rows, level by level.
#include "geometry.hpp"
#include "schemes/proposal.hpp"
#include "schemes/scheme.hpp"
#include "schemes/texts.hpp"
#include "schemes/tile_bounds.hpp"

namespace oclspkt {
namespace {

class TilesCondensed final : public SchemeOf<TilesCondensed> {
 public:
  const char* name() const override { return "tiles-condensed"; }
  bool owns(const Plan& plan) const override { return folds(plan); }
  std::string shape(const Plan& plan) const override { return "stored factors, condensed by " + groups_text(plan); }
  /// A factor, weights and y; three factors (or two), y and x.
  double words(const Plan& plan) const override { return plan.couplings_serve() ? 7 : 8; }
  int launches() const override { return 5; }
  Cut cut(const Plan& plan) const override { return {plan.group_rows(), 0, 0, true}; }
  bool settles() const override { return true; }
  Elimination elimination() const override { return {.excess = true}; }
  template <typename T>
  Rounding bound(const Plan& plan, const LineSet&, const BandsView<T>& bands, const Survey& survey) const {
    return bound_condensed(plan, bands, survey);
  }

  template <typename T>
  bool suits(Method method, const Problem<T>& problem) const {
    return method == Method::exact_factored && by_tiles(problem);
  }
  /// Stored factors of tiles that work-groups fold to their first rows.
  template <typename T>
  std::optional<Proposal> proposal(const Problem<T>& problem, Rejection& rejection) const {
    const Index n = problem.bands.lines().rows();
    Plan plan = make_fold_plan(n, problem.options.partition, sizeof(T), problem.traits);
    if (plan.chunk_tiles == 0 && n > 0) {
      rejection = {"the device's memory does not hold all rows at once", {}, plan};
      return std::nullopt;
    }
    serve_if_symmetric(problem, plan);
    return unless_growth(problem, exact_proposal(problem, plan), rejection);
  }
};

}  // namespace

const Scheme& tiles_condensed() {
  static const TilesCondensed scheme;
  return scheme;
}

}  // namespace oclspkt
