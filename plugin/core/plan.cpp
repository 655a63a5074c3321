// SPDX-License-Identifier: BSD-2-Clause
#include "plan.hpp"

#include <algorithm>
#include <string>

#include "oclspkt/error.hpp"

namespace oclspkt {
namespace {

/// Partitions shorter than this spend their time on starts and interfaces.
constexpr Index kShortPartition = 64;
/// Rows a partition has where neither cache nor halo decide; 16 x odd, since powers of two collide in the cache.
constexpr Index kUsualPartition = 16 * 31;
/// Words a row that a tile keeps between its two sweeps.
constexpr Index kScratchWords = 2;
/// Runs per core, so that a core that is late does not hold up the others.
constexpr Index kRunsPerCore = 4;

Index round_up(Index value, Index multiple) { return (value + multiple - 1) / multiple * multiple; }

/// 16 x odd, at most `value` where that is at least 16.
Index sixteen_times_odd(Index value) {
  const Index blocks = std::max<Index>(1, value / 16);
  return 16 * (blocks % 2 == 1 ? blocks : blocks - 1);
}

Index choose_partition(Index n, Index halo, int word, const DeviceTraits& traits) {
  // Both sweeps of a tile stay in half of the second-level cache.
  const Index cache_rows =
      std::max<Index>(kShortPartition, traits.cache_bytes / 2 / (kScratchWords * word * traits.lanes));
  const Index largest = std::max<Index>(kShortPartition, cache_rows - 2 * halo);
  Index m = std::min(largest, std::max(kUsualPartition, 16 * halo));
  // Every core wants a tile of its own, as long as a partition stays longer than its halo.
  const Index fair = n / (static_cast<Index>(traits.cores) * traits.lanes);
  m = std::min(m, std::max({fair, kShortPartition, 4 * halo}));
  return sixteen_times_odd(m);
}

}  // namespace

double Plan::words_per_row() const {
  const double overlap = m > 0 ? static_cast<double>(m + 2 * halo) / static_cast<double>(m) : 1.0;
  switch (method) {
    case Method::truncated_halo:
      return 4 * overlap + 1;
    case Method::truncated_streamed:
      return exact_starts ? 9 : 5;
    case Method::exact_twopass:
      return 9;
    case Method::exact_factored:
      return 7;  // forward reads 2 and writes 1, backward reads 3 and writes 1
    case Method::pivot:
      return 10.5;  // copy of y 2, forward 3 and a pivot index of half a word, backward 5
  }
  return 0;
}

Plan make_plan(Method method, Index n, Index halo, Index partition, int word, const DeviceTraits& traits) {
  if (partition < 0) {
    throw InvalidInput("a partition needs at least 1 row (0: chosen), not " + std::to_string(partition));
  }
  Plan plan;
  plan.method = method;
  plan.n = n;
  plan.halo = method == Method::truncated_halo ? halo : 0;
  plan.lanes = std::max(1, traits.lanes);
  plan.m = std::min(partition > 0 ? partition : choose_partition(n, plan.halo, word, traits), std::max<Index>(n, 1));
  if (method == Method::exact_factored || method == Method::pivot) {
    plan.m = n;
    plan.lanes = 1;
  }
  plan.runs = static_cast<int>(std::clamp<Index>(plan.tiles(), 1, kRunsPerCore * std::max(1, traits.cores)));

  // Five arrays of a chunk, with its halo on either side, share the memory; each is an allocation of its own.
  const std::int64_t words = std::min(traits.chunk_bytes, traits.memory_bytes / 5) / word;
  const Index tile_rows = plan.tile_rows();
  plan.chunk_tiles = tile_rows > 0 ? (words - 2 * round_up(plan.halo, 16)) / tile_rows : 0;
  plan.chunk_tiles = std::min(plan.chunk_tiles, plan.tiles());
  if (plan.chunk_tiles < 1 && n > 0) {
    throw InvalidInput("the device's memory limit holds " + std::to_string(words) + " rows a chunk, a tile needs " +
                       std::to_string(tile_rows + 2 * plan.halo) +
                       ": raise device_memory or make the partition smaller");
  }
  return plan;
}

}  // namespace oclspkt
