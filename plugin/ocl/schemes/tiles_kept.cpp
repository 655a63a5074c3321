// SPDX-License-Identifier: BSD-2-Clause
// truncated-halo by work-groups that keep the stored factors of lines that are all alike: kernels/gpu/tile_shared.cl.
#include "geometry.hpp"
#include "schemes/table.hpp"
#include "schemes/tiles.hpp"

namespace oclspkt::ocl {
namespace {

template <typename T>
class TilesKept final : public StoredTilePart<T> {
 public:
  static Needs needs(const Plan&, const LineSet&, int, Index) { return {}; }

  void make_kernels(const Site& s) override {
    const Plan& plan = s.plan;
    this->make(s, kernels_[s.nan_safe], "tile_shared",
               this->shape(s, " -D STEPS=" + std::to_string(plan.as<Scan>().steps) +
                                  " -D ITEM_TILES=" + std::to_string(plan.as<KeptTiles>().item_tiles) +
                                  (plan.as<KeptTiles>().symmetric ? " -D SYMMETRIC" : "") +
                                  (plan.as<KeptTiles>().tells_products ? " -D PRODUCTS_TOLD" : "")));
  }

  Event finish(const Site& s, const Tiles& t) override {
    const Plan& plan = s.plan;
    const TileNeeds<T> needs(s, t);
    const Index groups = std::min<Index>(plan.runs, t.chunk.tile_end - t.chunk.tile_begin);
    Kernel& kernel = kernels_[s.nan_safe];
    set_arguments(s.device, kernel, t.bands.lower, t.bands.diag, t.bands.upper, t.y, t.x, s.non_finite.flag(),
                  Long{plan.n}, Long{t.chunk.first}, Long{t.chunk.tile_begin}, Long{t.chunk.tile_end},
                  static_cast<Int>(plan.m), static_cast<Int>(plan.halo), static_cast<Int>(shared_tiles(plan).period));
    return launch(s.device, kernel, {std::max<Index>(1, groups), static_cast<std::size_t>(plan.items)},
                  {needs.array("multiplier", t.bands.lower), needs.array("reciprocal", t.bands.diag),
                   needs.array("coupling", t.bands.upper), needs.y, needs.x});
  }

 private:
  Kernel kernels_[2];  ///< the second propagates non-finite numbers exactly
};

}  // namespace

Carrier tiles_kept() { return carrier<TilesKept>("tiles-kept"); }

}  // namespace oclspkt::ocl
