// SPDX-License-Identifier: BSD-2-Clause
#include "plan.hpp"

#include <algorithm>
#include <string>

#include "geometry.hpp"
#include "oclspkt/error.hpp"
#include "plan_parts.hpp"
#include "schemes/scheme.hpp"

namespace oclspkt {

void check_partition(Index partition) {
  if (partition >= 0) return;
  throw InvalidInput("a partition needs at least 1 row (0: chosen at set-up), not " + std::to_string(partition));
}

std::int64_t chunk_words(int word, const DeviceTraits& traits) {
  return std::min(traits.chunk_bytes, traits.memory_bytes / 5) / word;
}

void cut_into_chunks(Plan& plan, int word, const DeviceTraits& traits) {
  const std::int64_t words = chunk_words(word, traits);
  const Index tile_rows = plan.tile_rows();
  plan.chunk_tiles = tile_rows > 0 ? (words - 2 * round_up(plan.halo, 16)) / tile_rows : 0;
  plan.chunk_tiles = std::min(plan.chunk_tiles, plan.tiles());
  if (plan.chunk_tiles < 1 && plan.n > 0) {
    throw InvalidInput("the device's memory limit holds " + std::to_string(words) +
                       " rows per chunk, but a tile needs " + std::to_string(tile_rows + 2 * plan.halo) +
                       ": raise device_memory or make the partition smaller");
  }
}

Cut Plan::cut() const { return scheme_of(*this).cut(*this); }

double Plan::overlap() const {
  if (m <= 0) return 1;
  const Index segments = segments_of(*this);
  // A line that is cut into segments reads nothing beyond its ends.
  const double cut = segments > 0 ? 1 - 1 / static_cast<double>(segments) : 1;
  return 1 + cut * 2 * static_cast<double>(halo) / static_cast<double>(m);
}

double Plan::words_per_row() const { return scheme_of(*this).words(*this); }

Index equal_length(const LineSet& lines) {
  const Index length = lines.count() > 0 ? lines.length(0) : 0;
  for (Index l = 0; l < lines.count(); ++l) {
    if (lines.length(l) != length) return 0;
  }
  return length;
}

}  // namespace oclspkt
