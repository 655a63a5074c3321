// SPDX-License-Identifier: BSD-2-Clause
// Plans by lanes, for lines laid end to end and side by side, and by the host.
#include <algorithm>
#include <limits>
#include <numeric>
#include <string>

#include "geometry.hpp"
#include "grid_plan.hpp"
#include "oclspkt/error.hpp"
#include "plan.hpp"
#include "plan_parts.hpp"

namespace oclspkt {
namespace {

/// Partitions shorter than this spend their time on starts and interfaces.
constexpr Index kShortPartition = 64;
/// Rows a partition has where neither cache nor halo decide; 16 x odd, since powers of two collide in the cache.
constexpr Index kUsualPartition = 16 * 31;
/// The same where a tile is swept concurrently and not met again: it stays in the first-level cache. Exact-factored
/// has 0.60 / 0.62 of the stream with 112 rows, 0.555 / 0.556 with 496 (d = 3, Xeon with AVX-512, PoCL).
constexpr Index kFactoredPartition = 16 * 7;
/// Rows of a partition of tiles that are streamed by their bands: they stay in the first-level cache.
constexpr Index kStreamedPartition = 32;
/// The longest ones, which leave it: 0.70 of the stream in double where 32 rows have 0.81 (Xeon with AVX-512, PoCL).
constexpr Index kLongestStreamed = 64;
/// Partitions of whole lines are multiples of it, so that rows are stored in whole cache lines.
constexpr Index kWholeLinesQuantum = 16;
/// Words a row that a tile keeps between its two sweeps.
constexpr Index kScratchWords = 2;
/// Runs per core, so that a core that is late does not hold up the others.
constexpr Index kRunsPerCore = 4;
/// Bytes side by side that a bundle takes of a row at most: enough for streams, and its rows stay in the first level.
constexpr Index kLaneBundleBytes = 2048;
/// Bytes of a cache line.
constexpr Index kCacheLine = 64;
/// Cache lines side by side below which a bundle's streams are short; cores that are late are no reason to go there.
constexpr Index kShortBundle = 4;
/// Rows of a block from which on one core is faster along whole rows, whose streams never end, than within its cache.
constexpr Index kLongRowBytes = 32 << 10;
/// Cores of which two that sweep from both ends take the share of memory.
constexpr double kTwistedCores = 4;
/// Tiles of a run below which those that it sweeps for its neighbours' sake count.
constexpr Index kShortLaneRun = 8;
/// Sides of a twisted factorisation.
constexpr Index kSides = 2;
/// Arrays of exact-factored for lines laid end to end: y, x, three of factors, what the first pass leaves; and as much
/// as one more for all that is small.
constexpr Index kTwistedArrays = 7;
/// Arrays of a chunk for stored factors: y, x, three of factors and what the sweep down leaves.
constexpr Index kFactoredArrays = 6;

/// 16 x odd, at most `value` where that is at least 16.
Index sixteen_times_odd(Index value) {
  const Index blocks = std::max<Index>(1, value / 16);
  return 16 * (blocks % 2 == 1 ? blocks : blocks - 1);
}

/// Partitions of a tile of lines laid end to end.
int lanes_of_tile(const DeviceTraits& traits) { return std::max({1, traits.lanes, traits.tile_lanes}); }

/// Rows of a partition of which both sweeps stay in half of the second-level cache.
Index partition_in_cache(int lanes, int word, const DeviceTraits& traits) {
  return std::max<Index>(kShortPartition, traits.cache_bytes / 2 / (kScratchWords * word * lanes));
}

Index choose_partition(const Plan& plan, int word, const DeviceTraits& traits) {
  const Index cache_rows = partition_in_cache(plan.lanes, word, traits);
  const Index largest = std::max<Index>(kShortPartition, cache_rows - 2 * plan.halo);
  Index m = std::min(largest, std::max(kUsualPartition, 16 * plan.halo));
  // Every core wants a tile of its own, as long as a partition stays longer than its halo.
  const Index fair = plan.n / (static_cast<Index>(traits.cores) * plan.lanes);
  m = std::min(m, std::max({fair, kShortPartition, 4 * plan.halo}));
  return sixteen_times_odd(m);
}

/// Cut the lines of a block into bundles of some `width` lines, a multiple of `quantum`.
void cut_block(const LineSet& lines, Index width, Index quantum, int lanes, Beside& beside) {
  beside.bundle = round_up(quotient_up(lines.block_lines(), quotient_up(lines.block_lines(), width)), quantum);
  // Fewer lines than lanes are not left to a bundle of their own: see kernels/cpu/strided.clh.
  beside.bundles = std::max<Index>(1, (lines.block_lines() + beside.bundle - lanes) / beside.bundle);
}

/// Lines of the widest bundle, in whole lanes.
Index widest_bundle(const LineSet& lines, const Plan& plan) {
  const Beside& beside = plan.as<Beside>();
  const Index last = lines.block_lines() - (beside.bundles - 1) * beside.bundle;
  return round_up(beside.bundles > 1 ? std::max(beside.bundle, last) : last, plan.lanes);
}

/// Lines that a bundle takes at least: whole lanes and cache lines.
Index bundle_quantum(const Plan& plan, int word) { return std::max<Index>(plan.lanes, kCacheLine / word); }

/// Lanes that are swept for one that holds a line: blocks of fewer lines than lanes are swept number by number.
double empty_lanes(const LineSet& lines, const Plan& plan) {
  const Index inner = lines.block_lines();
  const Index padded = inner >= plan.lanes ? round_up(inner, plan.lanes) : inner * plan.lanes;
  return static_cast<double>(padded) / static_cast<double>(inner);
}

/// Lines of a bundle, at most `width`: every core has one, or several if that leaves streams long.
Index fair_width(const LineSet& lines, Index width, Index quantum, const DeviceTraits& traits) {
  const auto fair = [&](Index per_core) {
    const Index wanted = quotient_up(per_core * std::max(1, traits.cores), lines.blocks());
    return round_up(quotient_up(lines.block_lines(), wanted), quantum);
  };
  return std::min({width, std::max(fair(kRunsPerCore), kShortBundle * quantum), fair(1)});
}

/// Lines of a bundle: as wide as the window between the two sweeps allows, in whole lanes and cache lines, and narrow
/// enough for every core to have one.
void choose_bundle(const LineSet& lines, int word, const DeviceTraits& traits, Plan& plan) {
  Beside& beside = plan.as<Beside>();
  FactoredLines& factored = plan.as<FactoredLines>();
  factored.through_x = traits.host && plan.form != Form::shared && lines.block_lines() * word >= kLongRowBytes;
  if (factored.through_x) {
    beside.bundle = lines.block_lines();
    beside.windowed = false;
    return;
  }
  const Index quantum = bundle_quantum(plan, word), most = kLaneBundleBytes / word;
  // One row more: the values carried from row to row.
  const Index window = traits.cache_bytes / 2 / word / (lines.length(0) + 1) / quantum * quantum;
  beside.windowed = window >= quantum;
  cut_block(lines, fair_width(lines, beside.windowed ? std::min(window, most) : most, quantum, traits), quantum,
            plan.lanes, beside);
  beside.window = (lines.length(0) + 1) * widest_bundle(lines, plan);
}

/// True if a bundle is to have whole rows of a block, which adjoin, of lines that are not cut: the rows are one stream,
/// and what of the window leaves the cache costs less than the ends of shorter ones. Grids of 128^3 and 256^3, y,
/// double, take 0.8 and 0.6 to 0.9 of the time of bundles of 48 and 32 lines (AMD EPYC, L2 of 1 MB, PoCL).
bool takes_whole_rows(const LineSet& lines, int word, const DeviceTraits& traits, const Plan& plan) {
  const Index window = kScratchWords * (lines.length(0) + 1) * round_up(lines.block_lines(), plan.lanes) * word;
  return lines.row_stride() == lines.block_lines() && lines.blocks() >= kRunsPerCore * std::max(1, traits.cores) &&
         window <= traits.cache_bytes / 4 * 5;
}

/// Lines of a bundle that is cut into segments of at least `shortest` rows, or not at all.
Index segmented_width(const LineSet& lines, Index shortest, Index quantum, int word, const DeviceTraits& traits,
                      const Plan& plan) {
  const bool cut = shortest < lines.length(0);
  // A narrow bundle leaves room for segments that are long against their halo.
  const Index words = traits.cache_bytes / (cut ? 4 : 2) / word;
  const Index fit = words / (kScratchWords * (cut ? shortest + 2 * plan.halo + 1 : shortest)) / quantum * quantum;
  const Index width = std::clamp(fit, quantum, std::max(quantum, kLaneBundleBytes / word));
  return cut ? width : fair_width(lines, width, quantum, traits);
}

/// Rows of a segment: every core has some, as long as a segment stays longer than its halo, and both sweeps stay in
/// half of the second-level cache. @param shortest rows that a segment has at least
Index choose_segment(const LineSet& lines, Index shortest, int word, const DeviceTraits& traits, const Plan& plan) {
  const Index wanted =
      quotient_up(kRunsPerCore * std::max(1, traits.cores), plan.as<Beside>().bundles * lines.blocks());
  const Index window_rows = traits.cache_bytes / 2 / word / (kScratchWords * widest_bundle(lines, plan));
  const Index m = std::min(quotient_up(lines.length(0), wanted), window_rows - 1 - 2 * plan.halo);
  return std::max(m, shortest);
}

/// What plans of whole tiles have in common.
/// @param groups  work-groups that want a tile each
/// @param usual   rows of a partition where nothing else decides
/// @param kept    words a row that stay in half of the second-level cache
Plan whole_tiles(Method method, Index n, Index partition, Index usual, int word, Index groups, Index kept,
                 const DeviceTraits& traits) {
  check_partition(partition);
  Plan plan;
  plan.method = method;
  plan.n = n;
  plan.lanes = lanes_of_tile(traits);
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

/// The same for stored factors: what the sweep down leaves of two tiles, and y of one, stay in the cache.
Plan stored_tiles(Method method, Index n, Index partition, Index usual, int word, Index groups,
                  const DeviceTraits& traits) {
  Plan plan = whole_tiles(method, n, partition, usual, word, groups, 3, traits);
  plan.add<StoredFactors>().reach = plan.m;
  return plan;
}

/// Whose plans make_plan() makes, but for those by work-groups; null: nobody's, as truncated-streamed stores factors.
const char* maker_of(Method method) {
  switch (method) {
    case Method::truncated_halo:
      return "lanes-halo";
    case Method::exact_twopass:
      return "lanes-twopass";
    case Method::exact_factored:
      return "beside-factored";
    case Method::pivot:
      return "host-pivot";
    case Method::truncated_streamed:
      break;
  }
  return nullptr;
}

/// Runs of tiles for all cores, as many as leave none short.
void choose_runs(Plan& plan, const DeviceTraits& traits) {
  const Index cores = std::max(1, traits.cores);
  const Index most = std::clamp<Index>(plan.tiles() / kShortLaneRun, cores, kRunsPerCore * cores);
  plan.runs = static_cast<int>(std::clamp<Index>(plan.tiles(), 1, most));
}

/// Let two work-groups meet, if the memory holds `arrays` of all rows.
void meet(Plan& plan, Index arrays, int word, const DeviceTraits& traits) {
  plan.add<Sides>().meeting = plan.tiles() < kSides ? plan.tiles() : plan.tiles() / kSides;
  plan.runs = static_cast<int>(std::clamp<Index>(plan.tiles(), 1, kSides));
  const std::int64_t words = std::min(traits.chunk_bytes, traits.memory_bytes / arrays) / word;
  plan.chunk_tiles = plan.tiles() * plan.tile_rows() <= words ? plan.tiles() : 0;
}

}  // namespace

Plan make_plan(Method method, Index n, Index halo, Index partition, int word, const DeviceTraits& traits) {
  check_partition(partition);
  Plan plan;
  plan.made_by = maker_of(method);
  plan.method = method;
  plan.n = n;
  plan.halo = method == Method::truncated_halo ? halo : 0;
  plan.lanes = lanes_of_tile(traits);
  if (method == Method::truncated_halo && traits.group_items > 0) {
    cut_by_groups(plan, partition, word, traits);
  } else {
    plan.m = std::min(partition > 0 ? partition : choose_partition(plan, word, traits), std::max<Index>(n, 1));
  }
  if (method == Method::exact_factored || method == Method::pivot) {
    plan.m = n;
    plan.lanes = 1;
  }
  plan.runs = static_cast<int>(std::clamp<Index>(plan.tiles(), 1, kRunsPerCore * std::max(1, traits.cores)));

  cut_into_chunks(plan, word, traits);
  return plan;
}

Index partition_of_whole_lines(const LineSet& lines, int word, const DeviceTraits& traits) {
  const Index length = lines.contiguous() ? equal_length(lines) : 0;
  if (length == 0) return 0;
  if (traits.group_items > 0) return lines_in_a_tile(length, word, traits);
  const int lanes = lanes_of_tile(traits);
  const Index largest = partition_in_cache(lanes, word, traits);
  if (length > largest) return 0;
  const Index least = std::lcm(length, kWholeLinesQuantum);
  const Index m = std::max<Index>(1, (kUsualPartition + least / 2) / least) * least;
  const bool fits = m <= largest && m * lanes <= chunk_words(word, traits);
  return fits && lines.rows() >= m * lanes * std::max(1, traits.cores) ? m : 0;
}

Plan make_whole_lines_plan(const LineSet& lines, Index partition, int word, const DeviceTraits& traits) {
  if (traits.group_items > 0) return make_lines_plan(lines.rows(), lines.length(0), partition, word, traits);
  return make_plan(Method::truncated_halo, lines.rows(), 0, partition, word, traits);
}

void reach_rows(Plan& plan, Index rows) {
  plan.as<StoredFactors>().reach = std::min(round_up(rows, plan.lanes), plan.m);
}

Plan make_stored_plan(Index n, Index reach, Index partition, int word, const DeviceTraits& traits) {
  const Index cores = std::max(1, traits.cores);
  Plan plan = stored_tiles(Method::truncated_streamed, n, partition, kUsualPartition, word, cores, traits);
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
  const Index m = halo <= kStreamedPartition * plan.lanes ? kStreamedPartition : kLongestStreamed,
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
  Plan plan = stored_tiles(Method::exact_factored, n, partition, kFactoredPartition, word, kSides, traits);
  plan.made_by = "lanes-twisted";
  meet(plan, kTwistedArrays, word, traits);
  // Two cores draw as much of a memory's rate as four would of their share (16 cores: 3.8 of 8 times).
  plan.idle = std::max(1.0, traits.cores / kTwistedCores);
  return plan;
}

bool share_lines(Plan& plan, Index length, bool choose, int word, const DeviceTraits& traits) {
  if (length == 0) return false;
  // What make_stored_plan() keeps of tiles, and three arrays of factors, stay in half of the second-level cache.
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

Index choose_chunk_blocks(const LineSet& lines, Index window, int word, const DeviceTraits& traits) {
  const std::int64_t memory = std::min(traits.chunk_bytes, (traits.memory_bytes - window * word) / kFactoredArrays);
  const std::int64_t words = window * word > traits.chunk_bytes ? 0 : memory / word;
  const Index extent = lines.block_extent(), blocks = lines.blocks();
  // The kernels count the rows of a line in 32 bits.
  if (words < extent || lines.length(0) > std::numeric_limits<std::int32_t>::max() / 2) return 0;
  if (blocks == 1) return 1;
  const Index fit = std::min(blocks, 1 + (words - extent) / lines.block_stride());
  return fit == blocks || lines.block_stride() >= extent ? fit : 0;
}

Plan make_factored_plan(const LineSet& lines, Form form, int word, const DeviceTraits& traits) {
  if (traits.group_items > 0 && lines.beside()) {
    return make_grid_plan(lines, {.method = Method::exact_factored, .form = form}, word, traits);
  }
  Plan plan;
  plan.made_by = maker_of(Method::exact_factored);
  plan.method = Method::exact_factored;
  const bool serves = lines.beside() && !traits.host;
  plan.form = form == Form::symmetric && !serves ? Form::general : form;
  plan.n = plan.m = lines.rows();
  plan.chunk_tiles = std::min<Index>(plan.n, 1);
  plan.add<Beside>();
  plan.add<FactoredLines>();
  Beside& beside = plan.as<Beside>();
  if (lines.rows() == 0) return plan;
  Index longest = 0;
  for (Index l = 0; l < lines.count(); ++l) longest = std::max(longest, lines.length(l));
  // Up to five arrays pass while a line by itself is swept.
  beside.windowed = lines.count() > 1 && 5 * longest * word <= traits.cache_bytes;
  plan.as<FactoredLines>().resident = form == Form::shared && 3 * longest * word <= traits.cache_bytes / 4;
  if (!lines.beside()) return plan;
  plan.lanes = std::max(1, traits.lanes);
  choose_bundle(lines, word, traits, plan);
  beside.chunk_blocks = choose_chunk_blocks(lines, beside.window, word, traits);
  const Index cores = std::max(1, traits.cores), bundles = beside.bundles * lines.blocks();
  plan.runs = static_cast<int>(std::clamp<Index>(bundles, 1, kRunsPerCore * cores));
  plan.idle = empty_lanes(lines, plan) * static_cast<double>(cores) / static_cast<double>(std::min(cores, bundles));
  return plan;
}

Plan make_strided_halo_plan(const LineSet& lines, Index halo, Index partition, int word, const DeviceTraits& traits) {
  check_partition(partition);
  Plan plan;
  plan.made_by = "beside-halo";
  plan.method = Method::truncated_halo;
  plan.n = lines.rows();
  plan.lanes = std::max(1, traits.lanes);
  Beside& beside = plan.add<Beside>();
  beside.segments = 1;
  if (lines.rows() == 0) return plan;
  const Index length = lines.length(0), quantum = bundle_quantum(plan, word);
  plan.halo = std::min(halo, length);
  const Index shortest = std::min(length, std::max(kShortPartition, 4 * plan.halo));
  const bool whole_rows = partition == 0 && takes_whole_rows(lines, word, traits, plan);
  cut_block(lines, whole_rows ? lines.block_lines() : segmented_width(lines, shortest, quantum, word, traits, plan),
            quantum, plan.lanes, beside);
  const Index wanted = partition > 0 ? partition
                       : whole_rows  ? length
                                     : choose_segment(lines, shortest, word, traits, plan);
  beside.segments = quotient_up(length, std::min(wanted, length));
  plan.m = partition > 0 ? std::min(partition, length) : quotient_up(length, beside.segments);
  beside.window = kScratchWords * (std::min(length, plan.m + 2 * plan.halo) + 1) * widest_bundle(lines, plan);
  // A row more than whole lines have is carried.
  beside.windowed = whole_rows || beside.window * word <= traits.cache_bytes / 16 * 9;
  beside.chunk_blocks = choose_chunk_blocks(lines, beside.window, word, traits);
  const Index cores = std::max(1, traits.cores), pieces = beside.bundles * lines.blocks() * beside.segments;
  plan.runs = static_cast<int>(std::clamp<Index>(pieces, 1, kRunsPerCore * cores));
  // The last turn may leave cores without a piece.
  plan.idle =
      empty_lanes(lines, plan) * static_cast<double>(cores * quotient_up(pieces, cores)) / static_cast<double>(pieces);
  return plan;
}

}  // namespace oclspkt
