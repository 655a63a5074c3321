// SPDX-License-Identifier: BSD-2-Clause
#include "method_choice.hpp"

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <limits>

#include "evidence.hpp"
#include "forgiven.hpp"
#include "narrow.hpp"
#include "oclspkt/error.hpp"
#include "proposal.hpp"

namespace oclspkt {
namespace {

/// Cores up to which two sides of a system, swept by two of them, take less time than partitions that keep all busy.
constexpr int kTwistedCores = 4;
/// Rows below which partitions leave too much to their border equations.
constexpr Index kShortestPartition = 48;
/// Rounding of a row that carries its excess, in eps, times its dominance: 1.5 eps at 0.5, 6.5 at 0.1, 6e8 at 1e-9.
constexpr double kOfExcess = 0.75;
/// By how much more rows without dominance round that carry their excess. A row has an excess s with -(l + g) < s < 0,
/// l and g its couplings. Each elimination makes s and then (l + g) + s, four sums and products of numbers that 2 (l +
/// g) bounds: 8 u (l + g) beside the 8 u of a row that is eliminated once (`rounding_by_growth`), and as much again in
/// the row below, which the multiplier brings it to. That is 3 times; rounded up.
constexpr double kOfDifference = 4;

template <typename T>
Proposal exact_proposal(const Problem<T>& problem, const Plan& plan) {
  Proposal p;
  p.plan = plan;
  // Strictly dominant rows are regular, and their rounding is bounded; others may be singular.
  p.needs_trial = !(problem.survey.dominance > 1);
  p.growth = kDominantGrowth;
  p.why = format("row dominance %.4f", problem.survey.dominance);
  return p;
}

/// Stored factors of lines laid end to end, swept by two work-groups of a device.
template <typename T>
std::optional<Proposal> propose_twisted(const Problem<T>& problem, Objection& objection) {
  const DeviceTraits& traits = problem.traits;
  const Index n = problem.bands.lines().rows();
  const Plan plan = make_twisted_plan(n, problem.options.partition, sizeof(T), traits);
  objection.plan = plan;
  if (plan.chunk_tiles == 0 && n > 0) {
    objection.why = "the device's memory does not hold all rows at once";
  } else if (traits.cores > kTwistedCores && problem.options.method != MethodChoice::exact_factored) {
    objection.why = format("two sides keep only 2 of %d cores busy", traits.cores);
  } else {
    objection = {};
    return exact_proposal(problem, plan);
  }
  return std::nullopt;
}

/// Stored factors of tiles that work-groups fold to their first rows.
template <typename T>
std::optional<Proposal> propose_folds(const Problem<T>& problem, Objection& objection) {
  if (const std::optional<Plan> whole = whole_line_plan(problem)) return exact_proposal(problem, *whole);
  const Index n = problem.bands.lines().rows();
  Plan plan = make_fold_plan(n, problem.options.partition, sizeof(T), problem.traits);
  if (plan.chunk_tiles == 0 && n > 0) {
    objection = {"the device's memory does not hold all rows at once", {}, plan};
    return std::nullopt;
  }
  serve_if_symmetric(problem, plan);
  return unless_growth(problem, exact_proposal(problem, plan), objection);
}

/// exact-twopass by tiles that work-groups reduce to their last rows.
template <typename T>
std::optional<Proposal> propose_reduced(const Problem<T>& problem, Objection& objection) {
  const Index n = problem.bands.lines().rows();
  Plan plan = make_reduce_plan(n, problem.options.partition, sizeof(T), problem.traits);
  if (plan.chunk_tiles == 0 && n > 0) {
    objection = {"by work-groups: the device's memory does not hold all rows at once", {}, plan};
    return std::nullopt;
  }
  serve_if_symmetric(problem, plan);
  return unless_growth(problem, exact_proposal(problem, plan), objection);
}

/// exact-twopass by two work-groups, which make the pivots from both ends. It carries excesses that are not negative.
template <typename T>
std::optional<Proposal> propose_from_ends(const Problem<T>& problem, Objection& objection) {
  const DeviceTraits& traits = problem.traits;
  const Survey& survey = problem.survey;
  const Index n = problem.bands.lines().rows();
  const Plan plan = make_ends_plan(n, problem.options.partition, sizeof(T), traits);
  objection.plan = plan;
  if (traits.cores > kTwistedCores) {
    objection.why = format("from both ends: two sides keep only 2 of %d cores busy", traits.cores);
  } else if (plan.chunk_tiles == 0 && n > 0) {
    objection.why = "from both ends: the device's memory does not hold all rows at once";
  } else if (!(survey.dominance >= 1)) {
    objection.why = format("from both ends: row dominance %.4f < 1", survey.dominance);
  } else if (!lanes_multiply<T>(survey)) {
    objection.why = format("from both ends: rows of %.1e to %.1e", survey.smallest_row, survey.largest_row);
  } else {
    objection = {};
    return exact_proposal(problem, plan);
  }
  return std::nullopt;
}

/// exact-twopass by partitions, as short as rounding asks for.
template <typename T>
std::optional<Proposal> propose_partitions(const Problem<T>& problem, Objection& objection) {
  Plan plan = plan_for(problem, Method::exact_twopass, 0);
  std::optional<Rounding> rounding = rounding_of(problem, plan);
  const bool may_choose = problem.options.partition == 0;
  for (Index m = plan.m; may_choose && !(rounding->eps <= problem.rounding_limit) && m >= 2 * kShortestPartition;) {
    m = round_up(m / 2, kShortestPartition);
    plan = make_plan(Method::exact_twopass, plan.n, 0, m, sizeof(T), problem.traits);
    rounding = rounding_of(problem, plan);
    if (m == kShortestPartition) break;
  }
  std::optional<Proposal> proposal = unless_growth(problem, exact_proposal(problem, plan), objection);
  if (proposal) proposal->rounding = rounding;
  return proposal;
}

template <typename T>
std::optional<Proposal> propose_exact(const Problem<T>& problem, Method method, Objection& objection) {
  if (method == Method::exact_twopass && problem.from_ends) {
    return problem.traits.group_items > 0 ? propose_reduced(problem, objection) : propose_from_ends(problem, objection);
  }
  if (method == Method::exact_twopass) return propose_partitions(problem, objection);
  const bool end_to_end = problem.bands.lines().contiguous();
  if (problem.traits.group_items > 0 && end_to_end) return propose_folds(problem, objection);
  if (!problem.traits.host && end_to_end) return propose_twisted(problem, objection);
  if (takes_grid(problem)) return propose_grid(problem, method, objection);
  Proposal p = exact_proposal(problem, factored_plan(problem));
  if (narrows<T>(problem.options) && !problem.traits.host) p.why_wide = why_factors_stay_wide(p.plan, problem.survey);
  return p;
}

}  // namespace

template <typename T>
double tolerance(const Options& options) {
  return options.rtol > 0 ? options.rtol : static_cast<double>(std::numeric_limits<T>::epsilon());
}

std::vector<Attempt> methods_to_try(MethodChoice choice, const Circumstances& known) {
  const bool kernels_for_both = !known.on_host && known.end_to_end;
  std::vector<Attempt> exact{{Method::exact_factored}};
  std::vector<Attempt> twopass{{Method::exact_twopass, false, true}, {Method::exact_twopass}};
  if (kernels_for_both) exact.insert(known.few_applies ? exact.begin() : exact.end(), twopass.begin(), twopass.end());
  // On GPUs partitions are slow, and come last.
  if (known.by_groups && known.few_applies && kernels_for_both) std::swap(exact[1], exact[2]);
  std::vector<Attempt> all;
  // Side by side on GPUs; what has to settle may multiply rounding, and the host takes line by line.
  const bool grid = !known.on_host && !known.end_to_end && known.by_groups;
  if (grid && choice == MethodChoice::automatic) {
    return {{Method::truncated_streamed}, {Method::exact_factored}, {Method::exact_factored, true}, {Method::pivot}};
  }
  if (grid && choice == MethodChoice::truncated) return {{Method::truncated_streamed}};
  switch (choice) {
    case MethodChoice::automatic:
      // On the host stored factors cost no more than truncation and need no certificate; lines side by side are cut
      // only where few long ones leave cores of a device idle.
      if (kernels_for_both) all = {{Method::truncated_streamed}};
      if (!known.on_host) {
        all.insert(known.halo_first ? all.begin() : all.end(), {Method::truncated_halo});
      }
      all.insert(all.end(), exact.begin(), exact.end());
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
      if (kernels_for_both) return twopass;
      return {{Method::exact_twopass}};
    case MethodChoice::exact_factored:
      all = {{Method::exact_factored}};
      if (kernels_for_both) all.push_back({Method::exact_factored, true});
      return all;
    case MethodChoice::pivot:
      return {{Method::pivot}};
  }
  return {};
}

bool named(MethodChoice choice) { return choice != MethodChoice::automatic; }

template <typename T>
bool symmetry_matters(const Options& options) {
  return !named(options.method) && tolerance<T>(options) > tolerance<T>(Options{});
}

/// Why work-groups are faster with stored factors than with a halo, or with whole lines than with runs, which they try
/// first; empty if they are not.
template <typename T>
static std::string cheaper_by_factors(const Problem<T>& problem, const Plan& plan) {
  if (!plan.tiled() || named(problem.options.method) || problem.one_shot) return {};
  const bool runs = plan.method == Method::truncated_streamed;
  if (runs && whole_line_plan(problem))
    return "lines and their rows are alike, exact-factored reads their factors once";
  if (plan.stored) return {};
  if (plan.halo > kQuickerHalo) return format("halo %lld, stored factors need none", static_cast<long long>(plan.halo));
  // Tiles that hold longer lines than runs do leave a core nothing else to do.
  const bool runs_may = plan.halo == 0 || (sizeof(T) > sizeof(float) && plan.halo > kQuickerHaloThanLines);
  return runs_may && propose_line_runs(problem) ? "stored factors, each line a run, need no halo" : "";
}

/// The plan of a method, whatever rounding does in it.
template <typename T>
static std::optional<Proposal> propose_plan(const Problem<T>& problem, Method method, Objection& objection) {
  const LineSet& lines = problem.bands.lines();
  const bool glued = method != Method::exact_factored && method != Method::pivot,
             cuts = method == Method::truncated_halo || (method == Method::truncated_streamed && takes_grid(problem));
  if (glued && !lines.contiguous() && !(cuts && lines.beside())) {
    throw InvalidInput(std::string("method ") + name(method) + " takes lines laid end to end" +
                       (cuts ? " or side by side" : "") + ", not " + lines.describe() +
                       ": use method auto, exact-factored or pivot");
  }
  switch (method) {
    case Method::truncated_halo:
    case Method::truncated_streamed: {
      std::optional<Proposal> proposal = method == Method::truncated_halo ? propose_halo(problem, objection)
                                         : lines.contiguous()             ? propose_streamed(problem, objection)
                                                                          : propose_grid(problem, method, objection);
      if (std::string why = proposal ? cheaper_by_factors(problem, proposal->plan) : ""; !why.empty()) {
        objection = {std::move(why), {}, proposal->plan};
        return std::nullopt;
      }
      if (proposal && proposal->plan.tiled() && !proposal->plan.stored) {
        choose_form_by_groups(problem, proposal->plan);
        if (narrows<T>(problem.options)) keep_narrow(proposal->plan);  // set-up has rounded the bands
      }
      if (proposal && proposal->plan.by_groups() && problem.traits.unproven) proposal->needs_trial = true;
      return proposal;
    }
    case Method::exact_twopass:
    case Method::exact_factored:
      return propose_exact(problem, method, objection);
    case Method::pivot:
      break;
  }
  Proposal p;
  p.plan = plan_for(problem, Method::pivot, 0);
  p.needs_trial = true;
  p.why = "partial pivoting";
  return p;
}

/// True if the elimination of a plan carries excesses, and nothing but these.
static bool carries_excess(const Plan& plan) {
  return plan.method == Method::truncated_halo || (plan.method == Method::exact_twopass && !plan.from_ends) ||
         plan.folds() || plan.grid_folds();
}

/// True if rows whose diagonal is small against their couplings keep it: factors that the host makes row by row, with
/// nothing that is taken off afterwards.
static bool carries_diagonals(const Plan& plan) {
  return plan.method == Method::exact_factored && !plan.twisted() && !plan.by_groups() && !plan.grid_folds();
}

/// Why small diagonals would be lost, which errors of rows do not show; empty if they are not.
static std::string diagonal_refusal(const Survey& survey, const Plan& plan) {
  if (!(survey.dominance < 0.5) || carries_diagonals(plan)) return {};
  return format("row %lld has a diagonal of %.1e times its couplings, which rounds with them",
                static_cast<long long>(survey.weakest_row), survey.dominance);
}

/// Why forgiving a rounding of the diagonals is not harmless; empty if it is.
template <typename T>
static std::string forgiving_refusal(const Problem<T>& problem, const Plan& plan) {
  // Rows of dominance 1 but for a rounding may be surveyed as such.
  constexpr double kAboutOne = 1 + 8 * static_cast<double>(std::numeric_limits<T>::epsilon());
  if (!carries_excess(plan) || problem.survey.dominance > kAboutOne) return {};
  const double effect = forgiven_effect(problem.bands.lines(), problem.bands.view());
  if (effect <= kHarmlessForgiving) return {};
  return format("an excess within rounding of 0 may change the solution %.1e times, more than %.1f", effect,
                kHarmlessForgiving);
}

template <typename T>
std::optional<Proposal> propose(const Problem<T>& problem, Method method, Objection& objection) {
  std::optional<Proposal> proposal = propose_plan(problem, method, objection);
  // Pivoting is bounded by its own factors.
  if (!proposal || method == Method::pivot) return proposal;
  if (!proposal->rounding) proposal->rounding = rounding_of(problem, proposal->plan);
  // A diagonal that is small against its couplings is rounded with these.
  if (carries_excess(proposal->plan)) {
    const double d = problem.survey.dominance;
    proposal->rounding->eps = (d < 1 ? kOfDifference : 1) * proposal->rounding->eps + kOfExcess / d;
  }
  std::string why = diagonal_refusal(problem.survey, proposal->plan);
  if (why.empty()) why = forgiving_refusal(problem, proposal->plan);
  if (!(proposal->rounding->eps <= problem.rounding_limit)) {
    why = rounding_refusal(*proposal->rounding, problem.rounding_limit);
  }
  if (!why.empty() && !problem.insist) {
    objection = {why, {}, proposal->plan};
    return std::nullopt;
  }
  if (!why.empty()) {
    proposal->why = (proposal->above_tolerance ? proposal->why + "; " : "used because its method is named; ") + why;
    proposal->above_tolerance = true;
  }
  return proposal;
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
  Plan plan;
  const bool truncates =
      options.method == MethodChoice::automatic
          ? halo_from_dominance(survey.dominance, tolerance<T>(options)) >= 0 && !breaks_symmetry<T>(options, symmetric)
          : options.method <= MethodChoice::truncated_streamed;
  const bool stored = options.method == MethodChoice::automatic || options.method == MethodChoice::truncated_streamed;
  plan.method = !truncates ? Method::exact_twopass : stored ? Method::truncated_streamed : Method::truncated_halo;
  if (stored && survey.shared) plan.form = Form::shared;
  plan.narrow = stored && truncates && narrows<T>(options) && objection_to_narrow_factors(survey).empty();
  return plan.words_per_row();
}

#define OCLSPKT_INSTANTIATE(T)                                                     \
  template double tolerance<T>(const Options&);                                    \
  template bool symmetry_matters<T>(const Options&);                               \
  template std::optional<Proposal> propose(const Problem<T>&, Method, Objection&); \
  template Index segment_halo<T>(const Options&, const Survey&, bool);             \
  template double likely_words<T>(const Options&, const Survey&, bool);
OCLSPKT_INSTANTIATE(float)
OCLSPKT_INSTANTIATE(double)

}  // namespace oclspkt
