// SPDX-License-Identifier: BSD-2-Clause
#include "method_choice.hpp"
#include "geometry.hpp"

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <limits>

#include "evidence.hpp"
#include "forgiven.hpp"
#include "narrow.hpp"
#include "oclspkt/error.hpp"
#include "schemes/scheme.hpp"
#include "schemes/texts.hpp"

namespace oclspkt {
namespace {

/// Rounding of a row that carries its excess, in eps, times its dominance: 1.5 eps at 0.5, 6.5 at 0.1, 6e8 at 1e-9.
constexpr double kOfExcess = 0.75;
/// By how much more rows without dominance round that carry their excess. A row has an excess s with -(l + g) < s < 0,
/// l and g its couplings. Each elimination makes s and then (l + g) + s, four sums and products of numbers that 2 (l +
/// g) bounds: 8 u (l + g) beside the 8 u of a row that is eliminated once (`rounding_by_growth`), and as much again in
/// the row below, which the multiplier brings it to. That is 3 times; rounded up.
constexpr double kOfDifference = 4;

}  // namespace

std::vector<Attempt> methods_to_try(MethodChoice choice, const Circumstances& known) {
  // The host solves exactly by stored factors whatever method is named, unless that is pivot.
  if (known.on_host) {
    if (choice == MethodChoice::pivot) return {{Method::pivot}};
    if (choice == MethodChoice::automatic) return {{Method::exact_factored}, {Method::pivot}};
    return {{Method::exact_factored}};
  }
  const bool kernels_for_both = known.end_to_end;
  std::vector<Attempt> exact;
  if (known.factors) exact = {{Method::exact_factored}};
  if (kernels_for_both) exact.insert(known.few_applies ? exact.begin() : exact.end(), {Method::exact_twopass});
  std::vector<Attempt> all;
  // Side by side on GPUs; what has to settle may multiply rounding, and the host takes line by line.
  const bool grid = !known.end_to_end && known.by_groups;
  if (grid && choice == MethodChoice::automatic) {
    return {{Method::truncated_streamed}, {Method::exact_factored}, {Method::exact_factored, true}, {Method::pivot}};
  }
  if (grid && choice == MethodChoice::truncated) return {{Method::truncated_streamed}};
  switch (choice) {
    case MethodChoice::automatic:
      // Lines side by side are cut only where few long ones leave cores idle.
      if (kernels_for_both) all = {{Method::truncated_streamed}};
      all.insert(known.halo_first ? all.begin() : all.end(), {Method::truncated_halo});
      all.insert(all.end(), exact.begin(), exact.end());
      // Reduced tiles store nothing, and solve at 0.73 of the speed of runs with stored factors.
      if (known.by_groups && known.few_applies && kernels_for_both) std::swap(all[1], all[2]);
      // Two cores of many still take a third of the time of one sweep on the host (Poisson, float, 16 cores).
      if (kernels_for_both && known.many_cores) all.push_back({Method::exact_factored, false, true});
      // Where the pieces of a device's passes do not agree, one sweep on the host does.
      if (kernels_for_both) all.push_back({Method::exact_factored, true});
      all.push_back({Method::pivot});
      return all;
    case MethodChoice::truncated:
    case MethodChoice::truncated_halo:
      return {{Method::truncated_halo}};
    case MethodChoice::truncated_streamed:
      return {{Method::truncated_streamed}};
    case MethodChoice::exact:
      return exact;
    case MethodChoice::exact_twopass:
      return {{Method::exact_twopass}};
    case MethodChoice::exact_factored:
      all = {{Method::exact_factored, !known.factors}};
      if (kernels_for_both && known.factors) all.push_back({Method::exact_factored, true});
      return all;
    case MethodChoice::pivot:
      return {{Method::pivot}};
  }
  return {};
}

/// Ask the schemes, in the order of the table, until one has a plan or a reason.
/// @return false if there is none for this method, these lines and this processor
template <typename T>
static bool ask_schemes(const Problem<T>& problem, Method method, std::optional<Proposal>& proposal,
                        Rejection& rejection) {
  bool asked = false;
  for (const Scheme* scheme : all_schemes()) {
    if (proposal || rejection) break;
    if (!scheme->takes(method, problem)) continue;
    asked = true;
    proposal = scheme->propose(problem, rejection);
  }
  return asked;
}

/// The plan of a method, whatever rounding does in it.
template <typename T>
static std::optional<Proposal> propose_plan(const Problem<T>& problem, Method method, Rejection& rejection) {
  const LineSet& lines = problem.bands.lines();
  const bool truncated = method == Method::truncated_halo || method == Method::truncated_streamed;
  const bool glued = method != Method::exact_factored && method != Method::pivot,
             cuts = method == Method::truncated_halo || (method == Method::truncated_streamed && takes_grid(problem));
  if (glued && !cuts && !lines.contiguous()) {
    throw InvalidInput(std::string("method ") + name(method) + " takes lines laid end to end on devices, not " +
                       lines.describe() + ": use method auto, exact-factored or pivot");
  }
  std::optional<Proposal> proposal;
  if (const Scheme* named = problem.traits.host ? nullptr : find_scheme(problem.options.variant)) {
    if (named->takes(method, problem)) return named->propose(problem, rejection);
    rejection.why = std::string("variant ") + named->name() + " is named, which does not solve " + lines.describe() +
                    " by " + name(method);
    return std::nullopt;
  }
  if (!ask_schemes(problem, method, proposal, rejection))
    rejection.why = std::string("this library has no scheme for ") + name(method) + " and " + lines.describe();
  if (proposal && truncated && proposal->plan.by_groups() && problem.traits.unproven) proposal->needs_trial = true;
  return proposal;
}

/// Why small diagonals would be lost, which errors of rows do not show; empty if they are not.
static std::string diagonal_refusal(const Survey& survey, const Plan& plan) {
  if (!(survey.dominance < 0.5) || scheme_of(plan).elimination().diagonals) return {};
  return format("row %lld: rounding loses the diagonal, which is only %.1e times the couplings",
                static_cast<long long>(survey.weakest_row), survey.dominance);
}

/// Why forgiving a rounding of the diagonals is not harmless; empty if it is.
template <typename T>
static std::string forgiving_refusal(const Problem<T>& problem, const Plan& plan) {
  // Rows of dominance 1 but for a rounding may be surveyed as such.
  constexpr double kAboutOne = 1 + 8 * static_cast<double>(std::numeric_limits<T>::epsilon());
  if (!scheme_of(plan).elimination().excess || problem.survey.dominance > kAboutOne) return {};
  const double effect = forgiven_effect(problem.bands.lines(), problem.bands.view());
  if (effect <= kHarmlessForgiving) return {};
  return format("setting row excesses within rounding of 0 to 0 may change the solution %.1e times (limit %.1f)",
                effect, kHarmlessForgiving);
}

/// Why the host solves by another method than the one that is named; empty if it does not.
static std::string why_factored(const Options& options, Method method) {
  const MethodChoice choice = options.method;
  const bool asked = !named(choice) || choice == MethodChoice::exact || choice == MethodChoice::exact_factored;
  if (asked || method != Method::exact_factored) return {};
  return std::string("the host solves exactly by stored factors, which cost no more than ") + name(choice);
}

template <typename T>
std::optional<Proposal> propose(const Problem<T>& problem, Method method, Rejection& rejection) {
  Problem<T> asked = problem;
  asked.method = method;
  std::optional<Proposal> proposal = propose_plan(asked, method, rejection);
  // Pivoting is bounded by its own factors.
  if (!proposal || method == Method::pivot) return proposal;
  const std::string other = problem.traits.host ? why_factored(problem.options, method) : "";
  if (!other.empty()) proposal->why = other;
  if (!proposal->rounding) proposal->rounding = rounding_of(problem, proposal->plan);
  // A diagonal that is small against its couplings is rounded with these.
  if (scheme_of(proposal->plan).elimination().excess) {
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

template <typename T>
bool has_scheme(const Problem<T>& problem, Method method) {
  return std::any_of(all_schemes().begin(), all_schemes().end(),
                     [&](const Scheme* scheme) { return scheme->takes(method, problem); });
}

template <typename T>
bool holds_at_once(const Problem<T>& problem) {
  const auto holds = [&](const Scheme* scheme) {
    return scheme->takes(Method::truncated_halo, problem) && scheme->holds_at_once(problem);
  };
  return std::any_of(all_schemes().begin(), all_schemes().end(), holds);
}

template <typename T>
Index segment_halo(const Options& options, const Survey& survey, bool symmetric) {
  const bool asked = options.method == MethodChoice::automatic || options.method == MethodChoice::truncated ||
                     options.method == MethodChoice::truncated_halo;
  if (!asked || breaks_symmetry<T>(options, symmetric)) return -1;
  const Index needed = halo_from_dominance(survey.decay(), tolerance<T>(options));
  return needed < 0 ? -1 : round_up(needed, kHaloQuantum);
}

template <typename T>
double likely_words(const Options& options, const Survey& survey, bool symmetric) {
  const bool truncates =
      options.method == MethodChoice::automatic
          ? halo_from_dominance(survey.dominance, tolerance<T>(options)) >= 0 && !breaks_symmetry<T>(options, symmetric)
          : options.method <= MethodChoice::truncated_streamed;
  if (!truncates) return kWordsOfTwoPasses;
  const bool stored = options.method == MethodChoice::automatic || options.method == MethodChoice::truncated_streamed;
  Plan plan;  // bands of a halo or factors, read once
  if (stored && survey.shared) plan.form = Form::shared;
  plan.narrow = stored && narrows<T>(options) && why_not_narrow_factors(survey).empty();
  return words_of_one_pass(plan);
}

#define OCLSPKT_INSTANTIATE(T)                                                     \
  template std::optional<Proposal> propose(const Problem<T>&, Method, Rejection&); \
  template bool has_scheme(const Problem<T>&, Method);                             \
  template bool holds_at_once(const Problem<T>&);                                  \
  template Index segment_halo<T>(const Options&, const Survey&, bool);             \
  template double likely_words<T>(const Options&, const Survey&, bool);
OCLSPKT_INSTANTIATE(float)
OCLSPKT_INSTANTIATE(double)

}  // namespace oclspkt
