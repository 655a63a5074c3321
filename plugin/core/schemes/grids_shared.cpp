// SPDX-License-Identifier: BSD-2-Clause
// Work-groups that go through many tiles of lines side by side with the factors of one line, which all share.
#include "geometry.hpp"
#include "grid_plan.hpp"
#include "schemes/grid_scheme.hpp"

namespace oclspkt {
namespace {

class GridsShared final : public GridSchemeOf<GridsShared> {
 public:
  const char* name() const override { return "grids-shared"; }
  bool owns(const Plan& plan) const override { return goes_through_tiles(plan) && !grid_condenses(plan); }
  bool in_pieces(const Plan& plan) const override { return plan.method != Method::exact_factored; }
  template <typename T>
  Rounding bound(const Plan& plan, const LineSet& lines, const BandsView<T>& bands, const Survey& survey) const {
    return bound_grid(plan, lines, bands, survey);
  }

 private:
  std::string cut_text(const Plan& plan) const override {
    if (plan.as<Beside>().segments > 1) return segments_text(plan, ", %lld runs a line");
    return in_one_tile(plan) ? "" : format(", runs of %d tiles", plan.run_tiles);
  }
  /// Of a run that is cut out of a line y of two more tiles is read.
  double words_of_rows(const Plan& plan) const override {
    const bool whole_lines = plan.run_tiles % quotient_up(plan.m, grid_tile_rows(plan)) == 0;
    return 2 + (whole_lines ? 0 : 2 / static_cast<double>(plan.run_tiles));
  }
};

}  // namespace

const Scheme& grids_shared() {
  static const GridsShared scheme;
  return scheme;
}

}  // namespace oclspkt
