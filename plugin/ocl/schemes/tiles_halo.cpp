// SPDX-License-Identifier: BSD-2-Clause
// truncated-halo by work-groups, for lines laid end to end: kernels/gpu/tile_halo.cl.
#include "geometry.hpp"
#include "schemes/table.hpp"
#include "schemes/tiles.hpp"

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

  void make_kernels(const Site& s) override {
    this->make(s, kernels_[s.nan_safe], "tile_halo", this->shape(s, this->form(s.plan)));
  }

  Event finish(const Site& s, const Tiles& t) override {
    const Plan& plan = s.plan;
    const TileNeeds<T> needs(s, t);
    const Geometry groups = this->geometry(plan, t.chunk.tile_end - t.chunk.tile_begin);
    Kernel& kernel = kernels_[s.nan_safe];
    set_arguments(s.device, kernel, t.bands.lower, t.bands.diag, t.bands.upper, t.y, t.x, s.non_finite.flag(),
                  Long{plan.n}, Long{t.chunk.first}, Long{t.chunk.tile_begin}, Long{t.chunk.tile_end},
                  static_cast<Int>(plan.m), static_cast<Int>(plan.halo), Int{plan.as<Scan>().steps},
                  static_cast<Int>(shared_tiles(plan).period), local_memory(groups.local_bytes));
    return launch(s.device, kernel, groups,
                  {needs.array("lower", t.bands.lower), needs.array("diag", t.bands.diag),
                   needs.array("upper", t.bands.upper), needs.y, needs.x});
  }

 private:
  Kernel kernels_[2];  ///< the second propagates non-finite numbers exactly
};

}  // namespace

Carrier tiles_halo() { return carrier<TilesHalo>("tiles-halo"); }

}  // namespace oclspkt::ocl
