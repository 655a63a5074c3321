// SPDX-License-Identifier: BSD-2-Clause
#include "schemes/lanes/lane_plans.hpp"

#include <algorithm>
#include <numeric>
#include <string>

#include "oclspkt/error.hpp"
#include "plan_parts.hpp"

namespace oclspkt {
namespace {

/// Rows of a partition of whole lines are a multiple of this number, so that they are stored in whole cache lines.
constexpr Index kWholeLinesQuantum = 16;
/// Fewest tiles of a run. In shorter runs, the tiles that a run sweeps for its neighbours cost too much.
constexpr Index kShortLaneRun = 8;
/// Number of ends from which a twisted factorisation eliminates.
constexpr Index kSides = 2;
/// Arrays of exact-factored for lines laid end to end: y, x, three of factors and the results of the first pass. A
/// seventh array stands for all small arrays.
constexpr Index kTwistedArrays = 7;
/// Rows of a partition if neither cache nor halo limits them.
Index usual_partition(const DeviceTraits& traits) { return figures_of(traits).count("lanes.partition"); }
Index factored_partition(const DeviceTraits& traits) { return figures_of(traits).count("lanes.factored_partition"); }

/// The largest number 16 x odd that is at most `value`; 16 if `value` is less than 16.
Index sixteen_times_odd(Index value) {
  const Index blocks = std::max<Index>(1, value / 16);
  return 16 * (blocks % 2 == 1 ? blocks : blocks - 1);
}

/// Most rows of a partition with which both sweeps stay in half of the second-level cache.
Index partition_in_cache(int lanes, int word, const DeviceTraits& traits) {
  return std::max<Index>(kShortPartition, traits.cache_bytes / 2 / (kScratchWords * word * lanes));
}

Index choose_partition(const Plan& plan, int word, const DeviceTraits& traits) {
  const Index cache_rows = partition_in_cache(plan.lanes, word, traits);
  const Index largest = std::max<Index>(kShortPartition, cache_rows - 2 * plan.halo);
  Index m = std::min(largest, std::max(usual_partition(traits), 16 * plan.halo));
  // Every core gets a tile of its own, unless partitions would then be short compared with their halos.
  const Index fair = plan.n / (static_cast<Index>(traits.cores) * plan.lanes);
  m = std::min(m, std::max({fair, kShortPartition, 4 * plan.halo}));
  return sixteen_times_odd(m);
}

/// Plan whole tiles, without runs and chunks.
/// @param groups  work-groups, each with a tile of its own
/// @param usual   rows of a partition if nothing else decides
/// @param kept    words per row that have to stay in half of the second-level cache
Plan whole_tiles(Method method, Index n, Index partition, Index usual, int word, Index groups, Index kept,
                 const DeviceTraits& traits) {
  check_partition(partition);
  Plan plan{.method = method, .n = n, .lanes = lanes_of_tile(traits)};
  if (partition > 0) {
    plan.m = partition;
  } else {
    const Index cache_rows = traits.cache_bytes / 2 / (kept * word * plan.lanes);
    const Index fair = n / (groups * plan.lanes);
    plan.m = sixteen_times_odd(std::max(kShortPartition, std::min({usual, cache_rows, fair})));
  }
  plan.m = round_up(std::min(plan.m, std::max<Index>(n, 1)), plan.lanes);
  return plan;
}

/// Plan whole tiles of stored factors. Results of the sweep down of two tiles, and y of one tile, stay in the cache.
Plan stored_tiles(Method method, Index n, Index partition, Index usual, int word, Index groups,
                  const DeviceTraits& traits) {
  Plan plan = whole_tiles(method, n, partition, usual, word, groups, 3, traits);
  plan.add<StoredFactors>().reach = plan.m;
  return plan;
}

/// Cut the tiles into runs: one for each core, or several with at least kShortLaneRun tiles each.
void choose_runs(Plan& plan, const DeviceTraits& traits) {
  const Index cores = std::max(1, traits.cores);
  const Index most = std::clamp<Index>(plan.tiles() / kShortLaneRun, cores, kRunsPerCore * cores);
  plan.runs = static_cast<int>(std::clamp<Index>(plan.tiles(), 1, most));
}

/// Let two work-groups meet at a tile in the middle. chunk_tiles is 0 if the memory does not hold `arrays` arrays of
/// all rows.
void meet(Plan& plan, Index arrays, int word, const DeviceTraits& traits) {
  plan.add<Sides>().meeting = plan.tiles() < kSides ? plan.tiles() : plan.tiles() / kSides;
  plan.runs = static_cast<int>(std::clamp<Index>(plan.tiles(), 1, kSides));
  const std::int64_t words = std::min(traits.chunk_bytes, traits.memory_bytes / arrays) / word;
  plan.chunk_tiles = plan.tiles() * plan.tile_rows() <= words ? plan.tiles() : 0;
}

}  // namespace

Plan make_lanes_plan(Method method, Index n, Index halo, Index partition, int word, const DeviceTraits& traits) {
  check_partition(partition);
  Plan plan;
  const bool truncates = method == Method::truncated_halo;
  plan.made_by = truncates ? "lanes-halo" : "lanes-twopass";
  keep_figures(traits, plan);
  plan.method = method;
  plan.n = n;
  plan.halo = truncates ? halo : 0;
  plan.lanes = lanes_of_tile(traits);
  plan.m = std::min(partition > 0 ? partition : choose_partition(plan, word, traits), std::max<Index>(n, 1));
  take_runs(plan, plan.tiles(), traits);
  cut_into_chunks(plan, word, traits);
  return plan;
}

Index lanes_of_whole_lines(Index length, Index rows, int word, const DeviceTraits& traits) {
  const int lanes = lanes_of_tile(traits);
  const Index largest = partition_in_cache(lanes, word, traits);
  if (length > largest) return 0;
  const Index least = std::lcm(length, kWholeLinesQuantum);
  const Index m = std::max<Index>(1, (usual_partition(traits) + least / 2) / least) * least;
  const bool fits = m <= largest && m * lanes <= chunk_words(word, traits);
  return fits && rows >= m * lanes * std::max(1, traits.cores) ? m : 0;
}

void reach_rows(Plan& plan, Index rows) {
  plan.as<StoredFactors>().reach = std::min(round_up(rows, plan.lanes), plan.m);
}

Plan make_stored_plan(Index n, Index reach, Index partition, int word, const DeviceTraits& traits) {
  const Index cores = std::max(1, traits.cores);
  Plan plan = stored_tiles(Method::truncated_streamed, n, partition, usual_partition(traits), word, cores, traits);
  plan.made_by = "lanes-streamed";
  if (reach > 0) reach_rows(plan, reach);
  choose_runs(plan, traits);
  const std::int64_t words = chunk_words(word, traits);
  plan.chunk_tiles = std::min(words / plan.tile_rows() - 2, plan.tiles());
  if (plan.chunk_tiles < 1 && n > 0) {
    throw InvalidInput("the device's memory limit holds " + std::to_string(words) +
                       " rows per chunk, but three tiles need " + std::to_string(3 * plan.tile_rows()) +
                       ": raise device_memory or make the partition smaller");
  }
  return plan;
}

bool stream_tiles(Plan& plan, Index halo, int word, const DeviceTraits& traits) {
  const bool suits = traits.group_items == 0 && traits.lanes == traits.tile_lanes;
  const Index usual = figures_of(traits).count("lanes.streamed_partition");
  const Index m = halo <= usual * plan.lanes ? usual : figures_of(traits).count("lanes.streamed_partition", 1),
              tile = m * plan.lanes;
  if (!suits || plan.method != Method::truncated_halo || halo > tile || plan.n < 2 * tile) return false;
  Plan streamed = plan;
  streamed.made_by = "lanes-tiles";
  streamed.add<JoinedPartitions>();
  streamed.m = m;
  streamed.halo = 0;
  choose_runs(streamed, traits);
  streamed.chunk_tiles = std::min(chunk_words(word, traits) / tile - 2, streamed.tiles());
  if (streamed.chunk_tiles < 1) return false;
  plan = streamed;
  return true;
}

Plan make_twisted_plan(Index n, Index partition, int word, const DeviceTraits& traits) {
  Plan plan = stored_tiles(Method::exact_factored, n, partition, factored_partition(traits), word, kSides, traits);
  plan.made_by = "lanes-twisted";
  meet(plan, kTwistedArrays, word, traits);
  // Two busy cores, with the others idle, reach the memory rate of lanes.twisted_cores busy cores.
  plan.idle = std::max(1.0, traits.cores / figures_of(traits).number("lanes.twisted_cores"));
  return plan;
}

bool share_lines(Plan& plan, Index length, bool choose, int word, const DeviceTraits& traits) {
  if (length == 0) return false;
  // Half of the second-level cache holds a tile's vectors, as in make_stored_plan(), and three arrays of factors.
  const Index vectors = traits.cache_bytes / 2 / (word * plan.lanes);
  const Index whole = std::lcm(length / std::gcd<Index>(length, plan.lanes), static_cast<Index>(plan.lanes));
  const Index m = std::max(plan.m / whole, Index{1}) * whole;
  const bool fits = (3 + 3) * m <= vectors && 3 * m * plan.lanes <= chunk_words(word, traits);
  Plan shared = choose && fits ? make_stored_plan(plan.n, 0, m, word, traits) : plan;
  shared.form = Form::shared;
  shared.add<SharedTiles>({0, length / std::gcd(length, shared.tile_rows()), shared.tiles(), shared.tiles()});
  const bool in_cache = (3 + 3 * factor_tiles(shared)) * shared.m <= vectors;
  if (!in_cache || shared.tiles() <= factor_tiles(shared)) return false;
  plan = shared;
  return true;
}

Index partition_that_fills(Index length, const Plan& plan) {
  if (length % plan.lanes != 0) return 0;
  Index m = plan.m / plan.lanes * plan.lanes;
  while (m >= kShortPartition && length / plan.lanes % m != 0) m -= plan.lanes;
  return m >= kShortPartition ? m : 0;
}

bool share_rows(Plan& plan, Index length) {
  const Index tiles = quotient_up(length, plan.tile_rows());
  const bool fills = length == plan.n || tiles * plan.tile_rows() == length;
  const Index lead_in = plan.as<StoredFactors>().lead_in;
  if (!fills || tiles < 4 || lead_in < 0 || lead_in > plan.tile_rows()) return false;
  plan.form = Form::shared;
  plan.add<SharedTiles>({1, 1, tiles - 1, tiles});
  return true;
}

bool make_symmetric(Plan& plan, int word, const DeviceTraits& traits) {
  if (3 * (plan.m + 1) * plan.lanes > chunk_words(word, traits)) return false;
  plan.form = Form::symmetric;
  return true;
}

}  // namespace oclspkt
