// SPDX-License-Identifier: BSD-2-Clause
// truncated-streamed as the host models it.
#include "schemes/lane_bounds.hpp"
#include "schemes/scheme.hpp"
#include "schemes/texts.hpp"

namespace oclspkt {
namespace {

class HostStreamed final : public SchemeOf<HostStreamed> {
 public:
  const char* name() const override { return "host-streamed"; }
  std::string shape(const Plan& plan) const override {
    return std::string("walking ") + (plan.walk_up ? "up" : "down") + (plan.exact_starts ? " from exact starts" : "");
  }
  double words(const Plan& plan) const override { return plan.exact_starts ? 9 : words_of_one_pass(plan); }
  template <typename T>
  Rounding bound(const Plan&, const LineSet&, const BandsView<T>&, const Survey& survey) const {
    return {rounding_of_halos(survey)};
  }
};

}  // namespace

const Scheme& host_streamed() {
  static const HostStreamed scheme;
  return scheme;
}

}  // namespace oclspkt
