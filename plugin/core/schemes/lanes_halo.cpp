// SPDX-License-Identifier: BSD-2-Clause
// truncated-halo by lanes, for lines laid end to end.
#include "geometry.hpp"
#include "schemes/halos.hpp"
#include "schemes/lane_bounds.hpp"
#include "schemes/scheme.hpp"
#include "schemes/texts.hpp"

namespace oclspkt {
namespace {

class LanesHalo final : public SchemeOf<LanesHalo> {
 public:
  const char* name() const override { return "lanes-halo"; }
  std::string shape(const Plan& plan) const override { return format("halo %lld", static_cast<long long>(plan.halo)); }
  double words(const Plan& plan) const override { return 4 * plan.overlap() + 1; }
  /// Rows wait for the division of the one before; long lines held whole leave the first-level cache between sweeps.
  double stream_words(const Plan& plan, int word) const override {
    constexpr double kOfDouble = 1.3, kOfOthers = 1.5, kOfLongLines = 1.9;
    constexpr Index kLongWhole = 1024;
    if (plan.halo == 0) return (plan.m > kLongWhole ? kOfLongLines : kOfOthers) * words(plan);
    return (word > static_cast<int>(sizeof(float)) ? kOfDouble : kOfOthers) * words(plan);
  }
  double passes(const Plan& plan, const Survey&) const override { return plan.halo > kQuickHalo ? 4 : 0; }
  Elimination elimination(const Plan&) const override { return {.plain = true, .excess = true}; }
  template <typename T>
  Rounding bound(const Plan& plan, const LineSet& lines, const BandsView<T>& bands, const Survey& survey) const {
    return bound_halos(plan, plan.partitions() == 1 || (plan.halo == 0 && lines.count() > 1), bands, survey);
  }

  template <typename T>
  bool suits(Method method, const Problem<T>& problem) const {
    return method == Method::truncated_halo && by_lanes(problem);
  }
  template <typename T>
  std::optional<Proposal> proposal(const Problem<T>& problem, Rejection& rejection) const {
    return propose_halos(problem, rejection);
  }
  template <typename T>
  std::optional<Plan> cheapest(const Problem<T>& problem) const {
    return least_of_halos(problem);
  }
};

}  // namespace

const Scheme& lanes_halo() {
  static const LanesHalo scheme;
  return scheme;
}

}  // namespace oclspkt
