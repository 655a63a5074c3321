// SPDX-License-Identifier: BSD-2-Clause
// Lines side by side by work-groups and stored factors in the order of the rows, but for those that are condensed: one
// launch of kernels/gpu/grid_streamed.cl, grid_shared.cl, grid_whole.cl or grid_factored.cl.
#include <algorithm>
#include <string>

#include "geometry.hpp"
#include "rounding.hpp"
#include "schemes/grids/grid_plan.hpp"
#include "schemes/table.hpp"
#include "schemes/work_groups.hpp"

namespace oclspkt::ocl {
namespace {

template <typename T>
class Grids final : public GroupPart<T> {
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

  void make_kernels(const Site& s) override {
    const Plan& plan = s.plan;
    const GridTiles& grid = plan.as<GridTiles>();
    const std::string in_turn = grid.in_turn ? " -D IN_TURN" : "", usual = form(plan) + in_turn;
    switch (grid_form(plan)) {
      case GridForm::streamed:
        return make(s, "grid_streamed", usual + " -D IN_FLIGHT=" + std::to_string(grid.in_flight));
      case GridForm::shared:
        return make(s, "grid_shared",
                    " -D LINES=" + std::to_string(grid.item_lines) + " -D IN_ONE_TILE=" +
                        (in_one_tile(plan) ? "1" : "0") + " -D AHEAD=" + (reads_ahead(plan) ? "1" : "0") + in_turn);
      case GridForm::whole:
        return make(s, "grid_whole", usual);
      case GridForm::factored:
        return make(s, "grid_factored", usual);
      case GridForm::condensed:  // has a part of its own
        break;
    }
  }

  Event finish(const Site& s, const Tiles& t) override {
    const Plan& plan = s.plan;
    const Index items = plan.items, tiles_of_line = quotient_up(s.lines.length(0), grid_tile_rows(plan));
    switch (grid_form(plan)) {
      case GridForm::streamed:
        return launch_segments(s, t, 4 * items + plan.as<Beside>().bundle, static_cast<Int>(plan.as<Beside>().segments),
                               static_cast<Int>(quotient_up(plan.m, grid_tile_rows(plan))));
      case GridForm::shared: {
        const Index of_block = plan.as<Beside>().bundles * (in_one_tile(plan) ? 1 : tiles_of_line);
        const Index first = t.chunk.tile_begin * of_block, end = t.chunk.tile_end * of_block;
        const Index groups = quotient_up(end, plan.run_tiles) - first / plan.run_tiles;
        return launch_blocks(s, t, groups, 0, Long{first}, Int{plan.run_tiles});
      }
      case GridForm::whole:
        // Arguments that whole lines have no use for stand for the segments of grids_condensed.
        return launch_segments(s, t, 4 * items, Int{1}, t.y, t.y);
      case GridForm::factored:
      case GridForm::condensed:
        break;
    }
    return launch_segments(s, t, 4 * items + 2 * plan.as<Beside>().bundle);
  }

 private:
  /// Build the kernel for the shape of the plan's work-groups. @param more  further options
  void make(const Site& s, const char* name, const std::string& more) {
    GroupPart<T>::make(s, kernel_, name,
                       "-D BUNDLE=" + std::to_string(s.plan.as<Beside>().bundle) +
                           " -D ITEMS_DOWN=" + std::to_string(grid_items_down(s.plan)) +
                           " -D ITEM_ROWS=" + std::to_string(s.plan.item_rows) + more);
  }
  std::string form(const Plan& plan) const {
    return factors_.shared() ? " -D SHARED_FACTORS" : plan.symmetric() ? " -D SYMMETRIC" : "";
  }

  /// Launch the kernel over the blocks of a chunk. @param more  arguments behind those that all have
  template <typename... More>
  Event launch_blocks(const Site& s, const Tiles& t, Index groups, std::size_t local, const More&... more) {
    const Index blocks = t.chunk.tile_end - t.chunk.tile_begin, length = s.lines.length(0);
    const std::int64_t array = t.chunk.rows() * static_cast<Index>(sizeof(T));
    const std::int64_t factor = blocks == 0 ? 0 : factors_.shared() ? length * static_cast<Index>(sizeof(T)) : array;
    const std::size_t vector = factors_.shared() ? kVectorBytes : sizeof(T);
    set_arguments(s.device, kernel_, t.bands.lower, t.bands.diag, t.bands.upper, t.y, t.x, Long{blocks},
                  Long{s.lines.block_stride()}, Long{s.lines.block_lines()}, static_cast<Int>(length),
                  Long{s.lines.row_stride()}, static_cast<Int>(s.plan.as<Beside>().bundles), more...);
    return launch(s.device, kernel_, {std::max<Index>(1, groups), static_cast<std::size_t>(s.plan.items), local},
                  {{"multiplier", &t.bands.lower, factor, vector},
                   {"reciprocal", &t.bands.diag, factor, vector},
                   {"coupling", &t.bands.upper, factor, vector},
                   {"y", &t.y, array, sizeof(T)},
                   {"x", &t.x, array, sizeof(T)}});
  }

  /// The same with a work-group for each segment of each bundle, and local memory as the last argument.
  template <typename... More>
  Event launch_segments(const Site& s, const Tiles& t, Index local_words, const More&... more) {
    const Index blocks = t.chunk.tile_end - t.chunk.tile_begin;
    const std::size_t local = size(local_words) * sizeof(T);
    return launch_blocks(s, t, blocks * s.plan.as<Beside>().bundles * s.plan.as<Beside>().segments, local, more...,
                         local_memory(local));
  }

  Kernel kernel_;
  Factors<T> factors_;
  bool exact_ = false;
};

}  // namespace

Carrier grids() { return carrier<Grids>("grids"); }

}  // namespace oclspkt::ocl
