// SPDX-License-Identifier: BSD-2-Clause
// truncated-streamed by work-groups and stored factors, for lines laid end to end: kernels/gpu/tile_stored.cl.
#include "schemes/table.hpp"
#include "schemes/tiles/tile_part.hpp"

namespace oclspkt::ocl {
namespace {

template <typename T>
class TilesStreamed final : public StoredTilePart<T> {
 public:
  static Needs needs(const Plan&, const LineSet&, int, Index) { return {}; }

  void make_kernels(const Site& s) override {
    this->make_forms(s, "tile_stored",
                     this->form(s.plan) + (s.plan.as<StoredFactors>().corrects ? " -D CORRECTED" : "") +
                         " -D CORE_GROUPS=" + std::to_string(runs_of_core(s.plan, sizeof(T))));
  }

  /// The runs of a chunk.
  Event finish(const Site& s, const Tiles& t) override {
    const Plan& plan = s.plan;
    const Geometry groups = this->geometry(plan, t.chunk.tile_end - t.chunk.tile_begin);
    return this->launch_forms(s, t, {"multiplier", "reciprocal", "coupling"}, groups, this->kBusyGroups, Long{plan.m},
                              Int{plan.run_tiles}, static_cast<Int>(plan.halo),
                              static_cast<Int>(shared_tiles(plan).period), local_memory(groups.local_bytes));
  }
};

}  // namespace

Carrier tiles_streamed() { return carrier<TilesStreamed>("tiles-streamed"); }

}  // namespace oclspkt::ocl
