// SPDX-License-Identifier: BSD-2-Clause
// What the schemes of truncated-halo share when they propose plans and bound them: the halos of partitions, and
// partitions that hold whole lines.
#pragma once

#include <algorithm>
#include <optional>

#include "schemes/proposal.hpp"

namespace oclspkt {

/// How the kernels of one kind of processor cut lines laid end to end for truncated-halo.
struct HaloPlans {
  Plan (*plan)(Index n, Index halo, Index partition, int word, const DeviceTraits& traits);
  /// See longest_halo(); null if halos of any length work.
  Index (*longest)(Index partition, int word, const DeviceTraits& traits);
  /// See partition_of_whole_lines(). @param length, rows  rows of each line, rows of all lines
  Index (*whole)(Index length, Index rows, int word, const DeviceTraits& traits);
  /// See make_whole_lines_plan(). @param partition  the result of `whole`
  Plan (*whole_plan)(Index n, Index length, Index partition, int word, const DeviceTraits& traits);
  /// Limit the influence between partitions that are solved together to the rows of the halo; null: no limit is needed.
  void (*couple)(Plan& plan);
  /// Rows of the longest lines that stay whole even if a short halo suffices.
  Index (*short_line)(const DeviceTraits& traits);
  double safe_whole;  ///< least dominance of rows with which lines may be held whole
  bool cuts_move;     ///< tiles are cut elsewhere if the halo changes
};

/// Find the HaloPlans of the first scheme that has some for the processor (Scheme::halos()).
/// @throws InvalidInput if no scheme has them
const HaloPlans& halos_of(const DeviceTraits& traits);

/// Rows of the longest halo with which truncated-halo still solves more rows than it only reads.
OCLSPKT_API Index longest_halo(Index partition, int word, const DeviceTraits& traits);

/// Rows of a partition that holds whole lines laid end to end, so that truncated-halo needs no halo and truncates
/// nothing. 0 if lines differ in length, a partition does not stay in the cache or in the memory, or cores are idle.
OCLSPKT_API Index partition_of_whole_lines(const LineSet& lines, int word, const DeviceTraits& traits);

/// Plan truncated-halo with partitions that hold whole lines, laid end to end.
/// @param partition  the result of partition_of_whole_lines()
OCLSPKT_API Plan make_whole_lines_plan(const LineSet& lines, Index partition, int word, const DeviceTraits& traits);

/// The survey alone gives halos of up to kQuickHalo rows. For longer ones a sweep follows the decay of the rows,
/// because it may find a shorter halo. If rows are alike, the survey gives their decay, too, and halos of up to
/// kQuickHaloOfLikeRows rows.
inline constexpr Index kQuickHalo = 64, kQuickHaloOfLikeRows = 256;
/// Dominance from which whole lines need no evidence. A line of dominance 1 may be singular.
inline constexpr double kSafeWholeLines = 1.0001;

/// Rows of halo that suffice by the survey; -1 if they are many, or if the survey cannot tell.
template <typename T>
Index known_halo(const Options& options, const Survey& survey) {
  const double d = survey.decay();
  const Index needed = halo_from_dominance(d, tolerance<T>(options));
  // A user who raised rtol wants the shortest halo that rtol allows, so the decay has to be followed.
  const bool alike = d > survey.dominance && options.rtol == 0;
  const Index longest = alike ? kQuickHaloOfLikeRows : kQuickHalo;
  return needed < 0 || needed > longest ? -1 : round_up(needed, kHaloQuantum);
}

/// Rounding of partitions with halos, in units of eps / 2, relative to max |x|. Partitions are swept separately, so an
/// unknown at a joint is computed twice. Let rows be alike, with |c p| and |a / u| at most r. Pivots err by
/// 3 / (1 - r^2). The sweep down adds up to 1 / (1 - r) times the rounding of one row, and so does the way back.
inline double rounding_of_halos(const Survey& survey) {
  const double by_dominance = rounding_by_dominance(survey.dominance), d = survey.decay();
  if (!shrinks(survey) || !(d > 1)) return by_dominance;
  const double r = 1 / d, all = 1 / (1 - r), pivot = 3 / (1 - r * r);
  const double unknown = all * (all * (2 + pivot) * (1 + r) + (1 + pivot) * r + 1);
  const double upper = survey.upper_share / (1 + survey.upper_share);
  return std::min(by_dominance, 5 + upper * unknown);
}

/// The bound on rounding of partitions with halos or with whole lines. @param whole  no line is cut
template <typename T>
Rounding bound_halos(const Plan& plan, bool whole, const BandsView<T>& bands, const Survey& survey) {
  if (!whole) return {rounding_of_halos(survey)};
  return {
      rounding_by_growth(survey.dominance >= 1 ? kDominantGrowth : elimination_growth(bands, plan.m, 0, 0, plan.n))};
}

/// Rows of a partition that holds whole lines, if rows are dominant enough. 0 if no partition does, or if the user
/// asked for another one.
/// @param least_dominance  dominance that rows need
template <typename T>
Index whole_lines(const Problem<T>& problem, double least_dominance) {
  if (!(problem.survey.dominance >= least_dominance)) return 0;
  if (problem.options.partition > 0 || problem.bands.lines().count() < 2) return 0;
  return partition_of_whole_lines(problem.bands.lines(), sizeof(T), problem.traits);
}

/// Rows of a partition that holds whole lines. The least dominance is HaloPlans::safe_whole of the processor.
template <typename T>
Index whole_lines(const Problem<T>& problem) {
  return whole_lines(problem, halos_of(problem.traits).safe_whole);
}

/// The plan with a short halo that the survey alone covers, if the processor holds that halo.
template <typename T>
std::optional<Plan> halo_by_survey(const Problem<T>& problem);

/// Propose partitions that hold whole lines, or else partitions with a halo. The survey gives the halo, or the decay of
/// every line is followed to find it.
template <typename T>
std::optional<Proposal> propose_halos(const Problem<T>& problem, Rejection& rejection);

/// The cheapest plan that propose_halos() may return; none if the processor holds no halo.
template <typename T>
std::optional<Plan> least_of_halos(const Problem<T>& problem);

}  // namespace oclspkt
