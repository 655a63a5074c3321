// SPDX-License-Identifier: BSD-2-Clause
// Helpers of schemes that propose plans: limits, bounds of first rows, refusals, and texts.
#pragma once

#include <cmath>
#include <optional>
#include <string>
#include <vector>

#include "certificate.hpp"
#include "evidence.hpp"
#include "format.hpp"
#include "oclspkt/line_set.hpp"
#include "plan.hpp"
#include "schemes/scheme.hpp"
#include "units.hpp"

namespace oclspkt {

/// A text such as "work-groups of 128 x 16 rows".
inline std::string groups_text(const Plan& plan) {
  return format("work-groups of %d x %d rows", plan.items, plan.item_rows);
}

/// A text such as "narrow stored factors" or "shared factors".
inline std::string factors_text(const Plan& plan) {
  return std::string(plan.narrow ? "narrow " : "") + (plan.form == Form::general ? "stored" : name(plan.form)) +
         " factors";
}

/// Words per row of a scheme that reads y and the bands twice, and writes x once.
inline constexpr double kWordsOfTwoPasses = 9;

/// Words per row of a scheme that reads y once, the bands or stored factors once, and writes x once.
inline double words_of_one_pass(const Plan& plan) {
  const double each = plan.narrow ? 0.5 : 1;  // a narrow number takes half a word
  return 1 + plan.overlap() * (1 + (plan.form == Form::shared ? 0 : plan.symmetric() ? 2 : 3) * each);
}

/// The only object of the scheme class S.
template <typename S>
const Scheme& only() {
  static const S scheme;
  return scheme;
}

/// Largest share of the rows that the fallback method may solve so that the other rows keep a cheaper method.
inline constexpr double kFallbackShare = 0.1;

/// The largest certificate that is accepted: Options::rtol, or the eps of T. Precision narrow does not raise it, so
/// that the operator of a symmetric matrix stays symmetric.
template <typename T>
double tolerance(const Options& options);

/// True if the user allows rounding to float: of the bands, and of factors where that is safe. Complex numbers are not
/// rounded.
template <typename T>
bool narrows(const Options& options) {
  return options.precision == Precision::narrow && std::is_same_v<T, double>;
}

/// True if the user named a method. A certificate above the tolerance is then a warning, not a reason to refuse.
bool named(MethodChoice choice);

/// True if the choice depends on whether the matrix is symmetric.
template <typename T>
bool symmetry_matters(const Options& options);

/// Halos, and the reaches of stored factors, are multiples of this number of rows.
inline constexpr Index kHaloQuantum = 8;

/// Dominance d above which the 2x2 systems of truncated-streamed amplify rounding little, because
/// 1 - v_b w_t >= 1 - 1 / d^2.
inline constexpr double kHarmlessInterface = 1.5;

template <typename T>
Plan plan_for(const Problem<T>& problem, Method method, Index halo) {
  return make_plan(method, problem.bands.lines().rows(), halo, problem.options.partition, problem.word, problem.traits);
}

/// Why stored factors stay wide under precision narrow; empty if they may be narrow.
std::string why_factors_stay_wide(const Plan& plan, const Survey& survey);

/// The plan cut to the first rows of a long system. A bound above its limit for these rows refuses the plan without
/// reading the other rows. None if the first rows decide nothing (Scheme::first_rows_tell()), or if the user named the
/// method: the warning then states the bound of all rows.
template <typename T>
std::optional<Plan> of_first_rows(const Problem<T>& problem, const Plan& plan) {
  constexpr Index kFirstRows = Index{1} << 16, kTiles = 4, kLong = 8;
  const bool tell = problem.bands.lines().contiguous() && scheme_of(plan).first_rows_tell(plan);
  if (!tell || named(problem.options.method)) return std::nullopt;
  Plan first = plan;
  first.n = round_up(kFirstRows, kTiles * plan.tile_rows());
  return plan.n < kLong * first.n ? std::nullopt : std::optional(first);
}

/// A bound on rounding in the arithmetic of the processor.
template <typename T>
Rounding in_arithmetic(const Problem<T>& problem, const Rounding& bound) {
  return {bound.eps * factor_of_arithmetic(problem.is_complex(), problem.traits.fuses), bound.row};
}

/// The bound on rounding of a plan for all rows, in the arithmetic of the processor.
template <typename T>
Rounding rounding_of_rows(const Problem<T>& problem, const Plan& plan, const LineSet& lines) {
  return of_first_order(in_arithmetic(problem, bound_rounding(plan, lines, problem.bands.view(), problem.survey)));
}

/// False if the bound on rounding of the first rows is above problem.rounding_limit.
/// @param[out] rounding  the bound of the first rows
template <typename T>
bool rounds_little_at_first(const Problem<T>& problem, const Plan& plan, Rounding& rounding) {
  const std::optional<Plan> first = of_first_rows(problem, plan);
  if (!first) return true;
  rounding = rounding_of_rows(problem, *first, LineSet::one(first->n));
  return rounding.eps <= problem.rounding_limit;
}

/// The bound on rounding of a plan. If the first rows exceed problem.rounding_limit, it is the bound of these rows.
template <typename T>
Rounding rounding_of(const Problem<T>& problem, const Plan& plan) {
  Rounding rounding;
  if (!rounds_little_at_first(problem, plan, rounding)) return rounding;
  return rounding_of_rows(problem, plan, problem.bands.lines());
}

/// The largest certificate of a plan over all candidate units of columns (ColumnUnits). If the first rows exceed `tol`,
/// it is the certificate of these rows.
/// @param certify  (plan, bands) -> Certificate
template <typename T, typename F>
Certificate certificate_of(const Problem<T>& problem, const Plan& plan, double tol, const F& certify) {
  const BandsView<T> bands = problem.bands.view();
  if (const std::optional<Plan> first = of_first_rows(problem, plan)) {
    const Certificate certificate = certify(*first, bands);
    if (!(certificate.bound <= tol)) return certificate;
  }
  return certify_in_units(problem.bands.lines(), bands, problem.survey.dominance, tol, certify(plan, bands),
                          [&](const BandsView<T>& view) { return certify(plan, view); });
}

/// True if the bound on rounding is within problem.rounding_limit.
/// @param[out] rounding  the bound
template <typename T>
bool rounds_little(const Problem<T>& problem, const Plan& plan, Rounding& rounding) {
  rounding = rounding_of(problem, plan);
  return rounding.eps <= problem.rounding_limit;
}

std::string rounding_refusal(const Rounding& rounding, double limit);

/// True if the lines `members` have so few rows that the fallback method may solve them.
bool are_few(const LineSet& lines, const std::vector<Index>& members);

/// The lines whose dominance does not satisfy `holds`; empty if they have too many rows for the fallback method.
/// @param holds (dominance of a line) -> bool
template <typename T, typename F>
std::vector<Index> weak_lines(const Problem<T>& problem, const F& holds) {
  const LineSet& lines = problem.bands.lines();
  std::vector<Index> weak;
  for (Index l = 0; lines.count() > 1 && l < lines.count(); ++l) {
    if (!holds(line_dominance(lines, problem.bands.view(), l))) weak.push_back(l);
  }
  return are_few(lines, weak) ? weak : std::vector<Index>{};
}

/// A text such as "certificate 1.0e-03 > 2.2e-16 (rows 0-31, side up)".
/// @param line  printed before the rows; -1: none
std::string certificate_text(const Certificate& certificate, double tol, Index line = -1);

/// True if rows are so little dominant that elimination within work-items needs a trial solve: near d = 1, it may
/// amplify rounding 1 / (d - 1) times. False if rows are alike and decay.
bool barely_dominant(const Survey& survey);

/// True if the survey shows that the interface systems of stored factors do not amplify rounding.
bool interfaces_are_stable(const Survey& survey);

/// The least number of rows for which bound_stored(d, rows) is at most `tol`. It is a multiple of kHaloQuantum, and
/// larger than `longest` if `longest` rows do not suffice.
Index rows_to_decay(double d, double tol, Index longest);

/// A proposal of a truncated plan whose certificate is within `tol`.
Proposal covered(const Plan& plan, double certificate, double tol, const Survey& survey);

/// A proposal of a truncated plan whose certificate exceeds `tol`, for a user who named the method.
Proposal uncovered(const Plan& plan, const Certificate& certificate, double tol);

template <typename T>
RowRange rows_of(const Problem<T>& problem, Index line) {
  const LineSet& lines = problem.bands.lines();
  return {lines.first(line), lines.first(line) + lines.length(line)};
}

/// The rule by which unless_growth() judges the growth of elimination by partitions.
struct GrowthRule {
  Index twopass = 0;  ///< rows of a partition that is eliminated in two passes; 0: partitions have the halo of the plan
  double enough = 1;  ///< the least dominance at which elimination does not grow
};

/// Refuse a proposal if rows are not dominant and elimination without pivoting has too large a growth, unless the user
/// named the method. Stored factors are judged when they are made, see examine().
template <typename T>
std::optional<Proposal> unless_growth(const Problem<T>& problem, Proposal proposal, Rejection& rejection,
                                      const GrowthRule& rule = {});

/// A proposal of a plan that truncates nothing.
template <typename T>
Proposal exact_proposal(const Problem<T>& problem, const Plan& plan) {
  Proposal p;
  p.plan = plan;
  // Strictly dominant rows are regular, and their rounding is bounded. Rows of less dominance may be singular.
  p.needs_trial = !(problem.survey.dominance > 1);
  p.why = format("row dominance %.4f", problem.survey.dominance);
  return p;
}

/// True if kernels by lanes solve these lines: the lines are laid end to end, and the processor is not the host and has
/// no kernels for FPGAs or by work-groups.
template <typename T>
bool by_lanes(const Problem<T>& problem) {
  return !problem.traits.host && !problem.traits.task && problem.traits.group_items == 0 &&
         problem.bands.lines().contiguous();
}
/// True if the device has kernels for FPGAs.
template <typename T>
bool by_task(const Problem<T>& problem) {
  return problem.traits.task;
}
template <typename T>
bool by_tiles(const Problem<T>& problem) {
  return problem.traits.group_items > 0 && problem.bands.lines().contiguous();
}
/// True if kernels by work-groups solve these lines: they are side by side, and the device has kernels for GPUs.
template <typename T>
bool takes_grid(const Problem<T>& problem) {
  return problem.traits.group_items > 0 && problem.bands.lines().beside();
}

/// True if truncation beyond rounding would make the operator of a symmetric matrix unsymmetric, which breaks CG.
template <typename T>
bool breaks_symmetry(const Options& options, bool symmetric) {
  return symmetric && symmetry_matters<T>(options);
}

/// Reject the plan if breaks_symmetry(). @return true if it is rejected
template <typename T>
bool reject_asymmetry(const Problem<T>& problem, Rejection& rejection) {
  const bool breaks = breaks_symmetry<T>(problem.options, problem.symmetric);
  if (breaks) {
    rejection.why = format("the matrix is symmetric; truncation to %.1e would make the operator unsymmetric",
                           tolerance<T>(problem.options));
  }
  return breaks;
}

/// If the matrix is symmetric to the bit, let the plan use its upper couplings as lower couplings or as multipliers.
/// @param[in,out] plan  by work-groups, of lines laid end to end
template <typename T>
void serve_if_symmetric(const Problem<T>& problem, Plan& plan);

/// True if all inner rows of a line are alike, and all lines are alike.
template <typename T>
bool has_rows_alike(const Problem<T>& problem);

/// How often set-up reads all bands, if stored factors are truncated `reach` rows away.
/// @param by_survey  the result if the survey bounds the truncation; 0 if lines also share their factors
/// @param by_values  the result if certificate and bounds read the values; half of this number if lines share factors
inline double passes_of_stored(const Plan& plan, const Survey& survey, Index reach, double by_survey,
                               double by_values) {
  constexpr double kSmallest = 1e-16;
  const double d = survey.decay();
  const bool shared = plan.form == Form::shared;
  if (d > 1 && bound_stored(d, reach) <= kSmallest) return shared ? 0 : by_survey;
  return shared ? by_values / 2 : by_values;
}

/// A proposal of a covered plan. A trial solve judges it if the interface systems could amplify rounding by more than
/// kGrowthLimit.
inline Proposal covered_with_growth(const Plan& plan, double bound, double growth, double tol, const Survey& survey) {
  Proposal proposal = covered(plan, bound, tol, survey);
  proposal.needs_trial = proposal.needs_trial || growth > kGrowthLimit;
  return proposal;
}

/// Why a plan of truncated-streamed is refused: its certificate, or a growth above `limit`.
inline std::string streamed_refusal(const Certificate& c, double tol, double limit = kGrowthLimit) {
  return c.bound <= tol ? format("solving the interface systems amplifies rounding errors %.1e times (limit %.0f)",
                                 c.growth, limit)
                        : certificate_text(c, tol);
}

/// The proposal of a refused truncated-streamed plan, if the user named the method; none otherwise.
template <typename T>
std::optional<Proposal> insist_on_streamed(const Problem<T>& problem, const Plan& plan, const Certificate& certificate,
                                           double tol, const Rejection& rejection) {
  if (!problem.insist || !std::isfinite(certificate.bound)) return std::nullopt;
  Proposal proposal = uncovered(plan, certificate, tol);
  if (certificate.bound <= tol) proposal.why = "used because its method is named; " + rejection.why;
  return proposal;
}

/// Make the factors of a proposal narrow if the user allows it, or set Proposal::why_wide.
/// @param narrow  (Plan&) -> bool: makes the factors narrow, or returns false if the plan does not allow it
template <typename T, typename Narrow>
Proposal as_narrow_as_allowed(const Problem<T>& problem, Proposal proposal, const Narrow& narrow) {
  if (!problem.narrows()) return proposal;
  proposal.why_wide = why_factors_stay_wide(proposal.plan, problem.survey);
  if (proposal.why_wide.empty() && !narrow(proposal.plan)) {
    proposal.why_wide = "the tiles do not divide into vectors of floats";
  }
  return proposal;
}

}  // namespace oclspkt
