// SPDX-License-Identifier: BSD-2-Clause
// What schemes of truncated-halo for lines laid end to end share when they propose plans: how far partitions look
// beyond their ends, or lines that they hold whole.
#pragma once

#include <algorithm>
#include <optional>

#include "schemes/proposal.hpp"

namespace oclspkt {

/// Rows of a line up to which work-groups rather hold whole lines, or factors of them, than parts with a halo. Lines of
/// 4096 rows, H200, share of the stream: whole 0.92 in float, 0.83 in double, with a halo of 40 to 256 0.97 to 0.99 and
/// 0.92 to 0.99.
inline constexpr Index kSmallTile = 2304;
/// Halos up to this many rows are taken from the survey alone; longer ones are worth following the decay, unless rows
/// are so much alike that the survey shows more than their dominance.
inline constexpr Index kQuickHalo = 64, kQuickHaloOfLikeRows = 256;
/// Dominance from which whole lines need no evidence: one of dominance 1 may be singular.
inline constexpr double kSafeWholeLines = 1.0001;

/// Rows of halo that the survey guarantees; -1 if they are many, or unknown.
template <typename T>
Index known_halo(const Options& options, const Survey& survey) {
  const double d = survey.decay();
  const Index needed = halo_from_dominance(d, tolerance<T>(options));
  // A tolerance that was loosened is there to be used up.
  const bool alike = d > survey.dominance && options.rtol == 0;
  const Index longest = alike ? kQuickHaloOfLikeRows : kQuickHalo;
  return needed < 0 || needed > longest ? -1 : round_up(needed, kHaloQuantum);
}

/// Rows of a partition that holds whole lines, if rows are dominant enough; 0 if there is none, or the user asked for
/// another partition.
/// @param least_dominance  of rows
template <typename T>
Index whole_lines(const Problem<T>& problem, double least_dominance) {
  if (!(problem.survey.dominance >= least_dominance)) return 0;
  if (problem.options.partition > 0 || problem.bands.lines().count() < 2) return 0;
  return partition_of_whole_lines(problem.bands.lines(), sizeof(T), problem.traits);
}

/// The same for the processor of a problem: kernels for GPUs are as fast for whole lines as for any, whatever the
/// dominance.
template <typename T>
Index whole_lines(const Problem<T>& problem) {
  return whole_lines(problem, problem.traits.group_items > 0 ? 1 : kSafeWholeLines);
}

/// What the survey alone covers: a halo that is short, if the processor holds it.
template <typename T>
std::optional<Plan> halo_by_survey(const Problem<T>& problem);

/// Whole lines where a partition holds them, or else a halo: by the survey, or found by following the decay of every
/// line.
template <typename T>
std::optional<Proposal> propose_halos(const Problem<T>& problem, Rejection& rejection);

/// The plan of which propose_halos() may come to none that costs less; none where the processor holds no halo.
template <typename T>
std::optional<Plan> least_of_halos(const Problem<T>& problem);

}  // namespace oclspkt
