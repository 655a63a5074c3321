// SPDX-License-Identifier: BSD-2-Clause
#include "ways.hpp"

#include <algorithm>
#include <limits>
#include <utility>

#include "cost.hpp"
#include "forgiven.hpp"
#include "format.hpp"
#include "host_solver.hpp"
#include "pivot_solver.hpp"
#include "scalars.hpp"
#include "schemes/proposal.hpp"

namespace oclspkt {
namespace {

constexpr Method kMethods[] = {Method::truncated_halo, Method::truncated_streamed, Method::exact_twopass,
                               Method::exact_factored, Method::pivot};
/// Words per row of the host's own sweeps.
constexpr double kHostWords = 5;

/// True if the user's choice of a method includes this method of a device.
bool asks_for(MethodChoice choice, Method method) {
  if (method == Method::pivot) return false;
  if (choice == MethodChoice::truncated) return method == Method::truncated_halo;
  if (choice == MethodChoice::exact) return method == Method::exact_twopass || method == Method::exact_factored;
  return choice == MethodChoice::automatic || std::string_view(name(choice)) == name(method);
}

/// Update the predicted figures of a way. @param problem  the problem on the way's processor
template <typename T>
void weigh_on(const Problem<T>& problem, Way& way, const Outlook<T>& outlook) {
  const auto n = static_cast<double>(way.plan.n);
  const double set_up =
      way.scheme->passes(way.plan, outlook.survey) * words_of_pass(problem.traits, outlook.word) / outlook.applies;
  way.words = stream_words(*way.scheme, way.plan, outlook.survey, problem.traits, outlook.word, outlook.applies);
  if (way.processor->host()) {
    const double words = way.scheme->stream_words(way.plan, outlook.word);
    const auto predict = outlook.is_complex() ? predict_host_seconds<std::complex<T>> : predict_host_seconds<T>;
    way.apply = predict(outlook.bands.lines(), way.plan.form, outlook.options.reproducible);
    if (way.method == Method::pivot) way.apply *= words / kHostWords;
    way.seconds = way.apply * (1 + set_up / kHostWords);
    return;
  }
  way.apply = predict_seconds(way.processor->profile, *way.scheme, way.plan, outlook.word);
  way.seconds = way.apply + n * set_up / measured_words(*way.scheme, way.plan) / way.processor->profile.rows_per_second;
}

/// Append a way for each scheme that takes a method on a processor.
/// @param problem  the problem on this processor
template <typename T>
void add_ways(const Processor& processor, Problem<T>& problem, Method method, bool remedy, const Outlook<T>& outlook,
              std::vector<Way>& ways) {
  problem.method = method;
  const Scheme* named = processor.host() ? nullptr : find_scheme(outlook.options.variant);
  for (const Scheme* scheme : all_schemes()) {
    if ((named != nullptr && scheme != named) || !scheme->takes(method, problem)) continue;
    std::optional<Plan> plan = scheme->least(problem);
    if (!plan) continue;
    const char* const form = scheme->form(*plan);
    ways.push_back({&processor, scheme, method, std::move(*plan), form});
    ways.back().remedy = remedy;
    weigh_on(problem, ways.back(), outlook);
    if (scheme->nature().only_asked_for) return;  // later schemes in the table are for other methods
  }
}

template <typename T>
void add_device(const Processor& device, const Outlook<T>& outlook, std::vector<Way>& ways) {
  const MethodChoice choice = outlook.options.method;
  const std::size_t before = ways.size();
  Problem<T> problem = problem_on(device, outlook);
  for (const Method method : kMethods) {
    if (asks_for(choice, method)) add_ways(device, problem, method, false, outlook, ways);
  }
  // The family `truncated` uses truncated-streamed if truncated-halo has no kernel for the lines, or its bounds fail.
  if (choice == MethodChoice::truncated) {
    add_ways(device, problem, Method::truncated_streamed, ways.size() > before, outlook, ways);
  }
}

/// Append the ways of the host: stored factors for every method but pivot; pivoting for methods pivot and auto, and if
/// no scheme stores factors.
template <typename T>
void add_host(const Processors& processors, const Processor& host, const Outlook<T>& outlook, std::vector<Way>& ways) {
  const MethodChoice choice = outlook.options.method;
  Problem<T> problem = problem_on(host, outlook);
  if (choice == MethodChoice::pivot) return add_ways(host, problem, Method::pivot, false, outlook, ways);
  const bool first = processors.host || processors.devices.empty();
  // If the pieces of a line disagree on a device, one sweep on the host is the remedy. Lines side by side have no such
  // remedy, because devices sweep them whole, as the host does.
  const auto by_factors = [](const Way& way) {
    return !way.processor->host() && way.scheme->elimination(way.plan).tells_bound;
  };
  const bool other = std::none_of(ways.begin(), ways.end(), by_factors);
  const bool remedy = other && (choice == MethodChoice::automatic || names_factored(choice));
  if (first || remedy) add_ways(host, problem, Method::exact_factored, !first, outlook, ways);
  const bool pivots = choice == MethodChoice::automatic || (first && ways.empty());
  if (pivots) add_ways(host, problem, Method::pivot, true, outlook, ways);
}

std::unique_ptr<DeviceSolver<float>> make_device_solver(DeviceModule& m, int device, const DeviceSettings& s, float) {
  return m.make_float(device, s);
}
std::unique_ptr<DeviceSolver<double>> make_device_solver(DeviceModule& m, int device, const DeviceSettings& s, double) {
  return m.make_double(device, s);
}
template <typename R>
std::unique_ptr<DeviceSolver<std::complex<R>>> make_device_solver(DeviceModule& m, int device, const DeviceSettings&,
                                                                  std::complex<R>) {
  throw DeviceError(m.info(device).name + " solves no complex numbers");
}

/// Term kOfExcess / d of the rounding bound (in eps) for rows that carry their excess s. d is the dominance; l and g
/// are the magnitudes of the couplings; the diagonal is computed as (l + g) + s. If d < 1, s and both sums round by at
/// most eps (l + g). This is eps / (1 + d) of the row's magnitudes, so the term bounds the error. The error is up to
/// eps / d of the diagonal, and the term grows in the same way, so tiny diagonals are refused.
constexpr double kOfExcess = 0.75;
/// Factor of the rounding bound for rows without dominance that carry their excess s. l and g are the magnitudes of the
/// couplings, -(l + g) < s < 0, and u is the unit of rounding. Each elimination computes s and then (l + g) + s by four
/// sums and products of numbers up to 2 (l + g). This adds 8 u (l + g) to the 8 u of rounding_by_growth(). The
/// multiplier adds as much to the row below. The total is 3 times as large; the factor is rounded up.
constexpr double kOfDifference = 4;

/// The reason if rounding would lose small diagonals; else empty. Errors of rows do not show this loss.
std::string diagonal_refusal(const Survey& survey, const Plan& plan) {
  if (!(survey.dominance < 0.5) || scheme_of(plan).elimination(plan).diagonals) return {};
  return format("row %lld: rounding loses the diagonal, which is only %.1e times the couplings",
                static_cast<long long>(survey.weakest_row), survey.dominance);
}

/// The reason if setting small row excesses to 0 may change the solution; else empty. See forgiven_effect().
template <typename T>
std::string forgiving_refusal(const Problem<T>& problem, const Plan& plan) {
  // The survey may find the dominance 1 with a rounding error.
  constexpr double kAboutOne = 1 + 8 * static_cast<double>(std::numeric_limits<T>::epsilon());
  if (!scheme_of(plan).elimination(plan).excess || problem.survey.dominance > kAboutOne) return {};
  const double effect = forgiven_effect(problem.bands.lines(), problem.bands.view());
  if (effect <= kHarmlessForgiving) return {};
  return format("setting row excesses within rounding of 0 to 0 may change the solution %.1e times (limit %.1f)",
                effect, kHarmlessForgiving);
}

/// The reason if the host solves by another method than the options name; else empty.
std::string why_factored(const Options& options, Method method) {
  const MethodChoice choice = options.method;
  const bool asked = !named(choice) || choice == MethodChoice::exact || choice == MethodChoice::exact_factored;
  if (asked || method != Method::exact_factored) return {};
  return std::string("the host solves exactly by stored factors, which cost no more than ") + name(choice);
}

}  // namespace

DeviceSettings device_settings(const Options& options) {
  DeviceSettings s{.variant = variant_of(options.variant), .use = options.use};
  if (const Scheme* named = find_scheme(options.variant)) {
    s.variant = named->nature().kernels == Kernels::task ? Variant::fpga : Variant::no_task;
  }
  return s;
}

template <typename T>
Problem<T> problem_on(const Processor& processor, const Outlook<T>& outlook) {
  const DeviceTraits traits =
      processor.host() ? kHostTraits
                       : processor.module->traits(processor.index, sizeof(T) == 8, device_settings(outlook.options));
  Problem<T> problem{outlook.options, outlook.bands, outlook.survey, traits, outlook.symmetric};
  problem.rounding_limit = outlook.rounding_limit;
  problem.word = outlook.word;
  return problem;
}

template <typename T>
void weigh(Way& way, const Outlook<T>& outlook) {
  weigh_on(problem_on(*way.processor, outlook), way, outlook);
}

template <typename T>
std::vector<Way> find_ways(const Processors& processors, const Processor& host, const Outlook<T>& outlook) {
  std::vector<Way> ways;
  for (const Processor& device : processors.devices) add_device(device, outlook, ways);
  add_host(processors, host, outlook, ways);
  return ways;
}

template <typename T>
std::string why_no_way(const Processor& device, const Outlook<T>& outlook) {
  Problem<T> problem = problem_on(device, outlook);
  Rejection rejection;
  for (const Method method : kMethods) {
    problem.method = method;
    for (const Scheme* scheme : all_schemes()) {
      const bool asked = asks_for(outlook.options.method, method) && scheme->takes(method, problem);
      if (asked && !rejection && !scheme->least(problem)) scheme->propose(problem, rejection);
    }
  }
  return rejection.why;
}

std::vector<Way>::iterator least_of(std::vector<Way>& ways, const Processor* processor) {
  auto best = ways.end();
  for (auto way = ways.begin(); way != ways.end(); ++way) {
    if (way->processor != processor || way->remedy) continue;
    const auto rank = [](const Way& w) { return std::pair(!w.scheme->nature().only_asked_for, w.words); };
    if (best == ways.end() || rank(*way) < rank(*best)) best = way;
  }
  return best;
}

std::vector<Way>::iterator least(std::vector<Way>& ways) {
  constexpr double kNoise = 1.1;
  std::vector<std::vector<Way>::iterator> best;  // at most one way for each processor
  for (const Way& way : ways) {
    const auto of_processor = least_of(ways, way.processor);
    if (of_processor != ways.end() && std::find(best.begin(), best.end(), of_processor) == best.end()) {
      best.push_back(of_processor);
    }
  }
  if (best.empty()) return ways.begin();  // all ways are remedies
  const auto quicker = [](const auto& a, const auto& b) { return a->seconds < b->seconds; };
  const double seconds = (*std::min_element(best.begin(), best.end(), quicker))->seconds;
  return *std::find_if(best.begin(), best.end(), [&](const auto& way) { return way->seconds <= kNoise * seconds; });
}

template <typename T>
double host_seconds(const Outlook<T>& outlook) {
  const Processor host;
  std::vector<Way> ways;
  Problem<T> problem = problem_on(host, outlook);
  add_ways(host, problem, Method::exact_factored, false, outlook, ways);
  return ways.empty() ? 0 : ways.front().seconds;
}

template <typename T>
std::optional<Proposal> judge(const Problem<T>& problem, const Scheme& scheme, Rejection& rejection) {
  const Method method = problem.method;
  std::optional<Proposal> proposal = scheme.propose(problem, rejection);
  if (proposal && truncates(method) && scheme.nature().kernels == Kernels::groups && problem.traits.unproven) {
    proposal->needs_trial = true;
  }
  // The solver by pivoting computes its own bound.
  if (!proposal || method == Method::pivot) return proposal;
  const std::string other = problem.traits.host ? why_factored(problem.options, method) : "";
  if (!other.empty()) proposal->why = other;
  if (!proposal->rounding) proposal->rounding = rounding_of(problem, proposal->plan);
  // If rows carry their excess, the rounding of a diagonal is proportional to the couplings of its row. This also holds
  // if the diagonal is far smaller.
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

template <typename T>
std::unique_ptr<DeviceSolver<T>> make_host_solver(Method method) {
  if (method == Method::pivot) return std::make_unique<PivotSolver<T>>();
  return std::make_unique<HostSolver<T>>();
}

template <typename T>
void Chosen<T>::take(const Way& way, const Options& options) {
  const Processor& processor = *way.processor;
  // A device solver can be reused for any method, with its buffers. A host solver can be reused for its method only.
  const bool same = (!processor.host() || method_ == way.plan.method) && name_ == processor.name() &&
                    platform_ == processor.info.platform && device_ == processor.index;
  if (solver_ == nullptr || !reusable_ || !same) {
    retire();
    solver_ = processor.host() ? make_host_solver<T>(way.plan.method)
                               : make_device_solver(*processor.module, processor.index, device_settings(options), T());
  }
  reusable_ = true;
  device_ = processor.index;
  by_cuda_ = processor.info.cuda;
  method_ = way.plan.method;
  name_ = processor.name();
  platform_ = processor.info.platform;
}

template <typename T>
void Chosen<T>::retire() {
  if (solver_ == nullptr) return;
  finished_ = finished_ + solver_->times();
  solver_.reset();
}

template <typename T>
void Chosen<T>::give_way() {
  retire();
  device_ = -1;
  reusable_ = false;
}

#define OCLSPKT_INSTANTIATE(T)                                                                 \
  template Problem<T> problem_on(const Processor&, const Outlook<T>&);                         \
  template std::vector<Way> find_ways(const Processors&, const Processor&, const Outlook<T>&); \
  template std::string why_no_way(const Processor&, const Outlook<T>&);                        \
  template void weigh(Way&, const Outlook<T>&);                                                \
  template std::optional<Proposal> judge(const Problem<T>&, const Scheme&, Rejection&);        \
  template double host_seconds(const Outlook<T>&);
OCLSPKT_REALS(OCLSPKT_INSTANTIATE)
#undef OCLSPKT_INSTANTIATE
#define OCLSPKT_INSTANTIATE(T)                                        \
  template std::unique_ptr<DeviceSolver<T>> make_host_solver(Method); \
  template class Chosen<T>;
OCLSPKT_SCALARS(OCLSPKT_INSTANTIATE)

}  // namespace oclspkt
