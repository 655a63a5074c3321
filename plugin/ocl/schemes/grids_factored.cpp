// SPDX-License-Identifier: BSD-2-Clause
// exact-factored by work-groups that sweep bundles of lines side by side from end to end, tile by tile:
// kernels/gpu/grid_factored.cl.
#include "geometry.hpp"
#include "grid_plan.hpp"
#include "schemes/grids.hpp"

namespace oclspkt::ocl {
namespace {

template <typename T>
class GridsFactored final : public GridPart<T> {
 public:
  void make_kernels(const Site& s) override {
    this->make(s, kernel_, "grid_factored",
               this->shape(s.plan, this->form(s.plan) + (s.plan.as<GridTiles>().in_turn ? " -D IN_TURN" : "")));
  }

  Event finish(const Site& s, const Tiles& t) override {
    return this->launch_segments(s, kernel_, t, 4 * Index{s.plan.items} + 2 * s.plan.as<Beside>().bundle);
  }

 private:
  Kernel kernel_;
};

}  // namespace

Carrier grids_factored() { return carrier<GridsFactored>("grids-factored"); }

}  // namespace oclspkt::ocl
