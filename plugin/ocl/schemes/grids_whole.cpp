// SPDX-License-Identifier: BSD-2-Clause
// Work-groups whose tile holds bundles of whole lines side by side, so that nothing is truncated:
// kernels/gpu/grid_whole.cl.
#include "grid_plan.hpp"
#include "schemes/grids.hpp"

namespace oclspkt::ocl {
namespace {

template <typename T>
class GridsWhole final : public GridPart<T> {
 public:
  void make_kernels(const Site& s) override {
    this->make(s, kernel_, "grid_whole",
               this->shape(s.plan, this->form(s.plan) + (s.plan.as<GridTiles>().in_turn ? " -D IN_TURN" : "")));
  }

  Event finish(const Site& s, const Tiles& t) override {
    // Arguments that whole lines have no use for stand for the segments of grids_condensed.
    return this->launch_segments(s, kernel_, t, 4 * Index{s.plan.items}, Int{1}, t.y, t.y);
  }

 private:
  Kernel kernel_;
};

}  // namespace

Carrier grids_whole() { return carrier<GridsWhole>("grids-whole"); }

}  // namespace oclspkt::ocl
