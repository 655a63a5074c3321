// SPDX-License-Identifier: BSD-2-Clause
#include "schemes/beside/beside_plans.hpp"

#include <algorithm>

#include "plan_parts.hpp"

namespace oclspkt {
namespace {

/// Bytes of a cache line.
constexpr Index kCacheLine = 64;
/// Fewest cache lines in a row of a bundle if each core gets several bundles. Fewer cache lines would make short
/// streams.
constexpr Index kShortBundle = 4;
/// Cut the lines of a block into bundles of about `width` lines, rounded up to a multiple of `quantum`.
void cut_block(const LineSet& lines, Index width, Index quantum, int lanes, Beside& beside) {
  beside.bundle = round_up(quotient_up(lines.block_lines(), quotient_up(lines.block_lines(), width)), quantum);
  // If fewer than `lanes` lines remain after whole bundles, the last bundle takes them, see kernels/cpu/strided.clh.
  beside.bundles = std::max<Index>(1, (lines.block_lines() + beside.bundle - lanes) / beside.bundle);
}

/// Lines of the widest bundle of a block, rounded up to whole lanes.
Index widest_bundle(const LineSet& lines, const Plan& plan) {
  const Beside& beside = plan.as<Beside>();
  const Index last = lines.block_lines() - (beside.bundles - 1) * beside.bundle;
  return round_up(beside.bundles > 1 ? std::max(beside.bundle, last) : last, plan.lanes);
}

/// The number of lines of a bundle is a multiple of this number: whole lanes and whole cache lines.
Index bundle_quantum(const Plan& plan, int word) { return std::max<Index>(plan.lanes, kCacheLine / word); }

/// Swept lanes divided by lines. In a block with fewer lines than lanes, each number takes as long as a full vector.
double empty_lanes(const LineSet& lines, const Plan& plan) {
  const Index inner = lines.block_lines();
  const Index padded = inner >= plan.lanes ? round_up(inner, plan.lanes) : inner * plan.lanes;
  return static_cast<double>(padded) / static_cast<double>(inner);
}

/// Lines of a bundle, at most `width`. Each core gets one bundle, or several bundles that are not short.
Index fair_width(const LineSet& lines, Index width, Index quantum, const DeviceTraits& traits) {
  const auto fair = [&](Index per_core) {
    const Index wanted = quotient_up(per_core * std::max(1, traits.cores), lines.blocks());
    return round_up(quotient_up(lines.block_lines(), wanted), quantum);
  };
  return std::min({width, std::max(fair(kRunsPerCore), kShortBundle * quantum), fair(1)});
}

/// Choose the lines of a bundle, in whole lanes and cache lines: as many as the window between the two sweeps allows,
/// but so few that every core has a bundle.
void choose_bundle(const LineSet& lines, int word, const DeviceTraits& traits, Plan& plan) {
  Beside& beside = plan.as<Beside>();
  FactoredLines& factored = plan.as<FactoredLines>();
  factored.through_x = traits.host && plan.form != Form::shared &&
                       lines.block_lines() * word >= figures_of(traits).count("beside.long_row");
  if (factored.through_x) {
    beside.bundle = lines.block_lines();
    beside.windowed = false;
    return;
  }
  const Index quantum = bundle_quantum(plan, word), most = figures_of(traits).count("beside.bundle") / word;
  // One more row holds the values that are carried from row to row.
  const Index window = traits.cache_bytes / 2 / word / (lines.length(0) + 1) / quantum * quantum;
  beside.windowed = window >= quantum;
  cut_block(lines, fair_width(lines, beside.windowed ? std::min(window, most) : most, quantum, traits), quantum,
            plan.lanes, beside);
  beside.window = (lines.length(0) + 1) * widest_bundle(lines, plan);
}

/// True if one bundle takes all lines of a block. Rows of the block adjoin in memory, and the bundle is one stream. A
/// part of the window may go to memory, which costs less than the ends of shorter streams.
bool takes_whole_rows(const LineSet& lines, int word, const DeviceTraits& traits, const Plan& plan) {
  const Index window = kScratchWords * (lines.length(0) + 1) * round_up(lines.block_lines(), plan.lanes) * word;
  return lines.row_stride() == lines.block_lines() && lines.blocks() >= kRunsPerCore * std::max(1, traits.cores) &&
         static_cast<double>(window) <=
             figures_of(traits).number("beside.whole_rows") * static_cast<double>(traits.cache_bytes);
}

/// Number of lines of a bundle if lines are cut into segments of at least `shortest` rows, or stay whole.
Index segmented_width(const LineSet& lines, Index shortest, Index quantum, int word, const DeviceTraits& traits,
                      const Plan& plan) {
  const bool cut = shortest < lines.length(0);
  // A narrow bundle leaves room in the cache for segments that are long compared with their halo.
  const Index words = traits.cache_bytes / (cut ? 4 : 2) / word;
  const Index fit = words / (kScratchWords * (cut ? shortest + 2 * plan.halo + 1 : shortest)) / quantum * quantum;
  const Index width = std::clamp(fit, quantum, std::max(quantum, figures_of(traits).count("beside.bundle") / word));
  return cut ? width : fair_width(lines, width, quantum, traits);
}

/// Rows of a segment: so few that every core has segments, and that both sweeps stay in half of the second-level cache.
/// @param shortest  least rows of a segment, even if cores and cache ask for fewer
Index choose_segment(const LineSet& lines, Index shortest, int word, const DeviceTraits& traits, const Plan& plan) {
  const Index wanted =
      quotient_up(kRunsPerCore * std::max(1, traits.cores), plan.as<Beside>().bundles * lines.blocks());
  const Index window_rows = traits.cache_bytes / 2 / word / (kScratchWords * widest_bundle(lines, plan));
  const Index m = std::min(quotient_up(lines.length(0), wanted), window_rows - 1 - 2 * plan.halo);
  return std::max(m, shortest);
}

}  // namespace

Plan make_bundles_plan(const LineSet& lines, Form form, int word, const DeviceTraits& traits) {
  Plan plan{.method = Method::exact_factored, .made_by = "beside-factored"};
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
  // The sweeps of one line pass up to five arrays through the cache.
  beside.windowed = lines.count() > 1 && 5 * longest * word <= traits.cache_bytes;
  plan.as<FactoredLines>().resident = form == Form::shared && 3 * longest * word <= traits.cache_bytes / 4;
  if (!lines.beside()) return plan;
  plan.lanes = std::max(1, traits.lanes);
  choose_bundle(lines, word, traits, plan);
  beside.chunk_blocks = choose_chunk_blocks(lines, beside.window, word, traits);
  const Index cores = std::max(1, traits.cores), bundles = beside.bundles * lines.blocks();
  take_runs(plan, bundles, traits);
  plan.idle = empty_lanes(lines, plan) * static_cast<double>(cores) / static_cast<double>(std::min(cores, bundles));
  return plan;
}

Plan make_strided_halo_plan(const LineSet& lines, Index halo, Index partition, int word, const DeviceTraits& traits) {
  check_partition(partition);
  Plan plan{.method = Method::truncated_halo,
            .n = lines.rows(),
            .lanes = std::max(1, traits.lanes),
            .made_by = "beside-halo"};
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
  // The window has one row more than whole lines, for the values carried from row to row.
  beside.windowed = whole_rows || beside.window * word <= traits.cache_bytes / 16 * 9;
  beside.chunk_blocks = choose_chunk_blocks(lines, beside.window, word, traits);
  const Index cores = std::max(1, traits.cores), pieces = beside.bundles * lines.blocks() * beside.segments;
  take_runs(plan, pieces, traits);
  // In the last turn, some cores may have no piece to solve.
  plan.idle =
      empty_lanes(lines, plan) * static_cast<double>(cores * quotient_up(pieces, cores)) / static_cast<double>(pieces);
  return plan;
}

}  // namespace oclspkt
