// SPDX-License-Identifier: BSD-2-Clause
// truncated-halo by lanes, for lines side by side that are cut into segments: kernels/cpu/strided_halo.cl.
#include "geometry.hpp"
#include "schemes/beside/beside.hpp"
#include "schemes/table.hpp"

namespace oclspkt::ocl {
namespace {

template <typename T>
class BesideHalo final : public Part<T> {
 public:
  static Needs needs(const Plan& plan, const LineSet&, int, Index) {
    return {.slot = plan.as<Beside>().window / plan.lanes};
  }

  void make_kernels(const Site& s) override { this->make(s, kernel_, "strided_halo", "", s.plan.lanes); }

  Event finish(const Site& s, const Tiles& t) override {
    const Index blocks = t.chunk.tile_end - t.chunk.tile_begin;
    const BesideCounts c(s, blocks);
    const LaneNeeds<T> needs(s, t);
    set_arguments(s.device, kernel_, t.bands.lower, t.bands.diag, t.bands.upper, t.y, t.x, s.scratch, c.blocks,
                  c.block_stride, c.block_lines, c.length, c.row_stride, c.bundle, c.bundles,
                  static_cast<Int>(s.plan.m), static_cast<Int>(s.plan.halo),
                  static_cast<Int>(s.plan.as<Beside>().segments), c.slot);
    return launch(s.device, kernel_,
                  work_groups_of(s, blocks * s.plan.as<Beside>().bundles * s.plan.as<Beside>().segments),
                  {needs.lower, needs.diag, needs.upper, needs.y, needs.x, needs.scratch});
  }

 private:
  Kernel kernel_;
};

}  // namespace

Carrier beside_halo() { return carrier<BesideHalo>("beside-halo"); }

}  // namespace oclspkt::ocl
