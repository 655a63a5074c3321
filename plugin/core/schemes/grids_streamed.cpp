// SPDX-License-Identifier: BSD-2-Clause
// truncated-streamed by work-groups that stream segments of bundles of lines side by side.
#include "grid_plan.hpp"
#include "schemes/grid_scheme.hpp"

namespace oclspkt {
namespace {

class GridsStreamed final : public GridSchemeOf<GridsStreamed> {
 public:
  const char* name() const override { return "grids-streamed"; }
  bool owns(const Plan& plan) const override {
    return grid(plan) && !in_one_tile(plan) && !goes_through_tiles(plan) && plan.method == Method::truncated_streamed;
  }
  template <typename T>
  Rounding bound(const Plan& plan, const LineSet& lines, const BandsView<T>& bands, const Survey& survey) const {
    return bound_grid(plan, lines, bands, survey);
  }

 private:
  std::string cut_text(const Plan& plan) const override {
    return segments_text(plan, ", %lld runs a line") +
           (plan.as<GridTiles>().in_flight > 1 ? format(", %d tiles in flight", plan.as<GridTiles>().in_flight) : "");
  }
  /// Above a run y and one factor are read again, below it all but x.
  double words_of_rows(const Plan& plan) const override {
    const double again = plan.form == Form::shared ? 1 : (3 + factors(plan)) / 2;
    return 2 + factors(plan) + again * (plan.overlap() - 1);
  }
};

}  // namespace

const Scheme& grids_streamed() {
  static const GridsStreamed scheme;
  return scheme;
}

}  // namespace oclspkt
