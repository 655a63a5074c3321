// SPDX-License-Identifier: BSD-2-Clause
// truncated-halo by work-groups, for lines laid end to end.
#include <algorithm>

#include "schemes/scheme.hpp"
#include "schemes/texts.hpp"
#include "schemes/tile_bounds.hpp"

namespace oclspkt {
namespace {

class TilesHalo final : public SchemeOf<TilesHalo> {
 public:
  const char* name() const override { return "tiles-halo"; }
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
        plan, survey, true, [&](const RatioLimits& limits) { return bound_tiles(plan, limits); },
        [&] { return bound_tiles(plan, bands); });
  }
};

}  // namespace

const Scheme& tiles_halo() {
  static const TilesHalo scheme;
  return scheme;
}

}  // namespace oclspkt
