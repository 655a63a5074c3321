// SPDX-License-Identifier: BSD-2-Clause
// truncated-halo by work-groups, for lines laid end to end: kernels/gpu/tile_halo.cl, and kernels/gpu/tile_shared.cl
// where they keep the stored factors of lines that are all alike.
#include "schemes/table.hpp"
#include "schemes/tiles/tile_part.hpp"

namespace oclspkt::ocl {
namespace {

template <typename T>
class TilesHalo final : public TilePart<T> {
 public:
  static Needs needs(const Plan&, const LineSet&, int, Index) { return {}; }

  /// Floats wait for the memory either way.
  bool nan_safe_at_once(const Plan& plan, std::int64_t nan_safe_bytes) const override {
    return sizeof(T) == sizeof(float) || TilePart<T>::nan_safe_at_once(plan, nan_safe_bytes);
  }

  void make_kernels(const Site& s) override { this->make_forms(s, "tile_halo", this->form(s.plan)); }

  Event finish(const Site& s, const Tiles& t) override {
    const Plan& plan = s.plan;
    const Geometry groups = this->geometry(plan, t.chunk.tile_end - t.chunk.tile_begin);
    return this->launch_forms(s, t, {"lower", "diag", "upper"}, groups, this->kBusyGroups, static_cast<Int>(plan.m),
                              static_cast<Int>(plan.halo), Int{plan.as<Scan>().steps},
                              static_cast<Int>(shared_tiles(plan).period), local_memory(groups.local_bytes));
  }
};

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

Carrier tiles_halo() { return carrier<TilesHalo>("tiles-halo"); }
Carrier tiles_kept() { return carrier<TilesKept>("tiles-kept"); }

}  // namespace oclspkt::ocl
