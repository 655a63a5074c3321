// SPDX-License-Identifier: BSD-2-Clause
#include "geometry.hpp"
#include "plan_parts.hpp"
#include "schemes/grids/grid_plan.hpp"

#include <algorithm>
#include <string>
#include <utility>

#include "oclspkt/error.hpp"

namespace oclspkt {
namespace {

/// The shape of a work-group: work-items down a line, rows and lines of each work-item, and tiles in flight if lines
/// are streamed.
struct GridShape {
  int down, item_rows, lines;
  int bundle_bytes;  ///< bytes of a row of all lines of a work-group; 0: the usual number
  int in_flight;     ///< tiles that wait for the unknown below them
  explicit GridShape(const Tuning::Row& row)
      : down(static_cast<int>(row[0])),
        item_rows(static_cast<int>(row[1])),
        lines(static_cast<int>(row[2])),
        bundle_bytes(static_cast<int>(row[3])),
        in_flight(static_cast<int>(row[4])) {}
  Index rows() const { return static_cast<Index>(down) * item_rows; }
  Index reach() const { return rows() * in_flight; }
};

/// Work-items that a device starts together; a smaller work-group wastes some of them.
constexpr int kLeastItems = 32;
/// Work-items that a work-group needs for the longest lines of exact-factored that one tile holds.
constexpr int kLongSharedItems = 512;
/// Fewest rows of a segment that is condensed.
constexpr Index kLeastSegment = 4;
/// Fewest segments of a line. With fewer segments, their launches take longer than streaming the lines.
constexpr Index kLeastSegments = 8;
/// Most work-items of a line in the levels above the first. They pass on the entering value one after the other.
constexpr int kMostUpperItems = 64;
/// Arrays of lines cut into segments: y, x, three of factors, one of weights. A seventh stands for all small arrays.
constexpr Index kSegmentArrays = 7;
/// Fewest tiles of a run. A run also reads two tiles for its neighbours. With three tiles in flight, a run has at least
/// twice as many tiles.
constexpr Index kShortRun = 16;
/// Fewest tiles of a run if lines share their factors. Such runs are counted through all lines.
constexpr Index kShortSharedRun = 8;
/// Words of local memory for each work-item (kernels/gpu/grid_factored.cl). Each line takes two more words.
constexpr Index kLocalWords = 4;
/// Most rows of a work-item. Registers do not hold more rows.
constexpr Index kMostItemRows = 16;

/// The first shape of a table whose reach is at least `rows` rows, or the last shape if there is none.
GridShape first_of(const DeviceTraits& traits, const std::string& table, Index rows) {
  const std::vector<Tuning::Row>& all = figures_of(traits).rows("grids." + table);
  const auto at = std::find_if(all.begin(), all.end(), [&](const auto& row) { return GridShape(row).reach() >= rows; });
  return GridShape(at != all.end() ? *at : all.back());
}

bool is_wide(int word) { return word > static_cast<int>(sizeof(float)); }
const char* scalar_of(int word) { return is_wide(word) ? "double" : "float"; }

/// True if work-groups of this device hold whole lines of exact-factored that are too long for the usual tiles.
bool holds_long_lines(Index length, const GridDemand& demand, int word, const DeviceTraits& traits) {
  if (demand.form != Form::shared || demand.method != Method::exact_factored) return false;
  if (demand.in_turn || demand.one_item || demand.item_rows > 0 || length <= kMostGridRows) return false;
  const GridShape longest(figures_of(traits).rows(std::string("grids.long_shared_") + scalar_of(word)).back());
  const Index words = shared_grid_words(longest.bundle_bytes / word, longest.down, longest.rows(), true);
  return length <= longest.rows() && traits.group_items >= kLongSharedItems && words * word <= traits.local_bytes;
}

/// The shape that suits a demand, whether or not the device allows it.
GridShape wanted_shape(Index length, const GridDemand& demand, int word, const DeviceTraits& traits) {
  const bool streamed = demand.method == Method::truncated_streamed, shared = demand.form == Form::shared;
  const std::string scalar = scalar_of(word);
  const auto first = [&](const std::string& table, Index rows) { return first_of(traits, table, rows); };
  if (demand.one_item) return first("one_item", 0);
  if (holds_long_lines(length, demand, word, traits)) return first("long_shared_" + scalar, length);
  const bool only_short = streamed && !is_wide(word) && !shared && demand.reach < length;
  if (length <= (only_short ? figures_of(traits).count("grids.short_line") : kMostGridRows)) {
    return first(shared ? "whole_shared_" + scalar : "whole", length);
  }
  if (demand.segments) return first(demand.at_once() ? "segment_shared_" + scalar : "segment", 0);
  if (!streamed) return first("factored", demand.reach);
  if (shared) return first("streamed_shared_" + scalar, demand.reach);
  const bool symmetric = demand.form == Form::symmetric && !is_wide(word);
  return first((symmetric ? "streamed_symmetric_" : "streamed_") + scalar, demand.reach);
}

/// Choose the number of lines of a work-group, and its shape, within the limits of lines and device.
std::pair<int, GridShape> choose_shape(const LineSet& lines, const GridDemand& demand, int word,
                                       const DeviceTraits& traits) {
  const Index length = lines.length(0), quantum = 16 / word;
  GridShape shape = wanted_shape(length, demand, word, traits);
  if (demand.item_rows > 0) {
    shape.item_rows = static_cast<int>(std::min(round_up(demand.item_rows, quantum), kMostItemRows));
  }
  // True if kernels/gpu/grid_shared.cl or the condensing kernels for shared factors solve the plan.
  const auto passes = [&] {
    const bool whole = shape.rows() >= length;
    if (demand.at_once() && !whole) return true;
    return demand.form == Form::shared && (whole ? !demand.in_turn : demand.method == Method::truncated_streamed);
  };
  const int bytes = shape.bundle_bytes > 0 ? shape.bundle_bytes
                                           : static_cast<int>(figures_of(traits).number("grids.bundle", passes()));
  int bundle = std::max(bytes / word, kLeastItems / shape.down);
  while (shape.down > 1 && shape.rows() / 2 >= length) shape.down /= 2;
  while (bundle > 1 && bundle / 2 >= lines.block_lines()) bundle /= 2;
  const auto fits = [&] {
    const Index numbers = static_cast<Index>(bundle) * shape.down;
    const Index words = passes() ? shared_grid_words(bundle, shape.down, shape.rows(), shape.rows() >= length)
                                 : kLocalWords * numbers + 2 * bundle;
    return numbers / shape.lines <= traits.group_items && words * word <= traits.local_bytes;
  };
  // First put fewer lines into a bundle, which makes more work-groups and keeps the tile as long as demanded. Shorten
  // the tile only if fewer lines do not suffice.
  while (bundle > 8 && !fits()) bundle /= 2;
  while (shape.down > 1 && !fits()) shape.down /= 2;
  if (!passes()) shape.lines = 1;
  while (bundle > 1 && !fits()) bundle /= 2;
  shape.lines = std::min(shape.lines, bundle);
  return {bundle, shape};
}

/// Cut the lines into runs, so that a few lines keep all cores busy. @return tiles of a run
/// @param group_bytes  bytes of an array with one number for each work-item of the launch, if lines are not cut
Index tiles_of_run(Index tiles, Index group_bytes, int in_flight, const DeviceTraits& traits) {
  const Index wanted = quotient_up(figures_of(traits).count("grids.busy") * std::max(1, traits.cores), group_bytes);
  return std::min(tiles, std::max(quotient_up(tiles, wanted), kShortRun * std::max(1, in_flight - 1)));
}

/// Cut the tiles of all lines into as many runs as the device runs work-groups at a time, unless runs get too short.
void cut_through_lines(Index bundles, Index tiles_of_line, int word, const DeviceTraits& traits, Plan& plan) {
  const Index cores = std::max(1, traits.cores), tiles = bundles * tiles_of_line;
  if (tiles_of_line == 1) {
    // In double, work-items with two lines or with many rows take twice the registers.
    const bool heavy = is_wide(word) && (plan.as<GridTiles>().item_lines > 1 || !reads_ahead(plan));
    const Index items = figures_of(traits).count("grids.whole_items") / (heavy ? 2 : 1);
    plan.run_tiles = static_cast<int>(quotient_up(tiles, std::max<Index>(1, items / plan.items) * cores));
    return;
  }
  const Index wanted = figures_of(traits).count("grids.shared_groups", is_wide(word)) * cores;
  plan.run_tiles = static_cast<int>(std::max(quotient_up(tiles, wanted), std::min(tiles_of_line, kShortSharedRun)));
  plan.idle = std::max(1.0, static_cast<double>(wanted) / static_cast<double>(quotient_up(tiles, plan.run_tiles)));
}

}  // namespace

Index shared_grid_words(Index bundle, Index items_down, Index tile_rows, bool whole) {
  const Index told = whole ? 2 * items_down : 3 * items_down + 1, records = whole ? 1 : 4;
  return told * bundle + records * (3 * tile_rows + 2 * items_down);
}

UpperTiles upper_tiles(const Plan& plan, Index block_lines) {
  const Index needed = quotient_up(plan.as<Beside>().segments, plan.item_rows);
  UpperTiles tiles{1, 1, 0};
  while (tiles.down < needed && 2 * tiles.down <= std::min(plan.items, kMostUpperItems)) tiles.down *= 2;
  while (tiles.bundle < block_lines && 2 * tiles.bundle * tiles.down <= plan.items) tiles.bundle *= 2;
  tiles.rows = static_cast<Index>(tiles.down) * plan.item_rows;
  return tiles;
}

SegmentCut grid_cut(const Plan& plan, Index block_lines) {
  return {plan.m, upper_tiles(plan, block_lines).rows, plan.symmetric()};
}

Plan make_grid_plan(const LineSet& lines, const GridDemand& demand, int word, const DeviceTraits& traits) {
  if (demand.item_rows < 0) {
    throw InvalidInput("a partition needs at least 1 row (0: chosen at set-up), not " +
                       std::to_string(demand.item_rows));
  }
  Plan plan{.method = demand.method, .form = demand.form, .n = lines.rows(), .items = 1, .made_by = "grids"};
  keep_figures(traits, plan);
  plan.add<Beside>();
  plan.add<GridTiles>();
  Beside& beside = plan.as<Beside>();
  GridTiles& grid = plan.as<GridTiles>();
  beside.segments = 1;
  beside.window = 1;  // local memory holds the values that a work-group keeps
  if (plan.n == 0) return plan;
  const Index length = lines.length(0);
  const auto [bundle, shape] = choose_shape(lines, demand, word, traits);
  beside.bundle = bundle;
  beside.bundles = quotient_up(lines.block_lines(), beside.bundle);
  plan.items = bundle / shape.lines * shape.down;
  grid.item_lines = shape.lines;
  plan.item_rows = shape.item_rows;
  plan.m = length;
  grid.in_turn =
      demand.method == Method::exact_factored && (demand.in_turn || !(in_one_tile(plan) || demand.at_once()));
  const Index groups = beside.bundles * lines.blocks(), bytes = groups * bundle * shape.down * word;
  if (demand.method == Method::truncated_streamed && demand.form != Form::shared) {
    const Index tiles = quotient_up(length, shape.rows());
    const Index run = tiles_of_run(tiles, bytes, shape.in_flight, traits);
    beside.segments = quotient_up(tiles, run);
    plan.m = std::min(length, run * shape.rows());
    grid.in_flight = tiles > 1 ? shape.in_flight : 1;
    plan.halo = beside.segments > 1 ? shape.reach() : 0;
  }
  beside.chunk_blocks = choose_chunk_blocks(lines, beside.window, word, traits);
  if (demand.segments && length > shape.rows() && shape.rows() >= kLeastSegment) {
    beside.segments = quotient_up(length, shape.rows());
    plan.m = shape.rows();
    if (grid_condenses_at_once(plan)) {
      const Index runs = figures_of(traits).count("grids.segment_groups") * std::max(1, traits.cores);
      plan.run_tiles = static_cast<int>(quotient_up(groups * beside.segments, runs));
    }
    const std::int64_t most = std::min(traits.chunk_bytes, traits.memory_bytes / kSegmentArrays);
    if (beside.chunk_blocks < lines.blocks() || lines.extent() > most / word) beside.chunk_blocks = 0;
  }
  const bool streams = plan.method == Method::exact_factored && !in_one_tile(plan);
  const Index wanted = figures_of(traits).count("grids.busy", streams) * std::max(1, traits.cores);
  plan.idle = std::max(1.0, static_cast<double>(wanted) / static_cast<double>(bytes * beside.segments));
  if (goes_through_tiles(plan)) cut_through_lines(groups, quotient_up(length, shape.rows()), word, traits, plan);
  return plan;
}

std::vector<Plan> make_exact_grid_plans(const LineSet& lines, GridDemand demand, int word, const DeviceTraits& traits) {
  demand.method = Method::exact_factored;
  demand.in_turn = demand.one_item = demand.segments = false;
  Plan whole = make_grid_plan(lines, demand, word, traits);
  if (whole.idle > 1) {
    GridDemand taller = demand;
    taller.reach = std::max(taller.reach, kMostGridRows);
    whole = make_grid_plan(lines, taller, word, traits);
  }
  demand.segments = true;
  const Plan cut = make_grid_plan(lines, demand, word, traits);
  if (!grid_condenses(cut) || cut.as<Beside>().chunk_blocks == 0) return {whole};
  const bool pays = cut.idle * cut.words_per_row() < whole.idle * whole.words_per_row();
  return pays && cut.as<Beside>().segments >= kLeastSegments ? std::vector<Plan>{cut, whole}
                                                             : std::vector<Plan>{whole, cut};
}

}  // namespace oclspkt
