// SPDX-License-Identifier: BSD-2-Clause
// The choice of truncated-halo: how far partitions look beyond their ends, or lines that they hold whole.
#include <algorithm>
#include <cmath>

#include "evidence.hpp"
#include "method_choice.hpp"

namespace oclspkt {
namespace {

/// Halos up to this many rows are taken from the survey alone; longer ones are worth following the decay, unless rows
/// are so much alike that the survey shows more than their dominance.
constexpr Index kQuickHalo = 64, kQuickHaloOfLikeRows = 256;
/// Halos of floats that are no longer go before tiles that are walked, as fast on a Xeon (0.65 of the stream for 0.63
/// to 0.70). d = 3, 3.2e7 rows, AMD EPYC: 44 ms for 50 by PoCL, 20 for 41 by Intel's run-time; in double 55 for 40, 45
/// for 44.
constexpr Index kQuickerHaloOfFloats = 32;
/// Rows of a line up to which work-groups rather hold whole lines, or factors of them, than parts with a halo. Lines of
/// 4096 rows, H200, share of the stream: whole 0.92 in float, 0.83 in double, with a halo of 40 to 256 0.97 to 0.99 and
/// 0.92 to 0.99.
constexpr Index kSmallTile = 2304;
/// Halos tried when the decay is followed, shortest first: a short search costs little.
constexpr Index kHaloSearch[] = {64, 256, 1024, 4096};
/// Halo of a truncated method that the user named and that no certificate covers.
constexpr Index kUncoveredHalo = 256;

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

/// Dominance from which whole lines need no evidence: one of dominance 1 may be singular.
constexpr double kSafeWholeLines = 1.0001;

/// Rows of a partition that holds whole lines; 0 if there is none, rows are less dominant, or the user asked for
/// another.
template <typename T>
Index whole_lines(const Problem<T>& problem, double least_dominance) {
  if (!(problem.survey.dominance >= least_dominance)) return 0;
  if (problem.options.partition > 0 || problem.bands.lines().count() < 2) return 0;
  return partition_of_whole_lines(problem.bands.lines(), sizeof(T), problem.traits);
}

/// Tiles of at least so many rows that are walked, where they suit device and rows.
template <typename T>
std::optional<Plan> walked_tiles(const Problem<T>& problem, Index rows) {
  if (!lanes_multiply<T>(problem.survey) || problem.options.partition > 0) return std::nullopt;
  Plan plan = plan_for(problem, Method::truncated_halo, 0);
  if (!walk_tiles(plan, rows, sizeof(T), problem.traits)) return std::nullopt;
  return plan;
}

/// The same, if the survey guarantees that what is truncated a tile away does not show.
template <typename T>
std::optional<Plan> walked_plan(const Problem<T>& problem) {
  const Index needed = halo_from_dominance(problem.survey.decay(), tolerance<T>(problem.options));
  const bool used_up = problem.options.rtol > 0 && needed > kQuickHalo;  // as for known_halo()
  return needed < 0 || used_up ? std::nullopt : walked_tiles(problem, needed);
}

/// The same, if the pivots show it: they are truncated where stored factors are, below a tile and above a run.
template <typename T>
std::optional<Proposal> propose_walk(const Problem<T>& problem, double tol) {
  if (barely_dominant(problem.survey) || problem.options.rtol > 0) return std::nullopt;
  std::optional<Plan> plan = walked_tiles(problem, 1);
  while (plan) {
    const Certificate certificate = certificate_of(problem, *plan, tol, certify_stored<T>);
    if (certificate.bound <= tol) return covered(*plan, certificate.bound, tol, problem.survey);
    const bool longer_may_do = certificate.bound * certificate.bound <= tol;
    plan = longer_may_do ? walked_tiles(problem, plan->tile_rows() + 1) : std::nullopt;
  }
  return std::nullopt;
}

/// Truncated by what the survey guarantees: by tiles that are walked, or by a halo if it is short.
template <typename T>
std::optional<Proposal> propose_by_survey(const Problem<T>& problem, double tol) {
  const double d = problem.survey.decay();
  const Index halo = known_halo<T>(problem.options, problem.survey);
  const bool is_quicker = sizeof(T) == sizeof(float) && halo >= 0 && halo <= kQuickerHaloOfFloats;
  if (auto walked = is_quicker ? std::nullopt : walked_plan(problem)) {
    return covered(*walked, 2 * std::pow(d, -static_cast<double>(walked->tile_rows() + 1)), tol, problem.survey);
  }
  if (halo < 0 || halo > longest_halo(problem.options.partition, sizeof(T), problem.traits)) return std::nullopt;
  Plan plan = plan_for(problem, Method::truncated_halo, halo);
  settle_within_halo(plan);
  return covered(plan, 2 * std::pow(d, -static_cast<double>(halo + 1)), tol, problem.survey);
}

/// Parts of lines that are all alike, by stored factors that work-groups keep, with the halo that the survey
/// guarantees.
template <typename T>
std::optional<Proposal> propose_kept(const Problem<T>& problem, double tol) {
  const LineSet& lines = problem.bands.lines();
  const double d = problem.survey.decay();
  const bool alike = problem.survey.shared && problem.traits.group_items > 0 && problem.options.partition == 0;
  if (!alike || !(d > 1) || !settles(problem.survey)) return std::nullopt;
  const Index longest = longest_halo(0, sizeof(T), problem.traits), halo = rows_to_decay(d, tol, longest);
  if (halo > longest) return std::nullopt;
  Plan plan = plan_for(problem, Method::truncated_halo, halo);
  if (!share_line(plan, lines.length(0), sizeof(T)) || !keep_shared_factors(problem, plan)) return std::nullopt;
  Rounding rounding;
  if (!rounds_little(problem, plan, rounding)) return std::nullopt;
  return covered(plan, bound_stored(d, halo), tol, problem.survey);
}

/// Halos of the lines of a set, each judged by itself.
struct LineNeeds {
  Index halo = 0;               ///< enough for every line but those that failed
  std::vector<Index> failed;    ///< lines that want more than was tried
  std::vector<Index> unproven;  ///< lines whose need does not follow from their dominance
};

template <typename T>
LineNeeds needs_of_lines(const Problem<T>& problem, Index m, double tol, Index longest) {
  const LineSet& lines = problem.bands.lines();
  const BandsView<T> view = problem.bands.view();
  LineNeeds needs;
  for (Index l = 0; l < lines.count(); ++l) {
    const double d = lines.count() > 1 ? line_dominance(lines, view, l) : problem.survey.dominance;
    Index halo = halo_from_dominance(d, tol);
    if (halo < 0 || halo > kQuickHalo) {
      halo = find_halo(lines.rows(), view, m, tol, longest, rows_of(problem, l));
      (halo < 0 ? needs.failed : needs.unproven).push_back(l);
    }
    needs.halo = std::max(needs.halo, halo);
  }
  needs.halo = std::min(longest, round_up(needs.halo, kHaloQuantum));
  return needs;
}

/// Confirm the lines whose halo was followed; those that fail join needs.failed. @return the worst of the others
template <typename T>
Certificate confirm(const Problem<T>& problem, const Plan& plan, double tol, LineNeeds& needs) {
  Certificate worst;
  for (const Index line : needs.unproven) {
    const Certificate c = certify_halo(plan.n, problem.bands.view(), plan.m, plan.halo, rows_of(problem, line));
    if (!(c.bound <= tol)) {
      needs.failed.push_back(line);
    } else if (c.bound > worst.bound) {
      worst = c;
    }
  }
  std::sort(needs.failed.begin(), needs.failed.end());
  return worst;
}

bool cheaper_than_exact(const Plan& plan) {
  Plan exact = plan;
  exact.method = Method::exact_twopass;
  return plan.words_per_row() < exact.words_per_row();
}

/// Why `line` does not fit under `plan`, with its numbers.
template <typename T>
std::string halo_refusal(const Problem<T>& problem, const Plan& plan, double tol, Index line) {
  const bool one = problem.bands.lines().count() == 1;
  const auto certify = [&](const Plan& some, const BandsView<T>& bands) {
    return certify_halo(some.n, bands, some.m, some.halo, one ? RowRange{0, some.n} : rows_of(problem, line));
  };
  const Certificate c =
      one ? certificate_of(problem, plan, tol, certify) : certify(plan, problem.bands.view());
  return format("certificate %.1e > %.1e (line %lld, ", c.bound, tol, static_cast<long long>(line)) + where(c) + ")";
}

/// A plan that was followed and does not hold.
struct Refused {
  Plan plan;
  std::vector<Index> failed;  ///< lines that want more; none: it holds, and is no cheaper than exact
};

template <typename T>
Rejection rejection_of(const Problem<T>& problem, double tol, const Refused& refused) {
  const bool holds = refused.failed.empty();
  return {holds ? "no cheaper than the exact method" : halo_refusal(problem, refused.plan, tol, refused.failed.front()),
          {},
          refused.plan};
}

/// Truncated by a halo of at most `limit` rows, found by following the decay of every line.
template <typename T>
std::optional<Proposal> propose_followed(const Problem<T>& problem, double tol, Index limit, Rejection& rejection) {
  const LineSet& lines = problem.bands.lines();
  std::optional<Refused> refused;
  for (const Index longest : kHaloSearch) {
    if (longest > limit) break;
    const Plan trial = plan_for(problem, Method::truncated_halo, longest);
    if (!cheaper_than_exact(trial) && refused) break;
    LineNeeds needs = needs_of_lines(problem, trial.m, tol, longest);
    Plan plan = plan_for(problem, Method::truncated_halo, needs.halo);
    // With another halo the tiles of work-groups are cut elsewhere; it only grows, so this ends.
    while (plan.by_groups() && needs.failed.empty()) {
      needs = needs_of_lines(problem, plan.m, tol, longest);
      if (needs.halo <= plan.halo) break;
      plan = plan_for(problem, Method::truncated_halo, needs.halo);
    }
    if (Rounding rounding; lines.count() == 1 && needs.failed.empty() && !rounds_little_at_first(problem, plan, rounding)) {
      rejection = {rounding_refusal(rounding, problem.rounding_limit), {}, plan};
      return std::nullopt;
    }
    const Certificate worst = confirm(problem, plan, tol, needs);
    if (needs.failed.empty() && cheaper_than_exact(plan)) {
      return unless_growth(problem, covered(plan, worst.bound, tol, problem.survey), rejection);
    }
    // Where no line gave a halo, the longest that was tried says most.
    refused = Refused{needs.halo > 0 ? plan : trial, std::move(needs.failed)};
    if (static_cast<Index>(refused->failed.size()) == lines.count() || !cheaper_than_exact(plan)) continue;
    if (!named(problem.options.method) &&
        rows_in(lines, refused->failed) <= kApartShare * static_cast<double>(lines.rows())) {
      rejection = rejection_of(problem, tol, *refused);
      rejection.lines = std::move(refused->failed);
      return std::nullopt;
    }
  }
  if (refused) {
    rejection = rejection_of(problem, tol, *refused);
  } else if (!rejection) {
    rejection.why =
        format("a work-group of the device holds a halo of %lld rows at most", static_cast<long long>(limit));
  }
  return std::nullopt;
}

/// Lines that a partition, or a tile of a work-group, holds whole, so that nothing is truncated.
/// @param m  rows of it
template <typename T>
std::optional<Proposal> propose_whole(const Problem<T>& problem, double tol, Index m, Rejection& rejection) {
  const LineSet& lines = problem.bands.lines();
  if (problem.traits.group_items > 0 && lines.length(0) > kSmallTile) {
    Rejection longer;
    if (auto quick = propose_by_survey(problem, tol)) return quick;
    if (auto followed = propose_followed(problem, tol, kQuickerHalo, longer)) return followed;
  }
  Proposal proposal = covered(make_whole_lines_plan(lines, m, sizeof(T), problem.traits), 0, tol, problem.survey);
  proposal.needs_trial = proposal.needs_trial || problem.survey.dominance < kSafeWholeLines;
  return unless_growth(problem, std::move(proposal), rejection);
}

}  // namespace

template <typename T>
std::optional<Proposal> propose_halo(const Problem<T>& problem, Rejection& rejection) {
  const double tol = tolerance<T>(problem.options);
  if (reject_asymmetry(problem, rejection)) return std::nullopt;
  const LineSet& lines = problem.bands.lines();
  auto kept = propose_kept(problem, tol);
  // Kernels for GPUs are as fast for whole lines as for any, whatever the dominance.
  const Index m = whole_lines(problem, problem.traits.group_items > 0 ? 1 : kSafeWholeLines);
  if (m > 0 && !(kept && lines.length(0) > kSmallTile)) return propose_whole(problem, tol, m, rejection);
  if (kept) return kept;
  if (auto quick = propose_by_survey(problem, tol)) return quick;
  if (auto walked = propose_walk(problem, tol)) return walked;

  const Index limit = longest_halo(problem.options.partition, sizeof(T), problem.traits);
  if (auto followed = propose_followed(problem, tol, limit, rejection)) return followed;
  if (!named(problem.options.method)) return std::nullopt;
  const Plan plan = plan_for(problem, Method::truncated_halo, std::min(kUncoveredHalo, limit));
  const Certificate least = certify_halo(plan.n, problem.bands.view(), plan.m, plan.halo, {0, plan.n});
  if (least.bound <= tol) {  // it holds, and only costs more
    return unless_growth(problem, covered(plan, least.bound, tol, problem.survey), rejection);
  }
  return uncovered(plan, least, tol);
}

template <typename T>
bool holds_at_once(const Problem<T>& problem) {
  if (!problem.bands.lines().contiguous()) return problem.survey.dominance >= kSafeWholeLines;
  return whole_lines(problem, kSafeWholeLines) > 0 || walked_plan(problem) ||
         known_halo<T>(problem.options, problem.survey) >= 0;
}

#define OCLSPKT_INSTANTIATE(T)                    \
  template bool holds_at_once(const Problem<T>&); \
  template std::optional<Proposal> propose_halo(const Problem<T>&, Rejection&);
OCLSPKT_INSTANTIATE(float)
OCLSPKT_INSTANTIATE(double)

}  // namespace oclspkt
