// SPDX-License-Identifier: BSD-2-Clause
#include "layout.hpp"

#include "schemes/scheme.hpp"

#include <algorithm>
#include <limits>
#include <string>

#include "error_name.hpp"
#include "schemes/table.hpp"

namespace oclspkt::ocl {
namespace {

Chunk make_chunk(const Plan& plan, Index tile_begin, Index tile_end, Index alignment) {
  const Cut cut = plan.cut();
  Chunk chunk;
  chunk.held_begin = tile_begin;
  chunk.held_end = tile_end;
  chunk.tile_begin = tile_begin;
  chunk.tile_end = tile_end;
  chunk.kept_first = tile_begin * plan.tile_rows();
  chunk.kept_end = std::min(plan.n, tile_end * plan.tile_rows());
  chunk.first = std::max<Index>(0, chunk.kept_first - cut.before) / alignment * alignment;
  chunk.end = std::min(plan.n, chunk.kept_end + cut.behind);
  return chunk;
}

/// Returns a layout for chunks of `chunk_tiles` tiles, still without its list of chunks.
Layout working_sizes(const Plan& plan, int word, Index chunk_tiles) {
  Layout layout;
  layout.needs = carrier_of(plan).needs(plan, LineSet::one(plan.n), word, chunk_tiles);
  layout.chunk_tiles = chunk_tiles;
  layout.runs = static_cast<int>(std::clamp<Index>(plan.runs, 1, chunk_tiles));
  layout.scratch_bytes = layout.runs * layout.needs.slot * plan.lanes * word;
  return layout;
}

std::int64_t chunk_bytes(const Plan& plan, int word, Index chunk_tiles, Index alignment) {
  const Index more = chunk_tiles < plan.tiles() ? alignment - 1 : 0;
  const Index of_tile = scheme_of(plan).places(plan).tile_words;
  if (of_tile > 0) return (std::min(plan.tiles(), chunk_tiles + 2) * of_tile + more) * word;
  const Cut cut = plan.cut();
  return std::min(plan.n, chunk_tiles * plan.tile_rows() + cut.before + cut.behind + more) * word;
}

/// Returns the bytes of the largest buffer and of all buffers, for chunks of `chunk_tiles` tiles.
Limits needs_of(const Plan& plan, int word, Index chunk_tiles, Index alignment) {
  const Layout of = working_sizes(plan, word, chunk_tiles);
  const std::int64_t array = chunk_bytes(plan, word, chunk_tiles, alignment);
  return {std::max({array, of.scratch_bytes, of.needs.largest}),
          of.needs.arrays * array + of.scratch_bytes + of.needs.all};
}

bool fits(const Limits& need, const Limits& limits) {
  return need.allocation <= limits.allocation && need.memory <= limits.memory;
}

void add(Layout& layout, const Chunk& chunk) {
  layout.chunks.push_back(chunk);
  layout.longest = std::max(layout.longest, chunk.rows());
}

/// Find out whether the bands of all chunks fit at once.
/// @return false if the plan needs all rows at once, but they do not fit
bool decide_residence(Layout& layout, const Plan& plan, int word, const Limits& limits) {
  std::int64_t rows = 0;
  for (const Chunk& chunk : layout.band_chunks) rows += chunk.rows();
  layout.resident =
      3 * rows * plan.factor_word(word) + 2 * layout.longest * word + layout.scratch_bytes + layout.needs.all <=
      limits.memory;
  return !plan.cut().whole || (layout.resident && layout.chunks.size() <= 1);
}

}  // namespace

void check_plan(const FoundDevice& found, const DeviceSettings& settings, const Plan& plan, const LineSet& lines,
                std::size_t word) {
  const Scheme& scheme = scheme_of(plan);
  carrier_of(plan);
  if (!scheme.fits(plan, lines)) {
    throw InvalidInput(std::string("the plan of scheme ") + scheme.name() + " is for " + std::to_string(plan.n) +
                       " rows, the bands are " + lines.describe() + ": make the plan for these lines");
  }
  const std::string device = describe(found.info);
  const bool by_groups = scheme.nature().kernels == Kernels::groups;
  if (by_groups && !found.by_groups(settings.variant)) {
    throw InvalidInput("the plan is by work-groups, " + device + " uses kernels made for CPUs: choose variant gpu");
  }
  const int lanes = lines.contiguous() ? found.tile_lanes(word == sizeof(double)) : found.lanes(word == sizeof(double));
  if (!by_groups && plan.lanes > 1 && (plan.lanes != lanes || found.by_task(settings.variant))) {
    throw InvalidInput("the plan is for kernels by " + std::to_string(plan.lanes) + " lanes, " + device + " has " +
                       std::to_string(lanes) +
                       " or uses kernels made for FPGAs: make the plan with the traits of this device");
  }
}

Chunk places_of_factors(const Plan& plan, Chunk chunk) {
  const bool any = chunk.held_end > chunk.held_begin;
  const StoredPlaces places = scheme_of(plan).places(plan);
  if (places.shared > 0) {
    chunk.first = 0;
    chunk.end = any ? places.shared : 0;
    return chunk;
  }
  chunk.first = any ? std::max<Index>(0, chunk.held_begin - 1) * places.tile_words : 0;
  chunk.end = any ? std::min(plan.tiles(), chunk.held_end + 1) * places.tile_words : 0;
  return chunk;
}

Layout make_layout(const Plan& plan, int word, const Limits& limits) {
  if (plan.m < 1 ||
      carrier_of(plan).needs(plan, LineSet::one(plan.n), word, 1).slot > std::numeric_limits<std::int32_t>::max() / 4) {
    throw InvalidInput("partitions of " + std::to_string(plan.m) + " rows with " + std::to_string(plan.halo) +
                       " rows of halo are too long for a device: choose a smaller partition");
  }
  Index chunk_tiles = std::clamp<Index>(plan.chunk_tiles, 1, plan.tiles());
  if (!plan.cut().whole) chunk_tiles = std::clamp<Index>(limits.chunk / plan.tile_rows(), 1, chunk_tiles);
  while (chunk_tiles > 1 && !fits(needs_of(plan, word, chunk_tiles, limits.alignment), limits)) {
    chunk_tiles = (chunk_tiles + 1) / 2;
  }
  if (const Limits need = needs_of(plan, word, chunk_tiles, limits.alignment); !fits(need, limits)) {
    throw InvalidInput("a tile of " + std::to_string(plan.tile_rows()) + " rows needs " + std::to_string(need.memory) +
                       " bytes on the device, " + std::to_string(need.allocation) +
                       " of them in one buffer; allowed are " + std::to_string(limits.memory) + " and " +
                       std::to_string(limits.allocation) + ": raise device_memory or choose another partition");
  }
  Layout layout = working_sizes(plan, word, chunk_tiles);
  for (Index t = 0; t < plan.tiles(); t += chunk_tiles) {
    add(layout, make_chunk(plan, t, std::min(plan.tiles(), t + chunk_tiles), limits.alignment));
  }
  layout.band_chunks = layout.chunks;
  if (const StoredPlaces places = scheme_of(plan).places(plan); places.shared > 0 || places.tile_words > 0) {
    if (places.shared > 0) layout.band_chunks.resize(1);
    for (Chunk& chunk : layout.band_chunks) {
      chunk = places_of_factors(plan, chunk);
      layout.longest = std::max(layout.longest, chunk.rows());
    }
  }
  if (!decide_residence(layout, plan, word, limits)) {
    throw InvalidInput(std::string("scheme ") + scheme_of(plan).name() + " of method " + name(plan.method) +
                       " takes all " + std::to_string(plan.n) +
                       " rows at once, which the device's memory does not hold: raise device_memory or choose "
                       "exact-twopass by partitions");
  }
  return layout;
}

Pieces make_pieces(const Plan& plan, const Chunk& chunk, Index rows, bool whole) {
  const Index all = chunk.tile_end - chunk.tile_begin;
  Index tiles = all;
  if (!whole) {
    // A piece brings all rows that the tiles of a launch need, including rows behind these tiles. This limits the tiles
    // of a launch. Launches are about equally long.
    const Index most = std::max<Index>(1, (rows - plan.cut().behind) / plan.tile_rows());
    tiles = quotient_up(all, quotient_up(all, most));
  }
  Pieces pieces;
  Index come = chunk.first;
  for (Index t = chunk.tile_begin; t < chunk.tile_end; t += tiles) {
    Chunk part = whole ? chunk : make_chunk(plan, t, std::min(chunk.tile_end, t + tiles), 1);
    part.first = chunk.first;
    part.end = std::min(part.end, chunk.end);
    part.held_begin = chunk.held_begin;
    part.held_end = chunk.held_end;
    for (; come < part.end; come = pieces.ups.back().end) pieces.ups.push_back({come, std::min(part.end, come + rows)});
    pieces.launches.push_back({part, pieces.ups.size()});
    for (Index row = part.kept_first; row < part.kept_end; row += rows) {
      pieces.downs.push_back({row, std::min(part.kept_end, row + rows), pieces.launches.size()});
    }
  }
  return pieces;
}

void make_pieces(Pieces& pieces, Index n, Index rows, bool up, bool down) {
  pieces.ups.clear();
  pieces.launches.clear();
  pieces.downs.clear();
  for (Index row = 0; row < n; row += rows) {
    if (up) pieces.ups.push_back({row, std::min(n, row + rows)});
    if (down) pieces.downs.push_back({row, std::min(n, row + rows), 0});
  }
}

Layout make_strided_layout(const Plan& plan, const LineSet& lines, int word, const Limits& limits) {
  const Index blocks = lines.blocks(), extent = lines.block_extent(), length = lines.length(0);
  Layout layout;
  layout.needs = carrier_of(plan).needs(plan, lines, word, blocks);
  // If the scratch of all work-groups does not fit, fewer work-groups do the work.
  const std::int64_t slot_bytes = layout.needs.slot * plan.lanes * word;
  const std::int64_t window_limit = std::min(limits.allocation, limits.memory / 6);
  const Index most = std::max<Index>(1, std::min<Index>(plan.runs, window_limit / slot_bytes));
  layout.runs = static_cast<int>(most);
  layout.scratch_bytes = most * slot_bytes;
  const Cut cut = plan.cut();
  Index chunk_blocks = cut.blocks;
  if (chunk_blocks > 0 && !cut.whole) {
    chunk_blocks = std::clamp<Index>(limits.chunk / std::max<Index>(1, extent), 1, chunk_blocks);
  }
  for (Index b = 0; b < blocks && chunk_blocks > 0; b += chunk_blocks) {
    Chunk chunk;
    chunk.tile_begin = b;
    chunk.tile_end = std::min(blocks, b + chunk_blocks);
    chunk.first = chunk.kept_first = b * lines.block_stride();
    chunk.end = chunk.kept_end = (chunk.tile_end - 1) * lines.block_stride() + extent;
    add(layout, chunk);
  }
  layout.band_chunks = layout.chunks;
  if (plan.form == Form::shared) {
    Chunk shared;
    shared.end = shared.kept_end = length;
    layout.band_chunks = {shared};
  }
  const std::int64_t bands = plan.form == Form::shared ? length : layout.longest;
  const std::int64_t factor = plan.factor_word(word);
  const Limits need{std::max({layout.longest * word, bands * factor, layout.scratch_bytes}),
                    3 * bands * factor + 2 * layout.longest * word + layout.scratch_bytes + layout.needs.all};
  if (layout.chunks.empty() || !fits(need, limits)) {
    throw InvalidInput("a block of lines side by side of " + std::to_string(extent) + " places needs " +
                       std::to_string((5 * extent) * word + slot_bytes) + " bytes on the device; allowed are " +
                       std::to_string(limits.memory) + ", " + std::to_string(limits.allocation) +
                       " in one buffer: raise device_memory, or let the host solve them");
  }
  if (!decide_residence(layout, plan, word, limits)) {
    throw InvalidInput("lines side by side that are cut into segments are solved all at once, which the " +
                       std::to_string(limits.memory) +
                       " bytes allowed on the device do not hold: raise device_memory or choose whole lines");
  }
  return layout;
}

}  // namespace oclspkt::ocl
