// SPDX-License-Identifier: BSD-2-Clause
// The scheme for lines side by side by work-groups and stored factors: truncated-streamed and exact-factored, in five
// forms. The choice of the form depends on the lines and on the device.
#include <algorithm>
#include <cmath>
#include <limits>
#include <mutex>
#include <string>
#include <vector>

#include "evidence.hpp"
#include "format.hpp"
#include "line_columns.hpp"
#include "schemes/beside_scheme.hpp"
#include "schemes/grids/grid_plan.hpp"
#include "schemes/proposal.hpp"
#include "survey.hpp"
#include "units.hpp"

namespace oclspkt {
namespace {

template <typename T>
Certificate certify_line(const Plan& plan, Index length, const BandsView<T>& line, double tol) {
  if (plan.method != Method::truncated_streamed) return {};
  Plan one;  // plan of the line laid end to end
  one.n = length;
  one.m = plan.item_rows;
  one.lanes = grid_items_down(plan);
  // With several tiles in flight, a window may begin at any work-item, so a work-item's rows count as a tile.
  const auto certify = [&](const BandsView<T>& rows) {
    return plan.as<GridTiles>().in_flight > 1 ? certify_runs({length, plan.item_rows, grid_reach(plan)}, rows)
                                              : certify_stored(one, rows);
  };
  const LineSet itself = LineSet::one(length);
  return certify_in_units(itself, line, line_dominance(itself, line, 0), tol, certify(line), certify);
}

/// Names of the forms, in the order of GridForm.
constexpr const char* kForms[] = {"grids-streamed", "grids-shared", "grids-whole", "grids-condensed", "grids-factored"};

const char* form_name(const Plan& plan) { return kForms[static_cast<int>(grid_form(plan))]; }

/// Values of GridDemand::reach to try, in this order. A reach is the least number of rows from a truncated row to an
/// unknown that it affects. The first reach gives the fastest plan. Longer reaches serve matrices in which influence
/// decays more slowly, and lines that fit into a longer tile.
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
  return make_grid_plan(problem.bands.lines(), demand, problem.word, problem.traits);
}

/// The plans whose form the user named, or all plans if the user named none.
/// @param[out] rejection  the reason, if no plan remains
std::vector<Plan> as_asked(std::vector<Plan> plans, const std::string& variant, Rejection& rejection) {
  const auto named = std::find(std::begin(kForms), std::end(kForms), variant);
  if (named != std::end(kForms)) std::erase_if(plans, [&](const Plan& plan) { return form_name(plan) != *named; });
  if (plans.empty()) rejection.why = variant + " has no plan for these lines";
  return plans;
}

/// Plans of truncated-streamed, the fastest first, each with a longer reach than the plan before.
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

/// The bound on truncation of a plan that the survey gives; infinite if the survey gives no bound.
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

/// The reason why a plan does not hold for some line.
std::string refusal(const GridEvidence& evidence, double tol, double limit) {
  const Certificate& worst = evidence.worst;
  if (worst.bound <= tol) return rounding_refusal(evidence.rounding, limit);
  return certificate_text(worst, tol, evidence.line);
}

template <typename T>
std::optional<Proposal> propose_grid_streamed(const Problem<T>& problem, Rejection& rejection) {
  const double tol = tolerance<T>(problem.options);
  if (reject_asymmetry(problem, rejection)) return std::nullopt;
  const LineSet& lines = problem.bands.lines();
  const std::vector<Plan> plans = as_asked(streamed_plans(problem), problem.options.variant, rejection);
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
  const bool few = !problem.survey.shared && are_few(lines, evidence.weak);
  rejection = {refusal(evidence, tol, problem.rounding_limit), few ? evidence.weak : std::vector<Index>{},
               plans.back()};
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

/// Plans of exact-factored, the fastest first. A plan with concurrent sweeps precedes a plan that sweeps in turn. The
/// last plan has no interface system.
template <typename T>
std::vector<Plan> exact_plans(const Problem<T>& problem) {
  const LineSet& lines = problem.bands.lines();
  GridDemand demand = demand_of(problem, Method::exact_factored);
  const std::vector<Plan> fastest = make_exact_grid_plans(lines, demand, problem.word, problem.traits);
  demand.in_turn = true;
  const Plan in_turn = plan_of(problem, demand);
  const bool concurrent = !fastest.front().as<GridTiles>().in_turn || !fastest.back().as<GridTiles>().in_turn;
  std::vector<Plan> plans;
  for (const Plan& plan : fastest) {
    plans.push_back(plan);
    if (!plan.as<GridTiles>().in_turn && in_one_tile(in_turn)) plans.push_back(in_turn);
    if (grid_condenses_at_once(plan)) plans.push_back(condensed_in_turn(problem, demand));
  }
  // If lines are too long for a tile, streaming them in turn is tried last, after segments.
  if (concurrent && !in_one_tile(in_turn)) plans.push_back(in_turn);
  demand.in_turn = false;
  demand.one_item = true;
  plans.push_back(plan_of(problem, demand));
  return plans;
}

/// Propose the first exact plan whose bound on rounding is within the limit, or else the last plan.
template <typename T>
std::optional<Proposal> propose_grid_exact(const Problem<T>& problem, Rejection& rejection) {
  const std::vector<Plan> plans = as_asked(exact_plans(problem), problem.options.variant, rejection);
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

/// The worst bound on rounding of all lines. If lines are alike, the bound of one line holds for all lines.
template <typename T>
Rounding bound_grid(const Plan& plan, const LineSet& lines, const BandsView<T>& bands, const Survey& survey) {
  const bool alike = plan.form == Form::shared;
  Rounding worst{grid_rounding_by_survey(plan, survey)};
  // The bound of one line costs little.
  if (plan.n == 0 || (worst.eps <= kRoundingLimit && !alike)) return worst;
  worst = {};
  std::mutex mutex;
  for_columns(lines, alike ? 1 : lines.count(), [&](Index first, Index width) {
    const Column<T> column(lines, bands, first, width);
    const std::vector<Rounding> bounds = bound_grid_lines(plan, lines.length(0), column.lines());
    const std::lock_guard lock(mutex);
    for (Index l = 0; l < width; ++l) take_worse(bounds[static_cast<std::size_t>(l)], lines, first + l, worst);
  });
  return worst;
}

/// The scheme of all plans by work-groups for lines side by side. A plan of no rows counts as having general factors.
class Grids final : public SchemeOf<Grids, BesideScheme> {
 public:
  const char* name() const override { return "grids"; }
  std::vector<const char*> forms() const override { return {std::begin(kForms), std::end(kForms)}; }
  const char* form(const Plan& plan) const override { return form_name(plan); }
  std::string shape(const Plan& plan) const override {
    return std::string(plan.form == Form::general ? "stored" : oclspkt::name(plan.form)) +
           format(" factors, tiles of %lld lines x %lld rows", static_cast<long long>(plan.as<Beside>().bundle),
                  static_cast<long long>(grid_tile_rows(plan))) +
           cut_text(plan);
  }
  double words(const Plan& plan) const override { return plan.m > 0 ? words_of_rows(plan) : 5; }
  int launches(const Plan& plan) const override { return grid_condenses(plan) ? 3 : 1; }
  /// Idle cores cost at most the first figure of grids.idle. If exact-factored streams or condenses lines longer than a
  /// tile, they cost at least the second figure.
  double stream_words(const Plan& plan, int) const override {
    const Tuning& figures = figures_of(plan);
    if (plan.n == 0) return words(plan);
    const auto n = static_cast<double>(plan.n);
    const double idle = std::max(0.0, plan.idle - 1) * words(plan) * n;
    const bool walked = plan.method == Method::exact_factored && !in_one_tile(plan);
    return words(plan) +
           (walked ? std::max(idle, figures.number("grids.idle", 1)) : std::min(idle, figures.number("grids.idle"))) /
               n;
  }
  double passes(const Plan& plan, const Survey& survey) const override {
    // If the survey does not cover truncation, the certificate reads the rows of every line.
    constexpr double kSurveyed = 1.05, kFactors = 1, kByValues = 10;
    if (plan.form == Form::shared) return 0;
    const bool truncates = plan.method == Method::truncated_streamed && !in_one_tile(plan);
    return truncates && survey.decay() < kSurveyed ? kByValues : kFactors;
  }
  Nature nature() const override {
    return {.kernels = Kernels::groups, .stores_factors = true, .solves_interfaces = true};
  }
  /// All condensed lines are solved at once, in one chunk.
  Cut cut(const Plan& plan) const override { return {0, 0, 0, grid_condenses(plan), plan.as<Beside>().chunk_blocks}; }
  std::optional<Plan> make(const PlanRequest& r) const override {
    if (r.method != Method::exact_factored || r.traits.group_items == 0 || !r.lines.beside()) return std::nullopt;
    return make_grid_plan(r.lines, {.method = r.method, .form = r.form}, r.word, r.traits);
  }
  bool in_pieces(const Plan& plan) const override { return plan.method != Method::exact_factored; }
  /// No check of the pivots' own rounding is needed: some bounds require only |c_i / u_i| <= 1, and the other bounds
  /// use the factors as T's arithmetic computes them.
  Elimination elimination(const Plan& plan) const override {
    return {.excess = grid_condenses(plan), .any_pivots = true};
  }
  template <typename T>
  Rounding bound(const Plan& plan, const LineSet& lines, const BandsView<T>& bands, const Survey& survey) const {
    return bound_grid(plan, lines, bands, survey);
  }

  template <typename T>
  bool suits(Method method, const Problem<T>& problem) const {
    return takes_grid(problem) && (method == Method::truncated_streamed || method == Method::exact_factored);
  }
  template <typename T>
  std::optional<Proposal> proposal(const Problem<T>& problem, Rejection& rejection) const {
    if (problem.method == Method::truncated_streamed) return propose_grid_streamed(problem, rejection);
    return propose_grid_exact(problem, rejection);
  }
  template <typename T>
  std::optional<Plan> cheapest(const Problem<T>& problem) const {
    Rejection unused;
    const bool truncates = problem.method == Method::truncated_streamed;
    const std::vector<Plan> plans =
        as_asked(truncates ? streamed_plans(problem) : exact_plans(problem), problem.options.variant, unused);
    const bool fits = !plans.empty() && (plans.front().n == 0 || plans.front().as<Beside>().chunk_blocks > 0);
    return fits ? std::optional(plans.front()) : std::nullopt;
  }

 private:
  /// Text for how lines are cut and how many tiles wait. It follows the text for the size of the tiles.
  static std::string cut_text(const Plan& plan) {
    const GridTiles& grid = plan.as<GridTiles>();
    switch (grid_form(plan)) {
      case GridForm::streamed:
        return segments_text(plan, ", %lld runs a line") +
               (grid.in_flight > 1 ? format(", %d tiles in flight", grid.in_flight) : "");
      case GridForm::shared:
        if (plan.as<Beside>().segments > 1) return segments_text(plan, ", %lld runs a line");
        return in_one_tile(plan) ? "" : format(", runs of %d tiles", plan.run_tiles);
      case GridForm::whole:
        return grid.in_turn ? ", sequential sweep" : "";
      case GridForm::condensed:
        return segments_text(plan, grid_condenses_at_once(plan) ? ", condensed in one pass, %lld segments a line"
                                                                : ", condensed, %lld segments a line");
      case GridForm::factored:
        break;
    }
    return {};
  }
  static double words_of_rows(const Plan& plan) {
    const bool shared = plan.form == Form::shared;
    const double factors = shared ? 0 : plan.symmetric() ? 2 : 3;
    switch (grid_form(plan)) {
      case GridForm::streamed:
        // Above its own rows, a run also reads y and one factor. Below its own rows, it reads all arrays but x.
        return 2 + factors + (shared ? 1 : (3 + factors) / 2) * (overlap_of_segments(plan) - 1);
      case GridForm::shared: {
        // A run that is only a part of a line also reads y of two more tiles.
        const bool whole_lines = plan.run_tiles % quotient_up(plan.m, grid_tile_rows(plan)) == 0;
        return 2 + (whole_lines ? 0 : 2 / static_cast<double>(plan.run_tiles));
      }
      case GridForm::whole:
        break;
      case GridForm::condensed:
        return shared ? 3 : plan.symmetric() ? 7 : 8;
      case GridForm::factored:
        // A streamed line reads symmetric couplings twice. The last tile keeps its results of the sweep down, which are
        // not written and read again.
        return 2 + (shared ? 0 : 3) +
               2 * (1 - std::min(1.0, static_cast<double>(grid_tile_rows(plan)) / static_cast<double>(plan.m)));
    }
    return 2 + factors;
  }
  static std::string segments_text(const Plan& plan, const char* pattern) {
    return plan.as<Beside>().segments > 1 ? format(pattern, static_cast<long long>(plan.as<Beside>().segments)) : "";
  }
};

}  // namespace

template <typename T>
GridEvidence certify_grid(const Plan& plan, const LineSet& lines, const BandsView<T>& bands, double tol,
                          double most_eps) {
  GridEvidence all;
  if (plan.n == 0) return all;
  const Index length = lines.length(0);
  const Index count = plan.form == Form::shared ? 1 : lines.count();
  std::mutex mutex;
  for_columns(lines, count, [&](Index first, Index width) {
    const Column<T> column(lines, bands, first, width);
    const std::vector<Rounding> rounding = bound_grid_lines(plan, length, column.lines());
    for (Index l = 0; l < width; ++l) {
      const Certificate c = certify_line(plan, length, column.line(l), tol);
      const Rounding& of_line = rounding[static_cast<std::size_t>(l)];
      const std::lock_guard lock(mutex);
      if (!(c.bound <= tol) || !(of_line.eps <= most_eps)) all.weak.push_back(first + l);
      const bool worse = std::isnan(c.bound) ? !std::isnan(all.worst.bound) : c.bound > all.worst.bound;
      if (worse || all.line < 0) {
        all.worst = c;
        all.line = first + l;
      }
      take_worse(of_line, lines, first + l, all.rounding);
    }
  });
  std::sort(all.weak.begin(), all.weak.end());
  return all;
}

template GridEvidence certify_grid(const Plan&, const LineSet&, const BandsView<float>&, double, double);
template GridEvidence certify_grid(const Plan&, const LineSet&, const BandsView<double>&, double, double);

const Scheme& grids() { return only<Grids>(); }

}  // namespace oclspkt
