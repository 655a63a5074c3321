// SPDX-License-Identifier: BSD-2-Clause
#include <algorithm>
#include <cmath>
#include <cstdio>

#include "certificate.hpp"
#include "cost.hpp"
#include "evidence.hpp"
#include "geometry.hpp"
#include "host_methods.hpp"
#include "narrow.hpp"
#include "schemes/proposal.hpp"
#include "schemes/scheme.hpp"
#include "solver_impl.hpp"

namespace oclspkt {
namespace {

/// Applies between two set-ups up to which stored factors cost more than they spare: they take a pass over the bands.
/// GPUs apply so much faster than the host makes factors that it takes thousands (H100, 1e7 rows of dominance 1.01 in
/// float: 0.2 s of set-up for 25 us an apply).
constexpr std::int64_t kFewApplies = 4, kFewAppliesOfGroups = 1000;

/// @param expected  applies; 0: nothing is known
bool are_few(std::int64_t expected, std::int64_t few) { return expected > 0 && expected <= few; }

std::unique_ptr<DeviceSolver<float>> make_device_solver(DeviceModule& m, int device, const DeviceSettings& s, float) {
  return m.make_float(device, s);
}
std::unique_ptr<DeviceSolver<double>> make_device_solver(DeviceModule& m, int device, const DeviceSettings& s, double) {
  return m.make_double(device, s);
}

bool runs_on_host(const DeviceChoice& device, const Plan& plan, const LineSet& lines) {
  return device.host() || !device_carries(plan, lines);
}

/// Stored factors by work-groups settle across tiles, whatever their lines; so do partitions in the paper's form.
TrialRules rules_for(const Plan& plan) {
  const Scheme& scheme = scheme_of(plan);
  return {scheme.in_pieces(plan) || scheme.settles(), scheme.settles()};
}

/// Seconds that one apply of a plan takes where it would run; 0 for pivot, which nothing was measured for.
template <typename T>
double predict_apply(const DeviceChoice& device, const Plan& plan, const LineSet& lines) {
  const bool on_host = runs_on_host(device, plan, lines);
  if (on_host) return plan.method == Method::exact_factored ? predict_host_seconds<T>(lines, plan.form) : 0;
  if (lines.beside()) return predict_beside_seconds(device.profile, plan, sizeof(T));
  return predict_seconds(device.profile, plan.n, plan.words_per_row(), scheme_of(plan).launches(), sizeof(T));
}

/// Why lines that are singular get their last unknown set to 0; null: they do not.
const char* pin_reason(const Options& options, const Known& known, const LineSet& lines) {
  if (options.singular == Singular::pin) return "asked for";
  const bool automatic = options.singular == Singular::automatic;
  return automatic && known.constant_null_space && lines.count() == 1
             ? "one line, and the matrix has a constant null space"
             : nullptr;
}

/// True if the host may solve the lines of a rejection, so that `method` can be tried for the others.
template <typename T>
bool may_fall_back(const Rejection& rejection, Method method, const Options& options, bool pins,
                   const FallbackLines<T>& fallback) {
  if (rejection.lines.empty()) return false;
  // Nothing is behind `pivot` but to pin the lines that are singular.
  if (method == Method::pivot) return pins;
  return !named(options.method) && fallback.may_add(rejection.lines, method);
}

std::string error_text(double error) {
  char text[48];
  std::snprintf(text, sizeof text, "backward error %.1e", error);
  return text;
}

DeviceSettings device_settings(const Options& options) {
  DeviceSettings s;
  s.variant = variant_of(options.variant);
  s.copy_vectors = options.transfer == Transfer::copy;
  s.device_memory = options.device_memory;
  s.timeout = options.timeout;
  s.kernel_times = options.kernel_times;
  return s;
}

/// What precision narrow did, and what it left alone.
/// @param narrowed  largest change of a row's excess
template <typename T>
std::string precision_text(const Options& options, double narrowed, bool on_host, const Proposal& p) {
  if (options.precision != Precision::narrow) return {};
  if (!narrows<T>(options)) return "narrow changes nothing: the vectors are float already";
  char changed[80] = "";
  if (narrowed > 0) {
    std::snprintf(changed, sizeof changed, ", which changes the excess of a row by %.2g %% at most", 100 * narrowed);
  }
  const std::string text = std::string("bands rounded to float") + changed + "; ";
  if (p.plan.narrow) return text + "stored factors are floats, too";
  const bool stores =
      p.plan.has<StoredFactors>() || p.plan.method == Method::exact_factored || p.plan.method == Method::pivot;
  if (!stores) return text + "no factors are stored";
  const std::string why = !p.why_wide.empty() ? p.why_wide
                          : p.above_tolerance ? "the certificate is above the tolerance"
                          : on_host           ? "the host solves"
                                              : std::string("method ") + name(p.plan.method) + " has no narrow factors";
  return text + "factors stay double, " + why;
}

/// A method that was judged: by `plan`, if it got one.
template <typename T>
Candidate judged(const DeviceChoice& device, const LineSet& lines, Method method, bool taken, std::string why,
                 const std::optional<Plan>& plan) {
  Candidate candidate;
  candidate.method = method;
  candidate.taken = taken;
  candidate.why = std::move(why);
  if (plan && plan->n > 0) {
    candidate.shape = scheme_of(*plan).shape(*plan);
    candidate.words_per_row = plan->words_per_row();
    candidate.seconds = predict_apply<T>(device, *plan, lines);
  }
  return candidate;
}

/// True if the device uses kernels made for GPUs.
template <typename T>
bool by_groups(const DeviceChoice& device, const Options& options) {
  if (device.host()) return false;
  return device.module->traits(device.index, sizeof(T) == 8, device_settings(options)).group_items > 0;
}

/// Why the host solves although a device was chosen.
template <typename T>
const char* why_on_host(const DeviceChoice& device, const Options& options, const LineSet& lines) {
  return options.method == MethodChoice::exact_factored && lines.contiguous() && by_groups<T>(device, options)
             ? "kernels for GPUs have no exact-factored for lines laid end to end: use exact-twopass there"
             : "no kernel of the chosen device has this method";
}

/// Write a proposal that holds into a report that has the fallback groups already.
void write_proposal(const Proposal& p, const LineSet& lines, Report& report) {
  const bool cut = scheme_of(p.plan).in_pieces(p.plan);
  report.shape = scheme_of(p.plan).shape(p.plan);
  report.why = p.why;
  report.certificate = p.certificate;
  report.certificate_above_tolerance = p.above_tolerance;
  report.rounding = p.rounding ? p.rounding->eps : kNothingKnown;
  for (const GroupReport& group : report.groups) {
    if (!(group.rounding <= report.rounding)) report.rounding = group.rounding;
  }
  report.growth = p.growth;
  report.partition = cut ? p.plan.m : 0;
  report.partitions = segments_of(p.plan) > 0 ? lines.count() * segments_of(p.plan) : cut ? p.plan.partitions() : 0;
  report.halo = p.plan.halo;
  report.form = p.plan.narrow && p.plan.form == Form::general ? Form::narrow : p.plan.form;
  report.words_per_row = p.plan.words_per_row();
  Plan general = p.plan;
  general.form = Form::general;
  general.narrow = false;
  report.words_saved = general.words_per_row() - p.plan.words_per_row();
}

/// Make the bands what is to be solved, and survey their rows.
/// @param filled            of rows that nothing but a fill has had, if that is so
/// @param[in,out] narrowed  largest change of a row's excess by precision narrow
template <typename T>
Survey close_and_survey(const Options& options, Bands<T>& bands, const std::optional<Survey>& filled,
                        double& narrowed) {
  if (!filled) bands.close_lines();
  if (narrows<T>(options)) {
    narrowed = std::max(narrowed, narrow_bands(bands));  // bands of an earlier set-up are rounded already
  } else if (filled) {
    return *filled;
  }
  return survey_rows(bands.lines(), bands.view());
}

/// Move an attempt, if it is among them, to the front. @return true if that changed the order
bool move_to_front(const Attempt& attempt, std::vector<Attempt>& attempts) {
  const auto place = std::find(attempts.begin(), attempts.end(), attempt);
  if (place == attempts.begin() || place == attempts.end()) return false;
  std::rotate(attempts.begin(), place, place + 1);
  return true;
}

}  // namespace

/// Make the solver of a plan, or reuse the present one, and move the bands to it.
/// @param leaves_device  the plan is one of the host, whatever the device carries
template <typename T>
void Solver<T>::Impl::adopt(const DeviceChoice& device, const Plan& plan, bool leaves_device) {
  const bool on_host = leaves_device || runs_on_host(device, plan, bands_.lines());
  const std::string device_name = on_host ? "host" : device.info.name;
  const std::string platform = on_host ? "" : device.info.platform;
  // A device solves by any method with the buffers that it has.
  const bool same =
      (!on_host || report_.method == plan.method) && report_.device == device_name && report_.platform == platform;
  if (solver_ == nullptr || !reusable_ || !same) {
    retire();
    DeviceSettings s = device_settings(options_);
    s.predicted_seconds = predict_seconds(device.profile, plan.n, plan.idle * plan.words_per_row(), 1, sizeof(T));
    solver_ = on_host ? make_host_solver<T>(plan.method) : make_device_solver(*device.module, device.index, s, T());
  }
  reusable_ = true;
  device_ = on_host ? -1 : device.index;
  report_.method = plan.method;
  report_.device = device_name;
  report_.platform = platform;
  report_.device_type = on_host ? "host" : name(device.info.type);
  report_.device_why = on_host && !device.host() ? why_on_host<T>(device, options_, bands_.lines()) : device.why;
  report_.device_costs = device.costs;
  ++counts_.uploads;
  solver_->set_up(plan, bands_);
}

/// Hold what was adopted against its evidence. A method that the user named is taken with the error that it has, as
/// long as its answer is finite and nothing else was asked for as well.
template <typename T>
Rejection Solver<T>::Impl::examine_adopted(Proposal& p, bool last) {
  report_.backward_error = 0;
  // Of the factors as they were made; where work-items settle, the plan's bound counts that, too.
  if (const double made = solver_->rounding(); made != 0) {
    if (!scheme_of(p.plan).settles() || !p.rounding || p.rounding->eps < made) p.rounding = Rounding{made};
  }
  if (!p.needs_trial && in_range<T>(survey_)) return {};
  double error = -1;
  const Times start = solver_->times();
  Rejection rejection = examine(bands_, *solver_, rules_for(p.plan), error, p.growth);
  counts_.trials += error >= 0;
  const bool asked_for = last && named(options_.method) && p.plan.method != Method::pivot;
  if (rejection && asked_for && error < 0) {
    error = trial_solve<T>(bands_.lines(), bands_.view(), TrialKind::rough, [&](const T* y, T* x) {
              solver_->apply(y, x);
            }).worst;
  }
  trials_ = trials_ + (solver_->times() - start);
  const bool insist = asked_for && std::isfinite(error);
  if (rejection && !insist) return rejection;
  if (rejection) p.above_tolerance = true;
  report_.backward_error = error;
  return {};
}

/// The present bands, to be solved by the device or by the host.
template <typename T>
Problem<T> Solver<T>::Impl::problem(const DeviceChoice& device, bool on_host, bool one_shot) const {
  const DeviceTraits traits =
      on_host ? kHostTraits : device.module->traits(device.index, sizeof(T) == 8, device_settings(options_));
  return {options_, bands_, survey_, traits, survey_.symmetric || known_.symmetric, one_shot};
}

/// Plan a method and examine it; lines that alone stand in its way become fallback lines.
template <typename T>
bool Solver<T>::Impl::try_method(const DeviceChoice& device, const Attempt& attempt, bool one_shot, bool last,
                                 Rejection& rejection) {
  const Method method = attempt.method;
  const bool on_host =
      device.host() || attempt.on_host || !device_carries(method, bands_.lines(), by_groups<T>(device, options_));
  const char* const pin_why = pin_reason(options_, known_, bands_.lines());
  if (const std::optional<Rejection> extremes = lines_out_of_range<T>(options_, survey_, bands_)) {
    fallback_.add(*extremes);
    look();
  }
  for (;;) {
    rejection = {};
    Problem<T> present = problem(device, on_host, one_shot);
    present.leaves_idle = attempt.leaves_idle;
    present.rounding_limit = known_.rounding_limit;
    present.insist = last && named(options_.method);
    std::optional<Proposal> proposal = propose(present, method, rejection);
    if (proposal) {
      adopt(device, proposal->plan, on_host);
      rejection = examine_adopted(*proposal, last);
      if (rejection) {
        rejection.plan = proposal->plan;
      } else {
        fallback_.settle(pin_why, report_);
        write_proposal(*proposal, bands_.lines(), report_);
        report_.precision = narrows<T>(options_) ? Precision::narrow : Precision::same;
        report_.precision_why = precision_text<T>(options_, narrowed_, device_ < 0, *proposal);
        report_.ready = true;
        std::string why = proposal->why;
        if (proposal->needs_trial) why += ", checked: " + error_text(report_.backward_error);
        report_.candidates.push_back(judged<T>(device, bands_.lines(), method, true, std::move(why), proposal->plan));
        return true;
      }
    }
    // NaN of one line may spread to others where lines are glued, and to the fallback lines.
    std::erase_if(rejection.lines, [&](Index line) { return fallback_.contains(line); });
    if (!may_fall_back(rejection, method, options_, pin_why != nullptr, fallback_)) return false;
    fallback_.add(rejection);
    look();
  }
}

/// Go through the methods in order, one that was in use before first, and keep the first that holds.
template <typename T>
void Solver<T>::Impl::choose(const DeviceChoice& device, const std::optional<InUse>& before) {
  const bool groups = by_groups<T>(device, options_), end_to_end = bands_.lines().contiguous();
  const bool few_applies = are_few(expected_applies_, groups ? kFewAppliesOfGroups : kFewApplies);
  // Shared factors cost those of one line.
  const bool few = few_applies && !device.host() && !survey_.shared;
  const bool one_shot = few && !named(options_.method) && holds_at_once(problem(device, false, true));
  // Kernels for GPUs solve with a short halo as fast as memory allows.
  const bool halo_first = one_shot || groups;
  const bool many_cores = !device.host() && !groups && problem(device, false, false).traits.cores > kTwistedCores;
  const bool factors =
      device.host() || !end_to_end || has_scheme(problem(device, false, false), Method::exact_factored);
  std::vector<Attempt> attempts =
      methods_to_try(options_.method, {device.host(), end_to_end, few, halo_first, groups, many_cores, factors});
  const bool comparable =
      before && before->device == device.index && before->lines == bands_.lines() && before->few_applies == few_applies;
  const bool moved = comparable && move_to_front(before->attempt, attempts);
  bool singular = false;
  for (const Attempt& attempt : attempts) {
    const Method method = attempt.method;
    Rejection rejection;
    if (try_method(device, attempt, one_shot, attempt == attempts.back(), rejection)) {
      // What leaves the chosen device, and pivoting, are remedies that cost several times as much.
      const bool remedy = method == Method::pivot || (device_ < 0) != device.host();
      if (!named(options_.method) && !remedy) {
        in_use_ = InUse{attempt, device.index, bands_.lines(), few_applies};
      }
      if (moved && attempt == attempts.front()) report_.why += ", kept from the previous set-up";
      const bool stores_none = method == Method::truncated_halo || method == Method::exact_twopass;
      if (few && stores_none) report_.why += ", stores no factors because few applies are expected";
      return;
    }
    report_.candidates.push_back(judged<T>(device, bands_.lines(), method, false, rejection.why, rejection.plan));
    singular = method == Method::pivot && !rejection.lines.empty();
    put_back();
  }
  retire();
  std::string text = "every method is rejected for this matrix";
  for (const Candidate& c : report_.candidates) text += std::string("; ") + name(c.method) + ": " + c.why;
  if (singular && pin_reason(options_, known_, bands_.lines()) == nullptr) text += std::string("; ") + kPinCure;
  if (named(options_.method) && !singular) text += "; set method to auto to try the others";
  throw Breakdown(text);
}

/// Make the bands whole again.
template <typename T>
void Solver<T>::Impl::put_back() {
  if (fallback_.put_back()) look();
}

/// Survey the bands as they are now. @param rows what survey_rows() found already
template <typename T>
void Solver<T>::Impl::look(const std::optional<Survey>& rows) {
  const LineSet& lines = bands_.lines();
  survey_ = rows ? *rows : survey_rows(lines, bands_.view());
  survey_.shared = survey_.finite && is_shared(lines, bands_.view());
  survey_.symmetric = survey_.finite && symmetry_matters<T>(options_) && is_symmetric(lines, bands_.view());
}

template <typename T>
void Solver<T>::Impl::begin_set_up() {
  put_back();
  transpose_stale_ = true;
  Report previous = std::move(report_);
  report_ = Report{};
  report_.losses = previous.losses;
  report_.method = previous.method;  // which solver is there to be reused
  report_.device = std::move(previous.device);
  report_.device_type = std::move(previous.device_type);
  report_.platform = std::move(previous.platform);
  for (const LostDevice& device : lost_) report_.degraded.push_back(device.line);
  bands_.relabel(lines_);
  const std::optional<Survey> filled = std::exchange(filled_, std::nullopt);
  const Survey rows = close_and_survey(options_, bands_, filled, narrowed_);
  const bool may_be_many = lines_.count() == 1 && lines_.contiguous() && rows.uncoupled_above > 1;
  if (may_be_many) bands_.relabel(uncoupled_lines(lines_, bands_.view()));
  look(rows);
  report_.rows = lines_.rows();
  report_.lines = bands_.lines().count();
  report_.dominance = survey_.dominance;
  report_.tolerance = tolerance<T>(options_);
}

template <typename T>
void Solver<T>::Impl::set_up(const Known& known) {
  known_ = known;
  const std::int64_t applies = std::exchange(applies_, 0);
  if (applies > 0) expected_applies_ = applies;
  ++counts_.set_ups;
  const std::optional<InUse> before = std::exchange(in_use_, std::nullopt);
  begin_set_up();
  if (!survey_.finite)
    throw NotFinite("the bands hold NaN or Inf at row " + std::to_string(survey_.weakest_row) +
                    ": give finite entries");
  choose_of_those_left(before);
}

/// Choose device and method; a device that fails makes room for the next cheapest, the last is the host.
template <typename T>
void Solver<T>::Impl::choose_of_those_left(const std::optional<InUse>& before) {
  const bool symmetric = survey_.symmetric || known_.symmetric;
  for (;;) {
    const DeviceChoice device =
        choose_device(options_,
                      {bands_.lines(), sizeof(T) == 8, likely_words<T>(options_, survey_, symmetric), 1,
                       survey_.shared ? Form::shared : Form::general, segment_halo<T>(options_, survey_, symmetric),
                       are_few(expected_applies_, kFewApplies)},
                      lost_);
    for (const LostDevice& lost : device.lost) lose(lost);
    try {
      choose(device, before);
      return;
    } catch (const DeviceError& error) {
      if (options_.on_device_failure == OnDeviceFailure::error || device.host()) throw;
      lose({device.index, device.info.name + ": " + error.what()});
      discard_choice();
    }
  }
}

/// Choose anew after the device of this solver failed in the middle of a solve; called while the error is handled.
template <typename T>
void Solver<T>::Impl::fall_back(const DeviceError& error) {
  if (options_.on_device_failure == OnDeviceFailure::error || device_ < 0) throw;
  lose({device_, report_.device + ": " + error.what()});
  discard_choice();
  choose_of_those_left(std::nullopt);
}

/// Note that a device failed: one line for each.
template <typename T>
void Solver<T>::Impl::lose(const LostDevice& device) {
  const auto is_it = [&](const LostDevice& known) { return known.index == device.index; };
  if (std::any_of(lost_.begin(), lost_.end(), is_it)) return;
  lost_.reserve(lost_.size() + 1);  // both or none, should memory run out
  report_.degraded.push_back(device.line);
  lost_.push_back(device);
  ++report_.losses;
}

/// Go back to the state before a choice was made.
template <typename T>
void Solver<T>::Impl::discard_choice() {
  retire();
  put_back();
  report_.candidates.clear();
  report_.groups.clear();
  report_.ready = false;
}

/// Forget the present solver but for its times.
template <typename T>
void Solver<T>::Impl::retire() {
  if (solver_ == nullptr) return;
  finished_ = finished_ + solver_->times();
  solver_.reset();
}

template class Solver<float>::Impl;
template class Solver<double>::Impl;

}  // namespace oclspkt
