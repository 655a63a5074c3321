// SPDX-License-Identifier: BSD-2-Clause
// truncated-streamed by work-groups and stored factors, for lines laid end to end: kernels/gpu/tile_stored.cl.
#include "geometry.hpp"
#include "schemes/table.hpp"
#include "schemes/tiles.hpp"

namespace oclspkt::ocl {
namespace {

template <typename T>
class TilesStreamed final : public StoredTilePart<T> {
 public:
  static Needs needs(const Plan&, const LineSet&, int, Index) { return {}; }

  void make_kernels(const Site& s) override {
    this->make(s, kernels_[s.nan_safe], "tile_stored",
               this->shape(s, this->form(s.plan) + (s.plan.as<StoredFactors>().corrects ? " -D CORRECTED" : "")));
  }

  /// The runs of a chunk.
  Event finish(const Site& s, const Tiles& t) override {
    const Plan& plan = s.plan;
    const TileNeeds<T> needs(s, t);
    const Geometry groups = this->geometry(plan, t.chunk.tile_end - t.chunk.tile_begin);
    Kernel& kernel = kernels_[s.nan_safe];
    set_arguments(s.device, kernel, t.bands.lower, t.bands.diag, t.bands.upper, t.y, t.x, s.non_finite.flag(),
                  Long{plan.n}, Long{t.chunk.first}, Long{t.chunk.tile_begin}, Long{t.chunk.tile_end}, Long{plan.m},
                  Int{plan.run_tiles}, static_cast<Int>(plan.halo), static_cast<Int>(shared_tiles(plan).period),
                  local_memory(groups.local_bytes));
    return launch(s.device, kernel, groups,
                  {needs.array("multiplier", t.bands.lower), needs.array("reciprocal", t.bands.diag),
                   needs.array("coupling", t.bands.upper), needs.y, needs.x});
  }

 private:
  Kernel kernels_[2];  ///< the second propagates non-finite numbers exactly
};

}  // namespace

Carrier tiles_streamed() { return carrier<TilesStreamed>("tiles-streamed"); }

}  // namespace oclspkt::ocl
