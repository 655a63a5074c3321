// SPDX-License-Identifier: BSD-2-Clause
// truncated-halo by work-groups, for lines laid end to end.
#include <algorithm>

#include "geometry.hpp"
#include "schemes/halos.hpp"
#include "schemes/scheme.hpp"
#include "schemes/texts.hpp"
#include "schemes/tile_bounds.hpp"

namespace oclspkt {
namespace {

class TilesHalo final : public SchemeOf<TilesHalo> {
 public:
  const char* name() const override { return "tiles-halo"; }
  bool owns(const Plan& plan) const override {
    return plan.tiled() && plan.method == Method::truncated_halo && !plan.has<StoredFactors>();
  }
  std::string shape(const Plan& plan) const override {
    return format("halo %lld, ", static_cast<long long>(plan.halo)) + groups_text(plan);
  }
  double words(const Plan& plan) const override { return words_of_one_pass(plan); }
  /// A work-group reads its tile to the end, also where whole lines fill less of it.
  Cut cut(const Plan& plan) const override {
    return {plan.m, plan.halo, std::max(plan.halo, plan.group_rows() - plan.halo - plan.m), false};
  }
  Elimination elimination() const override { return {.plain = true, .excess = true}; }
  template <typename T>
  Rounding bound(const Plan& plan, const LineSet&, const BandsView<T>& bands, const Survey& survey) const {
    return bound_of_tiles(
        plan, survey, [&](const RatioLimits& limits) { return bound_tiles(plan, limits); },
        [&] { return bound_tiles(plan, bands); });
  }

  template <typename T>
  bool suits(Method method, const Problem<T>& problem) const {
    return method == Method::truncated_halo && by_tiles(problem);
  }
  template <typename T>
  std::optional<Proposal> proposal(const Problem<T>& problem, Rejection& rejection) const {
    std::optional<Proposal> proposal = propose_halos(problem, rejection);
    if (!proposal || gives_way(problem, proposal, rejection)) return proposal;
    choose_form_by_groups(problem, proposal->plan);
    if (narrows<T>(problem.options)) keep_narrow(proposal->plan);  // set-up has rounded the bands
    return proposal;
  }
  template <typename T>
  bool at_once(const Problem<T>& problem) const {
    return halos_hold_at_once(problem);
  }
};

}  // namespace

const Scheme& tiles_halo() {
  static const TilesHalo scheme;
  return scheme;
}

}  // namespace oclspkt
