// SPDX-License-Identifier: BSD-2-Clause
#pragma once

#include <algorithm>
#include <string>

#include "geometry.hpp"
#include "grid_plan.hpp"
#include "rounding.hpp"
#include "schemes/table.hpp"
#include "schemes/tiles.hpp"

namespace oclspkt::ocl {

/// What schemes by work-groups share for lines side by side, by stored factors in the order of the rows.
template <typename T>
class GridPart : public GroupPart<T> {
 public:
  static Needs needs(const Plan& plan, const LineSet&, int, Index) {
    return {.slot = plan.as<Beside>().window / plan.lanes};
  }

  Resident store(const Plan& plan, const LineSet& lines, const BandsView<T>& bands, bool) override {
    exact_ = plan.method == Method::exact_factored;
    factors_.factor(lines, bands, plan.form, Order::down, 0, plan.narrow);
    return plan.narrow ? resident(factors_.narrow_view()) : resident(factors_.view());
  }
  void release_stored() override { factors_.release(); }
  const Factors<T>* factors() const override { return &factors_; }
  double rounding() const override { return exact_ ? factors_.pivots().rounding : 0; }
  std::int64_t host_bytes() const override { return factors_.bytes(); }

 protected:
  /// Options of a kernel: the shape of its work-groups, the form of its factors, and `more`.
  static std::string shape(const Plan& plan, const std::string& more) {
    return "-D BUNDLE=" + std::to_string(plan.as<Beside>().bundle) +
           " -D ITEMS_DOWN=" + std::to_string(grid_items_down(plan)) +
           " -D ITEM_ROWS=" + std::to_string(plan.item_rows) + more;
  }
  std::string form(const Plan& plan) const {
    return factors_.shared() ? " -D SHARED_FACTORS" : plan.symmetric() ? " -D SYMMETRIC" : "";
  }

  /// Launch a kernel over the blocks of a chunk. @param more  arguments behind those that all have
  template <typename... More>
  Event launch_blocks(const Site& s, Kernel& kernel, const Tiles& t, Index groups, std::size_t local,
                      const More&... more) {
    const Index blocks = t.chunk.tile_end - t.chunk.tile_begin, length = s.lines.length(0);
    const std::int64_t array = t.chunk.rows() * static_cast<Index>(sizeof(T));
    const std::int64_t factor = blocks == 0 ? 0 : factors_.shared() ? length * static_cast<Index>(sizeof(T)) : array;
    const std::size_t vector = factors_.shared() ? kVectorBytes : sizeof(T);
    set_arguments(s.device, kernel, t.bands.lower, t.bands.diag, t.bands.upper, t.y, t.x, Long{blocks},
                  Long{s.lines.block_stride()}, Long{s.lines.block_lines()}, static_cast<Int>(length),
                  Long{s.lines.row_stride()}, static_cast<Int>(s.plan.as<Beside>().bundles), more...);
    return launch(s.device, kernel, {std::max<Index>(1, groups), static_cast<std::size_t>(s.plan.items), local},
                  {{"multiplier", &t.bands.lower, factor, vector},
                   {"reciprocal", &t.bands.diag, factor, vector},
                   {"coupling", &t.bands.upper, factor, vector},
                   {"y", &t.y, array, sizeof(T)},
                   {"x", &t.x, array, sizeof(T)}});
  }

  /// The same with a work-group for each segment of each bundle, and local memory as the last argument.
  template <typename... More>
  Event launch_segments(const Site& s, Kernel& kernel, const Tiles& t, Index local_words, const More&... more) {
    const Index blocks = t.chunk.tile_end - t.chunk.tile_begin;
    const std::size_t local = size(local_words) * sizeof(T);
    return launch_blocks(s, kernel, t, blocks * s.plan.as<Beside>().bundles * s.plan.as<Beside>().segments, local,
                         more..., local_memory(local));
  }

 private:
  Factors<T> factors_;
  bool exact_ = false;
};

}  // namespace oclspkt::ocl
