// SPDX-License-Identifier: BSD-2-Clause
#include "grid_plan.hpp"

#include <algorithm>
#include <span>
#include <string>
#include <utility>

#include "oclspkt/error.hpp"

namespace oclspkt {
namespace {

/// Work-items down a line, and rows of each.
struct GridShape {
  int down, item_rows;
  Index rows() const { return static_cast<Index>(down) * item_rows; }
};

/// Bytes of a row that a work-group takes: what its rows are read and written in. Half of it costs a quarter of the
/// rate where rows lie far apart, and twice as much makes groups of which few run at once.
constexpr int kBundleBytes = 128;
/// Work-items that are started together; fewer of them waste the others.
constexpr int kLeastItems = 32;

// Measured on an H200 (NVIDIA) with lines of 64 to 65536 rows: share of a stream of as many words, along y / along z.
/// Lines that one tile holds, 64 rows: float 1.00 / 0.94, double 0.99 / 0.92; shared 0.87 / 0.84, 0.94 / 0.86. 256
/// rows: float 0.87 / 0.88, double 0.98 / 0.91.
constexpr GridShape kWhole[] = {{4, 16}, {8, 16}, {16, 16}};
/// 8 x 8: 0.95 / 0.93, of lines of 65536 rows 0.90. 16 x 8: 0.95 / 0.88.
constexpr GridShape kStreamedFloat[] = {{8, 8}, {16, 8}};
/// 0.98 / 0.91, of lines of 65536 rows 0.92. Longer tiles do not stay in registers.
constexpr GridShape kStreamedDouble[] = {{16, 8}};
/// 4 x 16 in float: 0.71 / 0.64, 8 x 16 in double: 0.72 / 0.68.
constexpr GridShape kStreamedShared[] = {{4, 16}, {8, 16}};
/// Against 5 words, float / double: 0.80 / 0.89 where lines are short enough for the cache, 0.68 / 0.66 where they are
/// not; few long lines do not fill the device.
constexpr GridShape kFactored[] = {{8, 16}};
/// Every line by one work-item: 0.66 / 0.70.
constexpr GridShape kOneItem[] = {{1, 16}};
/// Rows up to which a tile that holds whole lines is faster than tiles that are streamed, float and general.
constexpr Index kShortLine = 64;

/// Bytes that a core's work-items hold of one array, for it to keep reading.
constexpr Index kBusyBytes = 16 << 10;
/// Tiles of a run, at least, of which two more are read for its neighbours' sake.
constexpr Index kShortRun = 16;
/// Words of local memory a work-item (kernels/gpu/grid_streamed.cl), and two more a line.
constexpr Index kLocalWords = 6;
/// Most rows of a work-item: more would not stay in registers.
constexpr Index kMostItemRows = 16;

using Shapes = std::span<const GridShape>;

/// The shortest that has so many rows, or else the longest.
GridShape first_of(Shapes shapes, Index rows) {
  const auto at = std::find_if(shapes.begin(), shapes.end(), [&](const GridShape& s) { return s.rows() >= rows; });
  return at != shapes.end() ? *at : shapes.back();
}

/// The shape for a demand, whatever the device.
GridShape wanted_shape(Index length, const GridDemand& demand, int word) {
  const bool streamed = demand.method == Method::truncated_streamed, wide = word > static_cast<int>(sizeof(float));
  if (demand.one_item) return kOneItem[0];
  const bool only_short = streamed && !wide && demand.form != Form::shared && demand.tile_rows < length;
  if (length <= (only_short ? kShortLine : kMostGridRows)) return first_of(kWhole, length);
  if (!streamed) return first_of(kFactored, demand.tile_rows);
  if (demand.form == Form::shared) return first_of(kStreamedShared, demand.tile_rows);
  return first_of(wide ? Shapes(kStreamedDouble) : Shapes(kStreamedFloat), demand.tile_rows);
}

/// Lines of a work-group and the shape for each, no larger than lines and device allow.
std::pair<int, GridShape> choose_shape(const LineSet& lines, const GridDemand& demand, int word,
                                       const DeviceTraits& traits) {
  const Index length = lines.length(0), quantum = 16 / word;
  GridShape shape = wanted_shape(length, demand, word);
  if (demand.item_rows > 0) {
    shape.item_rows = static_cast<int>(std::min(round_up(demand.item_rows, quantum), kMostItemRows));
  }
  int bundle = std::max(kBundleBytes / word, kLeastItems / shape.down);
  while (shape.down > 1 && shape.rows() / 2 >= length) shape.down /= 2;
  while (bundle > 1 && bundle / 2 >= lines.block_lines()) bundle /= 2;
  const auto fits = [&] {
    const Index items = static_cast<Index>(bundle) * shape.down;
    return items <= traits.group_items && (kLocalWords * items + 2 * bundle) * word <= traits.local_bytes;
  };
  // Fewer lines first: then there are more groups, and a tile stays as long as it was asked for.
  while (bundle > 8 && !fits()) bundle /= 2;
  while (shape.down > 1 && !fits()) shape.down /= 2;
  while (bundle > 1 && !fits()) bundle /= 2;
  return {bundle, shape};
}

/// Cut the lines into runs, so that a few lines keep all cores busy.
/// @param group_bytes of a number for each work-item, of all groups if lines are whole
Index tiles_of_run(Index tiles, Index group_bytes, const DeviceTraits& traits) {
  const Index wanted = quotient_up(kBusyBytes * std::max(1, traits.cores), group_bytes);
  return std::min(tiles, std::max(quotient_up(tiles, wanted), kShortRun));
}

}  // namespace

Plan make_grid_plan(const LineSet& lines, const GridDemand& demand, int word, const DeviceTraits& traits) {
  if (demand.item_rows < 0) {
    throw InvalidInput("a partition needs at least 1 row (0: chosen), not " + std::to_string(demand.item_rows));
  }
  Plan plan;
  plan.method = demand.method;
  plan.form = demand.form;
  plan.n = lines.rows();
  plan.items = 1;
  plan.segments = 1;
  plan.window = 1;  // what a work-group keeps is in local memory
  if (plan.n == 0) return plan;
  const Index length = lines.length(0);
  const auto [bundle, shape] = choose_shape(lines, demand, word, traits);
  plan.bundle = bundle;
  plan.bundles = quotient_up(lines.block_lines(), plan.bundle);
  plan.items = bundle * shape.down;
  plan.item_rows = shape.item_rows;
  plan.m = length;
  const Index bytes = plan.bundles * lines.blocks() * plan.items * word;
  if (demand.method == Method::truncated_streamed) {
    const Index tiles = quotient_up(length, shape.rows()), run = tiles_of_run(tiles, bytes, traits);
    plan.segments = quotient_up(tiles, run);
    plan.m = std::min(length, run * shape.rows());
    plan.halo = plan.segments > 1 ? shape.rows() : 0;
  }
  plan.chunk_blocks = choose_chunk_blocks(lines, plan.window, word, traits);
  const auto busy = static_cast<double>(bytes * plan.segments);
  plan.idle = std::max(1.0, static_cast<double>(kBusyBytes * std::max(1, traits.cores)) / busy);
  return plan;
}

}  // namespace oclspkt
