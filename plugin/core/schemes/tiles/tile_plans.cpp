// SPDX-License-Identifier: BSD-2-Clause
#include "schemes/tiles/tile_plans.hpp"

#include <algorithm>
#include <limits>
#include <numeric>
#include <span>
#include <string>
#include <vector>

#include "oclspkt/error.hpp"
#include "plan_parts.hpp"

namespace oclspkt {
namespace {

/// Whose plans those are that have halos, and that have runs.
constexpr const char *kHalosByTiles = "tiles-halo", *kRunsByTiles = "tiles-streamed";
/// Bytes that a work-item of a GPU reads and writes at once, and the most rows of one: more would not stay in
/// registers.
constexpr Index kItemVector = 16, kMostGroupItemRows = 32;
/// Tiles of a run at most.
constexpr Index kMostRunTiles = 256;
/// Work-items that a core has registers for at a time when they stream runs (H200). Of floats in general form 512 have
/// too few: 0.90 of the stream for 0.93; symmetric 1.07 with 384 and 1.13 with 512.
constexpr Index kFloatItemsPerCore = 512, kGeneralFloatItemsPerCore = 384, kDoubleItemsPerCore = 256;
/// Share of a tile's rows that whole lines have to fill.
constexpr double kWellFilled = 0.8;
/// The same of rows between halos of shared factors.
constexpr double kWellKept = 0.6;
/// Factors of one line that stay in a GPU's second-level cache beside what streams through it.
constexpr Index kSharedBytes = 4 << 20;
/// Rows of a tile that is reduced to one at least.
constexpr Index kLeastReduced = 4;
/// Arrays of exact-twopass by work-groups: three bands, y and x; and one for what is left of the tiles.
constexpr Index kReduceArrays = 6;

/// Work-items and rows of each. Measured on an H200 (NVIDIA), billions of rows a second with a halo of 56 rows in
/// double: 128 x 16: 106, 128 x 8: 99, 128 x 12: 101, 64 x 16: 103; of 192 rows 95 and, 64 x 16, 83. In float all of
/// them: 221.
struct GroupShape {
  int items, item_rows;
  Index longest_halo;  ///< for which the shape is taken
  Index rows() const { return static_cast<Index>(items) * item_rows; }
};
constexpr GroupShape kShapes[] = {{128, 16, 256}, {256, 16, 1 << 20}};
/// For halos of floats that are no longer: 72 registers for 94, and 7 work-groups a core for 5. A launch of 1e7 rows
/// ends sooner by 1 us of 54: 0.96 of the stream for 0.93, with a halo of 48 rows 0.94 either way; 1e8 rows 1.00. 64 x
/// 12 and 128 x 8 as 128 x 12, within what scatters.
constexpr GroupShape kShortHaloFloats = {128, 12, 32};
/// For runs that reach further than tiles of 2048 rows. Of floats a core holds as many of 192 work-items as of 128. Of
/// doubles, which lambda 1e4 lets decay within 4133 rows, it holds one of 256: with more than two times 32 on a quarter
/// of the core, work-items have 168 registers of the 250 that they need. 288 x 16: 0.73 of the stream for 1.10, 0.50
/// for 0.88 in general form.
constexpr GroupShape kLongRuns = {192, 16, 0}, kLongDoubleRuns = {256, 18, 0};
/// Runs that are lines. Shares of the stream on an H200, 1.7e7 rows. Lines of 4096 rows: two tiles of 128 x 16 0.96 to
/// 0.98 in double, 0.95 in float, as runs of several lines 0.93 to 0.95 and 0.89 to 0.92, by 256 x 8 0.73 and 0.80; of
/// 3200 rows 100 x 16 0.86 and 0.84. Of 16384 rows, double: 128 x 16 0.95, 64 x 16 0.92. Where symmetric 64 x 16
/// is faster, 0.93 for 0.90 and 0.91 for 0.88. Rows of a work-item in the order of their rates.
constexpr int kLineItemRows[] = {16, 12};
constexpr int kTwoTileItems = 128, kLongLineItems[] = {128, 64};
/// Turns that lines may take for every one that is needed: the last is not full.
constexpr double kLineTurns = 1.25;
/// Of exact-twopass. Shares of the stream on an H200, 3e7 rows: 64 x 32 and 32 x 32 0.45, 64 x 24 0.435, 64 x 16 0.40
/// in float; 32 x 16 and 64 x 16 0.50, 64 x 12 0.455, 32 x 20 0.43 in double. Symmetric doubles, 1e8 rows, us of both
/// passes: 64 x 18 641 and 783, 32 x 32 608 and 832, 64 x 16 666 and 784, 32 x 16 805 and 778, 64 x 20 779 and 779.
constexpr GroupShape kReduceFloats = {64, 32, 0}, kReduceDoubles = {32, 16, 0}, kReduceSymmetric = {64, 18, 0};
/// Of its levels but the first, in double where the device has that: their launches take 31 us, 34 by 256 work-items,
/// 42 with 16 rows of each. Where they get fewer by 256 these are taken: 1e6 doubles are left to one level for two.
constexpr GroupShape kReducedLevels = {128, kLevelItemRows, 0}, kFewerLevels = {256, kLevelItemRows, 0};

/// Of KeptTiles: what a work-group is, and how many of them a core has registers for at a time: with one
/// more a fifth is lost, as it has to wait for its turn.
struct KeptShape {
  int items, item_rows;
  int item_tiles;  ///< tiles that are solved at once
  int most_steps;  ///< of the scan, whose products need registers, too
  int per_core;
  GroupShape group() const { return {items, item_rows, 0}; }
};
/// Shares of a stream of 2 words on an H200, 1.7e7 rows. Lines of 64, 256 and 1024 rows: 0.94, 0.93, 0.91, of 2000
/// 0.85, of 4096 0.79; 64 x 16 one by one 0.89, 0.91, 0.83, two together 0.92, 0.91, 0.88.
constexpr KeptShape kKeptFloats[] = {{64, 12, 2, 2, 8},  {64, 12, 2, 4, 6},  {96, 12, 2, 4, 4}, {64, 16, 1, 4, 6},
                                     {192, 12, 2, 4, 2}, {128, 16, 1, 4, 3}, {256, 16, 2, 4, 1}};
/// 0.88 to 0.90, of 2000 and 4096 rows 0.84; with 8 rows a work-item and two tiles together as much.
constexpr KeptShape kKeptDoubles[] = {{64, 16, 1, 4, 4}, {128, 16, 1, 4, 2}, {256, 16, 1, 4, 1}};
/// Of parts of lines of 16384 rows, a halo of 64: 0.92, one by one 0.78; 144 x 16 0.87, 192 x 12 0.82. A halo of 192:
/// 0.89.
constexpr KeptShape kKeptHaloFloats[] = {{96, 12, 2, 2, 5}, {128, 12, 2, 2, 4}, {192, 12, 2, 3, 2}, {64, 16, 1, 4, 6}};
/// A halo of 128: 0.82; 64 x 12, which keeps 512 rows, 0.71, 192 x 12 0.67. A halo of 256: 0.71.
constexpr KeptShape kKeptHaloDoubles[] = {{128, 10, 1, 2, 3}, {256, 10, 1, 4, 1}, {64, 16, 1, 4, 4}};
/// The first of them where symmetric and products of the scan are in local memory: 128 registers for 166, 0.91
/// for 0.84. Either by itself: 160 of them, 0.85 and 0.82; both with y copied past the registers 0.87, two tiles ahead
/// 0.81. Other shapes with both: 64 x 20 0.87, 160 x 8 0.82. Whole lines gain a hundredth by serving couplings, nothing
/// by the rest.
constexpr KeptShape kSymmetricHaloDoubles = {128, 10, 1, 2, 4};

bool fits(const GroupShape& shape, int word, const DeviceTraits& traits) {
  return shape.items <= traits.group_items &&
         group_local_words(shape.items, shape.item_rows) * word <= traits.local_bytes;
}

/// The shape for a halo, as large as the device allows.
GroupShape group_shape(Index halo, Index partition, int word, const DeviceTraits& traits) {
  GroupShape shape = kShapes[0];
  for (const GroupShape& s : kShapes) {
    shape = s;
    if (halo <= s.longest_halo) break;
  }
  const Index quantum = kItemVector / word;
  if (partition > 0) shape.item_rows = static_cast<int>(std::min(round_up(partition, quantum), kMostGroupItemRows));
  while (shape.items > 1 && !fits(shape, word, traits)) shape.items /= 2;
  return shape;
}

/// The same for runs: the usual one, or the one for floats that reach further.
GroupShape run_shape(Index reach, Index partition, int word, const DeviceTraits& traits) {
  const GroupShape usual = group_shape(0, partition, word, traits);
  const GroupShape& longer = word == sizeof(float) ? kLongRuns : kLongDoubleRuns;
  return partition == 0 && reach > usual.rows() && fits(longer, word, traits) ? longer : usual;
}

/// Let work-items couple with neighbours up to `rows` rows away only.
void couple_within(Index rows, Plan& plan) {
  if (!plan.has<Scan>()) return;
  // A work-item that is coupled with 2^steps others on either side knows 2^steps - 1 of their partitions.
  int& steps = plan.as<Scan>().steps;
  while (steps > 0 && ((Index{1} << (steps - 1)) - 1) * plan.item_rows >= rows) --steps;
}

void take_shape(const GroupShape& shape, Plan& plan) {
  plan.items = shape.items;
  plan.item_rows = shape.item_rows;
  plan.lanes = 1;
}

/// Work-groups that stream runs at a time.
Index runs_at_once(const Plan& plan, int word, const DeviceTraits& traits) {
  return std::max(1, traits.cores) * runs_of_core(plan, word);
}

/// Tiles of a run: as many as make the waves of work-groups that a device has at a time, each as long as a run, the
/// shortest. Of 3e7 rows on an H200 runs of 29 tiles of floats (a reach of 700 rows), and of 57 of doubles (1488), are
/// one wave: 126 and 250 us if symmetric; others take up to 174 and 329.
Index choose_run_tiles(const Plan& plan, int word, const DeviceTraits& traits) {
  const Index rows = plan.group_rows(), at_once = runs_at_once(plan, word, traits);
  // What is swept for the neighbours' sake is at most half of what is solved.
  const Index least = std::max<Index>(1, quotient_up(6 * plan.halo, rows));
  Index best = least, shortest = std::numeric_limits<Index>::max();
  for (Index tiles = least; tiles <= std::max(least, kMostRunTiles); ++tiles) {
    const Index runs = quotient_up(plan.n, tiles * rows - 2 * plan.halo);
    const Index time = quotient_up(runs, at_once) * tiles;
    if (time >= shortest) continue;
    shortest = time;
    best = tiles;
    if (runs <= 1) break;
  }
  return best;
}

/// Cut rows into runs of `tiles` tiles.
void cut_into_runs(Index tiles, int word, const DeviceTraits& traits, Plan& plan) {
  plan.run_tiles = static_cast<int>(tiles);
  plan.m = tiles * plan.group_rows() - 2 * plan.halo;
  plan.runs = static_cast<int>(std::clamp<Index>(plan.tiles(), 1, std::numeric_limits<int>::max()));
  cut_into_chunks(plan, word, traits);
}

/// Shapes whose tiles a line fills, the fastest first. Two tiles truncate nothing, whatever the matrix.
std::vector<GroupShape> line_shapes(Index length, Form form, int word) {
  std::vector<GroupShape> shapes;
  const auto add = [&](Index tiles, int item_rows, Index most) {
    const Index rows = tiles * item_rows, items = length / rows;
    if (length % rows == 0 && 2 * items > most && items <= most) {
      shapes.push_back({static_cast<int>(items), item_rows, 0});
    }
  };
  for (const int item_rows : kLineItemRows) add(2, item_rows, kTwoTileItems);
  for (const Index most : kLongLineItems) {
    // Longer lines of floats, whose halos are short, are as fast with them.
    const Index tiles = quotient_up(length, most * kLineItemRows[0]);
    if (tiles > 2 && word > static_cast<int>(sizeof(float))) add(tiles, kLineItemRows[0], most);
  }
  if (form == Form::symmetric) {
    std::stable_sort(shapes.begin(), shapes.end(), [](const auto& a, const auto& b) { return a.items < b.items; });
  }
  return shapes;
}

/// Let work-items know of all others of their work-group.
void scan_all(Plan& plan) {
  int& steps = plan.add<Scan>().steps;
  while ((1 << steps) < plan.items) ++steps;
}

}  // namespace

Plan make_tile_plan(Index n, Index halo, Index partition, int word, const DeviceTraits& traits) {
  check_partition(partition);
  Plan plan{
      .method = Method::truncated_halo, .n = n, .halo = round_up(halo, kItemVector / word), .made_by = kHalosByTiles};
  const bool is_short = partition == 0 && word == sizeof(float) && plan.halo <= kShortHaloFloats.longest_halo;
  const bool shorter = is_short && fits(kShortHaloFloats, word, traits);
  take_shape(shorter ? kShortHaloFloats : group_shape(plan.halo, partition, word, traits), plan);
  scan_all(plan);
  plan.m = plan.group_rows() - 2 * plan.halo;
  if (plan.m <= 0) {
    throw InvalidInput("a work-group of " + std::to_string(plan.items) + " work-items solves " +
                       std::to_string(plan.group_rows()) + " rows, and two halos of " + std::to_string(halo) +
                       " rows leave none of them: choose variant cpu or another method");
  }
  take_runs(plan, plan.tiles(), traits);
  cut_into_chunks(plan, word, traits);
  return plan;
}

Index lines_in_a_tile(Index length, int word, const DeviceTraits& traits) {
  const Index quantum = std::lcm(length, kItemVector / word);
  Index best = 0;
  for (const GroupShape& s : kShapes) {
    const Index rows = group_shape(s.longest_halo, 0, word, traits).rows(), kept = rows / quantum * quantum;
    if (static_cast<double>(kept) >= kWellFilled * static_cast<double>(rows)) return kept;
    best = std::max(best, kept);
  }
  return best;
}

Plan make_lines_plan(Index n, Index length, Index partition, int word, const DeviceTraits& traits) {
  Plan plan{.method = Method::truncated_halo, .n = n, .made_by = kHalosByTiles};
  for (const GroupShape& s : kShapes) {
    take_shape(group_shape(s.longest_halo, 0, word, traits), plan);
    if (plan.group_rows() >= partition) break;
  }
  plan.m = partition;
  scan_all(plan);
  couple_within(length, plan);
  plan.runs = static_cast<int>(std::clamp<Index>(plan.tiles(), 1, std::numeric_limits<int>::max()));
  cut_into_chunks(plan, word, traits);
  return plan;
}

Index longest_reach(Index partition, int word, const DeviceTraits& traits) {
  return run_shape(std::numeric_limits<Index>::max(), partition, word, traits).rows();
}

Plan make_run_plan(Index n, Index reach, Index partition, int word, const DeviceTraits& traits) {
  check_partition(partition);
  Plan plan{.method = Method::truncated_streamed, .n = n, .made_by = kRunsByTiles};
  plan.add<StoredFactors>();
  plan.halo = round_up(reach, kItemVector / word);
  take_shape(run_shape(plan.halo, partition, word, traits), plan);
  const Index rows = plan.group_rows();
  if (plan.halo > rows) {
    throw InvalidInput("a work-group of " + std::to_string(plan.items) + " work-items holds tiles of " +
                       std::to_string(rows) + " rows, but the matrix needs a reach of " + std::to_string(reach) +
                       " rows: choose variant cpu or another method");
  }
  cut_into_runs(choose_run_tiles(plan, word, traits), word, traits, plan);
  return plan;
}

Index runs_of_core(const Plan& plan, int word) {
  const Index floats = plan.form == Form::general ? kGeneralFloatItemsPerCore : kFloatItemsPerCore;
  const Index items = word == sizeof(float) ? floats : kDoubleItemsPerCore;
  return std::max<Index>(1, items / plan.items);
}

void cut_runs_anew(Plan& plan, int word, const DeviceTraits& traits) {
  if (plan.halo == 0) return;
  cut_into_runs(choose_run_tiles(plan, word, traits), word, traits, plan);
}

void join_runs(Plan& plan, int word, const DeviceTraits& traits) {
  if (plan.halo == 0) return;
  plan.halo = plan.group_rows();
  cut_runs_anew(plan, word, traits);
}

void correct_runs(Plan& plan, int word, const DeviceTraits& traits) {
  plan.as<StoredFactors>().corrects = true;
  join_runs(plan, word, traits);
}

std::vector<Plan> make_line_runs_plans(Index n, Index length, Form form, int word, const DeviceTraits& traits) {
  std::vector<Plan> plans;
  if (length <= group_shape(0, 0, word, traits).rows()) return plans;
  for (const GroupShape& shape : line_shapes(length, form, word)) {
    Plan plan{.method = Method::truncated_streamed, .form = form, .n = n, .made_by = kRunsByTiles};
    plan.add<StoredFactors>();
    take_shape(shape, plan);
    const Index lines = n / length, tiles = length / shape.rows(), turn = runs_at_once(plan, word, traits);
    const Index paid = quotient_up(lines, turn) * turn;
    if (tiles > kMostRunTiles || static_cast<double>(paid) > kLineTurns * static_cast<double>(lines)) continue;
    if (!fits(shape, word, traits)) continue;
    cut_into_runs(tiles, word, traits, plan);
    plans.push_back(plan);
  }
  return plans;
}

bool share_line(Plan& plan, Index length, int word) {
  if (length % (kItemVector / word) != 0 || 3 * length * word > kSharedBytes || length >= plan.n) return false;
  plan.form = Form::shared;
  plan.add<SharedTiles>({0, length, plan.n});
  return true;
}

namespace {

/// Rows that a tile of a shape keeps: whole lines, or with a halo the longest part of a line that goes into it and into
/// the line without a rest.
Index kept_rows(const KeptShape& shape, Index length, Index halo, Index quantum) {
  const Index rows = shape.group().rows();
  if (halo == 0) return rows / length * length;
  Index kept = std::min(length, rows - 2 * halo) / quantum * quantum;
  while (kept > 0 && length % kept != 0) kept -= quantum;
  return std::max<Index>(0, kept);
}

/// Steps of the scan after which a work-item knows of those before it that hold rows of its line, or of the halo.
int kept_steps(const KeptShape& shape, Index length, Index halo) {
  const Index rows = shape.item_rows;
  Index others = halo > 0 ? quotient_up(halo, rows) : length % rows == 0 ? length / rows - 1 : length / rows + 1;
  others = std::min<Index>(others, shape.items);
  int steps = 1;
  while ((Index{1} << (2 * steps)) < others) ++steps;
  return steps;
}

/// Work-groups of a kept plan, which keep their place in the line.
void deal_kept_tiles(int per_core, Index length, const DeviceTraits& traits, Plan& plan) {
  const Index places = plan.halo == 0 ? 1 : length / plan.m, most = per_core * std::max<Index>(1, traits.cores);
  const Index groups = std::max(places, most / places * places);
  plan.runs = static_cast<int>(std::clamp<Index>(plan.tiles(), 1, groups));
}

}  // namespace

bool keep_factors(Plan& plan, Index length, int word, const DeviceTraits& traits) {
  const bool wide = word > static_cast<int>(sizeof(float)), whole = plan.halo == 0;
  const Index quantum = kItemVector / word;
  using KeptShapes = std::span<const KeptShape>;
  const KeptShapes shapes = whole ? (wide ? KeptShapes(kKeptDoubles) : KeptShapes(kKeptFloats))
                                  : (wide ? KeptShapes(kKeptHaloDoubles) : KeptShapes(kKeptHaloFloats));
  for (const KeptShape& shape : shapes) {
    const Index rows = shape.group().rows(), kept = kept_rows(shape, length, plan.halo, quantum);
    const double least = (whole ? kWellFilled : kWellKept) * static_cast<double>(rows);
    const int steps = kept_steps(shape, length, plan.halo);
    if (!fits(shape.group(), shape.item_tiles * word, traits) || steps > shape.most_steps) continue;
    if (static_cast<double>(kept) < least) continue;
    take_shape(shape.group(), plan);
    plan.made_by = "tiles-kept";
    plan.add<StoredFactors>();
    plan.m = kept;
    plan.add<KeptTiles>().item_tiles = shape.item_tiles;
    plan.add<Scan>().steps = steps;
    deal_kept_tiles(shape.per_core, length, traits, plan);
    cut_into_chunks(plan, word, traits);
    return true;
  }
  return false;
}

void make_factors_symmetric(Plan& plan, Index length, int word, const DeviceTraits& traits) {
  if (word == sizeof(float)) return;
  plan.as<KeptTiles>().symmetric = true;
  const KeptShape& shape = kSymmetricHaloDoubles;
  const int steps = plan.as<Scan>().steps;
  const bool usual = plan.items == shape.items && plan.item_rows == shape.item_rows && steps <= shape.most_steps;
  const Index words = group_local_words(plan.items, plan.item_rows) + scan_product_words(plan.items, steps);
  if (plan.halo == 0 || !usual || words * word > traits.local_bytes) return;
  plan.as<KeptTiles>().tells_products = true;
  deal_kept_tiles(shape.per_core, length, traits, plan);
}

bool keep_narrow(Plan& plan) {
  constexpr Index kFloats = kItemVector / sizeof(float);
  if (plan.form == Form::shared || plan.item_rows % kFloats != 0) return false;
  if (plan.m % kFloats != 0 || plan.halo % kFloats != 0) return false;
  plan.narrow = true;
  return true;
}

namespace {

/// Levels of so many work-items that are left of tiles.
int count_levels(Index tiles, Index items) {
  int levels = 0;
  for (; tiles > 1; tiles = quotient_up(tiles, items * kLevelItemRows)) ++levels;
  return levels;
}

}  // namespace

Plan make_reduce_plan(Index n, Index partition, int word, const DeviceTraits& traits, Form form) {
  check_partition(partition);
  Plan plan{.method = Method::exact_twopass, .form = form, .n = n, .made_by = "tiles-twopass"};
  const GroupShape& usual = word == sizeof(float) ? kReduceFloats
                            : plan.symmetric()    ? kReduceSymmetric
                                                  : kReduceDoubles;
  const auto within = [&](GroupShape shape, Index bytes) {
    shape.items = std::min(shape.items, traits.group_items);
    while (shape.items > 1 && reduce_local_words(shape.items, shape.item_rows) * bytes > traits.local_bytes) {
      shape.items /= 2;
    }
    return shape;
  };
  GroupShape shape = group_shape(0, partition > 0 ? partition : usual.item_rows, word, traits);
  shape.items = std::min(shape.items, usual.items);
  take_shape(within(shape, word), plan);
  plan.m = plan.group_rows();
  const int items = within(kReducedLevels, sizeof(double)).items, more = within(kFewerLevels, sizeof(double)).items;
  const bool fewer = plan.m > 0 && count_levels(plan.tiles(), more) < count_levels(plan.tiles(), items);
  plan.add<Levels>().items = fewer ? more : items;
  if (plan.m < kLeastReduced) {
    throw InvalidInput("tiles of " + std::to_string(plan.m) +
                       " rows are too short to be condensed: choose a larger partition, "
                       "variant cpu or another method");
  }
  plan.runs = static_cast<int>(std::clamp<Index>(plan.tiles(), 1, std::numeric_limits<int>::max()));
  const std::int64_t words = std::min(traits.chunk_bytes, traits.memory_bytes / kReduceArrays) / word;
  plan.chunk_tiles = plan.tiles() * plan.tile_rows() <= words ? plan.tiles() : 0;
  return plan;
}

void couple_within_halo(Plan& plan) { couple_within(plan.halo, plan); }

Index longest_tile_halo(Index partition, int word, const DeviceTraits& traits) {
  return (group_shape(std::numeric_limits<Index>::max(), partition, word, traits).rows() - 1) / 4;
}

}  // namespace oclspkt
