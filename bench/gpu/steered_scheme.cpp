// SPDX-License-Identifier: BSD-2-Clause
#include "steered_scheme.hpp"
#include "schemes/lanes/lane_plans.hpp"

#include <algorithm>
#include <cmath>
#include <limits>

#include "schemes/grids/grid_plan.hpp"
#include "schemes/proposal.hpp"

namespace oclspkt::bench::gpu {
namespace {

constexpr Method kMethods[] = {Method::truncated_halo, Method::truncated_streamed, Method::exact_factored,
                               Method::exact_twopass};

MethodChoice choice_of(Method method) {
  switch (method) {
    case Method::truncated_halo:
      return MethodChoice::truncated_halo;
    case Method::truncated_streamed:
      return MethodChoice::truncated_streamed;
    case Method::exact_factored:
      return MethodChoice::exact_factored;
    case Method::exact_twopass:
      return MethodChoice::exact_twopass;
    case Method::pivot:
      break;
  }
  return MethodChoice::pivot;
}

template <typename T>
constexpr double kEps = static_cast<double>(std::numeric_limits<T>::epsilon());

/// Survey::decay(), which the library keeps to itself.
double decay_of(const Survey& survey) {
  const double p = survey.lower_share, q = survey.upper_share, discriminant = 1 - 4 * p * q;
  if (!(survey.dominance >= 1 && discriminant > 0 && std::max(p, q) > 0)) return survey.dominance;
  return std::max(survey.dominance, (1 + std::sqrt(discriminant)) / (2 * std::max(p, q)));
}

/// What truncation after so many rows leaves, by the decay; infinite if nothing decays.
double left_after(double decay, Index rows) {
  if (!(decay > 1)) return std::numeric_limits<double>::infinity();
  const double left = std::pow(decay, -static_cast<double>(rows));
  return (decay + 1) / (decay - 1) * left / (1 - left);
}

/// Rows after which so little is left; -1 if nothing decays.
Index rows_until(double decay, double left) {
  return decay > 1 ? static_cast<Index>(std::ceil(std::log(2 / left) / std::log(decay))) : Index{-1};
}

/// True if the coupling of two rows is the same both ways, to the bit. Couplings out of lines are 0.
template <typename T>
bool symmetric_lines(const oclspkt::Problem<T>& problem) {
  const BandsView<T> bands = problem.bands.view();
  const Index stride = problem.bands.lines().row_stride(), end = problem.bands.lines().extent() - stride;
  for (Index i = 0; i < end; ++i) {
    if (bands.lower[i + stride] != bands.upper[i]) return false;
  }
  return true;
}

/// Plans for lines side by side by work-groups, of one method, the usual form first.
template <typename T>
std::vector<Plan> grid_plans(const oclspkt::Problem<T>& problem, Method method) {
  constexpr Index kReaches[] = {1, 128, 192, kMostGridRows, 384};
  const LineSet& lines = problem.bands.lines();
  std::vector<Form> forms{symmetric_lines(problem) ? Form::symmetric : Form::general};
  if (problem.survey.shared) forms.insert(forms.begin(), Form::shared);
  std::vector<Plan> plans;
  const auto add = [&](const GridDemand& demand) {
    plans.push_back(make_grid_plan(lines, demand, sizeof(T), problem.traits));
  };
  for (const Form form : forms) {
    GridDemand demand{.method = method, .form = form};
    if (method == Method::truncated_streamed) {
      for (const Index reach : kReaches) add((demand.reach = reach, demand));
      continue;
    }
    for (Plan& plan : make_exact_grid_plans(lines, demand, sizeof(T), problem.traits)) plans.push_back(std::move(plan));
    for (const bool segments : {false, true}) {
      for (const bool in_turn : {false, true}) {
        demand.segments = segments;
        demand.in_turn = in_turn;
        add(demand);
      }
    }
    demand.segments = demand.in_turn = false;
    add((demand.one_item = true, demand));
  }
  std::erase_if(plans, [](const Plan& plan) { return plan.as<Beside>().chunk_blocks == 0; });
  return plans;
}

/// Tiles that are streamed, which the library chooses only where it takes no short halo.
template <typename T>
std::vector<Plan> streamed_plans(const oclspkt::Problem<T>& problem) {
  const Index n = problem.bands.lines().rows(), rows = rows_until(decay_of(problem.survey), kEps<T>);
  if (rows < 0) return {};
  Plan plan = make_plan(Method::truncated_halo, n, 0, 0, sizeof(T), problem.traits);
  return stream_tiles(plan, rows, sizeof(T), problem.traits) ? std::vector<Plan>{plan} : std::vector<Plan>{};
}

/// Plans that are made here, for schemes that propose only where nothing else is as good.
template <typename T>
std::vector<Plan> made_plans(const oclspkt::Problem<T>& problem, Method method) {
  const bool groups = problem.traits.group_items > 0;
  const bool by_grid = method == Method::truncated_streamed || method == Method::exact_factored;
  if (problem.bands.lines().beside()) return groups && by_grid ? grid_plans(problem, method) : std::vector<Plan>{};
  const bool by_lanes = !groups && !problem.traits.task;
  return by_lanes && method == Method::truncated_halo ? streamed_plans(problem) : std::vector<Plan>{};
}

/// The first plan of a form of a scheme that holds.
template <typename T>
std::optional<Proposal> propose_made(const oclspkt::Problem<T>& problem, Method method, const Scheme& scheme,
                                     const std::string& form, Rejection& rejection) {
  const LineSet& lines = problem.bands.lines();
  for (const Plan& plan : made_plans(problem, method)) {
    if (scheme_of(plan).form(plan) != form) continue;
    Proposal proposal;
    proposal.plan = plan;
    proposal.rounding = scheme.rounding(plan, lines, problem.bands.view(), problem.survey);
    const bool truncates = method == Method::truncated_streamed && !in_one_tile(plan);
    const Index reach = truncates ? grid_reach(plan) : 0;
    proposal.certificate = truncates ? left_after(decay_of(problem.survey), reach) : 0;
    proposal.needs_trial = !(problem.survey.dominance > 1) || problem.traits.unproven;
    proposal.why = "a plan of its own for " + form;
    const bool holds = proposal.rounding->eps <= problem.rounding_limit && proposal.certificate <= kEps<T>;
    if (holds) return proposal;
    rejection = {"rounding may leave " + std::to_string(proposal.rounding->eps) + " eps, and truncation " +
                     std::to_string(proposal.certificate),
                 {},
                 plan};
  }
  if (!rejection) rejection.why = "no plan of " + form + " suits these lines";
  return std::nullopt;
}

/// A problem of a user who names the scheme, as those have to be that are taken only then.
template <typename T>
oclspkt::Problem<T> problem_for(const Scheme& scheme, const oclspkt::Problem<T>& problem, Method method,
                                Options& named) {
  named = problem.options;
  if (scheme.nature().only_asked_for) named.variant = scheme.name();
  oclspkt::Problem<T> asked{named, problem.bands, problem.survey, problem.traits};
  asked.symmetric = problem.symmetric;
  asked.rounding_limit = problem.rounding_limit;
  asked.insist = problem.insist;
  asked.method = method;
  return asked;
}

/// What is to be done with set-ups.
struct State {
  enum class Mode { off, probe, steer } mode = Mode::off;
  Way way = {};
  std::vector<Way> ways = {};
  Index usual_partition = 0;
  bool by_groups = false, by_task = false;
};

State& state() {
  static State state;
  return state;
}

/// Stands in front of the table.
class Front final : public SchemeOf<Front> {
 public:
  const char* name() const override { return "steered"; }
  Nature nature() const override { return {.only_asked_for = true}; }
  std::string shape(const Plan&) const override { return {}; }
  double words(const Plan&) const override { return 0; }
  template <typename T>
  Rounding bound(const Plan&, const LineSet&, const BandsView<T>&, const Survey&) const {
    return {std::numeric_limits<double>::quiet_NaN()};
  }

  template <typename T>
  bool suits(Method method, const oclspkt::Problem<T>& problem) const {
    const State& s = state();
    if (s.mode == State::Mode::off || problem.traits.host) return false;
    if (s.mode == State::Mode::probe) {
      ask_all(problem);
      throw Steered{};
    }
    if (s.way.on_host) return false;
    return s.way.origin != Origin::chosen && choice_of(method) == s.way.method;
  }
  template <typename T>
  std::optional<Proposal> proposal(const oclspkt::Problem<T>& problem, Rejection& rejection) const {
    std::optional<Proposal> proposal = asked(problem, rejection);
    if (!proposal) throw Steered{rejection.why};  // no other scheme is to stand in
    return proposal;
  }

 private:
  template <typename T>
  std::optional<Proposal> asked(const oclspkt::Problem<T>& problem, Rejection& rejection) const {
    const Way& way = state().way;
    const Scheme* scheme = find_scheme(way.scheme);
    for (const Method method : kMethods) {
      if (choice_of(method) != way.method || scheme == nullptr) continue;
      if (way.origin == Origin::made) return propose_made(problem, method, *scheme, way.scheme, rejection);
      Options named;
      const oclspkt::Problem<T> asked = problem_for(*scheme, problem, method, named);
      if (!scheme->takes(method, asked)) continue;
      std::optional<Proposal> proposal = scheme->propose(asked, rejection);
      if (proposal && scheme->form(proposal->plan) != way.scheme) proposal.reset();
      if (!proposal && !rejection) rejection.why = way.scheme + " has no plan for this matrix";
      return proposal;
    }
    rejection.why = way.scheme + " is for something else";
    return std::nullopt;
  }

  template <typename T>
  void ask_all(const oclspkt::Problem<T>& problem) const {
    State& s = state();
    s.ways.clear();
    s.by_groups = problem.traits.group_items > 0;
    s.by_task = problem.traits.task;
    const LineSet& lines = problem.bands.lines();
    s.usual_partition = 0;
    if (lines.contiguous()) {
      constexpr Index kUsualHalo = 64;
      const Plan plan = make_plan(Method::truncated_halo, lines.rows(), kUsualHalo, 0, sizeof(T), problem.traits);
      s.usual_partition = s.by_groups ? plan.item_rows : plan.m;
    }
    // Schemes that propose for others as well get plans that are made here.
    for (const Method method : kMethods) {
      for (const Plan& plan : made_plans(problem, method))
        add({scheme_of(plan).form(plan), choice_of(method), Origin::made});
    }
    for (const Scheme* scheme : all_schemes()) {
      if (scheme == this) continue;
      for (const Method method : kMethods) {
        // Where memory is short kernels for CPUs stand in on GPUs; they are no rivals.
        const bool stands_in = s.by_groups && std::string(scheme->name()).starts_with("lanes-");
        Options named;
        const bool takes = scheme->takes(method, problem_for(*scheme, problem, method, named));
        if (takes && !takes_grid(problem) && !stands_in) add({scheme->name(), choice_of(method), Origin::proposed});
      }
    }
  }
  static void add(const Way& way) {
    std::vector<Way>& ways = state().ways;
    const auto is_it = [&](const Way& w) { return w.scheme == way.scheme && w.method == way.method; };
    if (std::none_of(ways.begin(), ways.end(), is_it)) ways.push_back(way);
  }
};

State& steered_state() {
  static const Front front;
  static const bool added = (add_scheme(front), true);
  static_cast<void>(added);
  return state();
}

}  // namespace

Probe::Probe() { steered_state() = {.mode = State::Mode::probe}; }
Probe::~Probe() { state().mode = State::Mode::off; }
const std::vector<Way>& Probe::ways() const { return state().ways; }
Index Probe::usual_partition() const { return state().usual_partition; }
bool Probe::by_groups() const { return state().by_groups; }
bool Probe::by_task() const { return state().by_task; }

Steering::Steering(const Way& way) { steered_state() = {.mode = State::Mode::steer, .way = way}; }
Steering::~Steering() { state().mode = State::Mode::off; }

}  // namespace oclspkt::bench::gpu
