// SPDX-License-Identifier: BSD-2-Clause
// The worker for lines side by side by work-groups, with stored factors in the order of the rows. An apply is one
// launch of kernels/gpu/grid_streamed.cl, grid_shared.cl, grid_whole.cl or grid_factored.cl.
#include <algorithm>
#include <string>

#include "geometry.hpp"
#include "schemes/grids/grid_plan.hpp"
#include "schemes/table.hpp"

namespace oclspkt::ocl {
namespace {

template <typename T>
class Grids final : public FactorWorker<T> {
 public:
  static Needs needs(const Plan& plan, const LineSet&, int, Index) {
    return {.slot = plan.as<Beside>().window / plan.lanes};
  }

  double rounding() const override { return exact_ ? this->factors_.pivots().rounding : 0; }

  std::int64_t build(const Site& s, const BandsView<T>&) override {
    const Plan& plan = s.plan;
    exact_ = plan.method == Method::exact_factored;
    const GridTiles& grid = plan.as<GridTiles>();
    const std::string in_turn = grid.in_turn ? " -D IN_TURN" : "", usual = form(plan) + in_turn;
    switch (grid_form(plan)) {
      case GridForm::streamed:
        make(s, "grid_streamed", usual + " -D IN_FLIGHT=" + std::to_string(grid.in_flight));
        break;
      case GridForm::shared:
        make(s, "grid_shared",
             " -D LINES=" + std::to_string(grid.item_lines) + " -D IN_ONE_TILE=" + (in_one_tile(plan) ? "1" : "0") +
                 " -D AHEAD=" + (reads_ahead(plan) ? "1" : "0") + in_turn);
        break;
      case GridForm::whole:
        make(s, "grid_whole", usual);
        break;
      case GridForm::factored:
        make(s, "grid_factored", usual);
        break;
      case GridForm::condensed:  // GridsCondensed solves these plans
        break;
    }
    return 0;
  }

  Event enqueue(const Site& s, const Tiles& t) override {
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
        // Kernels for whole lines ignore the arguments for segments, so any buffer can stand for them.
        return launch_segments(s, t, 4 * items, Int{1}, t.y, t.y);
      case GridForm::factored:
      case GridForm::condensed:
        break;
    }
    return launch_segments(s, t, 4 * items + 2 * plan.as<Beside>().bundle);
  }

 private:
  /// Build the kernel for the shape of the plan's work-groups.
  /// @param more  additional compiler options
  void make(const Site& s, const char* name, const std::string& more) {
    Worker<T>::make(s, kernel_, name,
                    "-D BUNDLE=" + std::to_string(s.plan.as<Beside>().bundle) +
                        " -D ITEMS_DOWN=" + std::to_string(grid_items_down(s.plan)) +
                        " -D ITEM_ROWS=" + std::to_string(s.plan.item_rows) + more);
  }
  std::string form(const Plan& plan) const {
    return this->factors_.shared() ? " -D SHARED_FACTORS" : plan.symmetric() ? " -D SYMMETRIC" : "";
  }

  /// Launch the kernel over the blocks of a chunk.
  /// @param more  further arguments, after the common arguments
  template <typename... More>
  Event launch_blocks(const Site& s, const Tiles& t, Index groups, std::size_t local, const More&... more) {
    const Index blocks = t.chunk.tile_end - t.chunk.tile_begin, length = s.lines.length(0);
    const std::int64_t array = t.chunk.rows() * static_cast<Index>(sizeof(T));
    const std::int64_t factor = blocks == 0               ? 0
                                : this->factors_.shared() ? length * static_cast<Index>(sizeof(T))
                                                          : array;
    const std::size_t vector = this->factors_.shared() ? kVectorBytes : sizeof(T);
    const auto kept = [&](const char* name, const Buffer& buffer) { return BufferNeed{name, &buffer, factor, vector}; };
    return launch(s.device, kernel_, {std::max<Index>(1, groups), static_cast<std::size_t>(s.plan.items), local},
                  kept("multiplier", t.bands.lower), kept("reciprocal", t.bands.diag), kept("coupling", t.bands.upper),
                  BufferNeed{"y", &t.y, array, sizeof(T)}, BufferNeed{"x", &t.x, array, sizeof(T)}, Long{blocks},
                  Long{s.lines.block_stride()}, Long{s.lines.block_lines()}, static_cast<Int>(length),
                  Long{s.lines.row_stride()}, static_cast<Int>(s.plan.as<Beside>().bundles), more...);
  }

  /// Launch the kernel with local memory, and with one work-group for each segment of each bundle.
  template <typename... More>
  Event launch_segments(const Site& s, const Tiles& t, Index local_words, const More&... more) {
    const Index blocks = t.chunk.tile_end - t.chunk.tile_begin;
    return launch_blocks(s, t, blocks * s.plan.as<Beside>().bundles * s.plan.as<Beside>().segments,
                         size(local_words) * sizeof(T), more...);
  }

  Kernel kernel_;
  bool exact_ = false;
};

}  // namespace

Carrier grids() { return carrier<Grids>("grids"); }

}  // namespace oclspkt::ocl
