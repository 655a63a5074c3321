// SPDX-License-Identifier: BSD-2-Clause
// exact-twopass by two work-groups of lanes, from both ends of the system to the tile where they meet.
#include "geometry.hpp"
#include "rounding_joints.hpp"
#include "schemes/proposal.hpp"
#include "schemes/scheme.hpp"

namespace oclspkt {
namespace {

class LanesEnds final : public SchemeOf<LanesEnds> {
 public:
  const char* name() const override { return "lanes-ends"; }
  bool owns(const Plan& plan) const override { return from_ends(plan); }
  std::string shape(const Plan&) const override { return "swept from both ends"; }
  double words(const Plan&) const override { return 9; }
  int launches() const override { return 2; }
  Cut cut(const Plan& plan) const override { return {plan.tile_rows(), 0, 0, true}; }
  Elimination elimination() const override { return {.upwards = true}; }
  template <typename T>
  Rounding bound(const Plan& plan, const LineSet&, const BandsView<T>& bands, const Survey&) const {
    return bound_taken_off(plan, bands);
  }

  template <typename T>
  bool suits(Method method, const Problem<T>& problem) const {
    return method == Method::exact_twopass && problem.from_ends && problem.traits.group_items == 0;
  }
  /// exact-twopass by two work-groups, which make the pivots from both ends. It carries excesses that are not negative.
  template <typename T>
  std::optional<Proposal> proposal(const Problem<T>& problem, Rejection& rejection) const {
    const DeviceTraits& traits = problem.traits;
    const Survey& survey = problem.survey;
    const Index n = problem.bands.lines().rows();
    const Plan plan = make_ends_plan(n, problem.options.partition, sizeof(T), traits);
    rejection.plan = plan;
    if (traits.cores > kTwistedCores) {
      rejection.why = format("a sweep from both ends keeps only 2 of %d cores busy", traits.cores);
    } else if (plan.chunk_tiles == 0 && n > 0) {
      rejection.why = "from both ends: the device's memory does not hold all rows at once";
    } else if (!(survey.dominance >= 1)) {
      rejection.why = format("from both ends: row dominance %.4f < 1", survey.dominance);
    } else if (!lanes_multiply<T>(survey)) {
      rejection.why =
          format("from both ends: products of rows as small as %.1e or as large as %.1e may leave the number range",
                 survey.smallest_row, survey.largest_row);
    } else {
      rejection = {};
      return exact_proposal(problem, plan);
    }
    return std::nullopt;
  }
};

}  // namespace

const Scheme& lanes_ends() {
  static const LanesEnds scheme;
  return scheme;
}

}  // namespace oclspkt
