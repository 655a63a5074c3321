// SPDX-License-Identifier: BSD-2-Clause
// exact-factored by two work-groups of lanes, from both ends of the system to the tile where they meet.
#include "rounding_joints.hpp"
#include "schemes/scheme.hpp"

namespace oclspkt {
namespace {

class LanesTwisted final : public SchemeOf<LanesTwisted> {
 public:
  const char* name() const override { return "lanes-twisted"; }
  std::string shape(const Plan&) const override { return "stored factors, swept from both ends"; }
  double words(const Plan&) const override {
    return 7;  // a factor, y and what is left; that, two factors and x
  }
  int launches() const override { return 2; }
  Cut cut(const Plan& plan) const override { return {plan.tile_rows(), 0, 0, true}; }
  template <typename T>
  Rounding bound(const Plan& plan, const LineSet&, const BandsView<T>& bands, const Survey&) const {
    return bound_taken_off(plan, bands);
  }
};

}  // namespace

const Scheme& lanes_twisted() {
  static const LanesTwisted scheme;
  return scheme;
}

}  // namespace oclspkt
