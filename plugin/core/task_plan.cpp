// SPDX-License-Identifier: BSD-2-Clause
#include "task_plan.hpp"

#include <algorithm>
#include <bit>
#include <limits>

#include "geometry.hpp"
#include "interface.hpp"
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

/// Rows of lines for which local memory holds what the way down leaves, a power of two; 0: of none.
Index rows_in_local_memory(int slots, int word, const DeviceTraits& traits) {
  const Index most = std::min(traits.local_bytes, kMostLocalBytes) / (kLeft * slots * word);
  return most > 0 ? static_cast<Index>(std::bit_floor(static_cast<std::uint64_t>(most))) : 0;
}

/// Words of each array of lines laid end to end that share the memory with a window.
std::int64_t words_beside(Index window, int word, const DeviceTraits& traits) {
  // What layouts count words of a work-item's scratch in.
  if (window > std::numeric_limits<std::int32_t>::max() / 4 || window * word > traits.chunk_bytes) return 0;
  return std::min(traits.chunk_bytes, (traits.memory_bytes - window * word) / kArrays) / word;
}

/// Lines of equal length, laid end to end, that a chunk holds; it may begin up to a burst before the first of them.
Index lines_in_chunk(const LineSet& lines, Index window, int word, const DeviceTraits& traits) {
  const Index rows = words_beside(window, word, traits) - kBurstBytes / word;
  return std::clamp<Index>(rows / lines.length(0), 0, lines.count());
}

/// Turns that the batches of lines laid end to end take, each as long as its longest line.
Index turns_of(const LineSet& lines, int slots) {
  Index rows = 0;
  for (Index begin = 0; begin < lines.count(); begin += slots) {
    Index longest = 0;
    for (Index l = begin; l < std::min(lines.count(), begin + slots); ++l) longest = std::max(longest, lines.length(l));
    rows += longest;
  }
  return slots * rows;
}

Index longest_of(const LineSet& lines) {
  Index longest = 0;
  for (Index l = 0; l < lines.count(); ++l) longest = std::max(longest, lines.length(l));
  return longest;
}

/// Cut lines into chunks: blocks, lines of equal length, or all rows at once. @return false if the memory holds none
bool cut_batch(Plan& plan, const LineSet& lines, int word, const DeviceTraits& traits) {
  const LineBatch& batch = plan.as<LineBatch>();
  plan.m = batch.unequal || lines.beside() ? plan.n : batch.longest;
  if (lines.beside()) {
    Beside beside;
    beside.bundle = batch.slots;
    beside.window = batch.window;
    beside.chunk_blocks = choose_chunk_blocks(lines, batch.window, word, traits);
    plan.chunk_tiles = 1;
    return plan.add(beside).chunk_blocks > 0;
  }
  if (!batch.unequal) {
    plan.chunk_tiles = lines_in_chunk(lines, batch.window, word, traits);
    return plan.chunk_tiles > 0;
  }
  DeviceTraits beside_table = traits;
  beside_table.memory_bytes -= starts_bytes(lines.count());
  plan.chunk_tiles = 1;
  return plan.n <= words_beside(batch.window, word, beside_table) && starts_bytes(lines.count()) <= traits.chunk_bytes;
}

/// The largest growth of elimination without pivoting, see elimination_growth(), of lines wherever they stand.
template <typename T>
double growth_of_lines(const LineSet& lines, const BandsView<T>& bands) {
  Growth growth;
  for (Index l = 0; l < lines.count(); ++l) {
    T coupling = 0;
    for (Index i = 0, at = lines.first(l); i < lines.length(l); ++i, at += lines.row_stride()) {
      const T taken = i > 0 ? coupled(bands.lower[at], coupling) : T(0), pivot = bands.diag[at] - taken;
      growth.see(taken, pivot, bands.diag[at]);
      coupling = bands.upper[at] / pivot;
    }
  }
  return growth.value();
}

}  // namespace

Plan make_tdma_plan(Index n, Index partition, int word, const DeviceTraits& traits) {
  check_partition(partition);
  Plan plan = one_task(n);
  plan.m = partition > 0 ? std::min(round_up(partition, kBurstBytes / word), kMostTdmaRows) : kTdmaRows;
  // The way down leaves one more array, and every solver has a word of scratch.
  const std::int64_t array = round_up(n, plan.m) * word;
  const bool fits = array <= traits.chunk_bytes && array <= (traits.memory_bytes - word) / (kArrays + 1);
  plan.chunk_tiles = fits ? plan.tiles() : 0;
  return plan;
}

std::optional<Plan> make_batch_plan(const LineSet& lines, int word, const DeviceTraits& traits) {
  const bool suits = lines.beside() || (lines.contiguous() && lines.count() > 1);
  if (!suits || lines.rows() == 0) return std::nullopt;
  Plan plan = one_task(lines.rows());
  LineBatch& batch = plan.add<LineBatch>();
  batch.slots = pivot_cycles(word);
  batch.unequal = lines.contiguous() && equal_length(lines) == 0;
  batch.longest = batch.unequal ? longest_of(lines) : lines.length(0);
  const Index held = rows_in_local_memory(batch.slots, word, traits);
  if (batch.longest <= held) batch.kept_rows = held;
  if (batch.longest > held) batch.window = kLeft * batch.slots * batch.longest;
  const Index turns =
      batch.unequal ? turns_of(lines, batch.slots) : round_up(lines.count(), batch.slots) * batch.longest;
  // One long line makes a window of many: it is better off by itself, with the others behind it.
  if (batch.unequal && turns > plan.n * batch.slots / 2) return std::nullopt;
  plan.idle = static_cast<double>(turns) / static_cast<double>(plan.n);
  return cut_batch(plan, lines, word, traits) ? std::optional(std::move(plan)) : std::nullopt;
}

template <typename T>
Rounding bound_thomas(const Survey& survey, const LineSet& lines, const BandsView<T>& bands) {
  if (survey.dominance >= 1) return {rounding_by_growth(kDominantGrowth)};
  if (!survey.finite) return {kNothingKnown};
  const double growth = growth_of_lines(lines, bands);
  return {growth <= kGrowthLimit ? rounding_by_growth(std::max(growth, kDominantGrowth)) : kNothingKnown};
}

template Rounding bound_thomas(const Survey&, const LineSet&, const BandsView<float>&);
template Rounding bound_thomas(const Survey&, const LineSet&, const BandsView<double>&);

}  // namespace oclspkt
