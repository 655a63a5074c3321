// SPDX-License-Identifier: BSD-2-Clause
// The scheme of truncated-streamed by work-groups and stored factors, for lines laid end to end.
#include "evidence.hpp"
#include "schemes/proposal.hpp"
#include "schemes/scheme.hpp"
#include "schemes/tiles/rounding_runs.hpp"

namespace oclspkt {
namespace {

/// The first reach of a run (see make_run_plan()), in rows, that propose_runs() certifies if the survey does not bound
/// truncation and growth.
constexpr Index kFirstReach = 128;
/// True if rows of dominance d bound rounding in the interface systems of partitions with stored factors.
bool stable_by_dominance(double d) { return growth_stored(d) <= kGrowthLimit; }

/// If the bound on rounding is too large, let neighbouring runs compute common rows with the same bits. If that does
/// not suffice, let runs also correct their differences. If neither suffices, the plan stays unchanged.
/// @return the bound of the plan
template <typename T>
Rounding correct_where_needed(const Problem<T>& problem, Plan& plan) {
  Rounding plain, other;
  if (rounds_little(problem, plan, plain)) return plain;
  for (const auto change : {join_runs, correct_runs}) {
    Plan changed = plan;
    change(changed, problem.word, problem.traits);
    if (!rounds_little(problem, changed, other)) continue;
    plan = changed;
    return other;
  }
  return plain;
}

/// Store the factors of a proposal in the most compact form that the values and the user allow, and bound its rounding.
template <typename T>
Proposal in_best_run_form(const Problem<T>& problem, Proposal proposal) {
  choose_form_by_groups(problem, proposal.plan);
  if (proposal.plan.form != Form::general) cut_runs_anew(proposal.plan, problem.word, problem.traits);
  proposal.rounding = correct_where_needed(problem, proposal.plan);
  return as_narrow_as_allowed(problem, std::move(proposal), [](Plan& plan) { return keep_narrow(plan); });
}

template <typename T>
Certificate certify_plan_of_runs(const Plan& plan, const BandsView<T>& bands) {
  return certify_runs(plan, bands);
}

/// The reach of a run by the survey, in rows. After so many rows, a truncated influence has decayed, or the line has
/// ended. More than `longest` if the survey gives no reach.
template <typename T>
Index known_reach(const Problem<T>& problem, double tol, Index longest) {
  const LineSet& lines = problem.bands.lines();
  Index line = 0;
  for (Index l = 0; l < lines.count() && line <= longest; ++l) line = std::max(line, lines.length(l));
  return std::min(rows_to_decay(problem.survey.decay(), tol, longest), round_up(line, kHaloQuantum));
}

/// The next reach to try if the bound of `reach` is too large. It grows as the decay in this bound requires.
Index longer_reach(Index reach, double bound, double tol, Index longest) {
  const double times = bound < 1 ? std::log(tol) / std::log(bound) : 4;
  return std::min(longest, round_up(static_cast<Index>(static_cast<double>(reach) * std::clamp(1.1 * times, 1.5, 64.0)),
                                    kHaloQuantum));
}

/// True if each line may be a run. With shared or narrow factors, kernels are not bound by memory, so that such runs
/// save nothing.
template <typename T>
bool fills_line_runs(const Problem<T>& problem) {
  const LineSet& lines = problem.bands.lines();
  return lines.count() > 1 && equal_length(lines) > 0 && problem.options.partition == 0 && !problem.survey.shared &&
         !problem.narrows();
}

/// Propose truncated-streamed by work-groups, with each line as one run.
/// @return none if lines cannot be runs, or if no such plan keeps truncation and rounding within their limits
template <typename T>
std::optional<Proposal> propose_line_runs(const Problem<T>& problem) {
  const LineSet& lines = problem.bands.lines();
  const double d = problem.survey.decay(), tol = tolerance<T>(problem.options);
  const Index length = equal_length(lines);
  if (!fills_line_runs(problem)) return std::nullopt;
  const Form form = is_symmetric(lines, problem.bands.view()) ? Form::symmetric : Form::general;
  for (Plan plan : make_line_runs_plans(lines.rows(), length, form, problem.word, problem.traits)) {
    const double known = plan.run_tiles <= 2 ? 0 : d > 1 ? bound_stored(d, plan.group_rows()) : kNothingKnown;
    const Rounding rounding = correct_where_needed(problem, plan);
    if (!(rounding.eps <= problem.rounding_limit)) continue;
    const auto with_bound = [&](Proposal proposal) {
      proposal.rounding = rounding;
      return proposal;
    };
    if (known <= tol && interfaces_are_stable(problem.survey))
      return with_bound(covered(plan, known, tol, problem.survey));
    const Certificate certificate = certificate_of(problem, plan, tol, certify_plan_of_runs<T>);
    if (!(certificate.bound <= tol)) continue;
    return with_bound(covered_with_growth(plan, certificate.bound, certificate.growth, tol, problem.survey));
  }
  return std::nullopt;
}

/// Propose runs of tiles with a reach at which truncation stays within tolerance in every row.
template <typename T>
std::optional<Proposal> propose_runs(const Problem<T>& problem, Rejection& rejection) {
  const double tol = tolerance<T>(problem.options);
  const Index n = problem.bands.lines().rows(), partition = problem.options.partition;
  const Index longest = longest_reach(partition, problem.word, problem.traits);
  const Index known = known_reach(problem, tol, longest);
  Plan plan = make_run_plan(n, std::min(known, longest), partition, problem.word, problem.traits);
  const bool alike = problem.survey.decay() > std::max(1.0, problem.survey.dominance);
  if (known <= longest && (alike || stable_by_dominance(problem.survey.dominance))) {
    const double d = problem.survey.decay();
    const double bound = d > 1 ? std::min(tol, bound_stored(d, plan.halo)) : 0;
    return in_best_run_form(problem, covered(plan, bound, tol, problem.survey));
  }
  Certificate certificate;
  for (Index reach = std::min(known, kFirstReach);;) {
    plan = make_run_plan(n, reach, partition, problem.word, problem.traits);
    certificate = certificate_of(problem, plan, tol, certify_plan_of_runs<T>);
    // A longer reach would not reduce rounding.
    if (certificate.bound <= tol) {
      return in_best_run_form(problem,
                              covered_with_growth(plan, certificate.bound, certificate.growth, tol, problem.survey));
    }
    if (reach >= longest || std::isnan(certificate.bound)) break;
    reach = longer_reach(reach, certificate.bound, tol, longest);
  }
  rejection = {streamed_refusal(certificate, tol), {}, plan};
  return insist_on_streamed(problem, plan, certificate, tol, rejection);
}

class TilesStreamed final : public SchemeOf<TilesStreamed> {
 public:
  const char* name() const override { return "tiles-streamed"; }
  std::string shape(const Plan& plan) const override {
    return (runs_are_lines(plan) ? format("stored factors, one run of %d tiles per line, ", plan.run_tiles)
                                 : format("stored factors, reach %lld, runs of %d tiles, ",
                                          static_cast<long long>(plan.halo), plan.run_tiles)) +
           (plan.as<StoredFactors>().corrects ? "corrected at the interfaces, " : "") + groups_text(plan);
  }
  Nature nature() const override {
    return {.kernels = Kernels::groups, .stores_factors = true, .solves_interfaces = true};
  }
  StoredPlaces places(const Plan& plan) const override { return places_of_shared(plan); }
  double words(const Plan& plan) const override { return words_of_one_pass(plan); }
  double stream_words(const Plan& plan, int word) const override {
    return words(plan) / figures_of(plan).number("tiles.run_shares", word > static_cast<int>(sizeof(float)));
  }
  double passes(const Plan& plan, const Survey& survey) const override {
    return passes_of_stored(plan, survey, plan.group_rows(), 2.5, 11);
  }
  template <typename T>
  Rounding bound(const Plan& plan, const LineSet&, const BandsView<T>& bands, const Survey& survey) const {
    return bound_of_tiles(
        plan, survey, [&](const RatioLimits& limits) { return bound_runs(plan, limits); },
        [&] { return bound_runs(plan, bands); });
  }

  template <typename T>
  bool suits(Method method, const Problem<T>& problem) const {
    return method == Method::truncated_streamed && by_tiles(problem);
  }
  template <typename T>
  std::optional<Proposal> proposal(const Problem<T>& problem, Rejection& rejection) const {
    if (reject_asymmetry(problem, rejection)) return std::nullopt;
    std::optional<Proposal> proposal = propose_line_runs(problem);
    if (!proposal) proposal = propose_runs(problem, rejection);
    return proposal;
  }
  template <typename T>
  std::optional<Plan> cheapest(const Problem<T>& problem) const {
    const LineSet& lines = problem.bands.lines();
    if (fills_line_runs(problem)) {
      const auto plans =
          make_line_runs_plans(lines.rows(), equal_length(lines), Form::general, problem.word, problem.traits);
      if (!plans.empty()) return plans.front();
    }
    const Index partition = problem.options.partition, longest = longest_reach(partition, problem.word, problem.traits);
    const Index reach = std::min(longest, known_reach(problem, tolerance<T>(problem.options), longest));
    Plan plan = make_run_plan(lines.rows(), reach, partition, problem.word, problem.traits);
    if (problem.survey.shared) share_line(plan, lines.length(0), problem.word);
    return plan;
  }
};

}  // namespace

const Scheme& tiles_streamed() { return only<TilesStreamed>(); }

}  // namespace oclspkt
