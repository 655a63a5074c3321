// SPDX-License-Identifier: BSD-2-Clause
// truncated-halo by work-groups that keep the stored factors of lines that are all alike.
#include <algorithm>

#include "schemes/scheme.hpp"
#include "schemes/texts.hpp"
#include "schemes/tile_bounds.hpp"

namespace oclspkt {
namespace {

class TilesKept final : public SchemeOf<TilesKept> {
 public:
  const char* name() const override { return "tiles-kept"; }
  std::string shape(const Plan& plan) const override {
    return (plan.halo > 0 ? format("halo %lld, ", static_cast<long long>(plan.halo)) : std::string("whole lines, ")) +
           "shared factors, " + groups_text(plan);
  }
  double words(const Plan& plan) const override { return words_of_one_pass(plan); }
  /// A work-group reads its tile to the end, also where whole lines fill less of it.
  Cut cut(const Plan& plan) const override {
    return {plan.m, plan.halo, std::max(plan.halo, plan.group_rows() - plan.halo - plan.m), false};
  }
  bool settles() const override { return true; }
  Elimination elimination() const override { return {.excess = true}; }
  template <typename T>
  Rounding bound(const Plan& plan, const LineSet& lines, const BandsView<T>& bands, const Survey& survey) const {
    return bound_of_tiles(
        plan, survey, true, [&](const RatioLimits& limits) { return bound_kept(plan, limits); },
        [&] {
          // One tile of whole lines stands for all, or the parts of one line.
          Plan alike = plan;
          alike.n = plan.halo > 0 ? lines.length(0) : std::min(plan.n, plan.m);
          return bound_runs(alike, bands);
        });
  }
};

}  // namespace

const Scheme& tiles_kept() {
  static const TilesKept scheme;
  return scheme;
}

}  // namespace oclspkt
