// SPDX-License-Identifier: BSD-2-Clause
// Work-groups that go through many tiles of lines side by side with the factors of one line, which all share:
// kernels/gpu/grid_shared.cl.
#include "geometry.hpp"
#include "grid_plan.hpp"
#include "schemes/grids.hpp"

namespace oclspkt::ocl {
namespace {

template <typename T>
class GridsShared final : public GridPart<T> {
 public:
  void make_kernels(const Site& s) override {
    const Plan& plan = s.plan;
    this->make(s, kernel_, "grid_shared",
               this->shape(plan, " -D LINES=" + std::to_string(plan.as<GridTiles>().item_lines) + " -D IN_ONE_TILE=" +
                                     (in_one_tile(plan) ? "1" : "0") + " -D AHEAD=" + (reads_ahead(plan) ? "1" : "0") +
                                     (plan.as<GridTiles>().in_turn ? " -D IN_TURN" : "")));
  }

  Event finish(const Site& s, const Tiles& t) override {
    const Plan& plan = s.plan;
    const Index blocks = t.chunk.tile_end - t.chunk.tile_begin;
    const Index of_block =
        plan.as<Beside>().bundles * (in_one_tile(plan) ? 1 : quotient_up(s.lines.length(0), grid_tile_rows(plan)));
    const Index first = t.chunk.tile_begin * of_block;
    const Index groups = quotient_up(first + blocks * of_block, plan.run_tiles) - first / plan.run_tiles;
    return this->launch_blocks(s, kernel_, t, groups, 0, Long{first}, Int{plan.run_tiles});
  }

 private:
  Kernel kernel_;
};

}  // namespace

Carrier grids_shared() { return carrier<GridsShared>("grids-shared"); }

}  // namespace oclspkt::ocl
