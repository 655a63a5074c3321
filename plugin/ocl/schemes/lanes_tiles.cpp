// SPDX-License-Identifier: BSD-2-Clause
// truncated-halo by lanes that are streamed by their bands: kernels/cpu/truncated_tiles.cl.
#include "schemes/lane_needs.hpp"
#include "schemes/table.hpp"

namespace oclspkt::ocl {
namespace {

template <typename T>
class LanesTiles final : public Part<T> {
 public:
  static Needs needs(const Plan& plan, const LineSet&, int, Index) { return {.slot = plan.lanes + 6 * plan.m}; }

  void make_kernels(const Site& s) override { this->make(s, kernel_, "truncated_tiles", "", s.plan.lanes); }

  Event finish(const Site& s, const Tiles& t) override {
    const LaneNeeds<T> needs(s, t);
    const LaneCounts c(s, t.chunk);
    set_arguments(s.device, kernel_, t.bands.lower, t.bands.diag, t.bands.upper, t.y, t.x, s.scratch, c.n, c.first,
                  c.begin, c.end, c.m, c.slot);
    return launch(s.device, kernel_, {s.layout.runs},
                  {needs.lower, needs.diag, needs.upper, needs.y, needs.x, needs.scratch});
  }

 private:
  Kernel kernel_;
};

}  // namespace

Carrier lanes_tiles() { return carrier<LanesTiles>("lanes-tiles"); }

}  // namespace oclspkt::ocl
