// SPDX-License-Identifier: BSD-2-Clause
// exact-factored by two work-groups of lanes, from both ends of the system to the tile where they meet.
#include "schemes/lanes/lane_plans.hpp"
#include "schemes/lanes/rounding_joints.hpp"
#include "schemes/proposal.hpp"
#include "schemes/scheme.hpp"

namespace oclspkt {
namespace {

class LanesTwisted final : public SchemeOf<LanesTwisted> {
 public:
  const char* name() const override { return "lanes-twisted"; }
  std::string shape(const Plan&) const override { return "stored factors, swept from both ends"; }
  double words(const Plan&) const override {
    return 7;  // down: a factor and y, and the result is written; up: that result, two factors and x
  }
  int launches(const Plan&) const override { return 2; }
  double passes(const Plan&, const Survey&) const override { return 22; }
  StoredPlaces places(const Plan& plan) const override { return places_by_tiles(plan); }
  bool stores_factors() const override { return true; }
  Cut cut(const Plan& plan) const override { return {plan.tile_rows(), 0, 0, true}; }
  Elimination elimination(const Plan&) const override { return {.upwards = true}; }
  template <typename T>
  Rounding bound(const Plan& plan, const LineSet&, const BandsView<T>& bands, const Survey&) const {
    return bound_taken_off(plan, bands);
  }

  template <typename T>
  bool suits(Method method, const Problem<T>& problem) const {
    return method == Method::exact_factored && by_lanes(problem);
  }
  /// Stored factors of lines laid end to end, swept by two work-groups of a device.
  template <typename T>
  std::optional<Proposal> proposal(const Problem<T>& problem, Rejection& rejection) const {
    const DeviceTraits& traits = problem.traits;
    const Index n = problem.bands.lines().rows();
    const Plan plan = make_twisted_plan(n, problem.options.partition, sizeof(T), traits);
    rejection.plan = plan;
    if (plan.chunk_tiles == 0 && n > 0) {
      rejection.why = "the device's memory does not hold all rows at once";
    } else {
      rejection = {};
      return exact_proposal(problem, plan);
    }
    return std::nullopt;
  }
  template <typename T>
  std::optional<Plan> cheapest(const Problem<T>& problem) const {
    const Index n = problem.bands.lines().rows();
    const Plan plan = make_twisted_plan(n, problem.options.partition, sizeof(T), problem.traits);
    return plan.chunk_tiles == 0 && n > 0 ? std::nullopt : std::optional(plan);
  }
};

}  // namespace

const Scheme& lanes_twisted() { return only<LanesTwisted>(); }

}  // namespace oclspkt
