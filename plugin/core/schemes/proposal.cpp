// SPDX-License-Identifier: BSD-2-Clause
#include "schemes/proposal.hpp"

#include <algorithm>
#include <cmath>
#include <limits>

#include "evidence.hpp"
#include "narrow.hpp"

namespace oclspkt {

template <typename T>
double tolerance(const Options& options) {
  return options.rtol > 0 ? options.rtol : static_cast<double>(kEpsOf<T>);
}

bool named(MethodChoice choice) { return choice != MethodChoice::automatic; }

template <typename T>
bool symmetry_matters(const Options& options) {
  return !named(options.method) && tolerance<T>(options) > tolerance<T>(Options{});
}

bool are_few(const LineSet& lines, const std::vector<Index>& members) {
  Index rows = 0;
  for (const Index line : members) rows += lines.length(line);
  return static_cast<double>(rows) <= kFallbackShare * static_cast<double>(lines.rows());
}

std::string rounding_refusal(const Rounding& rounding, double limit) {
  if (!std::isfinite(rounding.eps)) return "no bound on the rounding error is known";
  return format("rounding bound %.3g eps > %.0f eps (row %lld)", rounding.eps, limit,
                static_cast<long long>(rounding.row));
}

std::string certificate_text(const Certificate& c, double tol, Index line) {
  const std::string of_line = line >= 0 ? format("line %lld, ", static_cast<long long>(line)) : "";
  return format("certificate %.1e > %.1e (", c.bound, tol) + of_line +
         format("rows %lld-%lld, side %s)", static_cast<long long>(c.first), static_cast<long long>(c.last),
                c.above ? "up" : "down");
}

bool interfaces_are_stable(const Survey& survey) {
  return growth_stored(survey.dominance) <= kGrowthLimit || shrinks(survey);
}

Index rows_to_decay(double d, double tol, Index longest) {
  Index rows = kHaloQuantum;
  while (rows <= longest && !(d > 1 && bound_stored(d, rows) <= tol)) rows += kHaloQuantum;
  return rows;
}

bool barely_dominant(const Survey& survey) {
  // Above this dominance, rounding is amplified at most 100 times, and far less in every matrix that was tried.
  constexpr double kHarmless = 1.01;
  return !(survey.dominance >= kHarmless) && !(survey.decay() > std::max(1.0, survey.dominance));
}

Proposal covered(const Plan& plan, double certificate, double tol, const Survey& survey) {
  Proposal p;
  p.plan = plan;
  p.certificate = certificate;
  // The certificate bounds truncation only, not rounding.
  const Scheme& scheme = scheme_of(plan);
  const Elimination how = scheme.elimination(plan);
  const bool two_by_two = how.plain && how.upwards;  // partitions are swept both ways, and 2x2 systems join them
  p.needs_trial = !(survey.dominance >= (two_by_two ? kHarmlessInterface : 1)) ||
                  (scheme.nature().kernels == Kernels::groups && barely_dominant(survey));
  p.why = format("row dominance %.4f, certificate %.1e <= %.1e", survey.dominance, certificate, tol);
  return p;
}

Proposal uncovered(const Plan& plan, const Certificate& certificate, double tol) {
  Proposal p;
  p.plan = plan;
  p.certificate = certificate.bound;
  p.above_tolerance = true;
  p.why = "used because its method is named; " + certificate_text(certificate, tol);
  return p;
}

namespace {

/// Reject the lines in which a plan's elimination grows too much.
template <typename T>
void reject_growth(const Problem<T>& problem, const Plan& plan, const GrowthRule& rule, Rejection& rejection) {
  const LineSet& lines = problem.bands.lines();
  for (Index l = 0; l < lines.count(); ++l) {
    if (lines.count() > 1 && line_dominance(lines, problem.bands.view(), l) >= rule.enough) continue;
    const RowRange rows = rows_of(problem, l);
    const BandsView<T> view = problem.bands.view();
    const double growth = rule.twopass > 0 ? twopass_growth(view, rule.twopass, rows.first, rows.end)
                                           : elimination_growth(view, plan.m, plan.halo, rows.first, rows.end);
    if (!(growth <= kGrowthLimit)) {
      if (rejection.lines.empty()) {
        rejection.why =
            std::isfinite(growth)
                ? format("line %lld: growth %.1e > %.0f", static_cast<long long>(l), growth, kGrowthLimit)
                : format("line %lld: elimination without pivoting meets a pivot of 0", static_cast<long long>(l));
      }
      rejection.lines.push_back(l);
    }
  }
}

}  // namespace

template <typename T>
std::optional<Proposal> unless_growth(const Problem<T>& problem, Proposal p, Rejection& rejection,
                                      const GrowthRule& rule) {
  rejection = {};
  if (problem.survey.dominance >= rule.enough) return p;
  reject_growth(problem, p.plan, rule, rejection);
  rejection.plan = p.plan;
  if (!rejection) return p;
  if (!problem.insist) return std::nullopt;
  p.above_tolerance = true;
  p.why = "used because its method is named; " + rejection.why;
  return p;
}

template <typename T>
void serve_if_symmetric(const Problem<T>& problem, Plan& plan) {
  if (is_symmetric(problem.bands.lines(), problem.bands.view())) plan.form = Form::symmetric;
}

std::string why_factors_stay_wide(const Plan& plan, const Survey& survey) {
  return plan.form == Form::shared ? "shared factors fit into the cache" : why_not_narrow_factors(survey);
}

template <typename T>
bool has_rows_alike(const Problem<T>& problem) {
  const LineSet& lines = problem.bands.lines();
  const bool one = lines.count() == 1 || problem.survey.shared;
  return one && lines.contiguous() && is_uniform(LineSet::one(lines.length(0)), problem.bands.view());
}

template bool has_rows_alike(const Problem<float>&);
template bool has_rows_alike(const Problem<double>&);
template void serve_if_symmetric(const Problem<float>&, Plan&);
template void serve_if_symmetric(const Problem<double>&, Plan&);
template std::optional<Proposal> unless_growth<float>(const Problem<float>&, Proposal, Rejection&, const GrowthRule&);
template std::optional<Proposal> unless_growth<double>(const Problem<double>&, Proposal, Rejection&, const GrowthRule&);

#define OCLSPKT_INSTANTIATE(T)                  \
  template double tolerance<T>(const Options&); \
  template bool symmetry_matters<T>(const Options&);
OCLSPKT_SCALARS(OCLSPKT_INSTANTIATE)

}  // namespace oclspkt
