// SPDX-License-Identifier: BSD-2-Clause
// truncated-streamed by lanes and stored factors, for lines laid end to end.
#include "rounding_joints.hpp"
#include "schemes/scheme.hpp"
#include "schemes/texts.hpp"

namespace oclspkt {
namespace {

class LanesStreamed final : public SchemeOf<LanesStreamed> {
 public:
  const char* name() const override { return "lanes-streamed"; }
  std::string shape(const Plan& plan) const override {
    return factors_text(plan) + format(", reach %lld", static_cast<long long>(plan.reach)) +
           (plan.corrects ? ", corrected where partitions meet" : "");
  }
  double words(const Plan& plan) const override { return words_of_one_pass(plan); }
  Cut cut(const Plan& plan) const override { return {plan.tile_rows(), plan.tile_rows(), plan.tile_rows(), false}; }
  bool settles() const override { return true; }
  template <typename T>
  Rounding bound(const Plan& plan, const LineSet&, const BandsView<T>& bands, const Survey& survey) const {
    const double known = rounding_of_joints(survey, plan.m);
    if (!plan.corrects && known <= kRoundingLimit) return {known};
    const JointRounding found = bound_stored_joints(plan, bands);
    return plan.corrects ? found.corrected : found.plain;
  }
};

}  // namespace

const Scheme& lanes_streamed() {
  static const LanesStreamed scheme;
  return scheme;
}

}  // namespace oclspkt
