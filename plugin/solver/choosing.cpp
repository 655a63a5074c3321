// SPDX-License-Identifier: BSD-2-Clause
#include "choosing.hpp"

#include <algorithm>
#include <cmath>
#include <limits>

#include "certificate.hpp"
#include "choice_report.hpp"
#include "cost.hpp"
#include "evidence.hpp"
#include "forgiven.hpp"
#include "format.hpp"
#include "host_solver.hpp"
#include "oclspkt/error.hpp"
#include "schemes/proposal.hpp"
#include "schemes/scheme.hpp"

namespace oclspkt {
namespace {

/// The reason to set the last unknown of singular lines to 0; null if there is no reason.
const char* pin_reason(const Options& options, const Known& known, const LineSet& lines) {
  if (options.singular == Singular::pin) return "asked for";
  const bool automatic = options.singular == Singular::automatic;
  return automatic && known.constant_null_space && lines.count() == 1
             ? "one line, and the matrix has a constant null space"
             : nullptr;
}

/// True if the rejected lines may become fallback lines, so that the way can be tried for the other lines.
template <typename T>
bool may_fall_back(const Rejection& rejection, const Way& way, const Options& options, bool pins,
                   const FallbackLines<T>& fallback) {
  if (rejection.lines.empty()) return false;
  // If `pivot` fails, pinning its singular lines is the only remedy.
  if (way.method == Method::pivot) return pins;
  return !named(options.method) && fallback.may_add(rejection.lines, way.method, way.processor->host());
}

/// Trial rules for a plan. Pieces that are solved separately need both trials. So do schemes whose interface systems
/// join pieces, even of different lines; their errors are relative to the largest unknown.
TrialRules rules_for(const Plan& plan) {
  const Scheme& scheme = scheme_of(plan);
  return {scheme.in_pieces(plan) || scheme.nature().solves_interfaces, scheme.nature().solves_interfaces};
}

/// If the user names a method, keep only the ways of the processor with the fastest predicted way, and remedies of the
/// host.
void keep_one_processor(const Options& options, std::vector<Way>& ways) {
  if (!named(options.method) || ways.empty()) return;
  const Processor* chosen = least(ways)->processor;
  if (!chosen->host() && names_factored(options.method)) {
    for (Way& way : ways) way.remedy = way.remedy || way.processor->host();
  }
  std::erase_if(ways,
                [&](const Way& way) { return way.processor != chosen && !(way.remedy && way.processor->host()); });
}

WayName name_of(const Way& way) { return {way.processor->index, way.form, way.method}; }

/// Rounding error of scaling columns and unknowns, in eps.
constexpr double kScaledRounding = 1;

/// True if units of columns can improve a way: it truncates nothing, its bound depends on units, and its device can
/// scale solutions. Truncating ways keep the given units, because their certificate must hold in these units.
bool wants_units(const Way& way) {
  const bool exact = way.method == Method::exact_twopass || way.method == Method::exact_factored;
  const bool scales = !way.processor->host() && way.processor->info.compiler;
  return exact && scales && !way.scheme->elimination(way.plan).tells_bound;
}

std::vector<WayName> order_of(std::vector<Way> ways) {
  std::vector<WayName> order;
  while (!ways.empty()) {
    const auto next = least(ways);
    order.push_back(name_of(*next));
    ways.erase(next);
  }
  return order;
}

/// True if a way that stores no factors is the fastest only because few applies are expected.
template <typename T>
bool spares_factors(std::vector<Way> ways, const Way& taken, Outlook<T> outlook) {
  const bool stores_none = taken.method == Method::truncated_halo || taken.method == Method::exact_twopass;
  if (!stores_none || outlook.applies >= kManyApplies || ways.empty()) return false;
  const WayName with_few = name_of(*least(ways));
  outlook.applies = kManyApplies;
  for (Way& way : ways) weigh(way, outlook);
  return with_few == name_of(taken) && name_of(*least(ways)) != with_few;
}

}  // namespace

void refuse_answer(const Options& options, const std::string& why) {
  if (options.above_bound == AboveBound::warn) return;
  throw Breakdown("method auto has no answer within its limits for this right-hand side: " + why +
                  "; above_bound warn returns it all the same");
}

template <typename T>
std::vector<Way> ways_there(Processors& processors, const Processor& host, const Outlook<T>& outlook) {
  const LineSet& lines = outlook.bands.lines();
  std::vector<Way> ways = find_ways(processors, host, outlook);
  const bool on_devices = std::any_of(ways.begin(), ways.end(), [](const Way& way) { return !way.processor->host(); });
  if (processors.devices.empty() || on_devices || outlook.options.method == MethodChoice::pivot) return ways;
  const bool kept = find_scheme(outlook.options.variant) != nullptr;
  const bool automatic = outlook.options.method == MethodChoice::automatic;
  const std::string why = why_no_way(processors.devices.front(), outlook);
  if (why.empty() && !automatic && !kept && !lines.contiguous() &&
      outlook.options.method != MethodChoice::exact_factored) {
    throw InvalidInput(std::string("method ") + name(outlook.options.method) +
                       " takes lines laid end to end on devices, not " + lines.describe() +
                       ": use method auto, exact-factored or pivot");
  }
  processors.why_host = kept ? "variant " + outlook.options.variant + " does not solve " + lines.describe()
                             : std::string("the devices have no ") + name(outlook.options.method) + " for " +
                                   lines.describe() + ": use method exact or auto there";
  if (!why.empty()) {
    processors.why_host = processors.devices.front().name() + ": " + why;
  } else if (!lines.contiguous() && !kept) {
    processors.why_host = "the memory of '" + outlook.options.devices + "' does not hold a block of " +
                          std::to_string(lines.block_extent()) + " places at once";
  }
  processors.devices.clear();
  return find_ways(processors, host, outlook);
}

template <typename T>
Outlook<Real<T>> Choosing<T>::outlook() const {
  const double applies = applies_ > 0 ? static_cast<double>(applies_) : kManyApplies;
  const FoundUnits units = system_.found_units();
  const double limit = known_.rounding_limit;
  return {options_,         system_.judged(),
          system_.survey(), system_.survey().symmetric || known_.symmetric,
          applies,          units.runs > 0 ? (limit - kScaledRounding) / units.factor : limit,
          sizeof(T)};
}

template <typename T>
std::optional<Proposal> Choosing<T>::judge_now(const Way& way, bool insist, Rejection& rejection) {
  Problem<Real<T>> problem = problem_on(*way.processor, outlook());
  problem.insist = insist;
  problem.method = way.method;
  return judge(problem, *way.scheme, rejection);
}

/// Scale the columns by units, unless the way's bound is within the limit already. Units can weaken the bound, see
/// FoundUnits::factor.
template <typename T>
void Choosing<T>::choose_units(Way& way, bool insist) {
  Rejection rejection;
  std::optional<Proposal> given = judge_now(way, insist, rejection);
  if (given && eps_of(*given) <= known_.rounding_limit) {
    way.judged = std::move(given);
  } else {
    system_.take_units();
  }
}

/// Plan a way and examine it. If only some lines fail, they become fallback lines.
/// @param ways   all ways not yet rejected, including this way
/// @param keeps  take the way if it passes, even if another way is faster
template <typename T>
auto Choosing<T>::try_way(Way& way, std::vector<Way>& ways, bool keeps, bool insist, Rejection& rejection) -> Outcome {
  const char* const pin_why = pin_reason(options_, known_, system_.bands().lines());
  if (const std::optional<Rejection> extremes = lines_out_of_range<T>(options_, system_.survey(), system_.bands())) {
    system_.leave_to_host(*extremes);
  }
  if (system_.survey().dominance <= kZeroSumDominance<T>) {
    // No method solves singular lines: they are pinned, or make the set-up fail.
    if (const Rejection singular = object_to_sums(system_.bands())) system_.leave_to_host(singular);
  }
  if (wants_units(way) && !known_.as_given && !way.judged && system_.has_units()) choose_units(way, insist);
  if (!named(options_.method) && way.processor->host() && way.method == Method::exact_factored &&
      system_.survey().dominance < 1) {
    rejection = refused_by_sample(system_.bands());
    if (rejection) return Outcome::rejected;
  }
  for (std::optional<Form> factored;;) {  // form of the host's present factors, if they fit the remaining lines
    rejection = {};
    std::optional<Proposal> proposal = std::exchange(way.judged, std::nullopt);
    if (!proposal) {
      proposal = judge_now(way, insist, rejection);
    }
    if (const Plan* plan = proposal ? &proposal->plan : rejection.plan ? &*rejection.plan : nullptr) {
      way.plan = *plan;
      weigh(way, outlook());
    }
    if (proposal && !keeps && &*least(ways) != &way) {
      if (system_.fallback().none() && system_.units() == nullptr) way.judged = std::move(proposal);
      return Outcome::dearer;
    }
    if (proposal) {
      adopt(way, factored == way.plan.form);
      rejection = examine_adopted(*proposal, insist);
      // The solver must use the units in which the trials ran.
      if (!rejection && system_.units() != nullptr && !chosen_->in_units(system_.units())) {
        rejection.why = "the device has no room for the units of columns";
      }
      if (!rejection) {
        take(way, *proposal, pin_why);
        return Outcome::taken;
      }
      rejection.plan = proposal->plan;
    }
    // If a scheme joins lines, NaN of one line may spread to other lines, even to fallback lines.
    std::erase_if(rejection.lines, [&](Index line) { return system_.fallback().contains(line); });
    if (!may_fall_back(rejection, way, options_, pin_why != nullptr, system_.fallback())) return Outcome::rejected;
    auto* const host = proposal ? dynamic_cast<HostSolver<T>*>(chosen_.get()) : nullptr;
    factored = host != nullptr && host->drop(rejection.lines) ? std::optional(way.plan.form) : std::nullopt;
    system_.leave_to_host(rejection);
  }
}

/// Set up the solver of a way, and report its processor.
/// @param factored  the solver already has the factors of the present bands
template <typename T>
void Choosing<T>::adopt(const Way& way, bool factored) {
  const Processor& processor = *way.processor;
  chosen_.take(way, options_);
  report_.method = way.plan.method;
  report_.device.name = processor.name();
  report_.device.platform = processor.info.platform;
  report_.device.type = processor.host() ? "host" : name(processor.info.type);
  report_.device.emulated = processor.info.emulated;
  ++chosen_.counts().uploads;
  chosen_->expect(way.apply);
  if (!factored) chosen_->set_up(way.plan, system_.bands());
}

/// Test the adopted solver. With `insist`, accept and report an error that is too large, as long as the answer is
/// finite.
template <typename T>
Rejection Choosing<T>::examine_adopted(Proposal& p, bool insist) {
  report_.backward_error = 0;
  // The factors have their own bound. Only the plan's bound includes interface systems, so the larger bound counts.
  if (const double made = chosen_->rounding(); made != 0) {
    const bool more = p.rounding && scheme_of(p.plan).nature().solves_interfaces;
    if (!more || larger(p.rounding->eps, made) != p.rounding->eps) p.rounding = Rounding{made};
  }
  // Without a bound, only a trial shows whether the solution is finite.
  if (!p.needs_trial && !p.above_tolerance && in_range<T>(system_.survey())) return {};
  double error = -1;
  const Times start = chosen_->times();
  Rejection rejection = examine(system_.bands(), *chosen_.get(), rules_for(p.plan), error);
  chosen_.counts().trials += error >= 0;
  const bool asked_for = insist && p.plan.method != Method::pivot;
  if (rejection && asked_for && error < 0) {
    error = trial_solve<T>(system_.bands().lines(), system_.bands().view(), TrialKind::rough, [&](const T* y, T* x) {
              chosen_->apply(y, x);
            }).worst;
  }
  chosen_.leave_out_since(start);
  if (rejection && !(asked_for && std::isfinite(error))) return rejection;
  if (rejection) p.above_tolerance = true;
  report_.backward_error = error;
  return {};
}

template <typename T>
void Choosing<T>::take(const Way& way, const Proposal& proposal, const char* pin_why) {
  system_.fallback().make_solvers(pin_why, report_);
  report_.pinned_lines = system_.pinned_lines();
  write_proposal(proposal, system_.bands().lines(), report_);
  const FoundUnits units = system_.found_units();
  report_.units = units.runs;
  if (units.runs > 0) report_.rounding = larger(report_.rounding, units.factor * eps_of(proposal) + kScaledRounding);
  report_.precision.applied = narrows<T>(options_) ? Precision::narrow : Precision::same;
  report_.precision.why = precision_text<T>(options_, system_.narrowed(), chosen_.device() < 0, proposal);
  report_.ready = true;
  chosen_->take_errors();  // drops the errors of trial solves
  std::string why = proposal.why;
  if (proposal.needs_trial) why += format(", checked: backward error %.1e", report_.backward_error);
  report_.candidates.push_back(candidate_of(way, true, true, std::move(why)));
}

/// The figure that exceeds its limit of method auto, as text: the rounding bound if it is finite, or the componentwise
/// backward error of a trial solve. Empty if both figures are within their limits.
template <typename T>
std::string above_limits(double rounding, double backward_error) {
  constexpr double kTrialLimit = kTrialLimitEps * static_cast<double>(kEpsOf<T>);
  if (std::isfinite(rounding) && rounding > kRoundingLimit) {
    return format("rounding bound %.3g eps > %.0f eps", rounding, kRoundingLimit);
  }
  return backward_error <= kTrialLimit ? "" : format("backward error %.1e of the trial solve", backward_error);
}

/// Report if the way taken by method auto exceeds the limits of the method.
/// @throws Breakdown if it does and above_bound is not warn
template <typename T>
void Choosing<T>::require_within_bounds() {
  if (named(options_.method)) return;
  // backward_error is componentwise only under this promise.
  const bool by_component = report_.promise == Promise::by_component;
  report_.above_bound = above_limits<T>(report_.rounding, by_component ? report_.backward_error : 0);
  for (const GroupReport& group : report_.groups) {
    if (report_.above_bound.empty()) report_.above_bound = above_limits<T>(group.rounding, group.backward_error);
  }
  if (report_.above_bound.empty() || options_.above_bound == AboveBound::warn) return;
  throw Breakdown("method auto has no method within its limits for this matrix: " + report_.above_bound +
                  "; above_bound warn solves all the same");
}

template <typename T>
void Choosing<T>::note_answers() {
  const double error = std::max(chosen_->take_errors(), system_.fallback().take_errors());
  const bool grows = error > report_.rounding;
  if (grows) report_.rounding = error;
  if (named(options_.method) || !(error > kRoundingLimit)) return;
  const std::string text = std::isfinite(error)
                               ? format("error of an answer %.3g eps > %.0f eps", error, kRoundingLimit)
                               : "an answer is not finite: it leaves the range of the numbers";
  if (grows) report_.above_bound = text;
  refuse_answer(options_, text);
}

/// Try ways, the fastest first, until one passes its tests.
/// @param first          a way to try first, if it is among `ways`
/// @param insist         accept a way with an error that is too large
/// @param[out] tried     the processor at work, if this call throws DeviceError
/// @param[out] rejected  ways that failed, in the order of the attempts
template <typename T>
std::optional<Way> Choosing<T>::first_that_holds(std::vector<Way> ways, const std::optional<WayName>& first,
                                                 bool insist, const Processor*& tried, std::vector<Way>& rejected) {
  while (!ways.empty()) {
    const auto used = std::find_if(ways.begin(), ways.end(), [&](const Way& way) { return name_of(way) == first; });
    const auto way = used != ways.end() ? used : least(ways);
    tried = way->processor;
    Rejection rejection;
    const Outcome outcome = try_way(*way, ways, used != ways.end(), insist, rejection);
    if (outcome == Outcome::taken) return std::move(*way);
    system_.put_back();
    if (outcome == Outcome::dearer) continue;
    if (rejection) report_.candidates.push_back(candidate_of(*way, rejection.plan.has_value(), false, rejection.why));
    way->singular = way->method == Method::pivot && !rejection.lines.empty();
    // If the host's stored factors fail, only pivoting is worth a try.
    const bool only_pivoting = way->processor->host() && !named(options_.method);
    rejected.push_back(std::move(*way));
    ways.erase(way);
    if (only_pivoting) std::erase_if(ways, [](const Way& other) { return other.method != Method::pivot; });
  }
  return std::nullopt;
}

/// True if the way in use before is still a good first try. The lines and the fastest way must be the same. The order
/// of the ways must be the same for the old and the new expected number of applies.
template <typename T>
bool Choosing<T>::comparable(const std::vector<Way>& ways, const InUse& before) const {
  if (ways.empty() || before.lines != system_.bands().lines()) return false;
  std::vector<Way> as_then = ways;
  Outlook<Real<T>> then = outlook();
  then.applies = before.applies;
  for (Way& way : as_then) weigh(way, then);
  const std::vector<WayName> order = order_of(ways);
  return order.front() == before.head && order == order_of(as_then);
}

template <typename T>
std::optional<InUse> Choosing<T>::choose(const Processors& processors, std::vector<Way> ways,
                                         const std::optional<InUse>& before, const Processor*& tried) {
  const std::vector<Way> all = ways;
  keep_one_processor(options_, ways);
  const bool asked = named(options_.method), at_once = asked && ways.size() == 1;
  const WayName head = ways.empty() ? WayName{} : name_of(*least(ways));
  const std::optional<WayName> first = before && comparable(ways, *before) ? std::optional(before->way) : std::nullopt;
  std::vector<Way> rejected, unused;
  std::optional<Way> taken = first_that_holds(ways, first, at_once, tried, rejected);
  // The user named the method, so accept its error. Begin with the way that was tried last.
  for (auto way = rejected.rbegin(); asked && !at_once && !taken && way != rejected.rend(); ++way) {
    taken = first_that_holds({*way}, std::nullopt, true, tried, unused);
  }
  if (!taken) {
    chosen_.retire();
    const bool singular = !rejected.empty() && rejected.back().singular;
    const LineSet& lines = system_.bands().lines();
    const auto zero = singular ? zero_row_text(lines, system_.bands().view(), 0, lines.count()) : std::nullopt;
    if (zero) throw Breakdown("the matrix is singular: " + *zero);
    throw Breakdown(
        breakdown_text(report_.candidates, options_, singular, pin_reason(options_, known_, lines) != nullptr));
  }
  if (system_.fallback().all()) {
    write_fallback(report_);
    require_within_bounds();
    return std::nullopt;
  }
  explain_processor(processors, all, *taken, report_);
  if (asked) return std::nullopt;
  require_within_bounds();
  if (name_of(*taken) == first && first != head) report_.why += ", kept from the previous set-up";
  if (spares_factors(ways, *taken, outlook())) report_.why += ", stores no factors because few applies are expected";
  if (taken->remedy) return std::nullopt;
  return InUse{name_of(*taken), head, system_.bands().lines(), outlook().applies};
}

#define OCLSPKT_INSTANTIATE(T) template class Choosing<T>;
OCLSPKT_SCALARS(OCLSPKT_INSTANTIATE)
template std::vector<Way> ways_there(Processors&, const Processor&, const Outlook<float>&);
template std::vector<Way> ways_there(Processors&, const Processor&, const Outlook<double>&);

}  // namespace oclspkt
