// SPDX-License-Identifier: BSD-2-Clause
// exact-twopass by lanes, for lines laid end to end.
#include "rounding_joints.hpp"
#include "schemes/scheme.hpp"

namespace oclspkt {
namespace {

class LanesTwopass final : public SchemeOf<LanesTwopass> {
 public:
  const char* name() const override { return "lanes-twopass"; }
  std::string shape(const Plan&) const override { return {}; }
  double words(const Plan&) const override { return 9; }
  int launches() const override { return 2; }
  template <typename T>
  Rounding bound(const Plan& plan, const LineSet&, const BandsView<T>& bands, const Survey&) const {
    return bound_twopass(plan, bands);
  }
};

}  // namespace

const Scheme& lanes_twopass() {
  static const LanesTwopass scheme;
  return scheme;
}

}  // namespace oclspkt
