// SPDX-License-Identifier: BSD-2-Clause
// Plans for lines side by side on devices with kernels for GPUs, which are tried across all schemes of this kind: whose
// plan it is follows from the lines.
#include <algorithm>
#include <cmath>
#include <limits>

#include "evidence.hpp"
#include "grid_evidence.hpp"
#include "grid_plan.hpp"
#include "schemes/grid_scheme.hpp"
#include "schemes/proposal.hpp"

namespace oclspkt {
namespace {

/// Rows asked of a reach, one after the other: what is fastest, what decays more slowly, and lines that a tile holds.
constexpr Index kReaches[] = {1, 128, 192, kMostGridRows, 384};

template <typename T>
Form form_of(const Problem<T>& problem) {
  if (problem.survey.shared) return Form::shared;
  return is_symmetric(problem.bands.lines(), problem.bands.view()) ? Form::symmetric : Form::general;
}

template <typename T>
GridDemand demand_of(const Problem<T>& problem, Method method) {
  return {.method = method, .form = form_of(problem), .item_rows = problem.options.partition};
}

template <typename T>
Plan plan_of(const Problem<T>& problem, const GridDemand& demand) {
  return make_grid_plan(problem.bands.lines(), demand, sizeof(T), problem.traits);
}

/// Leave out plans of schemes that this library does not have. @return the others, or why there are none
std::vector<Plan> owned(std::vector<Plan> plans, Rejection& rejection) {
  std::erase_if(plans, [](const Plan& plan) { return owner_of(plan) == nullptr; });
  if (plans.empty()) rejection.why = "this library has no scheme for lines side by side of this kind";
  return plans;
}

/// Plans of truncated-streamed, the fastest first; no two of the same reach.
template <typename T>
std::vector<Plan> streamed_plans(const Problem<T>& problem) {
  std::vector<Plan> plans;
  GridDemand demand = demand_of(problem, Method::truncated_streamed);
  for (const Index rows : kReaches) {
    demand.reach = rows;
    const Plan plan = plan_of(problem, demand);
    if (plans.empty() || grid_reach(plan) > grid_reach(plans.back())) plans.push_back(plan);
  }
  return plans;
}

/// The bound of a plan that the survey gives; infinite if it gives none.
double bound_by_survey(const Plan& plan, const Survey& survey) {
  if (in_one_tile(plan)) return 0;
  const double d = survey.decay();
  return d > 1 ? bound_stored(d, grid_reach(plan)) : std::numeric_limits<double>::infinity();
}

template <typename T>
Proposal covered_grid(const Problem<T>& problem, const Plan& plan, double bound, const Rounding& rounding) {
  Proposal p = covered(plan, bound, tolerance<T>(problem.options), problem.survey);
  p.rounding = rounding;
  p.needs_trial = !(problem.survey.dominance >= 1) || barely_dominant(problem.survey) || problem.traits.unproven;
  return p;
}

/// Why lines do not hold.
std::string refusal(const GridEvidence& evidence, double tol, double limit) {
  const Certificate& worst = evidence.worst;
  if (worst.bound <= tol) return rounding_refusal(evidence.rounding, limit);
  return format("certificate %.1e > %.1e (line %lld, ", worst.bound, tol, static_cast<long long>(evidence.line)) +
         where(worst) + ")";
}

/// Lines that alone stand in the way, if they are few.
template <typename T>
std::vector<Index> in_the_way(const Problem<T>& problem, std::vector<Index> weak) {
  const LineSet& lines = problem.bands.lines();
  const bool few = rows_in(lines, weak) <= kFallbackShare * static_cast<double>(lines.rows());
  if (!few || problem.survey.shared) weak.clear();
  return weak;
}

template <typename T>
std::optional<Proposal> propose_grid_streamed(const Problem<T>& problem, Rejection& rejection) {
  const double tol = tolerance<T>(problem.options);
  if (reject_asymmetry(problem, rejection)) return std::nullopt;
  const LineSet& lines = problem.bands.lines();
  const std::vector<Plan> plans = owned(streamed_plans(problem), rejection);
  if (plans.empty()) return std::nullopt;
  for (const Plan& plan : plans) {
    const double bound = bound_by_survey(plan, problem.survey);
    if (Rounding rounding; bound <= tol && rounds_little(problem, plan, rounding)) {
      return covered_grid(problem, plan, bound, rounding);
    }
  }
  GridEvidence evidence;
  for (const Plan& plan : plans) {
    evidence = certify_grid(plan, lines, problem.bands.view(), tol, problem.rounding_limit);
    if (evidence.weak.empty()) return covered_grid(problem, plan, evidence.worst.bound, evidence.rounding);
  }
  rejection = {refusal(evidence, tol, problem.rounding_limit), in_the_way(problem, evidence.weak), plans.back()};
  if (!problem.insist || !std::isfinite(evidence.worst.bound)) return std::nullopt;
  Proposal insisted = uncovered(plans.back(), evidence.worst, tol);
  if (evidence.worst.bound <= tol) insisted.why = "used because its method is named; " + rejection.why;
  insisted.rounding = of_first_order(evidence.rounding);
  return insisted;
}

template <typename T>
Plan condensed_in_turn(const Problem<T>& problem, GridDemand demand) {
  demand.segments = demand.in_turn = true;
  return plan_of(problem, demand);
}

/// Plans of exact-factored, the fastest first; lines that a tile holds are swept at once or else in turn. Last what
/// has no interface system.
template <typename T>
std::vector<Plan> exact_plans(const Problem<T>& problem) {
  const LineSet& lines = problem.bands.lines();
  GridDemand demand = demand_of(problem, Method::exact_factored);
  const std::vector<Plan> fastest = make_exact_grid_plans(lines, demand, sizeof(T), problem.traits);
  demand.in_turn = true;
  const Plan in_turn = plan_of(problem, demand);
  const bool concurrent = !fastest.front().as<GridTiles>().in_turn || !fastest.back().as<GridTiles>().in_turn;
  std::vector<Plan> plans;
  for (const Plan& plan : fastest) {
    plans.push_back(plan);
    if (!plan.as<GridTiles>().in_turn && in_one_tile(in_turn)) plans.push_back(in_turn);
    if (grid_condenses_at_once(plan)) plans.push_back(condensed_in_turn(problem, demand));
  }
  // Streaming lines that are too long for that is the last thing to try, behind segments.
  if (concurrent && !in_one_tile(in_turn)) plans.push_back(in_turn);
  demand.in_turn = false;
  demand.one_item = true;
  plans.push_back(plan_of(problem, demand));
  return plans;
}

/// Nothing is truncated: the first plan with a bound on rounding, or else the last.
template <typename T>
std::optional<Proposal> propose_grid_exact(const Problem<T>& problem, Rejection& rejection) {
  const std::vector<Plan> plans = owned(exact_plans(problem), rejection);
  if (plans.empty()) return std::nullopt;
  Proposal p;
  for (const Plan& plan : plans) {
    p.plan = plan;
    Rounding rounding;
    const bool little = rounds_little(problem, plan, rounding);
    p.rounding = rounding;
    if (little) break;
  }
  p.needs_trial = !(problem.survey.dominance > 1) || problem.traits.unproven;
  p.why = format("row dominance %.4f", problem.survey.dominance);
  return p;
}

}  // namespace

template <typename T>
std::optional<Proposal> propose_grid(const Problem<T>& problem, Rejection& rejection) {
  if (problem.method == Method::truncated_streamed) return propose_grid_streamed(problem, rejection);
  return propose_grid_exact(problem, rejection);
}

template <typename T>
std::optional<Plan> least_of_grid(const Problem<T>& problem) {
  Rejection unused;
  const bool truncates = problem.method == Method::truncated_streamed;
  const std::vector<Plan> plans = owned(truncates ? streamed_plans(problem) : exact_plans(problem), unused);
  const bool fits = !plans.empty() && (plans.front().n == 0 || plans.front().as<Beside>().chunk_blocks > 0);
  return fits ? std::optional(plans.front()) : std::nullopt;
}

template std::optional<Plan> least_of_grid<float>(const Problem<float>&);
template std::optional<Plan> least_of_grid<double>(const Problem<double>&);
template std::optional<Proposal> propose_grid<float>(const Problem<float>&, Rejection&);
template std::optional<Proposal> propose_grid<double>(const Problem<double>&, Rejection&);

}  // namespace oclspkt
