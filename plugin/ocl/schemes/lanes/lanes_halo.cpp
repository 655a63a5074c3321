// SPDX-License-Identifier: BSD-2-Clause
// truncated-halo by lanes, for lines laid end to end: kernels/cpu/truncated_halo.cl, and kernels/cpu/truncated_tiles.cl
// where tiles are streamed.
#include "schemes/lane_needs.hpp"
#include "schemes/table.hpp"

namespace oclspkt::ocl {
namespace {

template <typename T, bool kStreams>
class HaloPart final : public Part<T> {
 public:
  static Needs needs(const Plan& plan, const LineSet&, int, Index) {
    return {.slot = kStreams ? plan.lanes + 6 * plan.m : swept_both_ways(plan)};
  }

  void make_kernels(const Site& s) override {
    this->make(s, kernel_, kStreams ? "truncated_tiles" : "truncated_halo", "", s.plan.lanes);
  }

  Event finish(const Site& s, const Tiles& t) override {
    const LaneNeeds<T> needs(s, t);
    const LaneCounts c(s, t.chunk);
    const auto set = [&](const auto&... counts) {
      set_arguments(s.device, kernel_, t.bands.lower, t.bands.diag, t.bands.upper, t.y, t.x, s.scratch, c.n, c.first,
                    c.begin, c.end, counts...);
    };
    if constexpr (kStreams) {
      set(c.m, c.slot);
    } else {
      set(c.m, c.halo, c.slot);
    }
    return launch(s.device, kernel_, {s.layout.runs},
                  {needs.lower, needs.diag, needs.upper, needs.y, needs.x, needs.scratch});
  }

 private:
  Kernel kernel_;
};

template <typename T>
using LanesHalo = HaloPart<T, false>;
template <typename T>
using LanesTiles = HaloPart<T, true>;

}  // namespace

Carrier lanes_halo() { return carrier<LanesHalo>("lanes-halo"); }
Carrier lanes_tiles() { return carrier<LanesTiles>("lanes-tiles"); }

}  // namespace oclspkt::ocl
