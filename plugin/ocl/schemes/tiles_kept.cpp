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
    this->make_forms(s, "tile_shared",
                     " -D STEPS=" + std::to_string(plan.as<Scan>().steps) +
                         " -D ITEM_TILES=" + std::to_string(plan.as<KeptTiles>().item_tiles) +
                         (plan.as<KeptTiles>().symmetric ? " -D SYMMETRIC" : "") +
                         (plan.as<KeptTiles>().tells_products ? " -D PRODUCTS_TOLD" : ""));
  }

  Event finish(const Site& s, const Tiles& t) override {
    const Plan& plan = s.plan;
    const Index groups = std::max<Index>(1, std::min<Index>(plan.runs, t.chunk.tile_end - t.chunk.tile_begin));
    return this->launch_forms(s, t, {"multiplier", "reciprocal", "coupling"},
                              {groups, static_cast<std::size_t>(plan.items)}, groups, static_cast<Int>(plan.m),
                              static_cast<Int>(plan.halo), static_cast<Int>(shared_tiles(plan).period));
  }
};

}  // namespace

Carrier tiles_kept() { return carrier<TilesKept>("tiles-kept"); }

}  // namespace oclspkt::ocl
