// SPDX-License-Identifier: BSD-2-Clause
#include "method_choice.hpp"

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <limits>

#include "evidence.hpp"
#include "narrow.hpp"
#include "oclspkt/error.hpp"
#include "proposal.hpp"

namespace oclspkt {
namespace {

/// Halos up to this many rows are taken from the survey alone; longer ones are worth following the decay, unless rows
/// are so much alike that the survey shows more than their dominance.
constexpr Index kQuickHalo = 64, kQuickHaloOfLikeRows = 256;
/// Halo up to which work-groups are faster without stored factors. Shares of the stream, H200, 3e7 rows, a halo of 168,
/// 256 and 352 rows: 0.96, 0.91, 0.84 in float, 1.01, 0.97, 0.89 in double; stored factors 0.85 and 0.95.
constexpr Index kQuickerHalo = 256;
/// Rows of a line up to which work-groups rather keep factors of whole lines than of parts of them.
constexpr Index kSmallTile = 2304;
/// Halos tried when the decay is followed, shortest first: a short search costs little.
constexpr Index kHaloSearch[] = {64, 256, 1024, 4096};
/// Cores up to which two sides of a system, swept by two of them, take less time than partitions that keep all busy.
constexpr int kTwistedCores = 4;
/// Powers of two between which rows stay that kernels multiply by several: those of exact-twopass from both ends
/// (RESCALE of them) and of tiles that are walked.
template <typename T>
constexpr int kLaneExponent = sizeof(T) == sizeof(float) ? 30 : 120;
/// Halo of a truncated method that the user named and that no certificate covers.
constexpr Index kUncoveredHalo = 256;

template <typename T>
Plan factored_plan(const Problem<T>& problem) {
  return make_factored_plan(problem.bands.lines(), problem.survey.shared ? Form::shared : Form::general, sizeof(T),
                            problem.traits);
}

/// Rows of halo that the survey guarantees; -1 if they are many, or unknown.
template <typename T>
Index known_halo(const Options& options, const Survey& survey) {
  const double d = survey.decay();
  const Index needed = halo_from_dominance(d, tolerance<T>(options));
  // A tolerance that was loosened is there to be used up.
  const bool alike = d > survey.dominance && options.rtol == 0;
  const Index longest = alike ? kQuickHaloOfLikeRows : kQuickHalo;
  return needed < 0 || needed > longest ? -1 : round_up(needed, kHaloQuantum);
}

/// Dominance from which whole lines need no evidence: one of dominance 1 may be singular.
constexpr double kSafeWholeLines = 1.0001;

/// Rows of a partition that holds whole lines; 0 if there is none, rows are less dominant, or the user asked for
/// another.
template <typename T>
Index whole_lines(const Problem<T>& problem, double least_dominance) {
  if (!(problem.survey.dominance >= least_dominance)) return 0;
  if (problem.options.partition > 0 || problem.bands.lines().count() < 2) return 0;
  return partition_of_whole_lines(problem.bands.lines(), sizeof(T), problem.traits);
}

/// Tiles that are walked, if the survey guarantees that what is truncated a tile away does not show.
template <typename T>
std::optional<Plan> walked_plan(const Problem<T>& problem) {
  const Index needed = halo_from_dominance(problem.survey.decay(), tolerance<T>(problem.options));
  const double extent = std::ldexp(1.0, kLaneExponent<T>);
  const bool scaled = problem.survey.largest_row <= extent && problem.survey.smallest_row >= 1 / extent;
  if (needed < 0 || !scaled || problem.options.partition > 0) return std::nullopt;
  Plan plan = plan_for(problem, Method::truncated_halo, 0);
  if (!walk_tiles(plan, needed, sizeof(T), problem.traits)) return std::nullopt;
  return plan;
}

/// Truncated by what the survey guarantees: by tiles that are walked, or by a halo if it is short.
template <typename T>
std::optional<Proposal> propose_by_survey(const Problem<T>& problem, double tol) {
  const double d = problem.survey.decay();
  if (auto walked = walked_plan(problem)) {
    return covered(*walked, 2 * std::pow(d, -static_cast<double>(walked->tile_rows() + 1)), tol, problem.survey);
  }
  const Index halo = known_halo<T>(problem.options, problem.survey);
  if (halo < 0 || halo > longest_halo(problem.options.partition, sizeof(T), problem.traits)) return std::nullopt;
  Plan plan = plan_for(problem, Method::truncated_halo, halo);
  settle_within_halo(plan);
  return covered(plan, 2 * std::pow(d, -static_cast<double>(halo + 1)), tol, problem.survey);
}

/// Parts of lines that are all alike, by stored factors that work-groups keep, with the halo that the survey
/// guarantees.
template <typename T>
std::optional<Proposal> propose_kept(const Problem<T>& problem, double tol) {
  const LineSet& lines = problem.bands.lines();
  const double d = problem.survey.decay();
  const bool alike = problem.survey.shared && problem.traits.group_items > 0 && problem.options.partition == 0;
  if (!alike || !(d > 1) || !settles(problem.survey)) return std::nullopt;
  const Index longest = longest_halo(0, sizeof(T), problem.traits);
  Index halo = kHaloQuantum;
  while (halo <= longest && !(bound_stored(d, halo) <= tol)) halo += kHaloQuantum;
  if (halo > longest) return std::nullopt;
  Plan plan = plan_for(problem, Method::truncated_halo, halo);
  const Index length = lines.length(0);
  if (!share_line(plan, length, sizeof(T)) || !keep_factors(plan, length, sizeof(T), problem.traits)) {
    return std::nullopt;
  }
  return covered(plan, bound_stored(d, halo), tol, problem.survey);
}

/// Halos of the lines of a set, each judged by itself.
struct LineNeeds {
  Index halo = 0;               ///< enough for every line but those that failed
  std::vector<Index> failed;    ///< lines that want more than was tried
  std::vector<Index> unproven;  ///< lines whose need does not follow from their dominance
};

template <typename T>
LineNeeds needs_of_lines(const Problem<T>& problem, Index m, double tol, Index longest) {
  const LineSet& lines = problem.bands.lines();
  const BandsView<T> view = problem.bands.view();
  LineNeeds needs;
  for (Index l = 0; l < lines.count(); ++l) {
    const double d = lines.count() > 1 ? line_dominance(lines, view, l) : problem.survey.dominance;
    Index halo = halo_from_dominance(d, tol);
    if (halo < 0 || halo > kQuickHalo) {
      halo = find_halo(lines.rows(), view, m, tol, longest, rows_of(problem, l));
      (halo < 0 ? needs.failed : needs.unproven).push_back(l);
    }
    needs.halo = std::max(needs.halo, halo);
  }
  needs.halo = std::min(longest, round_up(needs.halo, kHaloQuantum));
  return needs;
}

/// Confirm the lines whose halo was followed; those that fail join needs.failed. @return the worst of the others
template <typename T>
Certificate confirm(const Problem<T>& problem, const Plan& plan, double tol, LineNeeds& needs) {
  Certificate worst;
  for (const Index line : needs.unproven) {
    const Certificate c = certify_halo(plan.n, problem.bands.view(), plan.m, plan.halo, rows_of(problem, line));
    if (!(c.bound <= tol)) {
      needs.failed.push_back(line);
    } else if (c.bound > worst.bound) {
      worst = c;
    }
  }
  std::sort(needs.failed.begin(), needs.failed.end());
  return worst;
}

bool cheaper_than_exact(const Plan& plan) {
  Plan exact = plan;
  exact.method = Method::exact_twopass;
  return plan.words_per_row() < exact.words_per_row();
}

/// Why `line` does not fit under `plan`, with its numbers.
template <typename T>
std::string halo_refusal(const Problem<T>& problem, const Plan& plan, double tol, Index line) {
  const Certificate c = certify_halo(plan.n, problem.bands.view(), plan.m, plan.halo, rows_of(problem, line));
  return format("certificate %.1e > %.1e (line %lld, ", c.bound, tol, static_cast<long long>(line)) + where(c) + ")";
}

/// Cut lines side by side into segments. Only dominance covers them: the decay of each line is not followed. For few
/// applies they may stay whole: what counts then is that no factors are stored.
template <typename T>
std::optional<Proposal> propose_segments(const Problem<T>& problem, double tol, Objection& objection) {
  const double d = problem.survey.decay();
  const LineSet& lines = problem.bands.lines();
  const Index needed = halo_from_dominance(d, tol);
  if (needed < 0 && !problem.one_shot) {
    objection.why = format("row dominance %.4f, lines side by side are cut only above 1", problem.survey.dominance);
    return std::nullopt;
  }
  const Index halo = needed < 0 ? lines.length(0) : round_up(needed, kHaloQuantum);
  const Plan plan = make_strided_halo_plan(lines, halo, problem.options.partition, sizeof(T), problem.traits);
  if (!named(problem.options.method)) {
    const Plan whole = factored_plan(problem);
    if (problem.one_shot ? plan.chunk_blocks == 0 : !cutting_pays(plan, whole)) {
      objection = {format("no cheaper than whole lines, which keep %.0f %% of cores and lanes busy", 100 / whole.idle),
                   {},
                   plan};
      return std::nullopt;
    }
  }
  const double bound = plan.segments > 1 ? 2 * std::pow(d, -static_cast<double>(halo + 1)) : 0;
  return covered(plan, bound, tol, problem.survey);
}

template <typename T>
std::optional<Proposal> propose_halo(const Problem<T>& problem, Objection& objection) {
  const double tol = tolerance<T>(problem.options);
  if (object_to_asymmetry(problem, objection)) return std::nullopt;
  const LineSet& lines = problem.bands.lines();
  if (!lines.contiguous()) return propose_segments(problem, tol, objection);
  if (problem.traits.paper) return propose_paper(problem, objection);
  auto kept = propose_kept(problem, tol);
  // Kernels for GPUs are as fast for whole lines as for any, whatever the dominance.
  const Index m = whole_lines(problem, problem.traits.group_items > 0 ? 1 : kSafeWholeLines);
  if (m > 0 && !(kept && lines.length(0) > kSmallTile)) {
    Proposal proposal = covered(make_whole_lines_plan(lines, m, sizeof(T), problem.traits), 0, tol, problem.survey);
    proposal.needs_trial = proposal.needs_trial || problem.survey.dominance < kSafeWholeLines;
    return unless_growth(problem, std::move(proposal), objection);
  }
  if (kept) return kept;
  if (auto quick = propose_by_survey(problem, tol)) return quick;

  const Index limit = longest_halo(problem.options.partition, sizeof(T), problem.traits);
  for (const Index longest : kHaloSearch) {
    if (longest > limit) {
      if (!objection)
        objection.why = format("the device's work-groups hold %lld rows of halo", static_cast<long long>(limit));
      break;
    }
    const Plan trial = plan_for(problem, Method::truncated_halo, longest);
    if (!cheaper_than_exact(trial) && objection) break;
    LineNeeds needs = needs_of_lines(problem, trial.m, tol, longest);
    Plan plan = plan_for(problem, Method::truncated_halo, needs.halo);
    // With another halo the tiles of work-groups are cut elsewhere; it only grows, so this ends.
    while (plan.by_groups() && needs.failed.empty()) {
      needs = needs_of_lines(problem, plan.m, tol, longest);
      if (needs.halo <= plan.halo) break;
      plan = plan_for(problem, Method::truncated_halo, needs.halo);
    }
    const Certificate worst = confirm(problem, plan, tol, needs);
    if (needs.failed.empty() && cheaper_than_exact(plan)) {
      return unless_growth(problem, covered(plan, worst.bound, tol, problem.survey), objection);
    }
    // Where no line gave a halo, the longest that was tried says most.
    const Plan& judged = needs.halo > 0 ? plan : trial;
    objection = {
        needs.failed.empty() ? "no cheaper than exact" : halo_refusal(problem, judged, tol, needs.failed.front()),
        {},
        judged};
    if (static_cast<Index>(needs.failed.size()) == lines.count() || !cheaper_than_exact(plan)) continue;
    if (!named(problem.options.method) &&
        rows_in(lines, needs.failed) <= kApartShare * static_cast<double>(lines.rows())) {
      objection.lines = std::move(needs.failed);
      return std::nullopt;
    }
  }
  if (!named(problem.options.method)) return std::nullopt;
  const Plan plan = plan_for(problem, Method::truncated_halo, std::min(kUncoveredHalo, limit));
  const Certificate least = certify_halo(plan.n, problem.bands.view(), plan.m, plan.halo, {0, plan.n});
  if (least.bound <= tol) {  // it holds, and only costs more
    return unless_growth(problem, covered(plan, least.bound, tol, problem.survey), objection);
  }
  return uncovered(plan, least, tol);
}

template <typename T>
Proposal exact_proposal(const Problem<T>& problem, const Plan& plan) {
  Proposal p;
  p.plan = plan;
  p.needs_trial = true;
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
  } else if (const double growth = settling_growth(plan, problem.bands.view()); !(growth <= kGrowthLimit)) {
    objection.why = format("settling multiplies rounding by %.1e > %.0f", growth, kGrowthLimit);
  } else {
    objection = {};
    return exact_proposal(problem, plan);
  }
  return std::nullopt;
}

/// Stored factors of tiles that work-groups fold to their first rows.
template <typename T>
std::optional<Proposal> propose_folds(const Problem<T>& problem, Objection& objection) {
  const Index n = problem.bands.lines().rows();
  Plan plan = make_fold_plan(n, problem.options.partition, sizeof(T), problem.traits);
  if (plan.chunk_tiles == 0 && n > 0) {
    objection = {"the device's memory does not hold all rows at once", {}, plan};
    return std::nullopt;
  }
  if (const double growth = settling_growth(plan, problem.bands.view()); !(growth <= kTriedGrowth)) {
    objection = {format("folding multiplies rounding by %.1e > %.0f", growth, kTriedGrowth), {}, plan};
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
  const auto from_ends_growth = [&] {
    const bool known = shrinks(survey) || growth_stored(survey.dominance) <= kGrowthLimit;
    return known ? 1.0 : settling_growth(plan, problem.bands.view());
  };
  const double extent = std::ldexp(1.0, kLaneExponent<T>);
  objection.plan = plan;
  if (traits.cores > kTwistedCores) {
    objection.why = format("from both ends: two sides keep only 2 of %d cores busy", traits.cores);
  } else if (plan.chunk_tiles == 0 && n > 0) {
    objection.why = "from both ends: the device's memory does not hold all rows at once";
  } else if (!(survey.dominance >= 1)) {
    objection.why = format("from both ends: row dominance %.4f < 1", survey.dominance);
  } else if (!(survey.largest_row <= extent && survey.smallest_row >= 1 / extent)) {
    objection.why = format("from both ends: rows of %.1e to %.1e", survey.smallest_row, survey.largest_row);
  } else if (const double growth = from_ends_growth(); !(growth <= kGrowthLimit)) {
    objection.why = format("from both ends: settling multiplies rounding by %.1e > %.0f", growth, kGrowthLimit);
  } else {
    objection = {};
    return exact_proposal(problem, plan);
  }
  return std::nullopt;
}

template <typename T>
std::optional<Proposal> propose_exact(const Problem<T>& problem, Method method, Objection& objection) {
  if (method == Method::exact_twopass && problem.from_ends) {
    return problem.traits.group_items > 0 ? propose_reduced(problem, objection) : propose_from_ends(problem, objection);
  }
  if (method == Method::exact_twopass) {
    return unless_growth(problem, exact_proposal(problem, plan_for(problem, method, 0)), objection);
  }
  const bool end_to_end = problem.bands.lines().contiguous();
  if (problem.traits.group_items > 0 && end_to_end) return propose_folds(problem, objection);
  if (!problem.traits.host && end_to_end) return propose_twisted(problem, objection);
  if (takes_grid(problem)) return propose_grid(problem, method, objection);
  return exact_proposal(problem, factored_plan(problem));
}

}  // namespace

template <typename T>
double tolerance(const Options& options) {
  return options.rtol > 0 ? options.rtol : static_cast<double>(std::numeric_limits<T>::epsilon());
}

template <typename T>
bool holds_at_once(const Problem<T>& problem) {
  if (!problem.bands.lines().contiguous()) return problem.survey.dominance >= kSafeWholeLines;
  return whole_lines(problem, kSafeWholeLines) > 0 || walked_plan(problem) ||
         known_halo<T>(problem.options, problem.survey) >= 0;
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

/// Why work-groups are faster with stored factors than with a halo, which they try first; empty if they are not.
template <typename T>
static std::string cheaper_by_factors(const Problem<T>& problem, const Plan& plan) {
  if (!plan.tiled() || plan.stored || named(problem.options.method) || problem.one_shot) return {};
  if (plan.halo <= kQuickerHalo) return {};
  return format("halo %lld, stored factors need none", static_cast<long long>(plan.halo));
}

template <typename T>
std::optional<Proposal> propose(const Problem<T>& problem, Method method, Objection& objection) {
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
  template bool holds_at_once(const Problem<T>&);                                  \
  template bool symmetry_matters<T>(const Options&);                               \
  template std::optional<Proposal> propose(const Problem<T>&, Method, Objection&); \
  template Index segment_halo<T>(const Options&, const Survey&, bool);             \
  template double likely_words<T>(const Options&, const Survey&, bool);
OCLSPKT_INSTANTIATE(float)
OCLSPKT_INSTANTIATE(double)

}  // namespace oclspkt
