// SPDX-License-Identifier: BSD-2-Clause
#include "task_plan.hpp"

#include <algorithm>
#include <limits>

#include "geometry.hpp"
#include "plan_parts.hpp"

namespace oclspkt {
namespace {

/// Three bands, y and x.
constexpr Index kArrays = 5;
/// Numbers that the way down leaves of a row.
constexpr Index kLeft = 2;
/// Local memory that is used at most; a board has a few megabytes for everything.
constexpr Index kMostLocalBytes = 256 << 10;

Plan one_task(Index n) {
  Plan plan;
  plan.method = Method::exact_factored;
  plan.n = n;
  plan.lanes = 1;
  return plan;
}

/// Rows of lines for which local memory holds what the way down leaves, a power of two.
Index rows_in_local_memory(int slots, int word, const DeviceTraits& traits) {
  const Index bytes = std::min(traits.local_bytes, kMostLocalBytes), row = kLeft * slots * word;
  Index rows = 1;
  while (2 * rows * row <= bytes) rows *= 2;
  return rows;
}

/// Words of each array that share the memory with a window.
std::int64_t words_beside(Index window, int word, const DeviceTraits& traits) {
  if (window * word > traits.chunk_bytes) return 0;
  return std::min(traits.chunk_bytes, (traits.memory_bytes - window * word) / kArrays) / word;
}

/// Lines of equal length that a chunk holds, which may begin up to a burst before the first of them.
Index lines_in_chunk(const LineSet& lines, Index window, int word, const DeviceTraits& traits) {
  // What layouts count words of a work-item's scratch in.
  if (window > std::numeric_limits<std::int32_t>::max() / 4) return 0;
  const Index rows = words_beside(window, word, traits) - kBurstBytes / word;
  return std::clamp<Index>(rows / lines.length(0), 0, lines.count());
}

}  // namespace

Plan make_tdma_plan(Index n, Index partition, int word, const DeviceTraits& traits) {
  check_partition(partition);
  Plan plan = one_task(n);
  plan.m = partition > 0 ? std::min(round_up(partition, kBurstBytes / word), kMostTaskRows) : kTaskRows;
  // The way down leaves one more array, and every solver has a word of scratch.
  const std::int64_t array = round_up(n, plan.m) * word;
  const bool fits = array <= traits.chunk_bytes && array <= (traits.memory_bytes - word) / (kArrays + 1);
  plan.chunk_tiles = fits ? plan.tiles() : 0;
  return plan;
}

std::optional<Plan> make_batch_plan(const LineSet& lines, int word, const DeviceTraits& traits) {
  const bool end_to_end = lines.contiguous() && lines.count() > 1;
  const Index length = lines.beside() ? lines.length(0) : end_to_end ? equal_length(lines) : 0;
  if (length == 0) return std::nullopt;
  Plan plan = one_task(lines.rows());
  const int slots = pivot_cycles(word);
  const Index held = rows_in_local_memory(slots, word, traits);
  const Index window = length <= held ? 0 : kLeft * slots * length;
  plan.add(LineBatch{slots, length <= held ? held : 0, window});
  plan.idle = static_cast<double>(round_up(lines.count(), slots)) / static_cast<double>(lines.count());
  if (lines.beside()) {
    plan.m = plan.n;
    plan.chunk_tiles = 1;
    Beside& beside = plan.add<Beside>();
    beside.bundle = slots;
    beside.window = window;
    beside.chunk_blocks = choose_chunk_blocks(lines, window, word, traits);
    return beside.chunk_blocks > 0 ? std::optional(std::move(plan)) : std::nullopt;
  }
  plan.m = length;
  plan.chunk_tiles = lines_in_chunk(lines, window, word, traits);
  return plan.chunk_tiles > 0 ? std::optional(std::move(plan)) : std::nullopt;
}

}  // namespace oclspkt
