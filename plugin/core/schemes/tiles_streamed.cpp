// SPDX-License-Identifier: BSD-2-Clause
// truncated-streamed by work-groups and stored factors, for lines laid end to end.
#include "schemes/scheme.hpp"
#include "schemes/texts.hpp"
#include "schemes/tile_bounds.hpp"

namespace oclspkt {
namespace {

class TilesStreamed final : public SchemeOf<TilesStreamed> {
 public:
  const char* name() const override { return "tiles-streamed"; }
  std::string shape(const Plan& plan) const override {
    return (plan.runs_are_lines() ? format("stored factors, each line a run of %d tiles, ", plan.run_tiles)
                                  : format("stored factors, reach %lld, runs of %d tiles, ",
                                           static_cast<long long>(plan.halo), plan.run_tiles)) +
           (plan.corrects ? "corrected where work-items meet, " : "") + groups_text(plan);
  }
  double words(const Plan& plan) const override { return words_of_one_pass(plan); }
  bool settles() const override { return true; }
  template <typename T>
  Rounding bound(const Plan& plan, const LineSet&, const BandsView<T>& bands, const Survey& survey) const {
    return bound_of_tiles(
        plan, survey, true, [&](const RatioLimits& limits) { return bound_runs(plan, limits); },
        [&] { return bound_runs(plan, bands); });
  }
};

}  // namespace

const Scheme& tiles_streamed() {
  static const TilesStreamed scheme;
  return scheme;
}

}  // namespace oclspkt
