// SPDX-License-Identifier: BSD-2-Clause
#include "judge.hpp"

#include <limits>

#include "evidence.hpp"
#include "forgiven.hpp"
#include "schemes/proposal.hpp"
#include "schemes/scheme.hpp"

namespace oclspkt {
namespace {

/// Rounding of a row that carries its excess, in eps, times its dominance: 1.5 eps at 0.5, 6.5 at 0.1, 6e8 at 1e-9.
constexpr double kOfExcess = 0.75;
/// The factor by which rows without dominance round more if they carry their excess s, with -(l + g) < s < 0, l and g
/// the couplings. Each elimination computes s and then (l + g) + s: four sums and products of numbers that are at most
/// 2 (l + g). They add 8 u (l + g) to the 8 u of a row that is eliminated once (rounding_by_growth()), and as much
/// again in the row below, by the multiplier. That is 3 times; rounded up.
constexpr double kOfDifference = 4;

/// Why rounding would lose small diagonals, which errors of rows do not show; empty if it does not.
std::string diagonal_refusal(const Survey& survey, const Plan& plan) {
  if (!(survey.dominance < 0.5) || scheme_of(plan).elimination(plan).diagonals) return {};
  return format("row %lld: rounding loses the diagonal, which is only %.1e times the couplings",
                static_cast<long long>(survey.weakest_row), survey.dominance);
}

/// Why forgiving a rounding of the diagonals is not harmless; empty if it is.
template <typename T>
std::string forgiving_refusal(const Problem<T>& problem, const Plan& plan) {
  // The survey of rows of dominance 1 may be off by rounding.
  constexpr double kAboutOne = 1 + 8 * static_cast<double>(std::numeric_limits<T>::epsilon());
  if (!scheme_of(plan).elimination(plan).excess || problem.survey.dominance > kAboutOne) return {};
  const double effect = forgiven_effect(problem.bands.lines(), problem.bands.view());
  if (effect <= kHarmlessForgiving) return {};
  return format("setting row excesses within rounding of 0 to 0 may change the solution %.1e times (limit %.1f)",
                effect, kHarmlessForgiving);
}

/// Why the host solves by another method than the one that is named; empty if it does not.
std::string why_factored(const Options& options, Method method) {
  const MethodChoice choice = options.method;
  const bool asked = !named(choice) || choice == MethodChoice::exact || choice == MethodChoice::exact_factored;
  if (asked || method != Method::exact_factored) return {};
  return std::string("the host solves exactly by stored factors, which cost no more than ") + name(choice);
}

}  // namespace

template <typename T>
std::optional<Proposal> judge(const Problem<T>& problem, const Scheme& scheme, Rejection& rejection) {
  const Method method = problem.method;
  std::optional<Proposal> proposal = scheme.propose(problem, rejection);
  if (proposal && truncates(method) && scheme.kernels() == Kernels::groups && problem.traits.unproven) {
    proposal->needs_trial = true;
  }
  // The factors of pivoting have a bound of their own.
  if (!proposal || method == Method::pivot) return proposal;
  const std::string other = problem.traits.host ? why_factored(problem.options, method) : "";
  if (!other.empty()) proposal->why = other;
  if (!proposal->rounding) proposal->rounding = rounding_of(problem, proposal->plan);
  // A diagonal that is small against its couplings rounds by the size of the couplings.
  if (scheme_of(proposal->plan).elimination(proposal->plan).excess) {
    const double d = problem.survey.dominance;
    proposal->rounding->eps = (d < 1 ? kOfDifference : 1) * proposal->rounding->eps + kOfExcess / d;
  }
  std::string why = diagonal_refusal(problem.survey, proposal->plan);
  if (why.empty()) why = forgiving_refusal(problem, proposal->plan);
  if (!(proposal->rounding->eps <= problem.rounding_limit)) {
    why = rounding_refusal(*proposal->rounding, problem.rounding_limit);
  }
  if (!why.empty() && !problem.insist) {
    rejection = {why, {}, proposal->plan};
    return std::nullopt;
  }
  if (!why.empty()) {
    const bool goes_on = proposal->above_tolerance || !other.empty();
    proposal->why = (goes_on ? proposal->why + "; " : "used because its method is named; ") + why;
    proposal->above_tolerance = true;
  }
  return proposal;
}

template std::optional<Proposal> judge(const Problem<float>&, const Scheme&, Rejection&);
template std::optional<Proposal> judge(const Problem<double>&, const Scheme&, Rejection&);

}  // namespace oclspkt
