// SPDX-License-Identifier: BSD-2-Clause
// Work-groups whose tile holds bundles of whole lines side by side, so that nothing is truncated.
#include "geometry.hpp"
#include "grid_plan.hpp"
#include "schemes/grid_scheme.hpp"

namespace oclspkt {
namespace {

class GridsWhole final : public GridSchemeOf<GridsWhole> {
 public:
  const char* name() const override { return "grids-whole"; }
  bool owns(const Plan& plan) const override {
    return in_one_tile(plan) && !goes_through_tiles(plan) && !grid_condenses(plan);
  }
  bool in_pieces(const Plan& plan) const override { return plan.method != Method::exact_factored; }
  template <typename T>
  Rounding bound(const Plan& plan, const LineSet& lines, const BandsView<T>& bands, const Survey& survey) const {
    return bound_grid(plan, lines, bands, survey);
  }

 private:
  std::string cut_text(const Plan& plan) const override {
    return plan.as<GridTiles>().in_turn ? ", sequential sweep" : "";
  }
  double words_of_rows(const Plan& plan) const override { return 2 + factors(plan); }
};

}  // namespace

const Scheme& grids_whole() {
  static const GridsWhole scheme;
  return scheme;
}

}  // namespace oclspkt
