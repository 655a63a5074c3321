// SPDX-License-Identifier: BSD-2-Clause
#include "method_choice.hpp"

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <limits>

#include "certificate.hpp"
#include "evidence.hpp"
#include "oclspkt/error.hpp"

namespace oclspkt {
namespace {

/// Halos up to this many rows are taken from the survey alone; longer ones are worth following the decay, unless rows
/// are so much alike that the survey shows more than their dominance.
constexpr Index kQuickHalo = 64, kQuickHaloOfLikeRows = 256;
/// Halos are multiples of this.
constexpr Index kHaloQuantum = 8;
/// Halos tried when the decay is followed, shortest first: a short search costs little.
constexpr Index kHaloSearch[] = {64, 256, 1024, 4096};
/// Halo of a truncated method that the user named and that no certificate covers.
constexpr Index kUncoveredHalo = 256;
/// Tiles tried for the streamed form where the host models it.
constexpr Index kTileSearch[] = {16 * 31, 16 * 127, 16 * 511, 16 * 2047};

template <typename... Args>
std::string format(const char* pattern, Args... args) {
  char text[160];
  std::snprintf(text, sizeof text, pattern, args...);
  return text;
}

template <typename T>
Plan plan_for(const Problem<T>& problem, Method method, Index halo) {
  return make_plan(method, problem.bands.lines().rows(), halo, problem.options.partition, sizeof(T), problem.traits);
}

template <typename T>
Plan factored_plan(const Problem<T>& problem) {
  return make_factored_plan(problem.bands.lines(), problem.survey.shared ? Form::shared : Form::general, sizeof(T),
                            problem.traits);
}

Index round_halo(Index rows) { return (rows + kHaloQuantum - 1) / kHaloQuantum * kHaloQuantum; }

/// Pivots without their excess are good enough from this dominance on.
constexpr double kPlainPivots = 1.0001;
/// Rows that a device may sweep for their pivots alone, times those of a partition.
constexpr Index kLongLeadIn = 4;
/// Partitions tried for stored factors, times the usual one, where a tile is too short.
constexpr Index kLongerPartitions[] = {1, 3, 6};

double rows_in(const LineSet& lines, const std::vector<Index>& members) {
  Index rows = 0;
  for (const Index line : members) rows += lines.length(line);
  return static_cast<double>(rows);
}

std::string where(const Certificate& c) {
  return format("rows %lld-%lld, side %s", static_cast<long long>(c.first), static_cast<long long>(c.last),
                c.above ? "up" : "down");
}

/// Dominance above which the 2x2 systems of the streamed form hardly round: 1 - v_b w_t >= 1 - 1 / d^2.
constexpr double kHarmlessInterface = 1.5;

Proposal covered(const Plan& plan, double certificate, double tol, const Survey& survey) {
  Proposal p;
  p.plan = plan;
  p.certificate = certificate;
  p.growth = kDominantGrowth;
  // The certificate says nothing of rounding.
  const bool settles_by_two = plan.method == Method::truncated_streamed && !plan.stored;
  p.needs_trial = !(survey.dominance >= (settles_by_two ? kHarmlessInterface : 1));
  p.why = format("row dominance %.4f, certificate %.1e <= %.1e", survey.dominance, certificate, tol);
  return p;
}

/// A truncated plan without cover, for a user who named the method.
Proposal uncovered(const Plan& plan, const Certificate& certificate, double tol) {
  Proposal p;
  p.plan = plan;
  p.certificate = certificate.bound;
  p.above_tolerance = true;
  p.why =
      format("asked for, although its certificate is %.1e > %.1e (", certificate.bound, tol) + where(certificate) + ")";
  return p;
}

template <typename T>
RowRange rows_of(const Problem<T>& problem, Index line) {
  const LineSet& lines = problem.bands.lines();
  return {lines.first(line), lines.first(line) + lines.length(line)};
}

/// Growth of the sweeps of a plan, line by line. Stored factors report theirs when they are made, see examine().
template <typename T>
double growth_of(const Problem<T>& problem, const Plan& plan, Objection& objection) {
  double worst = kDominantGrowth;
  const LineSet& lines = problem.bands.lines();
  for (Index l = 0; l < lines.count(); ++l) {
    if (lines.count() > 1 && line_dominance(lines, problem.bands.view(), l) >= 1) continue;
    const RowRange rows = rows_of(problem, l);
    const BandsView<T> view = problem.bands.view();
    const double growth = plan.method == Method::exact_twopass
                              ? twopass_growth(view, plan.m, rows.first, rows.end)
                              : elimination_growth(view, plan.m, plan.halo, rows.first, rows.end);
    if (!(growth <= kGrowthLimit)) {
      if (objection.lines.empty()) {
        objection.why = format("line %lld: growth %.1e > %.0f", static_cast<long long>(l), growth, kGrowthLimit);
      }
      objection.lines.push_back(l);
    } else {
      worst = std::max(worst, growth);
    }
  }
  return worst;
}

/// Truncated by the halo that the survey guarantees, if it is short.
template <typename T>
std::optional<Proposal> propose_by_survey(const Problem<T>& problem, double tol) {
  const Index halo = known_halo<T>(problem.options, problem.survey);
  if (halo < 0) return std::nullopt;
  return covered(plan_for(problem, Method::truncated_halo, halo),
                 2 * std::pow(problem.survey.decay(), -static_cast<double>(halo + 1)), tol, problem.survey);
}

/// Rows that are not dominant can make sweeps without pivoting unstable whatever truncation does: a proposal without
/// growth, or with one that the user insists on.
template <typename T>
std::optional<Proposal> unless_growth(const Problem<T>& problem, Proposal p, Objection& objection) {
  objection = {};
  p.growth = kDominantGrowth;
  if (problem.survey.dominance >= 1) return p;
  p.growth = growth_of(problem, p.plan, objection);
  objection.plan = p.plan;
  if (!objection) return p;
  if (!named(problem.options.method)) return std::nullopt;
  p.above_tolerance = true;
  p.why = "asked for, although " + objection.why;
  return p;
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
  needs.halo = std::min(longest, round_halo(needs.halo));
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

/// Truncation beyond rounding makes an operator that is not symmetric although the matrix is; CG would break.
template <typename T>
bool breaks_symmetry(const Options& options, bool symmetric) {
  return symmetric && symmetry_matters<T>(options);
}

/// Cut lines side by side into segments. Only dominance covers them: the decay of each line is not followed.
template <typename T>
std::optional<Proposal> propose_segments(const Problem<T>& problem, double tol, Objection& objection) {
  const double d = problem.survey.decay();
  const LineSet& lines = problem.bands.lines();
  const Index needed = halo_from_dominance(d, tol);
  if (needed < 0) {
    objection.why = format("row dominance %.4f, lines side by side are cut only above 1", problem.survey.dominance);
    return std::nullopt;
  }
  const Index halo = round_halo(needed);
  const Plan plan = make_strided_halo_plan(lines, halo, problem.options.partition, sizeof(T), problem.traits);
  if (!named(problem.options.method)) {
    const Plan whole = factored_plan(problem);
    if (!cutting_pays(plan, whole)) {
      objection = {format("no cheaper than whole lines, which keep %.0f %% of cores and lanes busy", 100 / whole.idle),
                   {},
                   plan};
      return std::nullopt;
    }
  }
  return covered(plan, 2 * std::pow(d, -static_cast<double>(halo + 1)), tol, problem.survey);
}

template <typename T>
std::optional<Proposal> propose_halo(const Problem<T>& problem, Objection& objection) {
  const double tol = tolerance<T>(problem.options);
  if (breaks_symmetry<T>(problem.options, problem.symmetric)) {
    objection.why = format("the matrix is symmetric, truncated to %.1e its operator would not be", tol);
    return std::nullopt;
  }
  const LineSet& lines = problem.bands.lines();
  if (!lines.contiguous()) return propose_segments(problem, tol, objection);
  if (auto quick = propose_by_survey(problem, tol)) return quick;

  for (const Index longest : kHaloSearch) {
    const Plan trial = plan_for(problem, Method::truncated_halo, longest);
    if (!cheaper_than_exact(trial) && objection) break;
    LineNeeds needs = needs_of_lines(problem, trial.m, tol, longest);
    const Plan plan = plan_for(problem, Method::truncated_halo, needs.halo);
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
  const Plan plan = plan_for(problem, Method::truncated_halo, kUncoveredHalo);
  const Certificate least = certify_halo(plan.n, problem.bands.view(), plan.m, plan.halo, {0, plan.n});
  if (least.bound <= tol) {  // it holds, and only costs more
    return unless_growth(problem, covered(plan, least.bound, tol, problem.survey), objection);
  }
  return uncovered(plan, least, tol);
}

/// True if rows of dominance d may be truncated a tile of stored factors away.
bool decays_within_a_tile(double d, const Plan& plan, double tol) {
  return d > 1 && bound_stored(d, plan.tile_rows()) <= tol;
}

/// True if rows of dominance d bound what partitions of stored factors make of rounding when they settle each other.
bool settles_by_dominance(double d) { return growth_stored(d) <= kGrowthLimit; }

/// The same of a plan, seen from the survey where rows are dominant enough, or alike: then |a_i p_i| < 1.
template <typename T>
bool settles_well(const Problem<T>& problem, const Plan& plan) {
  const Survey& survey = problem.survey;
  return settles_by_dominance(survey.dominance) || survey.decay() > std::max(1.0, survey.dominance) ||
         certify_stored(plan, problem.bands.view()).growth <= kGrowthLimit;
}

/// Why the streamed form does not hold.
std::string streamed_refusal(const Certificate& c, double tol) {
  return c.bound <= tol ? format("settling multiplies rounding by %.1e > %.0f", c.growth, kGrowthLimit)
                        : format("certificate %.1e > %.1e (", c.bound, tol) + where(c) + ")";
}

/// A streamed plan that does not hold, for a user who named the method.
template <typename T>
std::optional<Proposal> insist_on_streamed(const Problem<T>& problem, const Plan& plan, const Certificate& certificate,
                                           double tol, const Objection& objection) {
  if (!named(problem.options.method) || !std::isfinite(certificate.bound)) return std::nullopt;
  Proposal proposal = uncovered(plan, certificate, tol);
  if (certificate.bound <= tol) proposal.why = "asked for, although " + objection.why;
  proposal.growth = certificate.growth;
  return proposal;
}

/// The plan by stored factors that the survey covers, if any.
template <typename T>
std::optional<Proposal> propose_stored_by_survey(const Problem<T>& problem, Plan plan, double tol) {
  const double d = problem.survey.decay();
  if (!decays_within_a_tile(d, plan, tol) || !settles_well(problem, plan)) return std::nullopt;
  Index needed = kHaloQuantum;
  while (needed < kLongLeadIn * plan.m && !(bound_stored(d, needed) <= tol)) needed += kHaloQuantum;
  plan.reach = std::min(needed, plan.m);
  // Pivots forget twice as fast as unknowns.
  if (problem.survey.dominance >= kPlainPivots && needed < kLongLeadIn * plan.m) {
    plan.lead_in = (std::max(needed / 2, kHaloQuantum) + plan.lanes - 1) / plan.lanes * plan.lanes;
  }
  return covered(plan, bound_stored(d, needed < plan.m ? needed : plan.tile_rows()), tol, problem.survey);
}

/// Lines that by themselves are dominant enough for a plan are not in the way of the others.
template <typename T>
std::vector<Index> lines_in_the_way(const Problem<T>& problem, const Plan& plan, const Certificate& certificate,
                                    double tol) {
  const bool settles = certificate.growth <= kGrowthLimit;
  const LineSet& lines = problem.bands.lines();
  std::vector<Index> weak;
  for (Index l = 0; lines.count() > 1 && l < lines.count(); ++l) {
    const double d = line_dominance(lines, problem.bands.view(), l);
    if (!(decays_within_a_tile(d, plan, tol) && (settles || settles_by_dominance(d)))) weak.push_back(l);
  }
  const bool few = rows_in(lines, weak) <= kApartShare * static_cast<double>(lines.rows());
  return few ? weak : std::vector<Index>{};
}

/// The streamed form by stored factors, as devices carry it: first by the survey, then by the decay that the factors
/// show, with ever longer partitions as long as there are more tiles than cores.
template <typename T>
std::optional<Proposal> propose_stored(const Problem<T>& problem, Objection& objection) {
  const double tol = tolerance<T>(problem.options);
  if (breaks_symmetry<T>(problem.options, problem.symmetric)) {
    objection.why = format("the matrix is symmetric, truncated to %.1e its operator would not be", tol);
    return std::nullopt;
  }
  const Index n = problem.bands.lines().rows();
  const Plan usual = make_stored_plan(n, 0, problem.options.partition, sizeof(T), problem.traits);
  if (auto quick = propose_stored_by_survey(problem, usual, tol)) return quick;
  Plan plan = usual;
  Certificate certificate;
  for (const Index times : kLongerPartitions) {
    plan = times == 1 ? usual : make_stored_plan(n, 0, times * usual.m, sizeof(T), problem.traits);
    certificate = certify_stored(plan, problem.bands.view());
    if (certificate.bound <= tol && certificate.growth <= kGrowthLimit) {
      return covered(plan, certificate.bound, tol, problem.survey);
    }
    if (problem.options.partition > 0 || plan.tiles() <= problem.traits.cores) break;
  }
  objection = {streamed_refusal(certificate, tol), lines_in_the_way(problem, plan, certificate, tol), plan};
  return insist_on_streamed(problem, plan, certificate, tol, objection);
}

/// A way to walk the tiles of the streamed form.
struct Direction {
  bool up, exact_starts;
};

/// Cheapest first. Lines that advect decay in one direction only: their runs walk with the wind, and where the side
/// that they start from does not decay, the starts are solved for.
constexpr Direction kDirections[] = {{false, false}, {true, false}, {false, true}, {true, true}};

template <typename T>
std::optional<Proposal> propose_streamed(const Problem<T>& problem, Objection& objection) {
  if (!problem.traits.host) return propose_stored(problem, objection);
  const double tol = tolerance<T>(problem.options);
  Plan best;
  Certificate least;
  least.bound = std::numeric_limits<double>::infinity();
  for (const Direction& direction : kDirections) {
    for (const Index tile : kTileSearch) {
      const Index partition = problem.options.partition > 0 ? problem.options.partition : tile;
      Plan plan =
          make_plan(Method::truncated_streamed, problem.bands.lines().rows(), 0, partition, sizeof(T), problem.traits);
      plan.walk_up = direction.up;
      plan.exact_starts = direction.exact_starts;
      const Certificate certificate = certify_streamed(plan, problem.bands.view());
      if (certificate.bound <= tol && certificate.growth <= kGrowthLimit) {
        Proposal proposal = covered(plan, certificate.bound, tol, problem.survey);
        // What the starts are solved for and what the runs arrive at are rounded apart; that they agree is to be shown.
        proposal.needs_trial = proposal.needs_trial || direction.exact_starts;
        return unless_growth(problem, std::move(proposal), objection);
      }
      if (certificate.bound < least.bound) {
        least = certificate;
        best = plan;
      }
      if (partition != tile || plan.m >= plan.n) break;
    }
  }
  objection = {streamed_refusal(least, tol), {}, best};
  return insist_on_streamed(problem, best, least, tol, objection);
}

template <typename T>
std::optional<Proposal> propose_exact(const Problem<T>& problem, Method method, Objection& objection) {
  Proposal p;
  p.plan = method == Method::exact_factored ? factored_plan(problem) : plan_for(problem, method, 0);
  p.needs_trial = true;
  p.growth = kDominantGrowth;
  p.why = format("row dominance %.4f", problem.survey.dominance);
  if (method == Method::exact_factored) return p;
  return unless_growth(problem, std::move(p), objection);
}

}  // namespace

template <typename T>
double tolerance(const Options& options) {
  return options.rtol > 0 ? options.rtol : static_cast<double>(std::numeric_limits<T>::epsilon());
}

template <typename T>
Index known_halo(const Options& options, const Survey& survey) {
  const double d = survey.decay();
  const Index needed = halo_from_dominance(d, tolerance<T>(options));
  // A tolerance that was loosened is there to be used up.
  const bool alike = d > survey.dominance && options.rtol == 0;
  const Index longest = alike ? kQuickHaloOfLikeRows : kQuickHalo;
  return needed < 0 || needed > longest ? -1 : round_halo(needed);
}

std::vector<Method> methods_to_try(MethodChoice choice, bool on_host, bool end_to_end, bool one_shot) {
  const bool stored = on_host || !end_to_end;
  const Method exact = stored ? Method::exact_factored : Method::exact_twopass;
  switch (choice) {
    case MethodChoice::automatic:
      // There the stored factors cost no more than truncation and need no certificate.
      if (on_host) return {exact, Method::pivot};
      // Unless few long lines leave cores of a device idle.
      if (stored) return {Method::truncated_halo, exact, Method::pivot};
      if (one_shot) {
        return {Method::truncated_halo, Method::truncated_streamed, Method::exact_twopass, Method::exact_factored,
                Method::pivot};
      }
      // Where the pieces of the two passes do not agree, one sweep on the host does.
      return {Method::truncated_streamed, Method::truncated_halo, Method::exact_twopass, Method::exact_factored,
              Method::pivot};
    case MethodChoice::truncated:
    case MethodChoice::truncated_halo:
      return {Method::truncated_halo};
    case MethodChoice::truncated_streamed:
      return {Method::truncated_streamed};
    case MethodChoice::exact:
      return {exact};
    case MethodChoice::exact_twopass:
      return {Method::exact_twopass};
    case MethodChoice::exact_factored:
      return {Method::exact_factored};
    case MethodChoice::pivot:
      return {Method::pivot};
  }
  return {};
}

bool named(MethodChoice choice) { return choice != MethodChoice::automatic; }

template <typename T>
bool symmetry_matters(const Options& options) {
  return !named(options.method) && tolerance<T>(options) > tolerance<T>(Options{});
}

template <typename T>
std::optional<Proposal> propose(const Problem<T>& problem, Method method, Objection& objection) {
  const LineSet& lines = problem.bands.lines();
  const bool glued = method != Method::exact_factored && method != Method::pivot,
             cuts = method == Method::truncated_halo;
  if (glued && !lines.contiguous() && !(cuts && lines.beside())) {
    throw InvalidInput(std::string("method ") + name(method) + " takes lines laid end to end" +
                       (cuts ? " or side by side" : "") + ", not " + lines.describe() +
                       ": use method auto, exact-factored or pivot");
  }
  switch (method) {
    case Method::truncated_halo:
      return propose_halo(problem, objection);
    case Method::truncated_streamed:
      return propose_streamed(problem, objection);
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

std::string shape_text(const Plan& plan) {
  switch (plan.method) {
    case Method::truncated_halo:
      return format("halo %lld", static_cast<long long>(plan.halo)) +
             (plan.segments > 0 ? format(", %lld segments a line", static_cast<long long>(plan.segments)) : "");
    case Method::truncated_streamed:
      if (plan.stored) return format("stored factors, reach %lld", static_cast<long long>(plan.reach));
      return std::string("walking ") + (plan.walk_up ? "up" : "down") + (plan.exact_starts ? " from exact starts" : "");
    case Method::exact_factored:
      return std::string(plan.form == Form::shared ? "shared factors" : "") +
             (plan.form == Form::shared && plan.bundle > 1 ? ", " : "") +
             (plan.bundle > 1 ? format("bundles of %lld lines", static_cast<long long>(plan.bundle)) : "");
    default:
      return {};
  }
}

template <typename T>
Index segment_halo(const Options& options, const Survey& survey, bool symmetric) {
  const bool asked = options.method == MethodChoice::automatic || options.method == MethodChoice::truncated ||
                     options.method == MethodChoice::truncated_halo;
  if (!asked || breaks_symmetry<T>(options, symmetric)) return -1;
  const Index needed = halo_from_dominance(survey.decay(), tolerance<T>(options));
  return needed < 0 ? -1 : round_halo(needed);
}

template <typename T>
double likely_words(const Options& options, const Survey& survey, bool symmetric) {
  Plan plan;
  const bool truncates =
      options.method == MethodChoice::automatic
          ? halo_from_dominance(survey.dominance, tolerance<T>(options)) >= 0 && !breaks_symmetry<T>(options, symmetric)
          : options.method <= MethodChoice::truncated_streamed;
  plan.method = truncates ? Method::truncated_halo : Method::exact_twopass;
  return plan.words_per_row();
}

#define OCLSPKT_INSTANTIATE(T)                                                     \
  template double tolerance<T>(const Options&);                                    \
  template Index known_halo<T>(const Options&, const Survey&);                     \
  template bool symmetry_matters<T>(const Options&);                               \
  template std::optional<Proposal> propose(const Problem<T>&, Method, Objection&); \
  template Index segment_halo<T>(const Options&, const Survey&, bool);             \
  template double likely_words<T>(const Options&, const Survey&, bool);
OCLSPKT_INSTANTIATE(float)
OCLSPKT_INSTANTIATE(double)

}  // namespace oclspkt
