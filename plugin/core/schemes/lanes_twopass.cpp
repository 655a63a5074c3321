// SPDX-License-Identifier: BSD-2-Clause
// exact-twopass by lanes, for lines laid end to end.
#include "geometry.hpp"
#include "rounding_joints.hpp"
#include "schemes/proposal.hpp"
#include "schemes/scheme.hpp"
#include "schemes/texts.hpp"

namespace oclspkt {
namespace {

/// Rows below which partitions leave too much to their border equations.
constexpr Index kShortestPartition = 48;

/// True if the memory of a device with kernels for GPUs does not hold all rows at once, which reduced tiles need.
template <typename T>
bool tiles_do_not_fit(const Problem<T>& problem) {
  const Index n = problem.bands.lines().rows();
  return by_tiles(problem) && n > 0 &&
         make_reduce_plan(n, problem.options.partition, sizeof(T), problem.traits).chunk_tiles == 0;
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
  template <typename T>
  Rounding bound(const Plan& plan, const LineSet&, const BandsView<T>& bands, const Survey& survey) const {
    return bound_twopass(plan, bands, survey.dominance);
  }

  template <typename T>
  bool suits(Method method, const Problem<T>& problem) const {
    return method == Method::exact_twopass && (by_lanes(problem) || tiles_do_not_fit(problem));
  }
  /// exact-twopass by partitions, as short as rounding asks for; for GPUs where nothing else takes chunks.
  template <typename T>
  std::optional<Proposal> proposal(const Problem<T>& problem, Rejection& rejection) const {
    Plan plan = plan_for(problem, Method::exact_twopass, 0);
    std::optional<Rounding> rounding = rounding_of(problem, plan);
    const bool may_choose = problem.options.partition == 0;
    for (Index m = plan.m; may_choose && !(rounding->eps <= problem.rounding_limit) && m >= 2 * kShortestPartition;) {
      m = round_up(m / 2, kShortestPartition);
      plan = make_plan(Method::exact_twopass, plan.n, 0, m, sizeof(T), problem.traits);
      rounding = rounding_of(problem, plan);
      if (m == kShortestPartition) break;
    }
    std::optional<Proposal> proposal = unless_growth(problem, exact_proposal(problem, plan), rejection);
    if (proposal) proposal->rounding = rounding;
    return proposal;
  }
  template <typename T>
  std::optional<Plan> cheapest(const Problem<T>& problem) const {
    return plan_for(problem, Method::exact_twopass, 0);
  }
};

}  // namespace

const Scheme& lanes_twopass() {
  static const LanesTwopass scheme;
  return scheme;
}

}  // namespace oclspkt
