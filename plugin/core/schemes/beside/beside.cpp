// SPDX-License-Identifier: BSD-2-Clause
// Schemes for lines side by side: truncated-halo by lanes, and exact-factored by lanes or on the host.
#include "evidence.hpp"
#include "narrow.hpp"
#include "rounding.hpp"
#include "schemes/beside/beside_plans.hpp"
#include "schemes/beside_scheme.hpp"
#include "schemes/halos.hpp"
#include "schemes/proposal.hpp"

namespace oclspkt {
namespace {

/// Time of a row in a sweep with divisions, relative to a sweep with stored factors, in a narrow bundle. Each row waits
/// for the division of the row before. Measured on a core for 3 to 20 lines (PoCL, Intel's run-time; AVX2): 1.2 to 1.7.
constexpr double kDivisionChain = 1.6;

/// Plan lines that are cut into segments with a halo of `needed` rows, or whole lines if `needed` is -1 (unknown).
template <typename T>
Plan halo_plan(const Problem<T>& problem, Index needed) {
  const LineSet& lines = problem.bands.lines();
  const Index whole = lines.count() > 0 ? lines.length(0) : 0,
              halo = needed < 0 ? whole : round_up(needed, kHaloQuantum);
  return make_strided_halo_plan(lines, halo, problem.options.partition, problem.word, problem.traits);
}

class BesideHalo final : public SchemeOf<BesideHalo, BesideScheme> {
 public:
  const char* name() const override { return "beside-halo"; }
  std::string shape(const Plan& plan) const override {
    return format("halo %lld, %lld segments a line", static_cast<long long>(plan.halo),
                  static_cast<long long>(plan.as<Beside>().segments));
  }
  /// Words per row. If the cache holds the window, the sweep down reads three bands and y for every row that it sweeps,
  /// and the sweep up writes x. Otherwise, the sweep down also writes its two results. The sweep up reads these results
  /// for the rows of the segment and of the halo below.
  double words(const Plan& plan) const override {
    return plan.as<Beside>().windowed ? 4 * overlap_of_segments(plan) + 1 : 7 * overlap_of_segments(plan) + 2;
  }
  double stream_words(const Plan& plan, int) const override {
    const double stored = plan.as<Beside>().windowed ? 5 : 7;  // words per row of sweeps with stored factors
    return plan.idle * std::max(words(plan), kDivisionChain * overlap_of_segments(plan) * stored);
  }
  Elimination elimination(const Plan&) const override { return {.plain = true, .excess = true}; }
  template <typename T>
  Rounding bound(const Plan& plan, const LineSet&, const BandsView<T>& bands, const Survey& survey) const {
    return bound_halos(plan, plan.as<Beside>().segments == 1, bands, survey);
  }

  template <typename T>
  bool suits(Method method, const Problem<T>& problem) const {
    const bool asked = problem.options.method == MethodChoice::truncated_halo || !takes_grid(problem);
    return method == Method::truncated_halo && asked && !problem.bands.lines().contiguous() && !by_task(problem);
  }
  /// Propose truncated-halo for lines side by side; the halo follows from the dominance alone. If no halo is short
  /// enough, the plan keeps lines whole. Such a plan also pays off if few applies follow, because it stores no factors.
  /// @return none if the user named a method and the dominance gives no halo
  template <typename T>
  std::optional<Proposal> proposal(const Problem<T>& problem, Rejection& rejection) const {
    const double tol = tolerance<T>(problem.options);
    if (reject_asymmetry(problem, rejection)) return std::nullopt;
    const double d = problem.survey.decay();
    const Index needed = halo_from_dominance(d, tol);
    if (needed < 0 && named(problem.options.method)) {
      rejection.why =
          format("row dominance %.4f; lines side by side are cut into segments only above 1", problem.survey.dominance);
      return std::nullopt;
    }
    const Plan plan = halo_plan(problem, needed);
    const bool truncates = plan.as<Beside>().segments > 1 && plan.halo < problem.bands.lines().length(0);
    const double bound = truncates ? 2 * std::pow(d, -static_cast<double>(plan.halo + 1)) : 0;
    return covered(plan, bound, tol, problem.survey);
  }
  template <typename T>
  std::optional<Plan> cheapest(const Problem<T>& problem) const {
    const Index needed = halo_from_dominance(problem.survey.decay(), tolerance<T>(problem.options));
    const Plan plan = halo_plan(problem, needed);
    return plan.as<Beside>().chunk_blocks == 0 && plan.n > 0 ? std::nullopt : std::optional(plan);
  }
};

/// Plan whole lines, in the best form that the values and the user allow.
template <typename T>
Plan best_plan(const Problem<T>& problem) {
  const LineSet& lines = problem.bands.lines();
  const auto plan = [&](Form form) { return make_bundles_plan(lines, form, problem.word, problem.traits); };
  if (problem.survey.shared) return plan(Form::shared);
  const Plan symmetric = plan(Form::symmetric);
  const bool as_symmetric = symmetric.symmetric() && is_symmetric(lines, problem.bands.view());
  Plan best = as_symmetric ? symmetric : plan(Form::general);
  const bool may_narrow = !problem.traits.host && lines.beside();
  best.narrow = may_narrow && problem.narrows() && why_not_narrow_factors(problem.survey).empty();
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
  /// The sweep down reads y and one factor; the sweep up reads two factors and writes x. If the window is in memory,
  /// the results of the sweep down take 2 more words. Both sweeps then read the couplings of symmetric lines from
  /// memory.
  double words(const Plan& plan) const override {
    const double each = plan.narrow ? 0.5 : 1;
    if (plan.form == Form::shared) {
      return (plan.as<Beside>().windowed ? 2 : 4) +
             (plan.as<FactoredLines>().resident ? 0 : 3.0 / static_cast<double>(plan.as<Beside>().bundle));
    }
    return plan.as<Beside>().windowed ? 2 + (plan.symmetric() ? 2 : 3) * each : 4 + 3 * each;
  }
  /// Symmetric lines take as long as general lines. If there are few lines, each row waits for the row before in both
  /// sweeps, and reading fewer arrays saves no time.
  double stream_words(const Plan& plan, int) const override {
    Plan general = plan;
    if (plan.symmetric()) general.form = Form::general;
    return plan.idle * words(general);
  }
  double passes(const Plan& plan, const Survey&) const override { return plan.form == Form::shared ? 0 : 1.2; }
  Nature nature() const override { return {.stores_factors = true}; }
  bool in_pieces(const Plan&) const override { return false; }
  Elimination elimination(const Plan&) const override { return {.diagonals = true, .tells_bound = true}; }
  std::optional<Plan> make(const PlanRequest& r) const override {
    if (r.method != Method::exact_factored) return std::nullopt;
    return make_bundles_plan(r.lines, r.form, r.word, r.traits);
  }
  HostSweep host_sweep(const Plan& plan) const override {
    return {plan.as<Beside>().bundle, plan.as<FactoredLines>().through_x};
  }
  /// Lines are eliminated whole. Below dominance 1, the factors give the bound when they are made.
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
    if (problem.narrows() && !problem.traits.host) p.why_wide = why_factors_stay_wide(p.plan, problem.survey);
    return p;
  }
  template <typename T>
  std::optional<Plan> cheapest(const Problem<T>& problem) const {
    const LineSet& lines = problem.bands.lines();
    const Form form = problem.survey.shared ? Form::shared : Form::general;
    if (problem.traits.host) return make_bundles_plan(lines, form, problem.word, problem.traits);
    Plan plan = best_plan(problem);
    const bool fits = plan.n == 0 || plan.as<Beside>().chunk_blocks > 0;
    return fits ? std::optional(std::move(plan)) : std::nullopt;
  }
};

}  // namespace

const Scheme& beside_halo() { return only<BesideHalo>(); }
const Scheme& beside_factored() { return only<BesideFactored>(); }

}  // namespace oclspkt
