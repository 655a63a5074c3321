// SPDX-License-Identifier: BSD-2-Clause
// truncated-halo by work-groups that keep the stored factors of lines that are all alike.
#include <algorithm>

#include "evidence.hpp"
#include "schemes/halos.hpp"
#include "schemes/scheme.hpp"
#include "schemes/texts.hpp"
#include "schemes/tile_bounds.hpp"

namespace oclspkt {
namespace {

/// keep_factors() of lines that share_line() shares, and make_factors_symmetric() where the line is symmetric.
template <typename T>
bool keep_shared_factors(const Problem<T>& problem, Plan& plan) {
  const Index length = problem.bands.lines().length(0);
  if (!keep_factors(plan, length, sizeof(T), problem.traits)) return false;
  // What one line is all are.
  if (is_symmetric(LineSet::one(length), problem.bands.view())) {
    make_factors_symmetric(plan, length, sizeof(T), problem.traits);
  }
  return true;
}

/// Parts of lines that are all alike, with the halo that the survey guarantees.
template <typename T>
std::optional<Proposal> propose_parts(const Problem<T>& problem, double tol) {
  const LineSet& lines = problem.bands.lines();
  const double d = problem.survey.decay();
  const bool alike = problem.survey.shared && problem.traits.group_items > 0 && problem.options.partition == 0;
  if (!alike || !(d > 1) || !interfaces_are_stable(problem.survey)) return std::nullopt;
  const Index longest = longest_halo(0, sizeof(T), problem.traits), halo = rows_to_decay(d, tol, longest);
  if (halo > longest) return std::nullopt;
  Plan plan = plan_for(problem, Method::truncated_halo, halo);
  if (!share_line(plan, lines.length(0), sizeof(T)) || !keep_shared_factors(problem, plan)) return std::nullopt;
  Rounding rounding;
  if (!rounds_little(problem, plan, rounding)) return std::nullopt;
  return covered(plan, bound_stored(d, halo), tol, problem.survey);
}

/// What tiles with halos propose, with factors that are kept.
template <typename T>
std::optional<Proposal> propose_kept_halos(const Problem<T>& problem) {
  if (problem.options.partition > 0 || !interfaces_are_stable(problem.survey)) return std::nullopt;
  Rejection unused;
  std::optional<Proposal> halos = propose_halos(problem, unused);
  if (!halos) return std::nullopt;
  Plan& plan = halos->plan;
  Rounding rounding;
  const bool kept = share_line(plan, problem.bands.lines().length(0), sizeof(T)) &&
                    keep_shared_factors(problem, plan) && rounds_little(problem, plan, rounding);
  return kept ? halos : std::nullopt;
}

class TilesKept final : public SchemeOf<TilesKept> {
 public:
  const char* name() const override { return "tiles-kept"; }
  std::string shape(const Plan& plan) const override {
    return (plan.halo > 0 ? format("halo %lld, ", static_cast<long long>(plan.halo)) : std::string("whole lines, ")) +
           "shared factors, " + groups_text(plan);
  }
  double words(const Plan& plan) const override { return words_of_one_pass(plan); }
  double passes(const Plan& plan, const Survey&) const override {
    return plan.halo == 0 && plan.group_rows() > kSmallTile ? 5 : 0;
  }
  /// A work-group reads its tile to the end, also where whole lines fill less of it.
  Cut cut(const Plan& plan) const override {
    return {plan.m, plan.halo, std::max(plan.halo, plan.group_rows() - plan.halo - plan.m), false};
  }
  bool solves_interfaces() const override { return true; }
  Elimination elimination(const Plan&) const override { return {.excess = true}; }
  template <typename T>
  Rounding bound(const Plan& plan, const LineSet& lines, const BandsView<T>& bands, const Survey& survey) const {
    return bound_of_tiles(
        plan, survey, [&](const RatioLimits& limits) { return bound_kept(plan, limits); },
        [&] {
          // One tile of whole lines stands for all, or the parts of one line.
          Plan alike = plan;
          alike.n = plan.halo > 0 ? lines.length(0) : std::min(plan.n, plan.m);
          return bound_runs(alike, bands);
        });
  }

  template <typename T>
  bool suits(Method method, const Problem<T>& problem) const {
    return method == Method::truncated_halo && by_tiles(problem);
  }
  /// Short lines are rather held whole. What is no plan of this kind is left to tiles with halos, with its reason.
  template <typename T>
  std::optional<Proposal> proposal(const Problem<T>& problem, Rejection&) const {
    if (!problem.survey.shared || breaks_symmetry<T>(problem.options, problem.symmetric)) return std::nullopt;
    std::optional<Proposal> parts = propose_parts(problem, tolerance<T>(problem.options));
    const bool short_lines = problem.bands.lines().length(0) <= kSmallTile && whole_lines(problem) > 0;
    return parts && !short_lines ? parts : propose_kept_halos(problem);
  }
  template <typename T>
  std::optional<Plan> cheapest(const Problem<T>& problem) const {
    if (!problem.survey.shared || problem.options.partition > 0 || !oclspkt::interfaces_are_stable(problem.survey))
      return std::nullopt;
    std::optional<Plan> plan = least_of_halos(problem);
    const bool kept =
        plan && share_line(*plan, problem.bands.lines().length(0), sizeof(T)) && keep_shared_factors(problem, *plan);
    return kept ? plan : std::nullopt;
  }
};

}  // namespace

const Scheme& tiles_kept() {
  static const TilesKept scheme;
  return scheme;
}

}  // namespace oclspkt
