// SPDX-License-Identifier: BSD-2-Clause
// exact-factored by work-groups, for lines side by side: segments are condensed to their first rows, level by level.
#include "geometry.hpp"
#include "grid_plan.hpp"
#include "schemes/grid_scheme.hpp"

namespace oclspkt {
namespace {

class GridsCondensed final : public GridSchemeOf<GridsCondensed> {
 public:
  const char* name() const override { return "grids-condensed"; }
  bool owns(const Plan& plan) const override { return grid_condenses(plan); }
  int launches() const override { return 3; }
  bool in_pieces(const Plan&) const override { return false; }
  Elimination elimination() const override { return {.excess = true, .any_pivots = true}; }
  template <typename T>
  Rounding bound(const Plan& plan, const LineSet& lines, const BandsView<T>& bands, const Survey& survey) const {
    return bound_grid(plan, lines, bands, survey);
  }

 private:
  std::string cut_text(const Plan& plan) const override {
    return segments_text(plan, grid_condenses_at_once(plan) ? ", condensed in one pass, %lld segments a line"
                                                            : ", condensed, %lld segments a line");
  }
  double words_of_rows(const Plan& plan) const override {
    return plan.form == Form::shared ? 3 : plan.symmetric() ? 7 : 8;
  }
};

}  // namespace

const Scheme& grids_condensed() {
  static const GridsCondensed scheme;
  return scheme;
}

}  // namespace oclspkt
