// SPDX-License-Identifier: BSD-2-Clause
// truncated-halo by lanes whose partitions solve their interface systems tile by tile, so that nothing is read again.
#include <algorithm>

#include "certificate.hpp"
#include "schemes/lane_bounds.hpp"
#include "schemes/scheme.hpp"
#include "schemes/texts.hpp"

namespace oclspkt {
namespace {

class LanesWalk final : public SchemeOf<LanesWalk> {
 public:
  const char* name() const override { return "lanes-walk"; }
  std::string shape(const Plan& plan) const override {
    return format("streamed tiles of %lld rows", static_cast<long long>(plan.tile_rows()));
  }
  double words(const Plan& plan) const override { return 4 * plan.overlap() + 1; }
  Cut cut(const Plan& plan) const override { return {plan.tile_rows(), plan.tile_rows(), plan.tile_rows(), false}; }
  Elimination elimination() const override { return {.plain = true, .excess = true}; }
  /// A partition's first unknown is what the rows below it take off in another order than that of the substitution, so
  /// that it rounds twice in each of them; what it counts for shrinks with |c p|.
  template <typename T>
  Rounding bound(const Plan& plan, const LineSet&, const BandsView<T>&, const Survey& survey) const {
    const double d = survey.decay(), upper = survey.upper_share / (1 + survey.upper_share);
    if (!(survey.dominance >= 1)) return {kNothingKnown};
    const auto m = static_cast<double>(plan.m), rows = d > 1 ? std::min(m, d / (d - 1)) : m;
    return {10 + 3 * upper * rows};
  }
};

}  // namespace

const Scheme& lanes_walk() {
  static const LanesWalk scheme;
  return scheme;
}

}  // namespace oclspkt
