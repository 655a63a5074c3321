// SPDX-License-Identifier: BSD-2-Clause
// What schemes of truncated-halo share when they propose plans and bound them: how far partitions look beyond their
// ends, or lines that they hold whole.
#pragma once

#include <algorithm>
#include <optional>

#include "schemes/proposal.hpp"

namespace oclspkt {

/// How the kernels of one kind of processor cut lines laid end to end for truncated-halo.
struct HaloPlans {
  Plan (*plan)(Index n, Index halo, Index partition, int word, const DeviceTraits& traits);
  /// longest_halo(); null: any
  Index (*longest)(Index partition, int word, const DeviceTraits& traits);
  /// partition_of_whole_lines(), and the plan of these. @param rows  of all lines
  Index (*whole)(Index length, Index rows, int word, const DeviceTraits& traits);
  Plan (*whole_plan)(Index n, Index length, Index partition, int word, const DeviceTraits& traits);
  /// Limit the influence between partitions that are solved together to the rows of the halo; null: no limit is needed.
  void (*couple)(Plan& plan);
  Index (*short_line)(const DeviceTraits& traits);  ///< longer lines rather get halos than that they are held whole
  double safe_whole;                                ///< dominance of rows from which lines may be held whole
  bool cuts_move;                                   ///< with another halo tiles are cut elsewhere
};

/// Find the HaloPlans of the first scheme that has some for the processor, see Scheme::halos().
/// @throws InvalidInput if none has
const HaloPlans& halos_of(const DeviceTraits& traits);

/// Rows of the longest halo with which truncated-halo still solves more rows than it only reads.
OCLSPKT_API Index longest_halo(Index partition, int word, const DeviceTraits& traits);

/// Rows of a partition that holds whole lines laid end to end, so that truncated-halo truncates nothing with no halo; 0
/// where lines differ in length, a partition would not stay in the cache or in the memory, or cores would be idle.
OCLSPKT_API Index partition_of_whole_lines(const LineSet& lines, int word, const DeviceTraits& traits);

/// Plan truncated-halo for lines laid end to end.
/// @param partition  as partition_of_whole_lines() gave it
OCLSPKT_API Plan make_whole_lines_plan(const LineSet& lines, Index partition, int word, const DeviceTraits& traits);

/// Halos up to kQuickHalo rows are taken from the survey alone. For longer ones a sweep follows the decay of the rows,
/// because the halo may turn out shorter. If the rows are alike, the survey knows their decay as well, up to
/// kQuickHaloOfLikeRows.
inline constexpr Index kQuickHalo = 64, kQuickHaloOfLikeRows = 256;
/// Dominance from which whole lines need no evidence: one of dominance 1 may be singular.
inline constexpr double kSafeWholeLines = 1.0001;

/// Rows of halo that the survey guarantees; -1 if they are many, or unknown.
template <typename T>
Index known_halo(const Options& options, const Survey& survey) {
  const double d = survey.decay();
  const Index needed = halo_from_dominance(d, tolerance<T>(options));
  // A user who raised rtol wants the shortest halo that it allows: the decay has to be followed.
  const bool alike = d > survey.dominance && options.rtol == 0;
  const Index longest = alike ? kQuickHaloOfLikeRows : kQuickHalo;
  return needed < 0 || needed > longest ? -1 : round_up(needed, kHaloQuantum);
}

/// Partitions with halos that are swept apart: an unknown at a joint is known twice. Where rows are alike, with
/// |c p| and |a / u| of at most r, pivots err by 3 / (1 - r^2), what is swept down in all by 1 / (1 - r) times what a
/// row adds, and so do unknowns on the way back; in units of eps / 2, relative to max |x|.
inline double rounding_of_halos(const Survey& survey) {
  const double by_dominance = rounding_by_dominance(survey.dominance), d = survey.decay();
  if (!shrinks(survey) || !(d > 1)) return by_dominance;
  const double r = 1 / d, all = 1 / (1 - r), pivot = 3 / (1 - r * r);
  const double unknown = all * (all * (2 + pivot) * (1 + r) + (1 + pivot) * r + 1);
  const double upper = survey.upper_share / (1 + survey.upper_share);
  return std::min(by_dominance, 5 + upper * unknown);
}

/// The bound of partitions with halos, or of what they hold whole. @param whole  nothing is cut
template <typename T>
Rounding bound_halos(const Plan& plan, bool whole, const BandsView<T>& bands, const Survey& survey) {
  if (!whole) return {rounding_of_halos(survey)};
  return {
      rounding_by_growth(survey.dominance >= 1 ? kDominantGrowth : elimination_growth(bands, plan.m, 0, 0, plan.n))};
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

/// Rows of a partition that holds whole lines, from the least dominance at which the processor's kernels may hold them.
template <typename T>
Index whole_lines(const Problem<T>& problem) {
  return whole_lines(problem, halos_of(problem.traits).safe_whole);
}

/// What the survey alone covers: a halo that is short, if the processor holds it.
template <typename T>
std::optional<Plan> halo_by_survey(const Problem<T>& problem);

/// Whole lines where a partition holds them, or else a halo: by the survey, or found by following the decay of every
/// line.
template <typename T>
std::optional<Proposal> propose_halos(const Problem<T>& problem, Rejection& rejection);

/// The cheapest plan that propose_halos() may return; none if the processor holds no halo.
template <typename T>
std::optional<Plan> least_of_halos(const Problem<T>& problem);

}  // namespace oclspkt
