// SPDX-License-Identifier: BSD-2-Clause
#include "schemes/halos.hpp"

#include <cmath>
#include <limits>
#include <optional>

#include "evidence.hpp"
#include "oclspkt/error.hpp"
#include "schemes/proposal.hpp"
#include "schemes/scheme.hpp"

namespace oclspkt {
namespace {

/// Halos to try if known_halo() gives no halo, in rows, shortest first, because a short search costs little.
constexpr Index kHaloSearch[] = {64, 256, 1024, 4096};
/// Rows of the longest halo with which partitions of long lines are faster than whole lines. See HaloPlans::short_line.
constexpr Index kQuickerHalo = 256;
/// Rows of halo if the user named a truncated method although no certificate covers it.
constexpr Index kUncoveredHalo = 256;

/// A plan whose halo is long enough by the survey.
template <typename T>
Proposal covered_by_survey(const Problem<T>& problem, const Plan& plan, double tol) {
  const double bound = 2 * std::pow(problem.survey.decay(), -static_cast<double>(plan.halo + 1));
  return covered(plan, bound, tol, problem.survey);
}

/// The halo that the lines of a set need. Each line is judged by itself.
struct LineNeeds {
  Index halo = 0;               ///< rows that suffice for every line that is not in `failed`
  std::vector<Index> failed;    ///< lines for which no halo that was tried suffices
  std::vector<Index> unproven;  ///< lines whose halo does not follow from their dominance
};

/// Candidate units of the columns; none if rows are dominant.
template <typename T>
using Units = std::optional<ColumnUnits<T>>;

template <typename T>
Units<T> units_of(const Problem<T>& problem) {
  if (problem.survey.dominance >= 1) return std::nullopt;
  return ColumnUnits<T>(problem.bands.lines(), problem.bands.view());
}

template <typename T>
LineNeeds needs_of_lines(const Problem<T>& problem, const Units<T>& units, Index m, double tol, Index longest) {
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
  if (units && needs.failed.empty()) {
    units->each([&](const BandsView<T>& view_in_units, double weight) {
      std::erase_if(needs.unproven, [&](Index l) {
        const Index halo = find_halo(lines.rows(), view_in_units, m, tol / weight, longest, rows_of(problem, l));
        if (halo < 0) needs.failed.push_back(l);
        needs.halo = std::max(needs.halo, halo);
        return halo < 0;
      });
    });
  }
  needs.halo = std::min(longest, round_up(needs.halo, kHaloQuantum));
  return needs;
}

/// Certify the lines whose halo was found from the decay along the line. Lines that fail are added to needs.failed.
/// @return the worst certificate of the other lines
template <typename T>
Certificate confirm(const Problem<T>& problem, const Units<T>& units, const Plan& plan, double tol, LineNeeds& needs) {
  Certificate worst;
  const auto look = [&](const BandsView<T>& view, double weight) {
    std::erase_if(needs.unproven, [&](Index line) {
      Certificate c = certify_halo(plan.n, view, plan.m, plan.halo, rows_of(problem, line));
      c.bound *= weight;
      const bool holds = c.bound <= tol;
      if (!holds) needs.failed.push_back(line);
      if (holds && c.bound > worst.bound) worst = c;
      return !holds;
    });
  };
  look(problem.bands.view(), 1);
  if (units && !needs.unproven.empty()) units->each(look);
  std::sort(needs.failed.begin(), needs.failed.end());
  return worst;
}

/// True if the plan moves fewer words per row than two passes of an exact method. If not, no longer halo is tried.
bool cheaper_than_exact(const Plan& plan) { return plan.words_per_row() < kWordsOfTwoPasses; }

/// Why `plan` does not hold for `line`, with the figures of the certificate.
template <typename T>
std::string halo_refusal(const Problem<T>& problem, const Plan& plan, double tol, Index line) {
  const LineSet& lines = problem.bands.lines();
  const BandsView<T> view = problem.bands.view();
  const bool one = lines.count() == 1;
  const auto certify = [&](const Plan& some, const BandsView<T>& bands) {
    return certify_halo(some.n, bands, some.m, some.halo, one ? RowRange{0, some.n} : rows_of(problem, line));
  };
  const Certificate c = one ? certificate_of(problem, plan, tol, certify)
                            : certify_in_units(lines, view, problem.survey.dominance, tol, certify(plan, view),
                                               [&](const BandsView<T>& other) { return certify(plan, other); });
  return certificate_text(c, tol, line);
}

/// A plan that is refused after computing the decay along its lines.
struct Refused {
  Plan plan;
  std::vector<Index> failed;  ///< lines that need a longer halo; empty: the plan is valid, but no cheaper than exact
};

template <typename T>
Rejection rejection_of(const Problem<T>& problem, double tol, const Refused& refused) {
  const bool holds = refused.failed.empty();
  return {holds ? "no cheaper than the exact method" : halo_refusal(problem, refused.plan, tol, refused.failed.front()),
          {},
          refused.plan};
}

/// Plan truncation with a halo of at most `limit` rows, found by computing the decay along every line.
template <typename T>
std::optional<Proposal> propose_followed(const Problem<T>& problem, double tol, Index limit, Rejection& rejection) {
  const LineSet& lines = problem.bands.lines();
  const Units<T> units = units_of(problem);
  std::optional<Refused> refused;
  for (const Index longest : kHaloSearch) {
    if (longest > limit) break;
    const Plan trial = plan_for(problem, Method::truncated_halo, longest);
    if (!cheaper_than_exact(trial) && refused) break;
    LineNeeds needs = needs_of_lines(problem, units, trial.m, tol, longest);
    Plan plan = plan_for(problem, Method::truncated_halo, needs.halo);
    // Another halo moves the cuts between tiles of work-groups. The halo only grows, so this loop ends.
    while (halos_of(problem.traits).cuts_move && needs.failed.empty()) {
      needs = needs_of_lines(problem, units, plan.m, tol, longest);
      if (needs.halo <= plan.halo) break;
      plan = plan_for(problem, Method::truncated_halo, needs.halo);
    }
    if (Rounding rounding;
        lines.count() == 1 && needs.failed.empty() && !rounds_little_at_first(problem, plan, rounding)) {
      rejection = {rounding_refusal(rounding, problem.rounding_limit), {}, plan};
      return std::nullopt;
    }
    const Certificate worst = confirm(problem, units, plan, tol, needs);
    if (needs.failed.empty() && cheaper_than_exact(plan)) {
      return unless_growth(problem, covered(plan, worst.bound, tol, problem.survey), rejection);
    }
    // If no halo suffices for any line, report the longest halo that was tried.
    refused = Refused{needs.halo > 0 ? plan : trial, std::move(needs.failed)};
    if (static_cast<Index>(refused->failed.size()) == lines.count() || !cheaper_than_exact(plan)) continue;
    if (!named(problem.options.method) && are_few(lines, refused->failed)) {
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

/// Propose partitions, or tiles of work-groups, that hold whole lines, so that nothing is truncated.
/// @param m  rows of a partition
template <typename T>
std::optional<Proposal> propose_whole(const Problem<T>& problem, double tol, Index m, Rejection& rejection) {
  const LineSet& lines = problem.bands.lines();
  if (lines.length(0) > halos_of(problem.traits).short_line(problem.traits)) {
    Rejection longer;
    if (const auto quick = halo_by_survey(problem)) return covered_by_survey(problem, *quick, tol);
    if (auto followed = propose_followed(problem, tol, kQuickerHalo, longer)) return followed;
  }
  Proposal proposal = covered(make_whole_lines_plan(lines, m, problem.word, problem.traits), 0, tol, problem.survey);
  proposal.needs_trial = proposal.needs_trial || problem.survey.dominance < kSafeWholeLines;
  return unless_growth(problem, std::move(proposal), rejection);
}

}  // namespace

std::optional<Plan> Scheme::make(const PlanRequest& r) const {
  const HaloPlans* of = r.method == Method::truncated_halo ? halos(r.traits) : nullptr;
  if (of == nullptr) return std::nullopt;
  return of->plan(r.lines.rows(), r.halo, r.partition, r.word, r.traits);
}

const HaloPlans& halos_of(const DeviceTraits& traits) {
  for (const Scheme* scheme : all_schemes()) {
    if (const HaloPlans* halos = scheme->halos(traits)) return *halos;
  }
  throw InvalidInput("this library has no truncated-halo for this processor: choose another method or variant");
}

Index longest_halo(Index partition, int word, const DeviceTraits& traits) {
  const auto longest = halos_of(traits).longest;
  return longest != nullptr ? longest(partition, word, traits) : std::numeric_limits<Index>::max();
}

Index partition_of_whole_lines(const LineSet& lines, int word, const DeviceTraits& traits) {
  const Index length = lines.contiguous() ? equal_length(lines) : 0;
  return length > 0 ? halos_of(traits).whole(length, lines.rows(), word, traits) : 0;
}

Plan make_whole_lines_plan(const LineSet& lines, Index partition, int word, const DeviceTraits& traits) {
  return halos_of(traits).whole_plan(lines.rows(), lines.length(0), partition, word, traits);
}

template <typename T>
std::optional<Plan> halo_by_survey(const Problem<T>& problem) {
  const Index halo = known_halo<T>(problem.options, problem.survey);
  if (halo < 0 || halo > longest_halo(problem.options.partition, problem.word, problem.traits)) return std::nullopt;
  Plan plan = plan_for(problem, Method::truncated_halo, halo);
  if (const auto couple = halos_of(problem.traits).couple) couple(plan);
  return plan;
}

template <typename T>
std::optional<Plan> least_of_halos(const Problem<T>& problem) {
  std::optional<Plan> quick = halo_by_survey(problem);
  const LineSet& lines = problem.bands.lines();
  if (const Index m = whole_lines(problem); m > 0) {
    const bool long_lines = lines.length(0) > halos_of(problem.traits).short_line(problem.traits);
    return long_lines && quick ? quick : make_whole_lines_plan(lines, m, problem.word, problem.traits);
  }
  if (quick) return quick;
  const Index limit = longest_halo(problem.options.partition, problem.word, problem.traits);
  if (limit < kHaloQuantum) return std::nullopt;
  return plan_for(problem, Method::truncated_halo, std::min(limit, kHaloSearch[0]));
}

template <typename T>
std::optional<Proposal> propose_halos(const Problem<T>& problem, Rejection& rejection) {
  const double tol = tolerance<T>(problem.options);
  if (reject_asymmetry(problem, rejection)) return std::nullopt;
  if (const Index m = whole_lines(problem); m > 0) return propose_whole(problem, tol, m, rejection);
  if (const auto quick = halo_by_survey(problem)) return covered_by_survey(problem, *quick, tol);

  const Index limit = longest_halo(problem.options.partition, problem.word, problem.traits);
  if (auto followed = propose_followed(problem, tol, limit, rejection)) return followed;
  if (!problem.insist) return std::nullopt;
  const Plan plan = plan_for(problem, Method::truncated_halo, std::min(kUncoveredHalo, limit));
  const Certificate least = certificate_of(problem, plan, tol, [](const Plan& some, const BandsView<T>& view) {
    return certify_halo(some.n, view, some.m, some.halo, {0, some.n});
  });
  if (least.bound <= tol) {  // the halo suffices, and only costs more than an exact method
    return unless_growth(problem, covered(plan, least.bound, tol, problem.survey), rejection);
  }
  if (!std::isfinite(least.bound)) return std::nullopt;
  return uncovered(plan, least, tol);
}

#define OCLSPKT_INSTANTIATE(T)                                    \
  template std::optional<Plan> halo_by_survey(const Problem<T>&); \
  template std::optional<Plan> least_of_halos(const Problem<T>&); \
  template std::optional<Proposal> propose_halos(const Problem<T>&, Rejection&);
OCLSPKT_INSTANTIATE(float)
OCLSPKT_INSTANTIATE(double)

}  // namespace oclspkt
