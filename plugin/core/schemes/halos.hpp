// SPDX-License-Identifier: BSD-2-Clause
// Plans and bounds of truncated-halo: partitions with halos, and partitions that hold whole lines.
#pragma once

#include <algorithm>
#include <optional>

#include "schemes/proposal.hpp"

namespace oclspkt {

/// How truncated-halo cuts lines laid end to end, for the kernels of one kind of processor.
struct HaloPlans {
  Plan (*plan)(Index n, Index halo, Index partition, int word, const DeviceTraits& traits);
  /// Computes longest_halo(); null if halos of any length work.
  Index (*longest)(Index partition, int word, const DeviceTraits& traits);
  /// Computes partition_of_whole_lines() for lines of `length` rows each, `rows` in all.
  Index (*whole)(Index length, Index rows, int word, const DeviceTraits& traits);
  /// Computes make_whole_lines_plan(). @param partition  the result of `whole`
  Plan (*whole_plan)(Index n, Index length, Index partition, int word, const DeviceTraits& traits);
  /// Let partitions that are solved together couple only with neighbours within the halo; null: this is not needed.
  void (*couple)(Plan& plan);
  /// Rows of the longest line that a partition holds whole although a short halo would suffice.
  Index (*short_line)(const DeviceTraits& traits);
  double safe_whole;  ///< partitions may hold whole lines if rows have at least this dominance
  bool cuts_move;     ///< the length of the halo decides where tiles are cut
};

/// The HaloPlans of the first scheme that has HaloPlans for this processor (Scheme::halos()).
/// @throws InvalidInput if no scheme has them
const HaloPlans& halos_of(const DeviceTraits& traits);

/// The longest halo, in rows, for which a partition still solves more rows than its halos have.
OCLSPKT_API Index longest_halo(Index partition, int word, const DeviceTraits& traits);

/// Rows of a partition that holds whole lines laid end to end, so that nothing is truncated. 0 if lines differ in
/// length, if the cache or the memory does not hold such a partition, or if cores would be idle.
OCLSPKT_API Index partition_of_whole_lines(const LineSet& lines, int word, const DeviceTraits& traits);

/// Plan truncated-halo with partitions that hold whole lines, laid end to end.
/// @param partition  the result of partition_of_whole_lines()
OCLSPKT_API Plan make_whole_lines_plan(const LineSet& lines, Index partition, int word, const DeviceTraits& traits);

/// The longest halo, in rows, that set-up takes from the survey alone. kQuickHaloOfLikeRows is for rows that are alike:
/// the survey gives their decay sharply. For longer halos, set-up computes the decay row by row, which may show that
/// fewer rows suffice.
inline constexpr Index kQuickHalo = 64, kQuickHaloOfLikeRows = 256;
/// Least dominance at which whole lines need no further check. A line of dominance 1 may be singular.
inline constexpr double kSafeWholeLines = 1.0001;

/// Rows of halo that suffice according to the survey; -1 if the survey gives no number, or a number above the limits.
template <typename T>
Index known_halo(const Options& options, const Survey& survey) {
  const double d = survey.decay();
  const Index needed = halo_from_dominance(d, tolerance<T>(options));
  // If rtol is raised, only a sweep finds the shortest halo.
  const bool alike = d > survey.dominance && options.rtol == 0;
  const Index longest = alike ? kQuickHaloOfLikeRows : kQuickHalo;
  return needed < 0 || needed > longest ? -1 : round_up(needed, kHaloQuantum);
}

/// The bound on rounding of partitions with halos, in eps. The partitions on both sides of a cut compute the unknowns
/// beside the cut separately. Each has an error of at most `unknown`, in u max |x| with u = eps / 2. The difference
/// enters a row times a coupling, which is at most the share `upper` of the row sum.
///
/// If rows are alike, |a_i / u_i| and |c_i / u_i| (lower and upper coupling over the pivot) are at most r = 1 / d, with
/// the decay d. A pivot has a relative error of at most 3 u / (1 - r^2). A sweep multiplies errors by r from row to
/// row, and so adds up at most 1 / (1 - r) times the rounding of one row.
inline double rounding_of_halos(const Survey& survey) {
  const double by_dominance = rounding_by_dominance(survey.dominance), d = survey.decay();
  if (!shrinks(survey) || !(d > 1)) return by_dominance;
  const double r = 1 / d, all = 1 / (1 - r), pivot = 3 / (1 - r * r);
  const double unknown = all * (all * (2 + pivot) * (1 + r) + (1 + pivot) * r + 1);
  const double upper = survey.upper_share / (1 + survey.upper_share);
  return std::min(by_dominance, 5 + upper * unknown);
}

/// The bound on rounding of partitions with halos or with whole lines.
/// @param whole  true: no line is cut
template <typename T>
Rounding bound_halos(const Plan& plan, bool whole, const BandsView<T>& bands, const Survey& survey) {
  if (!whole) return {rounding_of_halos(survey)};
  return {
      rounding_by_growth(survey.dominance >= 1 ? kDominantGrowth : elimination_growth(bands, plan.m, 0, 0, plan.n))};
}

/// Rows of a partition that holds whole lines. 0 if no partition can hold them, if rows are less dominant than
/// `least_dominance`, or if the user asked for a certain partition.
template <typename T>
Index whole_lines(const Problem<T>& problem, double least_dominance) {
  if (!(problem.survey.dominance >= least_dominance)) return 0;
  if (problem.options.partition > 0 || problem.bands.lines().count() < 2) return 0;
  return partition_of_whole_lines(problem.bands.lines(), problem.word, problem.traits);
}

/// whole_lines() for the least dominance HaloPlans::safe_whole of the processor.
template <typename T>
Index whole_lines(const Problem<T>& problem) {
  return whole_lines(problem, halos_of(problem.traits).safe_whole);
}

/// The plan with the halo of known_halo(); none if there is no such halo, or if it does not fit the processor.
template <typename T>
std::optional<Plan> halo_by_survey(const Problem<T>& problem);

/// Propose partitions that hold whole lines, or else partitions with a halo. The length of the halo follows from the
/// survey, or else from the decay of every line.
template <typename T>
std::optional<Proposal> propose_halos(const Problem<T>& problem, Rejection& rejection);

/// The cheapest plan that propose_halos() may return; none if no halo fits the processor.
template <typename T>
std::optional<Plan> least_of_halos(const Problem<T>& problem);

}  // namespace oclspkt
