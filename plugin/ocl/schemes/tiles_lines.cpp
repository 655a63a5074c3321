// SPDX-License-Identifier: BSD-2-Clause
// exact-factored by work-groups that take whole lines, laid end to end and all alike: kernels/gpu/tile_line.cl.
#include "geometry.hpp"
#include "line_factors.hpp"
#include "schemes/table.hpp"
#include "schemes/tiles.hpp"

namespace oclspkt::ocl {
namespace {

template <typename T>
class TilesLines final : public GroupPart<T> {
 public:
  static Needs needs(const Plan&, const LineSet&, int, Index) { return {}; }

  Resident store(const Plan& plan, const LineSet&, const BandsView<T>& bands, bool) override {
    factors_.factor(bands, plan.m, line_tile_rows(plan));
    return resident(factors_.factors.view());
  }
  void release_stored() override { factors_.factors = {}; }

  void make_kernels(const Site& s) override {
    const Plan& plan = s.plan;
    this->make(s, kernel_, "tile_line",
               "-D GROUP_ITEMS=" + std::to_string(plan.items / plan.as<KeptTiles>().teams) +
                   " -D ITEM_ROWS=" + std::to_string(plan.item_rows) + " -D GUARDED=0" +
                   " -D STEPS=" + std::to_string(plan.as<Scan>().steps) +
                   " -D TOGETHER=" + std::to_string(plan.as<KeptTiles>().together) +
                   " -D TEAMS=" + std::to_string(plan.as<KeptTiles>().teams) +
                   (plan.as<KeptTiles>().mirrors ? " -D COUPLINGS_SERVE" : "") +
                   (factors_.own_last_row ? " -D OWN_LAST_ROW" : ""));
  }

  std::int64_t bring(const Site& s, const BandsView<T>&) override {
    const std::int64_t bytes =
        this->bring_array(s, weights_, factors_.weights) + this->bring_array(s, reduced_, factors_.reduced);
    factors_.weights = {};
    factors_.reduced = {};
    return bytes;
  }

  /// The lines of a chunk.
  Event finish(const Site& s, const Tiles& t) override {
    constexpr auto kWord = static_cast<Index>(sizeof(T));
    const Plan& plan = s.plan;
    const Index lines = t.chunk.tile_end - t.chunk.tile_begin, groups = std::clamp<Index>(lines, 1, plan.runs);
    const std::int64_t array = t.chunk.rows() * kWord, stored = plan.m * kWord;
    const Geometry geometry{groups, static_cast<std::size_t>(plan.items), size(first_row_words(plan)) * sizeof(T)};
    set_arguments(s.device, kernel_, t.bands.lower, t.bands.diag, t.bands.upper, weights_, reduced_, t.y, t.x,
                  Long{t.chunk.tile_begin * plan.m - t.chunk.first}, static_cast<Int>(lines), static_cast<Int>(plan.m),
                  static_cast<Int>(line_tiles(plan)), factors_.inner_lower, factors_.inner_upper, factors_.last_lower,
                  local_memory(geometry.local_bytes));
    return launch(s.device, kernel_, geometry,
                  {{"multiplier", &t.bands.lower, stored, kVectorBytes},
                   {"reciprocal", &t.bands.diag, stored, kVectorBytes},
                   {"coupling", &t.bands.upper, stored, kVectorBytes},
                   {"weights", &weights_, 3 * line_tile_rows(plan) * kWord, kVectorBytes},
                   {"reduced", &reduced_, 3 * line_tiles(plan) * kWord, sizeof(T)},
                   {"y", &t.y, array, kVectorBytes},
                   {"x", &t.x, array, kVectorBytes}});
  }

 private:
  Kernel kernel_;
  LineFactors<T> factors_;
  Buffer weights_, reduced_;
};

}  // namespace

Carrier tiles_lines() { return carrier<TilesLines>("tiles-lines"); }

}  // namespace oclspkt::ocl
