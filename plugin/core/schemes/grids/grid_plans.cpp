// SPDX-License-Identifier: BSD-2-Clause
#include "geometry.hpp"
#include "plan_parts.hpp"
#include "schemes/grids/grid_plan.hpp"

#include <algorithm>
#include <span>
#include <string>
#include <utility>

#include "oclspkt/error.hpp"

namespace oclspkt {
namespace {

/// Work-items down a line, rows of each, and lines; tiles that wait where they are streamed.
struct GridShape {
  int down = 1, item_rows = 1, lines = 1;
  int bundle_bytes = 0;  ///< of a row that a work-group takes; 0: as usual
  int in_flight = 1;     ///< tiles
  Index rows() const { return static_cast<Index>(down) * item_rows; }
  Index reach() const { return rows() * in_flight; }
};

/// Bytes of a row that a work-group takes: what its rows are read and written in. Half of it costs a quarter of the
/// rate where rows lie far apart, and twice as much makes groups of which few run at once.
constexpr int kBundleBytes = 128;
/// The same of shared factors, which are fetched for all lines at once.
constexpr int kSharedBundleBytes = 256;
/// Work-items that are started together; fewer of them waste the others.
constexpr int kLeastItems = 32;

// Measured on an H200 (NVIDIA) with lines of 64 to 65536 rows: share of a stream of as many words, along y / along z.
/// Lines that one tile holds, 64 rows: float 1.00 / 0.94, double 0.99 / 0.92. 256 rows: float 0.87 / 0.88, double 0.98
/// / 0.91.
constexpr GridShape kWhole[] = {{4, 16}, {8, 16}, {16, 16}};
/// Against 5 words. 8 x 8: 0.95 / 0.93, of lines of 65536 rows 0.90. 16 x 8: 0.95 / 0.88; where two tiles of it wait,
/// of 1024 rows 0.91 / 0.89, of 16384 0.84 / 0.85, where 8 x 8 with three has 0.81 / 0.78 and 0.66 / 0.68.
constexpr GridShape kStreamedFloat[] = {{8, 8}, {16, 8}, {.down = 16, .item_rows = 8, .in_flight = 2}};
/// 0.98 / 0.91, of lines of 65536 rows 0.92; where three wait 0.82 / 0.84, of 16384 0.72. 16 x 6 with four: 0.84 /
/// 0.81.
constexpr GridShape kStreamedDouble[] = {{16, 8}, {.down = 16, .item_rows = 8, .in_flight = 3}};
/// Symmetric, against 4 words. 4 x 16, three of which wait: of 1024 rows 0.89 / 0.86, of 256 0.85 / 0.78, where a tile
/// of whole lines has 0.75 / 0.77; 16 x 8 with two 0.87 / 0.85 and 0.74; 8 x 8 with three 0.71 / 0.70.
constexpr GridShape kStreamedSymmetricFloat[] = {{8, 8}, {.down = 4, .item_rows = 16, .in_flight = 3}};
/// Shared, against 2 words; a copy of as many has 0.97, by work-groups that go through many tiles 0.90. Lines that one
/// tile holds, 64 rows: float 0.95 / 0.88, double 0.93 / 0.88; 256 rows: 0.87 / 0.82, 0.90 / 0.86.
constexpr GridShape kWholeSharedFloat[] = {{4, 16, 2}, {8, 16, 2}, {16, 16, 2}};
constexpr GridShape kWholeSharedDouble[] = {{4, 16}, {8, 16}, {16, 16, 2}};
/// Longer lines of exact-factored that one tile holds in registers, with no room for y of the next: 512 rows float 0.84
/// / 0.83, double 0.72 / 0.71, 1024 rows 0.67 / 0.63 and 0.74 / 0.67; of half the lines 0.55 and 0.57, in segments 0.39
/// and 0.46.
constexpr GridShape kLongSharedFloat[] = {{16, 32, 2, 128}, {32, 32, 2, 128}};
constexpr GridShape kLongSharedDouble[] = {{16, 32, 1, 128}, {32, 32, 1, 128}};
/// Work-items of the longest.
constexpr int kLongSharedItems = 512;
/// Lines of 1024 rows 0.84 / 0.82, of 16384 0.81; with one or four lines a work-item 0.71 to 0.82. 16 x 8: 0.75. 457
/// lines of 65536 rows, which begin anywhere in a cache line, 0.55.
constexpr GridShape kStreamedSharedFloat[] = {{8, 8, 2}, {16, 8, 2}};
/// 0.84 / 0.85, of 16384 rows 0.81, of 65536 as above 0.44; 16 x 8: 0.82.
constexpr GridShape kStreamedSharedDouble[] = {{8, 16}};
/// Against 5 words, float / double: 0.80 / 0.89 where lines are short enough for the cache, 0.68 / 0.66 where they are
/// not; few long lines do not fill the device: 0.22 / 0.33 of 1024 lines, 0.06 / 0.10 of 256. 16 x 16 is for those:
/// 4096 lines of as many rows 0.70 / 0.71, where 8 x 16 has 0.57 / 0.69 and segments 0.57; of 1024 rows it is no
/// faster.
constexpr GridShape kFactored[] = {{8, 16}, {16, 16}};
/// Every line by one work-item: 0.66 / 0.70.
constexpr GridShape kOneItem[] = {{1, 16}};
/// Segments, float / double, 1024 lines of 16384 rows and 1536 of 65536: 0.54 / 0.59 and 0.59 / 0.60; where symmetric
/// 0.58 / 0.66 and 0.61 / 0.67. 4 x 16 is as fast in float where one level is left, 0.50 to 0.56 elsewhere; 16 x 16 of
/// half the lines 0.52 to 0.56.
constexpr GridShape kSegment = {8, 16};
/// The same of lines that are alike, by concurrent sweeps, against 2 words: 4096 rows 0.56 / 0.58, 65536 rows 0.54 /
/// 0.56, in turn 0.41 / 0.47. One line a work-item in float 0.41 to 0.46; 4 x 32: 0.50, 16 x 16: 0.51 / 0.53, 8 x 8:
/// 0.47, 0.39.
constexpr GridShape kSegmentSharedFloat = {8, 16, 2};
constexpr GridShape kSegmentSharedDouble = {8, 16};
/// Work-groups of these a core, which has registers for so many: with one 0.46, with three 0.49 to 0.51, four 0.53 to
/// 0.57; each tile by one of its own 0.38 to 0.44.
constexpr Index kSegmentGroups = 2;
/// Rows of a segment that is condensed to two at least.
constexpr Index kLeastSegment = 4;
/// Segments of a line below which their launches take longer than streaming the lines.
constexpr Index kLeastSegments = 8;
/// Most work-items of a line in the levels above: they pass on what enters them one after the other.
constexpr int kMostUpperItems = 64;
/// Arrays of lines cut into segments: y, x, four of factors and weights; and one for all that is small.
constexpr Index kSegmentArrays = 7;
/// Rows up to which a tile that holds whole lines is faster than tiles that are streamed, float and general.
constexpr Index kShortGridLine = 64;

/// Bytes that a core's work-items hold of one array, for it to keep reading; of exact-factored, whose lines are
/// streamed or cut, a work-group and a half a core: measured of 8 to 512 of them.
constexpr Index kBusyBytes = 16 << 10, kBusyBytesExact = 3 << 9;
/// Tiles of a run, at least, of which two more are read for its neighbours' sake; twice as many where three wait.
constexpr Index kShortRun = 16;
/// The same of shared factors, whose runs are counted through all lines.
constexpr Index kShortSharedRun = 8;
/// Work-groups of shared factors that a core has registers for at a time, float and double: with twice as many runs a
/// tenth is lost.
constexpr Index kSharedGroupsFloat = 2, kSharedGroupsDouble = 1;
/// Work-items a core of lines that one tile holds: as many as it has registers for, so that all work-groups go through
/// as many tiles. 256 rows in float: 0.96 / 0.90 with 512, 0.89 / 0.85 with 2048, 0.73 / 0.71 with 4096; 64 rows 0.97 /
/// 0.95, 0.97 / 0.92 with 4096.
constexpr Index kSharedItemsWhole = 512;
/// Words of local memory a work-item (kernels/gpu/grid_factored.cl), and two more a line.
constexpr Index kLocalWords = 4;
/// Most rows of a work-item: more would not stay in registers.
constexpr Index kMostItemRows = 16;

using Shapes = std::span<const GridShape>;

/// The first that reaches so many rows, or else the last.
GridShape first_of(Shapes shapes, Index rows) {
  const auto at = std::find_if(shapes.begin(), shapes.end(), [&](const GridShape& s) { return s.reach() >= rows; });
  return at != shapes.end() ? *at : shapes.back();
}

/// True if a device's work-groups are to hold lines of exact-factored that are too long for usual tiles.
bool holds_long_lines(Index length, const GridDemand& demand, int word, const DeviceTraits& traits) {
  if (demand.form != Form::shared || demand.method != Method::exact_factored) return false;
  if (demand.in_turn || demand.one_item || demand.item_rows > 0 || length <= kMostGridRows) return false;
  const GridShape& longest = (word > static_cast<int>(sizeof(float)) ? kLongSharedDouble : kLongSharedFloat)[1];
  const Index words = shared_grid_words(longest.bundle_bytes / word, longest.down, longest.rows(), true);
  return length <= longest.rows() && traits.group_items >= kLongSharedItems && words * word <= traits.local_bytes;
}

/// The shape for a demand, whatever the device.
GridShape wanted_shape(Index length, const GridDemand& demand, int word, const DeviceTraits& traits) {
  const bool streamed = demand.method == Method::truncated_streamed, wide = word > static_cast<int>(sizeof(float));
  const bool shared = demand.form == Form::shared;
  if (demand.one_item) return kOneItem[0];
  if (holds_long_lines(length, demand, word, traits)) {
    return first_of(wide ? Shapes(kLongSharedDouble) : Shapes(kLongSharedFloat), length);
  }
  const bool only_short = streamed && !wide && !shared && demand.reach < length;
  if (length <= (only_short ? kShortGridLine : kMostGridRows)) {
    return first_of(!shared ? Shapes(kWhole) : wide ? Shapes(kWholeSharedDouble) : Shapes(kWholeSharedFloat), length);
  }
  if (demand.segments) return demand.at_once() ? (wide ? kSegmentSharedDouble : kSegmentSharedFloat) : kSegment;
  if (!streamed) return first_of(kFactored, demand.reach);
  if (shared) return first_of(wide ? Shapes(kStreamedSharedDouble) : Shapes(kStreamedSharedFloat), demand.reach);
  if (wide) return first_of(kStreamedDouble, demand.reach);
  const bool symmetric = demand.form == Form::symmetric;
  return first_of(symmetric ? Shapes(kStreamedSymmetricFloat) : Shapes(kStreamedFloat), demand.reach);
}

/// Lines of a work-group and the shape for each, no larger than lines and device allow.
std::pair<int, GridShape> choose_shape(const LineSet& lines, const GridDemand& demand, int word,
                                       const DeviceTraits& traits) {
  const Index length = lines.length(0), quantum = 16 / word;
  GridShape shape = wanted_shape(length, demand, word, traits);
  if (demand.item_rows > 0) {
    shape.item_rows = static_cast<int>(std::min(round_up(demand.item_rows, quantum), kMostItemRows));
  }
  // By kernels/gpu/grid_shared.cl.
  const auto passes = [&] {
    const bool whole = shape.rows() >= length;
    if (demand.at_once() && !whole) return true;
    return demand.form == Form::shared && (whole ? !demand.in_turn : demand.method == Method::truncated_streamed);
  };
  const int bytes = shape.bundle_bytes > 0 ? shape.bundle_bytes : passes() ? kSharedBundleBytes : kBundleBytes;
  int bundle = std::max(bytes / word, kLeastItems / shape.down);
  while (shape.down > 1 && shape.rows() / 2 >= length) shape.down /= 2;
  while (bundle > 1 && bundle / 2 >= lines.block_lines()) bundle /= 2;
  const auto fits = [&] {
    const Index numbers = static_cast<Index>(bundle) * shape.down;
    const Index words = passes() ? shared_grid_words(bundle, shape.down, shape.rows(), shape.rows() >= length)
                                 : kLocalWords * numbers + 2 * bundle;
    return numbers / shape.lines <= traits.group_items && words * word <= traits.local_bytes;
  };
  // Fewer lines first: then there are more groups, and a tile stays as long as it was asked for.
  while (bundle > 8 && !fits()) bundle /= 2;
  while (shape.down > 1 && !fits()) shape.down /= 2;
  if (!passes()) shape.lines = 1;
  while (bundle > 1 && !fits()) bundle /= 2;
  shape.lines = std::min(shape.lines, bundle);
  return {bundle, shape};
}

/// Cut the lines into runs, so that a few lines keep all cores busy.
/// @param group_bytes of a number for each work-item, of all groups if lines are whole
Index tiles_of_run(Index tiles, Index group_bytes, int in_flight, const DeviceTraits& traits) {
  const Index wanted = quotient_up(kBusyBytes * std::max(1, traits.cores), group_bytes);
  return std::min(tiles, std::max(quotient_up(tiles, wanted), kShortRun * std::max(1, in_flight - 1)));
}

/// Cut the tiles of all lines into as many runs as a device has work-groups of, unless they would be too short.
void cut_through_lines(Index bundles, Index tiles_of_line, int word, const DeviceTraits& traits, Plan& plan) {
  const Index cores = std::max(1, traits.cores), tiles = bundles * tiles_of_line;
  if (tiles_of_line == 1) {
    // In double, work-items of two lines or of many rows have twice the registers.
    const bool heavy =
        word > static_cast<int>(sizeof(float)) && (plan.as<GridTiles>().item_lines > 1 || !reads_ahead(plan));
    const Index items = heavy ? kSharedItemsWhole / 2 : kSharedItemsWhole;
    plan.run_tiles = static_cast<int>(quotient_up(tiles, std::max<Index>(1, items / plan.items) * cores));
    return;
  }
  const Index wanted = (word > static_cast<int>(sizeof(float)) ? kSharedGroupsDouble : kSharedGroupsFloat) * cores;
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
  plan.add<Beside>();
  plan.add<GridTiles>();
  Beside& beside = plan.as<Beside>();
  GridTiles& grid = plan.as<GridTiles>();
  beside.segments = 1;
  beside.window = 1;  // what a work-group keeps is in local memory
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
      const Index runs = kSegmentGroups * std::max(1, traits.cores);
      plan.run_tiles = static_cast<int>(quotient_up(groups * beside.segments, runs));
    }
    const std::int64_t most = std::min(traits.chunk_bytes, traits.memory_bytes / kSegmentArrays);
    if (beside.chunk_blocks < lines.blocks() || lines.extent() > most / word) beside.chunk_blocks = 0;
  }
  const bool streams = plan.method == Method::exact_factored && !in_one_tile(plan);
  const Index wanted = (streams ? kBusyBytesExact : kBusyBytes) * std::max(1, traits.cores);
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
