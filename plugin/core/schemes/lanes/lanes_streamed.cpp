// SPDX-License-Identifier: BSD-2-Clause
// The scheme of truncated-streamed by lanes and stored factors, for lines laid end to end.
#include "pivot_error.hpp"
#include "schemes/lanes/lane_plans.hpp"
#include "schemes/proposal.hpp"
#include "schemes/scheme.hpp"

namespace oclspkt {
namespace {

/// Least dominance at which pivots are accurate enough as diagonal minus product.
constexpr double kPlainPivots = 1.0001;
/// The longest lead-in, in partitions: rows that a device sweeps only to find pivots.
constexpr Index kLongLeadIn = 4;
/// Lengths of partitions to try for stored factors, as multiples of the usual length, if a tile is too short.
constexpr Index kLongerPartitions[] = {1, 3, 6};
/// True if, at dominance d, influence decays within one tile so far that truncation stays within `tol`.
bool decays_within_a_tile(double d, const Plan& plan, double tol) {
  return d > 1 && bound_stored(d, plan.tile_rows()) <= tol;
}

/// Why a plan of stored factors by lanes is refused: because of its certificate or of its bound on rounding.
template <typename T>
std::string stored_refusal(const Problem<T>& problem, const Plan& plan, const Certificate& certificate, double tol) {
  if (!(certificate.bound <= tol)) return streamed_refusal(certificate, tol);
  const Rounding corrected = bound_stored_joints(plan, problem.bands.view()).corrected;
  return rounding_refusal(in_arithmetic(problem, corrected), problem.rounding_limit);
}

/// Bound the rounding of a plan. If it exceeds the limit, let partitions correct their differences at the joints (see
/// rounding.hpp).
/// @return false if rounding exceeds the limit even with this correction
template <typename T>
bool accept_joint_rounding(const Problem<T>& problem, Plan& plan, Rounding& rounding) {
  if (!knows_pivots(plan, problem.bands.lines(), problem.bands.view(), problem.survey)) return false;
  rounding = in_arithmetic(problem, {rounding_of_joints(problem.survey, plan.m)});
  if (rounding.eps <= problem.rounding_limit) return true;
  const JointRounding found = bound_stored_joints(plan, problem.bands.view());
  rounding = in_arithmetic(problem, found.plain);
  plan.as<StoredFactors>().corrects = !(rounding.eps <= problem.rounding_limit);
  if (plan.as<StoredFactors>().corrects) rounding = in_arithmetic(problem, found.corrected);
  return rounding.eps <= problem.rounding_limit;
}

/// Propose a plan by stored factors whose truncation is covered.
/// @param bound  certificate of the plan
template <typename T>
std::optional<Proposal> propose_bounded(const Problem<T>& problem, Plan plan, double bound, double tol) {
  Rounding rounding;
  if (!accept_joint_rounding(problem, plan, rounding)) return std::nullopt;
  if (plan.as<StoredFactors>().corrects) {
    reach_rows(plan, plan.m);
    plan.as<StoredFactors>().lead_in = -1;
  }
  Proposal proposal = covered(plan, bound, tol, problem.survey);
  proposal.rounding = rounding;
  return proposal;
}

/// Propose the plan by stored factors that the survey covers; none if the survey covers no plan.
template <typename T>
std::optional<Proposal> propose_by_survey(const Problem<T>& problem, Plan plan, double tol) {
  const double d = problem.survey.decay();
  if (!decays_within_a_tile(d, plan, tol)) return std::nullopt;
  const Index longest = kLongLeadIn * plan.m, needed = rows_to_decay(d, tol, longest);
  reach_rows(plan, needed);
  // Pivots converge twice as fast as the influence of a boundary value decays. They must be exact to rounding, whatever
  // the tolerance.
  const Index exact = rows_to_decay(d, tolerance<T>(Options{}), longest);
  if (problem.survey.dominance >= kPlainPivots && exact <= longest) {
    plan.as<StoredFactors>().lead_in = round_up(std::max(exact / 2, kHaloQuantum), plan.lanes);
  }
  return propose_bounded(problem, plan, bound_stored(d, needed < plan.m ? needed : plan.tile_rows()), tol);
}

/// The usual plan by stored factors. If lines are all alike, the partitions suit the lines.
template <typename T>
Plan usual_plan(const Problem<T>& problem) {
  const LineSet& lines = problem.bands.lines();
  const Index partition = problem.options.partition;
  Plan plan = make_stored_plan(lines.rows(), 0, partition, problem.word, problem.traits);
  if (!problem.survey.shared || lines.count() == 0) return plan;
  const Index length = lines.length(0);
  if (share_lines(plan, length, partition == 0, problem.word, problem.traits) || partition > 0) return plan;
  const Index m = has_rows_alike(problem) ? partition_that_fills(length, plan) : 0;
  return m > 0 ? make_stored_plan(lines.rows(), 0, m, problem.word, problem.traits) : plan;
}

/// Choose the storage form that takes the fewest words, by the values of the matrix.
template <typename T>
void choose_form(const Problem<T>& problem, Plan& plan) {
  const LineSet& lines = problem.bands.lines();
  const BandsView<T> bands = problem.bands.view();
  if (plan.form == Form::shared || (has_rows_alike(problem) && share_rows(plan, lines.length(0)))) return;
  if (is_symmetric(lines, bands)) make_symmetric(plan, problem.word, problem.traits);
}

/// Store the factors of a proposal in the most compact form that the values and the user allow.
template <typename T>
Proposal in_best_form(const Problem<T>& problem, Proposal proposal) {
  choose_form(problem, proposal.plan);
  return as_narrow_as_allowed(problem, std::move(proposal), [](Plan& plan) { return plan.narrow = true; });
}

/// Rows of the partitions of stored factors, in the order in which they are tried.
template <typename T>
std::vector<Index> stored_partitions(const Problem<T>& problem, const Plan& usual, double tol) {
  if (problem.options.partition > 0) return {usual.m};
  std::vector<Index> rows;
  const Index lead_in = kLongLeadIn * usual.m;
  const Index twice_swept = figures_of(problem.traits).count("lanes.twice_swept_partition");
  // A device does not compute its own factors for partitions this short: the lead-ins would be too long.
  if (usual.form == Form::general && usual.m > twice_swept &&
      rows_to_decay(problem.survey.decay(), tol, lead_in) > lead_in) {
    rows.push_back(twice_swept);
  }
  for (const Index times : kLongerPartitions) rows.push_back(times * usual.m);
  return rows;
}

class LanesStreamed final : public SchemeOf<LanesStreamed> {
 public:
  const char* name() const override { return "lanes-streamed"; }
  std::string shape(const Plan& plan) const override {
    return factors_text(plan) + format(", reach %lld", static_cast<long long>(plan.as<StoredFactors>().reach)) +
           (plan.as<StoredFactors>().corrects ? ", corrected at the interfaces" : "");
  }
  double words(const Plan& plan) const override { return words_of_one_pass(plan); }
  double passes(const Plan& plan, const Survey& survey) const override {
    return passes_of_stored(plan, survey, plan.tile_rows(), 1, 15);
  }
  StoredPlaces places(const Plan& plan) const override { return places_by_tiles(plan); }
  Nature nature() const override { return {.stores_factors = true, .solves_interfaces = true}; }
  Cut cut(const Plan& plan) const override { return {plan.tile_rows(), plan.tile_rows(), plan.tile_rows(), false}; }
  template <typename T>
  Rounding bound(const Plan& plan, const LineSet&, const BandsView<T>& bands, const Survey& survey) const {
    const double known = rounding_of_joints(survey, plan.m);
    if (!plan.as<StoredFactors>().corrects && known <= kRoundingLimit) return {known};
    const JointRounding found = bound_stored_joints(plan, bands);
    return plan.as<StoredFactors>().corrects ? found.corrected : found.plain;
  }

  template <typename T>
  bool suits(Method method, const Problem<T>& problem) const {
    return method == Method::truncated_streamed && by_lanes(problem);
  }
  /// Propose stored factors. The survey bounds truncation. If this bound is not within tolerance, the certificate is
  /// computed. If the certificate exceeds the tolerance, try longer partitions, as long as there are more tiles than
  /// cores.
  template <typename T>
  std::optional<Proposal> proposal(const Problem<T>& problem, Rejection& rejection) const {
    const double tol = tolerance<T>(problem.options);
    if (reject_asymmetry(problem, rejection)) return std::nullopt;
    const Plan usual = usual_plan(problem);
    Plan plan;
    Certificate certificate;
    for (const Index m : stored_partitions(problem, usual, tol)) {
      plan = m == usual.m ? usual : make_stored_plan(usual.n, 0, m, problem.word, problem.traits);
      if (auto quick = propose_by_survey(problem, plan, tol)) return in_best_form(problem, *quick);
      certificate = certificate_of(problem, plan, tol, certify_stored<T>);
      if (certificate.bound <= tol) {
        if (auto bounded = propose_bounded(problem, plan, certificate.bound, tol))
          return in_best_form(problem, *bounded);
      }
      if (certificate.bound <= tol || plan.tiles() <= problem.traits.cores) break;
    }
    rejection = {
        stored_refusal(problem, plan, certificate, tol),
        weak_lines(problem, [&](double d) { return decays_within_a_tile(d, plan, tol) && d >= kSurveyedDominance; }),
        plan};
    return insist_on_streamed(problem, plan, certificate, tol, rejection);
  }
  template <typename T>
  std::optional<Plan> cheapest(const Problem<T>& problem) const {
    Plan plan = usual_plan(problem);
    if (problem.survey.shared && problem.bands.lines().count() > 0) choose_form(problem, plan);
    return plan;
  }
};

}  // namespace

const Scheme& lanes_streamed() { return only<LanesStreamed>(); }

}  // namespace oclspkt
