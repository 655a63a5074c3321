// SPDX-License-Identifier: BSD-2-Clause
// truncated SPIKE in the form of 2019, by work-items.
#include "certificate.hpp"
#include "paper_form.hpp"
#include "rounding_runs.hpp"
#include "schemes/scheme.hpp"
#include "schemes/texts.hpp"

namespace oclspkt {
namespace {

class TilesPaper final : public SchemeOf<TilesPaper> {
 public:
  const char* name() const override { return "tiles-paper"; }
  std::string shape(const Plan& plan) const override {
    return format("variant paper, work-groups of %d partitions of %lld rows, factored in every apply", plan.items,
                  static_cast<long long>(plan.m));
  }
  double words(const Plan& plan) const override { return plan.m > 0 ? paper_words(plan) : 5; }
  int launches() const override { return 5; }
  Cut cut(const Plan& plan) const override { return {plan.tile_rows(), plan.m, plan.m, false}; }
  bool settles() const override { return true; }
  template <typename T>
  Rounding bound(const Plan& plan, const LineSet&, const BandsView<T>& bands, const Survey& survey) const {
    if (plan.n == 0) return {0};
    return survey.finite ? bound_paper_form(plan, bands) : Rounding{kNothingKnown};
  }
};

}  // namespace

const Scheme& tiles_paper() {
  static const TilesPaper scheme;
  return scheme;
}

}  // namespace oclspkt
