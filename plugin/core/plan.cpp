// SPDX-License-Identifier: BSD-2-Clause
#include "plan.hpp"

#include <algorithm>
#include <limits>
#include <optional>
#include <string>
#include <utility>

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

void take_runs(Plan& plan, Index pieces, const DeviceTraits& traits) {
  plan.runs = static_cast<int>(std::clamp<Index>(pieces, 1, kRunsPerCore * std::max(1, traits.cores)));
}

Index choose_chunk_blocks(const LineSet& lines, Index window, int word, const DeviceTraits& traits) {
  constexpr Index kChunkArrays = 6;  // y, x, three arrays of factors, and the results of the sweep down
  const std::int64_t memory = std::min(traits.chunk_bytes, (traits.memory_bytes - window * word) / kChunkArrays);
  const std::int64_t words = window * word > traits.chunk_bytes ? 0 : memory / word;
  const Index extent = lines.block_extent(), blocks = lines.blocks();
  // The kernels count the rows of a line in 32 bits.
  if (words < extent || lines.length(0) > std::numeric_limits<std::int32_t>::max() / 2) return 0;
  if (blocks == 1) return 1;
  const Index fit = std::min(blocks, 1 + (words - extent) / lines.block_stride());
  return fit == blocks || lines.block_stride() >= extent ? fit : 0;
}

Cut Plan::cut() const { return scheme_of(*this).cut(*this); }

double Plan::overlap() const { return m > 0 ? 1 + 2 * static_cast<double>(halo) / static_cast<double>(m) : 1; }

double Plan::words_per_row() const { return scheme_of(*this).words(*this); }

std::optional<Plan> find_plan(const PlanRequest& request) {
  for (const Scheme* scheme : all_schemes()) {
    if (std::optional<Plan> plan = scheme->make(request)) return plan;
  }
  return std::nullopt;
}

Plan make_plan(const PlanRequest& request) {
  if (std::optional<Plan> plan = find_plan(request)) return *std::move(plan);
  throw DeviceError(std::string("this library has no kernels of method ") + name(request.method) +
                    " for this processor: choose another device or variant");
}

Plan make_plan(Method method, Index n, Index halo, Index partition, int word, const DeviceTraits& traits) {
  return make_plan({.method = method,
                    .lines = LineSet::one(n),
                    .halo = halo,
                    .partition = partition,
                    .word = word,
                    .traits = traits});
}

Plan make_factored_plan(const LineSet& lines, Form form, int word, const DeviceTraits& traits) {
  return make_plan({.method = Method::exact_factored, .lines = lines, .form = form, .word = word, .traits = traits});
}

Index equal_length(const LineSet& lines) {
  const Index length = lines.count() > 0 ? lines.length(0) : 0;
  for (Index l = 0; l < lines.count(); ++l) {
    if (lines.length(l) != length) return 0;
  }
  return length;
}

}  // namespace oclspkt
