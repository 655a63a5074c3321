// SPDX-License-Identifier: BSD-2-Clause
// exact-factored by work-groups that sweep bundles of lines side by side from end to end.
#include <algorithm>

#include "geometry.hpp"
#include "grid_plan.hpp"
#include "schemes/grid_scheme.hpp"

namespace oclspkt {
namespace {

class GridsFactored final : public GridSchemeOf<GridsFactored> {
 public:
  const char* name() const override { return "grids-factored"; }
  bool owns(const Plan& plan) const override {
    return grid(plan) && !in_one_tile(plan) && !grid_condenses(plan) && plan.method == Method::exact_factored;
  }
  bool in_pieces(const Plan&) const override { return false; }
  template <typename T>
  Rounding bound(const Plan& plan, const LineSet& lines, const BandsView<T>& bands, const Survey& survey) const {
    return bound_grid(plan, lines, bands, survey);
  }

 private:
  std::string cut_text(const Plan&) const override { return {}; }
  /// A streamed line reads symmetric couplings twice. What the way down leaves of the last tile need not be written and
  /// read again.
  double words_of_rows(const Plan& plan) const override {
    const double left = 1 - std::min(1.0, static_cast<double>(grid_tile_rows(plan)) / static_cast<double>(plan.m));
    return 2 + (plan.form == Form::shared ? 0 : 3) + 2 * left;
  }
};

}  // namespace

const Scheme& grids_factored() {
  static const GridsFactored scheme;
  return scheme;
}

}  // namespace oclspkt
