// SPDX-License-Identifier: BSD-2-Clause
// truncated-streamed as the host models it.
#include "evidence.hpp"
#include "schemes/lane_bounds.hpp"
#include "schemes/proposal.hpp"
#include "schemes/scheme.hpp"
#include "schemes/streamed.hpp"
#include "schemes/texts.hpp"

namespace oclspkt {
namespace {

/// Tiles tried for the streamed form where the host models it.
constexpr Index kTileSearch[] = {16 * 31, 16 * 127, 16 * 511, 16 * 2047};
/// A way to walk the tiles of the streamed form.
struct Direction {
  bool up, exact_starts;
};

/// Cheapest first. Lines that advect decay in one direction only: their runs walk with the wind, and where the side
/// that they start from does not decay, the starts are solved for.
constexpr Direction kDirections[] = {{false, false}, {true, false}, {false, true}, {true, true}};

class HostStreamed final : public SchemeOf<HostStreamed> {
 public:
  const char* name() const override { return "host-streamed"; }
  std::string shape(const Plan& plan) const override {
    return std::string("walking ") + (plan.walk_up ? "up" : "down") + (plan.exact_starts ? " from exact starts" : "");
  }
  double words(const Plan& plan) const override { return plan.exact_starts ? 9 : words_of_one_pass(plan); }
  Elimination elimination() const override { return {.plain = true}; }
  template <typename T>
  Rounding bound(const Plan&, const LineSet&, const BandsView<T>&, const Survey& survey) const {
    return {rounding_of_halos(survey)};
  }

  template <typename T>
  bool suits(Method method, const Problem<T>& problem) const {
    return method == Method::truncated_streamed && problem.traits.host;
  }
  template <typename T>
  std::optional<Proposal> proposal(const Problem<T>& problem, Rejection& rejection) const {
    const double tol = tolerance<T>(problem.options);
    Plan best;
    Certificate least;
    least.bound = std::numeric_limits<double>::infinity();
    for (const Direction& direction : kDirections) {
      for (const Index tile : kTileSearch) {
        const Index partition = problem.options.partition > 0 ? problem.options.partition : tile;
        Plan plan = make_plan(Method::truncated_streamed, problem.bands.lines().rows(), 0, partition, sizeof(T),
                              problem.traits);
        plan.walk_up = direction.up;
        plan.exact_starts = direction.exact_starts;
        const Certificate certificate = certify_streamed(plan, problem.bands.view());
        if (certificate.bound <= tol && certificate.growth <= kGrowthLimit) {
          Proposal proposal = covered(plan, certificate.bound, tol, problem.survey);
          // What the starts are solved for and what the runs arrive at are rounded apart; that they agree is to be
          // shown.
          proposal.needs_trial = proposal.needs_trial || direction.exact_starts;
          return unless_growth(problem, std::move(proposal), rejection);
        }
        if (certificate.bound < least.bound) {
          least = certificate;
          best = plan;
        }
        if (partition != tile || plan.m >= plan.n) break;
      }
    }
    rejection = {streamed_refusal(least, tol), {}, best};
    return insist_on_streamed(problem, best, least, tol, rejection);
  }
};

}  // namespace

const Scheme& host_streamed() {
  static const HostStreamed scheme;
  return scheme;
}

}  // namespace oclspkt
