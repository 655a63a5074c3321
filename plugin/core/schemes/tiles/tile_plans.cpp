// SPDX-License-Identifier: BSD-2-Clause
#include "schemes/tiles/tile_plans.hpp"

#include <algorithm>
#include <limits>
#include <numeric>
#include <string>
#include <vector>

#include "oclspkt/error.hpp"
#include "plan_parts.hpp"

namespace oclspkt {
namespace {

/// Names of two schemes: plans of kHalosByTiles have halos, plans of kRunsByTiles have runs.
constexpr const char *kHalosByTiles = "tiles-halo", *kRunsByTiles = "tiles-streamed";
/// kItemVector: bytes that a work-item of a GPU reads and writes at once. kMostGroupItemRows: most rows of a work-item,
/// because registers do not hold more.
constexpr Index kItemVector = 16, kMostGroupItemRows = 32;
constexpr Index kMostRunTiles = 256;
/// Least share of a tile's rows that whole lines fill.
constexpr double kWellFilled = 0.8;
/// Least share of a tile's rows that lie between its halos, if work-groups keep shared factors.
constexpr double kWellKept = 0.6;
/// Fewest rows of a tile that is reduced to one row.
constexpr Index kLeastReduced = 4;
/// Arrays of exact-twopass by work-groups: three bands, y and x. A sixth stands for the levels above the first.
constexpr Index kReduceArrays = 6;

/// The work-items of a work-group, and the rows of each.
struct GroupShape {
  int items, item_rows;
  Index longest_halo = 0;  ///< longest halo for which the shape is used
  explicit GroupShape(const Tuning::Row& row)
      : items(static_cast<int>(row[0])),
        item_rows(static_cast<int>(row[1])),
        longest_halo(static_cast<Index>(row[2])) {}
  GroupShape(int of_items, int of_rows) : items(of_items), item_rows(of_rows) {}
  Index rows() const { return static_cast<Index>(items) * item_rows; }
};
GroupShape shape_of(const DeviceTraits& traits, const char* table) {
  return GroupShape(figures_of(traits).rows(table).front());
}
/// Lines are solved in turns, as many at a time as the device runs work-groups; the last turn may have fewer. This is
/// the largest accepted ratio of the lines that full turns would solve to the number of lines.
constexpr double kLineTurns = 1.25;

/// The shape of a work-group of KeptTiles, and how many such work-groups a core has registers for (per_core).
struct KeptShape {
  GroupShape group;
  int item_tiles;  ///< tiles that a work-item solves at the same time
  int most_steps;  ///< most steps of the scan
  int per_core;
  explicit KeptShape(const Tuning::Row& row)
      : group(static_cast<int>(row[0]), static_cast<int>(row[1])),
        item_tiles(static_cast<int>(row[2])),
        most_steps(static_cast<int>(row[3])),
        per_core(static_cast<int>(row[4])) {}
};

bool fits(const GroupShape& shape, int word, const DeviceTraits& traits) {
  return shape.items <= traits.group_items &&
         group_local_words(shape.items, shape.item_rows) * word <= traits.local_bytes;
}

/// The shape for a halo of `halo` rows, as large as the device allows.
GroupShape group_shape(Index halo, Index partition, int word, const DeviceTraits& traits) {
  GroupShape shape = shape_of(traits, "tiles.shapes");
  for (const Tuning::Row& row : figures_of(traits).rows("tiles.shapes")) {
    shape = GroupShape(row);
    if (halo <= shape.longest_halo) break;
  }
  const Index quantum = kItemVector / word;
  if (partition > 0) shape.item_rows = static_cast<int>(std::min(round_up(partition, quantum), kMostGroupItemRows));
  while (shape.items > 1 && !fits(shape, word, traits)) shape.items /= 2;
  return shape;
}

/// The shape for runs: longer than the usual shape if the reach needs that and the device allows it.
GroupShape run_shape(Index reach, Index partition, int word, const DeviceTraits& traits) {
  const GroupShape usual = group_shape(0, partition, word, traits);
  const GroupShape longer =
      shape_of(traits, word == sizeof(float) ? "tiles.long_runs_float" : "tiles.long_runs_double");
  return partition == 0 && reach > usual.rows() && fits(longer, word, traits) ? longer : usual;
}

/// Let a work-item couple only with work-items whose rows are at most `rows` away.
void couple_within(Index rows, Plan& plan) {
  if (!plan.has<Scan>()) return;
  // After `steps` steps, a work-item is coupled with all rows of 2^steps - 1 work-items on either side.
  int& steps = plan.as<Scan>().steps;
  while (steps > 0 && ((Index{1} << (steps - 1)) - 1) * plan.item_rows >= rows) --steps;
}

void take_shape(const GroupShape& shape, Plan& plan) {
  plan.items = shape.items;
  plan.item_rows = shape.item_rows;
  plan.lanes = 1;
}

/// Number of work-groups that stream runs at the same time.
Index runs_at_once(const Plan& plan, int word, const DeviceTraits& traits) {
  return std::max(1, traits.cores) * runs_of_core(plan, word);
}

/// Choose the number of tiles of a run for the least time of an apply: the turns of work-groups times the tiles of a
/// run.
Index choose_run_tiles(const Plan& plan, int word, const DeviceTraits& traits) {
  const Index rows = plan.group_rows(), at_once = runs_at_once(plan, word, traits);
  // Rows that a run sweeps for its neighbours are at most half of the rows that it solves.
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

void cut_into_runs(Index tiles, int word, const DeviceTraits& traits, Plan& plan) {
  plan.run_tiles = static_cast<int>(tiles);
  plan.m = tiles * plan.group_rows() - 2 * plan.halo;
  plan.runs = static_cast<int>(std::clamp<Index>(plan.tiles(), 1, std::numeric_limits<int>::max()));
  cut_into_chunks(plan, word, traits);
}

/// Shapes whose tiles a line fills, the fastest first. Lines of two tiles truncate nothing, whatever the matrix.
std::vector<GroupShape> line_shapes(Index length, Form form, int word, const Tuning& figures) {
  std::vector<GroupShape> shapes;
  const auto add = [&](Index tiles, int item_rows, Index most) {
    const Index rows = tiles * item_rows, items = length / rows;
    if (length % rows == 0 && 2 * items > most && items <= most) {
      shapes.emplace_back(static_cast<int>(items), item_rows);
    }
  };
  const int fastest = static_cast<int>(figures.number("tiles.line_rows"));
  for (const Tuning::Row& row : figures.rows("tiles.line_rows")) {
    add(2, static_cast<int>(row[0]), figures.count("tiles.two_tile_items"));
  }
  for (const Tuning::Row& row : figures.rows("tiles.long_line_items")) {
    // For longer lines of floats, plans with halos are as fast, because halos are short in float.
    const auto most = static_cast<Index>(row[0]);
    const Index tiles = quotient_up(length, most * fastest);
    if (tiles > 2 && word > static_cast<int>(sizeof(float))) add(tiles, fastest, most);
  }
  if (form == Form::symmetric) {
    std::stable_sort(shapes.begin(), shapes.end(), [](const auto& a, const auto& b) { return a.items < b.items; });
  }
  return shapes;
}

/// Let each work-item receive the results of all work-items of its work-group.
void scan_all(Plan& plan) {
  int& steps = plan.add<Scan>().steps;
  while ((1 << steps) < plan.items) ++steps;
}

}  // namespace

Plan make_tile_plan(Index n, Index halo, Index partition, int word, const DeviceTraits& traits) {
  check_partition(partition);
  Plan plan{
      .method = Method::truncated_halo, .n = n, .halo = round_up(halo, kItemVector / word), .made_by = kHalosByTiles};
  keep_figures(traits, plan);
  const GroupShape of_short = shape_of(traits, "tiles.short_halo_float");
  const bool is_short = partition == 0 && word == sizeof(float) && plan.halo <= of_short.longest_halo;
  const bool shorter = is_short && fits(of_short, word, traits);
  take_shape(shorter ? of_short : group_shape(plan.halo, partition, word, traits), plan);
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
  for (const Tuning::Row& row : figures_of(traits).rows("tiles.shapes")) {
    const Index rows = group_shape(GroupShape(row).longest_halo, 0, word, traits).rows(),
                kept = rows / quantum * quantum;
    if (static_cast<double>(kept) >= kWellFilled * static_cast<double>(rows)) return kept;
    best = std::max(best, kept);
  }
  return best;
}

Plan make_lines_plan(Index n, Index length, Index partition, int word, const DeviceTraits& traits) {
  Plan plan{.method = Method::truncated_halo, .n = n, .made_by = kHalosByTiles};
  keep_figures(traits, plan);
  for (const Tuning::Row& row : figures_of(traits).rows("tiles.shapes")) {
    take_shape(group_shape(GroupShape(row).longest_halo, 0, word, traits), plan);
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
  keep_figures(traits, plan);
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
  const std::size_t column = word > static_cast<int>(sizeof(float)) ? 2 : plan.form == Form::general ? 1 : 0;
  return std::max<Index>(1, figures_of(plan).count("tiles.run_items", column) / plan.items);
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
  for (const GroupShape& shape : line_shapes(length, form, word, figures_of(traits))) {
    Plan plan{.method = Method::truncated_streamed, .form = form, .n = n, .made_by = kRunsByTiles};
    keep_figures(traits, plan);
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
  if (length % (kItemVector / word) != 0 || 3 * length * word > figures_of(plan).count("tiles.shared") ||
      length >= plan.n)
    return false;
  plan.form = Form::shared;
  plan.add<SharedTiles>({0, length, plan.n});
  return true;
}

namespace {

/// Rows that a tile of a shape solves. Without a halo they are whole lines. With a halo they are the longest part of a
/// line that fits between the halos and divides the line evenly.
Index kept_rows(const KeptShape& shape, Index length, Index halo, Index quantum) {
  const Index rows = shape.group.rows();
  if (halo == 0) return rows / length * length;
  Index kept = std::min(length, rows - 2 * halo) / quantum * quantum;
  while (kept > 0 && length % kept != 0) kept -= quantum;
  return std::max<Index>(0, kept);
}

/// Steps of the scan after which a work-item has the results of all work-items above it in its line or in the halo.
int kept_steps(const KeptShape& shape, Index length, Index halo) {
  const Index rows = shape.group.item_rows;
  Index others = halo > 0 ? quotient_up(halo, rows) : length % rows == 0 ? length / rows - 1 : length / rows + 1;
  others = std::min<Index>(others, shape.group.items);
  int steps = 1;
  while ((Index{1} << (2 * steps)) < others) ++steps;
  return steps;
}

/// Set the number of work-groups of a plan with KeptTiles. All tiles of a work-group then lie at the same place of
/// their lines.
void deal_kept_tiles(int per_core, Index length, const DeviceTraits& traits, Plan& plan) {
  const Index places = plan.halo == 0 ? 1 : length / plan.m, most = per_core * std::max<Index>(1, traits.cores);
  const Index groups = std::max(places, most / places * places);
  plan.runs = static_cast<int>(std::clamp<Index>(plan.tiles(), 1, groups));
}

}  // namespace

bool keep_factors(Plan& plan, Index length, int word, const DeviceTraits& traits) {
  const bool wide = word > static_cast<int>(sizeof(float)), whole = plan.halo == 0;
  const Index quantum = kItemVector / word;
  const char* const table = whole ? (wide ? "tiles.kept_double" : "tiles.kept_float")
                                  : (wide ? "tiles.kept_halo_double" : "tiles.kept_halo_float");
  for (const Tuning::Row& row : figures_of(traits).rows(table)) {
    const KeptShape shape(row);
    const Index rows = shape.group.rows(), kept = kept_rows(shape, length, plan.halo, quantum);
    const double least = (whole ? kWellFilled : kWellKept) * static_cast<double>(rows);
    const int steps = kept_steps(shape, length, plan.halo);
    if (!fits(shape.group, shape.item_tiles * word, traits) || steps > shape.most_steps) continue;
    if (static_cast<double>(kept) < least) continue;
    take_shape(shape.group, plan);
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
  const KeptShape shape(figures_of(traits).rows("tiles.kept_symmetric").front());
  const int steps = plan.as<Scan>().steps;
  const bool usual =
      plan.items == shape.group.items && plan.item_rows == shape.group.item_rows && steps <= shape.most_steps;
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

/// Number of levels above the first if `tiles` tiles remain and each level has work-groups of `items` work-items.
int count_levels(Index tiles, Index items) {
  int levels = 0;
  for (; tiles > 1; tiles = quotient_up(tiles, items * kLevelItemRows)) ++levels;
  return levels;
}

}  // namespace

Plan make_reduce_plan(Index n, Index partition, int word, const DeviceTraits& traits, Form form) {
  check_partition(partition);
  Plan plan{.method = Method::exact_twopass, .form = form, .n = n, .made_by = "tiles-twopass"};
  keep_figures(traits, plan);
  const GroupShape usual = shape_of(traits, word == sizeof(float) ? "tiles.reduce_float"
                                            : plan.symmetric()    ? "tiles.reduce_symmetric"
                                                                  : "tiles.reduce_double");
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
  const auto level_items = [&](std::size_t column) {
    const Index most = figures_of(traits).count("tiles.reduce_levels", column);
    return within({static_cast<int>(most), kLevelItemRows}, sizeof(double)).items;
  };
  const int items = level_items(0), more = level_items(1);
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
