// SPDX-License-Identifier: BSD-2-Clause
// The choice of truncated-streamed: by stored factors on devices, tile by tile where the host models it.
#include <algorithm>
#include <cmath>
#include <limits>
#include <utility>

#include "evidence.hpp"
#include "narrow.hpp"
#include "proposal.hpp"
#include "rounding_joints.hpp"

namespace oclspkt {
namespace {

/// Tiles tried for the streamed form where the host models it.
constexpr Index kTileSearch[] = {16 * 31, 16 * 127, 16 * 511, 16 * 2047};
/// Pivots without their excess are good enough from this dominance on.
constexpr double kPlainPivots = 1.0001;
/// Rows that a device may sweep for their pivots alone, times those of a partition.
constexpr Index kLongLeadIn = 4;
/// Reach of a run that is tried first where the decay is followed.
constexpr Index kFirstReach = 256;
/// Partitions tried for stored factors, times the usual one, where a tile is too short.
constexpr Index kLongerPartitions[] = {1, 3, 6};
/// Rows of a partition that stays in the first-level cache between its sweeps. Where all of it is swept twice it takes
/// 0.9 of the time of the usual one (double, symmetric, lambda 10 to 1e3, AMD EPYC with AVX-512, two run-times). It is
/// too short for a device to make its factors, which begins rows above each.
constexpr Index kTwiceSweptPartition = 16 * 7;

/// True if rows of dominance d may be truncated a tile of stored factors away.
bool decays_within_a_tile(double d, const Plan& plan, double tol) {
  return d > 1 && bound_stored(d, plan.tile_rows()) <= tol;
}

/// True if rows of dominance d bound what partitions of stored factors make of rounding when they settle each other.
bool settles_by_dominance(double d) { return growth_stored(d) <= kGrowthLimit; }

/// A covered plan; trial solves judge it if settling could multiply rounding by more than is trusted unseen.
Proposal covered_and_settled(const Plan& plan, double bound, double growth, double tol, const Survey& survey) {
  Proposal proposal = covered(plan, bound, tol, survey);
  proposal.needs_trial = proposal.needs_trial || growth > kGrowthLimit;
  return proposal;
}

/// Why the streamed form does not hold. @param limit  of the growth
std::string streamed_refusal(const Certificate& c, double tol, double limit = kGrowthLimit) {
  return c.bound <= tol ? format("settling multiplies rounding by %.1e > %.0f", c.growth, limit)
                        : format("certificate %.1e > %.1e (", c.bound, tol) + where(c) + ")";
}

/// The same of stored factors by lanes.
template <typename T>
std::string stored_refusal(const Problem<T>& problem, const Plan& plan, const Certificate& certificate, double tol) {
  if (!(certificate.bound <= tol)) return streamed_refusal(certificate, tol);
  return rounding_refusal(bound_stored_joints(plan, problem.bands.view()).corrected, problem.rounding_limit);
}

/// A streamed plan that does not hold, for a user who named the method.
template <typename T>
std::optional<Proposal> insist_on_streamed(const Problem<T>& problem, const Plan& plan, const Certificate& certificate,
                                           double tol, const Objection& objection) {
  if (!named(problem.options.method) || !std::isfinite(certificate.bound)) return std::nullopt;
  Proposal proposal = uncovered(plan, certificate, tol);
  if (certificate.bound <= tol) proposal.why = "asked for, although " + objection.why;
  proposal.growth = certificate.growth;
  return proposal;
}

/// Let partitions agree by their differences if what they round is too much otherwise.
/// @return false if that is too much as well
template <typename T>
bool settle_rounding(const Problem<T>& problem, Plan& plan, Rounding& rounding) {
  if (!knows_pivots(plan, problem.bands.lines(), problem.bands.view(), problem.survey)) return false;
  rounding = {rounding_of_joints(problem.survey, plan.m)};
  if (rounding.eps <= problem.rounding_limit) return true;
  const JointRounding found = bound_stored_joints(plan, problem.bands.view());
  plan.corrects = !(found.plain.eps <= problem.rounding_limit);
  rounding = plan.corrects ? found.corrected : found.plain;
  return rounding.eps <= problem.rounding_limit;
}

/// A plan by stored factors whose truncation is covered. @param bound  its certificate
template <typename T>
std::optional<Proposal> propose_settled(const Problem<T>& problem, Plan plan, double bound, double tol) {
  Rounding rounding;
  if (!settle_rounding(problem, plan, rounding)) return std::nullopt;
  if (plan.corrects) {
    reach_rows(plan, plan.m);
    plan.lead_in = -1;
  }
  Proposal proposal = covered(plan, bound, tol, problem.survey);
  proposal.rounding = rounding;
  return proposal;
}

/// The plan by stored factors that the survey covers, if any.
template <typename T>
std::optional<Proposal> propose_stored_by_survey(const Problem<T>& problem, Plan plan, double tol) {
  const double d = problem.survey.decay();
  if (!decays_within_a_tile(d, plan, tol)) return std::nullopt;
  const Index longest = kLongLeadIn * plan.m, needed = rows_to_decay(d, tol, longest);
  reach_rows(plan, needed);
  // Pivots converge twice as fast as the influence of a boundary value decays; to rounding, whatever the tolerance.
  const Index exact = rows_to_decay(d, tolerance<T>(Options{}), longest);
  if (problem.survey.dominance >= kPlainPivots && exact <= longest) {
    plan.lead_in = round_up(std::max(exact / 2, kHaloQuantum), plan.lanes);
  }
  return propose_settled(problem, plan, bound_stored(d, needed < plan.m ? needed : plan.tile_rows()), tol);
}

/// Lines that by themselves are dominant enough for a plan are not in the way of the others.
template <typename T>
std::vector<Index> lines_in_the_way(const Problem<T>& problem, const Plan& plan, double tol) {
  const LineSet& lines = problem.bands.lines();
  std::vector<Index> weak;
  for (Index l = 0; lines.count() > 1 && l < lines.count(); ++l) {
    const double d = line_dominance(lines, problem.bands.view(), l);
    if (!(decays_within_a_tile(d, plan, tol) && d >= kSurveyedDominance)) weak.push_back(l);
  }
  const bool few = rows_in(lines, weak) <= kApartShare * static_cast<double>(lines.rows());
  return few ? weak : std::vector<Index>{};
}

/// The usual plan by stored factors, whose partitions suit lines that are all alike.
template <typename T>
Plan usual_plan(const Problem<T>& problem) {
  const LineSet& lines = problem.bands.lines();
  const Index partition = problem.options.partition;
  Plan plan = make_stored_plan(lines.rows(), 0, partition, sizeof(T), problem.traits);
  if (!problem.survey.shared || lines.count() == 0) return plan;
  const Index length = lines.length(0);
  if (share_lines(plan, length, partition == 0, sizeof(T), problem.traits) || partition > 0) return plan;
  const Index m = has_rows_alike(problem) ? partition_that_fills(length, plan) : 0;
  return m > 0 ? make_stored_plan(lines.rows(), 0, m, sizeof(T), problem.traits) : plan;
}

/// Look at the values for the storage form that takes the fewest words.
template <typename T>
void choose_form(const Problem<T>& problem, Plan& plan) {
  const LineSet& lines = problem.bands.lines();
  const BandsView<T> bands = problem.bands.view();
  if (plan.form == Form::shared || (has_rows_alike(problem) && share_rows(plan, lines.length(0)))) return;
  if (is_symmetric(lines, bands)) serve_couplings(plan, sizeof(T), problem.traits);
}

/// Let runs be corrected where rounding has no bound that is small enough without, and has one then.
template <typename T>
void correct_where_needed(const Problem<T>& problem, Plan& plan) {
  Rounding rounding;
  if (rounds_little(problem, plan, rounding)) return;
  Plan corrected = plan;
  correct_runs(corrected, sizeof(T), problem.traits);
  if (rounds_little(problem, corrected, rounding)) plan = corrected;
}

/// The same, with factors in the storage that the user allows.
template <typename T>
Proposal in_best_form(const Problem<T>& problem, Proposal proposal) {
  proposal.plan.by_groups() ? choose_form_by_groups(problem, proposal.plan) : choose_form(problem, proposal.plan);
  if (proposal.plan.by_groups()) correct_where_needed(problem, proposal.plan);
  if (!narrows<T>(problem.options)) return proposal;
  proposal.why_wide = why_factors_stay_wide(proposal.plan, problem.survey);
  if (!proposal.why_wide.empty()) return proposal;
  proposal.plan.narrow = !proposal.plan.by_groups() || keep_narrow(proposal.plan);
  if (!proposal.plan.narrow) proposal.why_wide = "tiles are not of whole vectors of floats";
  return proposal;
}

/// Rows of the partitions of stored factors, in the order in which they are tried.
template <typename T>
std::vector<Index> stored_partitions(const Problem<T>& problem, const Plan& usual, double tol) {
  if (problem.options.partition > 0) return {usual.m};
  std::vector<Index> rows;
  const Index lead_in = kLongLeadIn * usual.m;
  if (usual.form == Form::general && usual.m > kTwiceSweptPartition &&
      rows_to_decay(problem.survey.decay(), tol, lead_in) > lead_in) {
    rows.push_back(kTwiceSweptPartition);
  }
  for (const Index times : kLongerPartitions) rows.push_back(times * usual.m);
  return rows;
}

/// The streamed form by stored factors, as devices carry it: by the survey, or by the decay that the factors show, with
/// ever longer partitions as long as there are more tiles than cores.
template <typename T>
std::optional<Proposal> propose_stored(const Problem<T>& problem, Objection& objection) {
  const double tol = tolerance<T>(problem.options);
  if (object_to_asymmetry(problem, objection)) return std::nullopt;
  const Plan usual = usual_plan(problem);
  Plan plan;
  Certificate certificate;
  for (const Index m : stored_partitions(problem, usual, tol)) {
    plan = m == usual.m ? usual : make_stored_plan(usual.n, 0, m, sizeof(T), problem.traits);
    if (auto quick = propose_stored_by_survey(problem, plan, tol)) return in_best_form(problem, *quick);
    certificate = certify_stored(plan, problem.bands.view());
    if (certificate.bound <= tol) {
      if (auto settled = propose_settled(problem, plan, certificate.bound, tol)) return in_best_form(problem, *settled);
    }
    if (certificate.bound <= tol || plan.tiles() <= problem.traits.cores) break;
  }
  objection = {stored_refusal(problem, plan, certificate, tol), lines_in_the_way(problem, plan, tol), plan};
  return insist_on_streamed(problem, plan, certificate, tol, objection);
}

/// The reach that the survey of rows asks of a run: rows after which what is truncated has decayed, or a whole line;
/// more than `longest` if it does not know.
template <typename T>
Index known_reach(const Problem<T>& problem, double tol, Index longest) {
  const LineSet& lines = problem.bands.lines();
  Index line = 0;
  for (Index l = 0; l < lines.count() && line <= longest; ++l) line = std::max(line, lines.length(l));
  return std::min(rows_to_decay(problem.survey.decay(), tol, longest), round_up(line, kHaloQuantum));
}

/// The next reach to try after one whose bound was too large: as much longer as its decay asks for.
Index longer_reach(Index reach, double bound, double tol, Index longest) {
  const double times = bound < 1 ? std::log(tol) / std::log(bound) : 4;
  return std::min(longest, round_up(static_cast<Index>(static_cast<double>(reach) * std::clamp(1.1 * times, 1.5, 64.0)),
                                    kHaloQuantum));
}

/// The streamed form by work-groups: a run of tiles is truncated so many rows away that it shows in no row.
template <typename T>
std::optional<Proposal> propose_runs(const Problem<T>& problem, Objection& objection) {
  const double tol = tolerance<T>(problem.options);
  if (object_to_asymmetry(problem, objection)) return std::nullopt;
  if (auto by_lines = propose_line_runs(problem)) return by_lines;
  const Index n = problem.bands.lines().rows(), partition = problem.options.partition;
  const Index longest = longest_reach(partition, sizeof(T), problem.traits);
  const Index known = known_reach(problem, tol, longest);
  Plan plan = make_run_plan(n, std::min(known, longest), partition, sizeof(T), problem.traits);
  const bool alike = problem.survey.decay() > std::max(1.0, problem.survey.dominance);
  if (known <= longest && (alike || settles_by_dominance(problem.survey.dominance))) {
    const double d = problem.survey.decay();
    const double bound = d > 1 ? std::min(tol, bound_stored(d, plan.halo)) : 0;
    return in_best_form(problem, covered(plan, bound, tol, problem.survey));
  }
  Certificate certificate;
  for (Index reach = std::min(known, kFirstReach);;) {
    plan = make_run_plan(n, reach, partition, sizeof(T), problem.traits);
    certificate = certify_runs(plan, problem.bands.view());
    // Rounding, which propose() bounds, does not get less by a longer reach.
    if (certificate.bound <= tol) {
      return in_best_form(problem,
                          covered_and_settled(plan, certificate.bound, certificate.growth, tol, problem.survey));
    }
    if (reach >= longest || std::isnan(certificate.bound)) break;
    reach = longer_reach(reach, certificate.bound, tol, longest);
  }
  objection = {streamed_refusal(certificate, tol), {}, plan};
  return insist_on_streamed(problem, plan, certificate, tol, objection);
}

/// A way to walk the tiles of the streamed form.
struct Direction {
  bool up, exact_starts;
};

/// Cheapest first. Lines that advect decay in one direction only: their runs walk with the wind, and where the side
/// that they start from does not decay, the starts are solved for.
constexpr Direction kDirections[] = {{false, false}, {true, false}, {false, true}, {true, true}};

}  // namespace

template <typename T>
std::optional<Proposal> propose_line_runs(const Problem<T>& problem) {
  const LineSet& lines = problem.bands.lines();
  const double d = problem.survey.decay(), tol = tolerance<T>(problem.options);
  const Index length = equal_length(lines);
  // What stands for all lines, or is narrow, is read by kernels that are bound by other things.
  const bool wanted = lines.count() > 1 && length > 0 && problem.options.partition == 0 && !problem.survey.shared;
  if (!wanted || problem.traits.group_items == 0 || narrows<T>(problem.options)) return std::nullopt;
  const Form form = is_symmetric(lines, problem.bands.view()) ? Form::symmetric : Form::general;
  for (Plan plan : make_line_runs_plans(lines.rows(), length, form, sizeof(T), problem.traits)) {
    const double known = plan.run_tiles <= 2 ? 0 : d > 1 ? bound_stored(d, plan.group_rows()) : kNothingKnown;
    Rounding rounding;
    correct_where_needed(problem, plan);
    if (!rounds_little(problem, plan, rounding)) continue;
    if (known <= tol && settles(problem.survey)) return covered(plan, known, tol, problem.survey);
    const Certificate certificate = certify_runs(plan, problem.bands.view());
    if (!(certificate.bound <= tol)) continue;
    return covered_and_settled(plan, certificate.bound, certificate.growth, tol, problem.survey);
  }
  return std::nullopt;
}

template <typename T>
std::optional<Proposal> propose_streamed(const Problem<T>& problem, Objection& objection) {
  if (problem.traits.group_items > 0) return propose_runs(problem, objection);
  if (!problem.traits.host) return propose_stored(problem, objection);
  const double tol = tolerance<T>(problem.options);
  Plan best;
  Certificate least;
  least.bound = std::numeric_limits<double>::infinity();
  for (const Direction& direction : kDirections) {
    for (const Index tile : kTileSearch) {
      const Index partition = problem.options.partition > 0 ? problem.options.partition : tile;
      Plan plan =
          make_plan(Method::truncated_streamed, problem.bands.lines().rows(), 0, partition, sizeof(T), problem.traits);
      plan.walk_up = direction.up;
      plan.exact_starts = direction.exact_starts;
      const Certificate certificate = certify_streamed(plan, problem.bands.view());
      if (certificate.bound <= tol && certificate.growth <= kGrowthLimit) {
        Proposal proposal = covered(plan, certificate.bound, tol, problem.survey);
        // What the starts are solved for and what the runs arrive at are rounded apart; that they agree is to be shown.
        proposal.needs_trial = proposal.needs_trial || direction.exact_starts;
        return unless_growth(problem, std::move(proposal), objection);
      }
      if (certificate.bound < least.bound) {
        least = certificate;
        best = plan;
      }
      if (partition != tile || plan.m >= plan.n) break;
    }
  }
  objection = {streamed_refusal(least, tol), {}, best};
  return insist_on_streamed(problem, best, least, tol, objection);
}

template std::optional<Proposal> propose_line_runs<float>(const Problem<float>&);
template std::optional<Proposal> propose_line_runs<double>(const Problem<double>&);
template std::optional<Proposal> propose_streamed<float>(const Problem<float>&, Objection&);
template std::optional<Proposal> propose_streamed<double>(const Problem<double>&, Objection&);

}  // namespace oclspkt
