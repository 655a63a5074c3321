// SPDX-License-Identifier: BSD-2-Clause
#include "schemes/paper/paper_lanes.hpp"

#include <algorithm>
#include <cmath>
#include <vector>

#include "parallel.hpp"
#include "partition_sweeps.hpp"
#include "plan_parts.hpp"

namespace oclspkt {
namespace {

/// Arrays of a chunk: three bands, y, x, six that are marshalled; and one for all that is small.
constexpr Index kPaperLanesArrays = 12;
/// Rows of a partition are an odd number of vectors of so many: powers of two collide in the caches while the rows of
/// all partitions of a tile are marshalled.
constexpr Index kVectorRows = 16;
/// Rows of the longest partition: kernels count them in 32 bits.
constexpr Index kLongestPartition = Index{1} << 28;

std::int64_t words_of(int word, const DeviceTraits& traits) {
  return std::min(traits.chunk_bytes, traits.memory_bytes / kPaperLanesArrays) / word;
}

/// The truncation errors of one partition, as functions of the errors of the unknowns beside its cuts.
struct Truncated {
  double v_b = 0, w_b = 0, v_t = 0, w_t = 0;  ///< tips of the spikes of what LU and UL sweep
  Inherited below, above;                     ///< of the rows that LU and UL substitute
};

template <typename T>
Truncated truncate_partition(const Plan& plan, const BandsView<T>& bands, Index k) {
  const SweepRows<T> rows(bands, plan.n, false), upwards(bands, plan.n, true);
  const PaperRows at(plan, k);
  ForwardSweep sweep;
  Truncated of;
  sweep.fill(upwards, plan.n - at.first - at.as_far, plan.n - at.first);
  of.w_t = sweep.coupling.back();
  of.v_t = sweep.entered.back();
  of.above = sweep.largest_errors(static_cast<std::size_t>(at.as_far - at.meeting));
  if (at.from == at.size) return of;
  sweep.fill(rows, at.first + at.from, at.first + at.size);
  of.v_b = sweep.coupling.back();
  of.w_b = sweep.entered.back();
  if (at.meeting < at.size) of.below = sweep.largest_errors(static_cast<std::size_t>(at.meeting - at.from));
  return of;
}

/// The truncation error of the unknowns beside a cut, and by how much its 2x2 system amplifies rounding.
struct CutError {
  double error, amplified;
};
CutError error_of_cut(const Truncated& above, const Truncated& below) {
  // The sign of v_b w_t is lost in the ratios; the smaller of both denominators is safe.
  const double amplified = 1 / std::abs(1 - above.v_b * below.w_t);
  return {(above.w_b + below.v_t) * (1 + std::max(above.v_b, below.w_t)) * amplified, amplified};
}

/// The certificate of the swept partitions. The last of them is judged only if it is the last of the system (`all`).
Certificate judge(const Plan& plan, const std::vector<Truncated>& swept, bool all) {
  Certificate worst;
  // The first partition has no cut above it and the last none below: only the truncation of their own sweeps counts.
  double error_above = swept.empty() ? 0 : swept.front().v_t;
  for (std::size_t k = 0; k < swept.size(); ++k) {
    const bool last = k + 1 == swept.size();
    if (last && !all) break;
    const CutError cut = last ? CutError{swept[k].w_b, 1} : error_of_cut(swept[k], swept[k + 1]);
    if (!(cut.amplified <= worst.growth)) worst.growth = cut.amplified;
    const double above = swept[k].above.from(error_above), below = swept[k].below.from(cut.error);
    const bool known = std::isfinite(above + below + swept[k].v_b + swept[k].w_t);
    const double bound = known ? std::max(above, below) : kNothingKnown;
    if (!(bound <= worst.bound)) {
      const auto at = static_cast<Index>(k);
      worst = {bound, at, at * plan.m, std::min(plan.n, (at + 1) * plan.m) - 1, below > above, worst.growth};
      if (!known) break;
    }
    error_above = cut.error;
  }
  return worst;
}

template <typename T>
std::vector<Truncated> truncate_all(const Plan& plan, const BandsView<T>& bands, Index partitions) {
  std::vector<Truncated> swept(static_cast<std::size_t>(partitions));
  for_pieces(partitions, std::max<Index>(1, kPieceRows / plan.m), [&](Index begin, Index end) {
    for (Index k = begin; k < end; ++k) swept[static_cast<std::size_t>(k)] = truncate_partition(plan, bands, k);
  });
  return swept;
}

}  // namespace

Index paper_lanes_partition(Index n, int word, const DeviceTraits& traits) {
  const Index lanes = lanes_of_tile(traits), tiles = std::max(1, traits.cores);
  const Index vectors = quotient_up(quotient_up(std::max<Index>(n, 1), tiles * lanes), kVectorRows);
  // A chunk holds a tile for each core, and one for the neighbours.
  const Index held = words_of(word, traits) / ((tiles + 1) * lanes) / lanes * lanes;
  const Index fair = kVectorRows * (vectors % 2 == 0 ? vectors + 1 : vectors);
  return std::max(lanes, std::min({fair, held, kLongestPartition}));
}

Plan make_paper_lanes_plan(Index n, Index m, Index m_min, const char* scheme, int word, const DeviceTraits& traits) {
  Plan plan{.method = Method::truncated_halo, .n = n, .lanes = lanes_of_tile(traits), .made_by = scheme};
  const Index both = plan.add<PaperLanes>({round_up(m_min, kPaperLanesQuantum)}).swept_up();
  plan.m = round_up(std::max(std::min(m, std::max<Index>(n, 1)), both), plan.lanes);
  take_runs(plan, plan.tiles(), traits);
  const Index held = words_of(word, traits) / plan.tile_rows();
  // Without all tiles at once the neighbours' partitions come along.
  plan.chunk_tiles = held >= plan.tiles() ? plan.tiles() : std::max<Index>(0, held - 1);
  return plan;
}

double paper_lanes_words(const Plan& plan) {
  // There and back: three bands, y and x, each read and written.
  constexpr double kMarshalling = 10;
  // Four arrays are read, those of the first 2 m_min rows by UL and those from m_min on by LU; reciprocal pivots and
  // what is left of y are written once, and read with a band when x is.
  constexpr double kSwept = 4, kLeft = 2, kBack = 3 + 1;
  // Of a partition: tips of spikes, written once and read twice; the two unknowns at the cuts read none of three, and
  // either sweep does without the coupling before its first row.
  constexpr double kTips = 3 * 4 - 2 * 3 - 2;
  const auto m = static_cast<double>(plan.m), m_min = static_cast<double>(plan.as<PaperLanes>().m_min);
  return kMarshalling + kSwept * (1 + m_min / m) + kLeft + kBack + kTips / m;
}

template <typename T>
Certificate certify_paper_lanes(const Plan& plan, const BandsView<T>& bands, double limit) {
  const Index partitions = plan.partitions();
  if (partitions > 2 && std::isfinite(limit)) {
    const Certificate first = judge(plan, truncate_all(plan, bands, 2), false);
    if (!(first.bound <= limit)) return first;
  }
  return judge(plan, truncate_all(plan, bands, partitions), true);
}

template Certificate certify_paper_lanes(const Plan&, const BandsView<float>&, double);
template Certificate certify_paper_lanes(const Plan&, const BandsView<double>&, double);

}  // namespace oclspkt
