// SPDX-License-Identifier: BSD-2-Clause
// The scheme of method pivot: elimination with diagonal blocks of 1 and 2 rows, on the host.
#include "certificate.hpp"
#include "plan_parts.hpp"
#include "schemes/proposal.hpp"

namespace oclspkt {
namespace {

class HostPivot final : public SchemeOf<HostPivot> {
 public:
  const char* name() const override { return "host-pivot"; }
  std::string shape(const Plan&) const override { return {}; }
  /// Words per row: 4 for copies of y and x, 4 for the sweep forward, 5 for the sweep back.
  double words(const Plan&) const override { return 13; }
  double stream_words(const Plan&, int) const override { return 40; }
  double passes(const Plan&, const Survey&) const override { return 40; }
  Nature nature() const override { return {.stores_factors = true}; }
  bool in_pieces(const Plan&) const override { return false; }
  Elimination elimination(const Plan&) const override { return {.tells_bound = true}; }
  std::optional<Plan> make(const PlanRequest& r) const override {
    if (r.method != Method::pivot) return std::nullopt;
    return plan_of(r.lines.rows(), r.word, r.traits);
  }
  template <typename T>
  Rounding bound(const Plan&, const LineSet&, const BandsView<T>&, const Survey&) const {
    return {kNothingKnown};
  }

  template <typename T>
  bool suits(Method method, const Problem<T>&) const {
    return method == Method::pivot;
  }
  template <typename T>
  std::optional<Proposal> proposal(const Problem<T>& problem, Rejection&) const {
    Proposal p;
    p.plan = plan_of(problem.bands.lines().rows(), problem.word, problem.traits);
    p.needs_trial = true;
    p.why = "pivots of 1 and 2 rows";
    return p;
  }

 private:
  Plan plan_of(Index n, int word, const DeviceTraits& traits) const {
    Plan plan{.method = Method::pivot, .n = n, .m = n, .made_by = name()};
    cut_into_chunks(plan, word, traits);
    return plan;
  }
};

}  // namespace

const Scheme& host_pivot() { return only<HostPivot>(); }

}  // namespace oclspkt
