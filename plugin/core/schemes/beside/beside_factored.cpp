// SPDX-License-Identifier: BSD-2-Clause
// exact-factored by stored factors in the order of the rows: by lanes for lines side by side, and by the host for all.
#include "evidence.hpp"
#include "narrow.hpp"
#include "rounding.hpp"
#include "schemes/beside/beside_plans.hpp"
#include "schemes/beside_scheme.hpp"
#include "schemes/proposal.hpp"
#include "schemes/texts.hpp"

namespace oclspkt {
namespace {

/// Whole lines, in the best form that the values and the user allow.
template <typename T>
Plan best_plan(const Problem<T>& problem) {
  const LineSet& lines = problem.bands.lines();
  const auto plan = [&](Form form) { return make_bundles_plan(lines, form, sizeof(T), problem.traits); };
  if (problem.survey.shared) return plan(Form::shared);
  const Plan symmetric = plan(Form::symmetric);
  const bool as_symmetric = symmetric.symmetric() && is_symmetric(lines, problem.bands.view());
  Plan best = as_symmetric ? symmetric : plan(Form::general);
  const bool may_narrow = !problem.traits.host && lines.beside();
  best.narrow = may_narrow && narrows<T>(problem.options) && why_not_narrow_factors(problem.survey).empty();
  return best;
}

class BesideFactored final : public SchemeOf<BesideFactored, BesideScheme> {
 public:
  const char* name() const override { return "beside-factored"; }
  std::string shape(const Plan& plan) const override {
    const bool plain = plan.form == Form::general && !plan.narrow, bundles = plan.as<Beside>().bundle > 1;
    return (plain ? "" : factors_text(plan) + (bundles ? ", " : "")) +
           (bundles ? format("bundles of %lld lines", static_cast<long long>(plan.as<Beside>().bundle)) : "");
  }
  /// Down reads y and a factor, back reads two factors and writes x; 2 more where the window between them is memory.
  /// Couplings that served as multipliers on the way down are then no longer in the cache either.
  double words(const Plan& plan) const override {
    const double each = plan.narrow ? 0.5 : 1;
    if (plan.form == Form::shared) {
      return (plan.as<Beside>().windowed ? 2 : 4) +
             (plan.as<FactoredLines>().resident ? 0 : 3.0 / static_cast<double>(plan.as<Beside>().bundle));
    }
    return plan.as<Beside>().windowed ? 2 + (plan.symmetric() ? 2 : 3) * each : 4 + 3 * each;
  }
  /// Few lines wait for the row before, down and back, also where couplings of a symmetric matrix serve twice.
  double stream_words(const Plan& plan, int) const override {
    Plan general = plan;
    if (plan.symmetric()) general.form = Form::general;
    return plan.idle * words(general);
  }
  double passes(const Plan& plan, const Survey&) const override { return plan.form == Form::shared ? 0 : 1.2; }
  bool stores_factors() const override { return true; }
  bool in_pieces(const Plan&) const override { return false; }
  Elimination elimination(const Plan&) const override { return {.diagonals = true, .tells_bound = true}; }
  std::optional<Plan> make(const PlanRequest& r) const override {
    if (r.method != Method::exact_factored) return std::nullopt;
    return make_bundles_plan(r.lines, r.form, r.word, r.traits);
  }
  HostSweep host_sweep(const Plan& plan) const override {
    return {plan.as<Beside>().bundle, plan.as<FactoredLines>().through_x};
  }
  /// Rows are swept whole. Below dominance 1 the factors tell their bound when they are made.
  template <typename T>
  Rounding bound(const Plan&, const LineSet&, const BandsView<T>&, const Survey&) const {
    return {rounding_by_growth(kDominantGrowth)};
  }

  template <typename T>
  bool suits(Method method, const Problem<T>& problem) const {
    const bool line_by_line = problem.traits.host || !problem.bands.lines().contiguous();
    return method == Method::exact_factored && line_by_line && !takes_grid(problem) && !by_task(problem);
  }
  template <typename T>
  std::optional<Proposal> proposal(const Problem<T>& problem, Rejection&) const {
    Proposal p = exact_proposal(problem, best_plan(problem));
    if (narrows<T>(problem.options) && !problem.traits.host) p.why_wide = why_factors_stay_wide(p.plan, problem.survey);
    return p;
  }
  template <typename T>
  std::optional<Plan> cheapest(const Problem<T>& problem) const {
    const LineSet& lines = problem.bands.lines();
    const Form form = problem.survey.shared ? Form::shared : Form::general;
    if (problem.traits.host) return make_bundles_plan(lines, form, sizeof(T), problem.traits);
    Plan plan = best_plan(problem);
    const bool fits = plan.n == 0 || plan.as<Beside>().chunk_blocks > 0;
    return fits ? std::optional(std::move(plan)) : std::nullopt;
  }
};

}  // namespace

const Scheme& beside_factored() { return only<BesideFactored>(); }

}  // namespace oclspkt
