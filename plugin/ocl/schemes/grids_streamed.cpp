// SPDX-License-Identifier: BSD-2-Clause
// truncated-streamed by work-groups, for lines side by side: a work-group streams a segment of a bundle of lines, tile
// by tile. kernels/gpu/grid_streamed.cl.
#include "geometry.hpp"
#include "grid_plan.hpp"
#include "schemes/grids.hpp"

namespace oclspkt::ocl {
namespace {

template <typename T>
class GridsStreamed final : public GridPart<T> {
 public:
  void make_kernels(const Site& s) override {
    this->make(s, kernel_, "grid_streamed",
               this->shape(s.plan, this->form(s.plan) + (s.plan.as<GridTiles>().in_turn ? " -D IN_TURN" : "") +
                                       " -D IN_FLIGHT=" + std::to_string(s.plan.as<GridTiles>().in_flight)));
  }

  Event finish(const Site& s, const Tiles& t) override {
    const Index local = 4 * Index{s.plan.items} + s.plan.as<Beside>().bundle;
    return this->launch_segments(s, kernel_, t, local, static_cast<Int>(s.plan.as<Beside>().segments),
                                 static_cast<Int>(quotient_up(s.plan.m, grid_tile_rows(s.plan))));
  }

 private:
  Kernel kernel_;
};

}  // namespace

Carrier grids_streamed() { return carrier<GridsStreamed>("grids-streamed"); }

}  // namespace oclspkt::ocl
