// SPDX-License-Identifier: BSD-2-Clause
// truncated SPIKE in the form of 2019 for CPUs, by lanes.
#include <algorithm>
#include <utility>

#include "certificate.hpp"
#include "paper_lanes.hpp"
#include "schemes/paper_scheme.hpp"
#include "schemes/scheme.hpp"
#include "schemes/texts.hpp"

namespace oclspkt {
namespace {

/// m_min up to which the survey alone is asked: a sweep of all rows would cost more than it saves.
constexpr Index kQuickRows = 128;

class LanesPaper final : public SchemeOf<LanesPaper> {
 public:
  const char* name() const override { return "lanes-paper"; }
  std::string shape(const Plan& plan) const override {
    return format("variant paper, %d lanes of partitions of %lld rows, m_min %lld, factored in every apply", plan.lanes,
                  static_cast<long long>(plan.m), static_cast<long long>(plan.as<PaperLanes>().m_min));
  }
  double words(const Plan& plan) const override { return plan.m > 0 ? paper_lanes_words(plan) : 5; }
  int launches(const Plan&) const override { return 4; }
  bool only_asked_for() const override { return true; }
  Cut cut(const Plan& plan) const override { return {plan.tile_rows(), plan.m, plan.m, false}; }
  bool solves_interfaces() const override { return true; }
  Elimination elimination(const Plan&) const override { return {.plain = true, .excess = true, .upwards = true}; }
  template <typename T>
  Rounding bound(const Plan& plan, const LineSet&, const BandsView<T>& bands, const Survey& survey) const {
    if (plan.n == 0) return {0};
    return survey.finite ? bound_paper_lanes(plan, bands) : Rounding{kNothingKnown};
  }

  template <typename T>
  bool suits(Method method, const Problem<T>& problem) const {
    return method == Method::truncated_halo && by_lanes(problem) &&
           (problem.traits.paper || problem.options.variant == name());
  }
  template <typename T>
  std::optional<Proposal> proposal(const Problem<T>& problem, Rejection& rejection) const {
    if (reject_asymmetry(problem, rejection)) return std::nullopt;
    const double tol = tolerance<T>(problem.options), d = problem.survey.decay();
    const Plan least = plan_of(problem, kPaperLanesQuantum);
    if (least.chunk_tiles == 0 && least.n > 0) {
      rejection = {"the device's memory does not hold a tile in the paper's form: raise device_memory", {}, least};
      return std::nullopt;
    }
    if (!(problem.survey.dominance >= 1)) {
      rejection = {format("row dominance %.4f < 1, the paper's form does not pivot: choose variant cpu",
                          problem.survey.dominance),
                   lines_paper_leaves(problem, longest(problem), tol), least};
      return std::nullopt;
    }
    for (Index m_min = kPaperLanesQuantum; m_min <= std::min(kQuickRows, longest(problem));
         m_min += kPaperLanesQuantum) {
      const double bound = bound_paper(d, m_min);
      if (bound <= tol) return covered_by(problem, {plan_of(problem, m_min), {.bound = bound}}, tol);
    }
    return followed(problem, tol, rejection);
  }
  template <typename T>
  std::optional<Plan> cheapest(const Problem<T>& problem) const {
    return plan_of(problem, kPaperLanesQuantum);
  }

 private:
  struct Judged {
    Plan plan;
    Certificate certificate;
  };

  /// The longest m_min that is tried: half a partition, or where partitions are short, half of one of
  /// kLongestPaperRows, unless the user asked for partitions.
  template <typename T>
  static Index longest(const Problem<T>& problem) {
    const Index asked = problem.options.partition;
    if (asked > 0) return std::max(kPaperLanesQuantum, asked / 2 / kPaperLanesQuantum * kPaperLanesQuantum);
    const Index m = paper_lanes_partition(problem.bands.lines().rows(), sizeof(T), problem.traits);
    return std::max(m, kLongestPaperRows) / 2 / kPaperLanesQuantum * kPaperLanesQuantum;
  }
  template <typename T>
  Plan plan_of(const Problem<T>& problem, Index m_min) const {
    const Index n = problem.bands.lines().rows(), asked = problem.options.partition;
    const Index m = asked > 0 ? asked : paper_lanes_partition(n, sizeof(T), problem.traits);
    return make_paper_lanes_plan(n, m, m_min, name(), sizeof(T), problem.traits);
  }
  template <typename T>
  Judged judge(const Problem<T>& problem, Index m_min, double tol) const {
    const Plan plan = plan_of(problem, m_min);
    return {plan, certify_paper_lanes(plan, problem.bands.view(), tol)};
  }
  /// m_min doubles until the certificate holds; what is half as long or less does not, and the rest is halved.
  template <typename T>
  std::optional<Proposal> followed(const Problem<T>& problem, double tol, Rejection& rejection) const {
    const Index limit = longest(problem);
    Index too_short = 0, m_min = kPaperLanesQuantum;
    Judged judged = judge(problem, m_min, tol);
    while (!(judged.certificate.bound <= tol) && m_min < limit && m_min < problem.bands.lines().rows()) {
      const Index longer = std::min(limit, 2 * m_min);
      if (plan_of(problem, longer).chunk_tiles == 0) break;  // the memory does not hold a tile
      too_short = std::exchange(m_min, longer);
      judged = judge(problem, m_min, tol);
    }
    if (!(judged.certificate.bound <= tol)) {
      rejection = {
          format("m_min %lld in partitions of %lld rows in the paper's form: certificate %.1e > %.1e (",
                 static_cast<long long>(m_min), static_cast<long long>(judged.plan.m), judged.certificate.bound, tol) +
              where(judged.certificate) + "): raise rtol, or choose variant cpu",
          lines_paper_leaves(problem, limit, tol), judged.plan};
      return std::nullopt;
    }
    while (m_min - too_short > kPaperLanesQuantum) {
      const Index between = (too_short + m_min) / 2 / kPaperLanesQuantum * kPaperLanesQuantum;
      Judged shorter = judge(problem, between, tol);
      const bool holds = shorter.certificate.bound <= tol;
      (holds ? m_min : too_short) = between;
      if (holds) judged = std::move(shorter);
    }
    return covered_by(problem, judged, tol);
  }
  template <typename T>
  static Proposal covered_by(const Problem<T>& problem, const Judged& judged, double tol) {
    Proposal proposal = covered(judged.plan, judged.certificate.bound, tol, problem.survey);
    proposal.needs_trial = proposal.needs_trial || !(problem.survey.dominance >= kHarmlessInterface);
    return proposal;
  }
};

}  // namespace

const Scheme& lanes_paper() {
  static const LanesPaper scheme;
  return scheme;
}

}  // namespace oclspkt
