// SPDX-License-Identifier: BSD-2-Clause
// exact-twopass by lanes, for lines laid end to end.
#include <algorithm>

#include "schemes/lanes/lane_plans.hpp"
#include "schemes/lanes/rounding_joints.hpp"
#include "schemes/proposal.hpp"
#include "schemes/scheme.hpp"
#include "schemes/texts.hpp"

namespace oclspkt {
namespace {

/// Rows below which partitions leave too much to their border equations.
constexpr Index kShortestPartition = 48;

/// True if schemes by work-groups have no plan by the method on a device with kernels for GPUs, as where its memory
/// does not hold all rows at once.
template <typename T>
bool groups_have_none(const Problem<T>& problem, Method method) {
  Problem<T> other = problem;
  other.method = method;
  return by_tiles(problem) && std::none_of(all_schemes().begin(), all_schemes().end(), [&](const Scheme* scheme) {
           return scheme->kernels() == Kernels::groups && scheme->takes(method, other) && scheme->least(other);
         });
}

template <typename T>
Plan twopass_plan(const Problem<T>& problem, Index partition) {
  return make_lanes_plan(Method::exact_twopass, problem.bands.lines().rows(), 0, partition, sizeof(T), problem.traits);
}

class LanesTwopass final : public SchemeOf<LanesTwopass> {
 public:
  const char* name() const override { return "lanes-twopass"; }
  std::string shape(const Plan&) const override { return {}; }
  double words(const Plan&) const override { return kWordsOfTwoPasses; }
  int launches(const Plan&) const override { return 2; }
  /// Rows wait for divisions in both passes.
  double stream_words(const Plan&, int) const override { return 19; }
  /// Where rows are hardly dominant the bound follows their values, for ever shorter partitions.
  double passes(const Plan&, const Survey& survey) const override {
    constexpr double kHardly = 1.005;
    return survey.dominance >= kHardly ? 4 : 15;
  }
  Elimination elimination(const Plan&) const override { return {.excess = true, .upwards = true}; }
  bool first_rows_tell(const Plan&) const override { return true; }
  std::optional<Plan> make(const PlanRequest& r) const override {
    if (r.method != Method::exact_twopass) return std::nullopt;
    return make_lanes_plan(r.method, r.lines.rows(), 0, r.partition, r.word, r.traits);
  }
  template <typename T>
  Rounding bound(const Plan& plan, const LineSet&, const BandsView<T>& bands, const Survey& survey) const {
    return bound_twopass(plan, bands, survey.dominance);
  }

  template <typename T>
  bool suits(Method method, const Problem<T>& problem) const {
    return method == Method::exact_twopass && (by_lanes(problem) || groups_have_none(problem, method));
  }
  /// exact-twopass by partitions, as short as rounding asks for; for GPUs where nothing else takes chunks.
  template <typename T>
  std::optional<Proposal> proposal(const Problem<T>& problem, Rejection& rejection) const {
    Plan plan = twopass_plan(problem, problem.options.partition);
    std::optional<Rounding> rounding = rounding_of(problem, plan);
    const bool may_choose = problem.options.partition == 0;
    for (Index m = plan.m; may_choose && !(rounding->eps <= problem.rounding_limit) && m >= 2 * kShortestPartition;) {
      m = round_up(m / 2, kShortestPartition);
      plan = twopass_plan(problem, m);
      rounding = rounding_of(problem, plan);
      if (m == kShortestPartition) break;
    }
    std::optional<Proposal> proposal =
        unless_growth(problem, exact_proposal(problem, plan), rejection, {.twopass = plan.m});
    if (proposal) proposal->rounding = rounding;
    return proposal;
  }
  template <typename T>
  std::optional<Plan> cheapest(const Problem<T>& problem) const {
    return twopass_plan(problem, problem.options.partition);
  }
};

}  // namespace

const Scheme& lanes_twopass() { return only<LanesTwopass>(); }

}  // namespace oclspkt
