// SPDX-License-Identifier: BSD-2-Clause
#include "oclspkt/solver.hpp"

#include <algorithm>
#include <chrono>
#include <cmath>
#include <cstdio>
#include <functional>
#include <optional>

#include "cost.hpp"
#include "device_choice.hpp"
#include "evidence.hpp"
#include "host_methods.hpp"
#include "host_solver.hpp"
#include "method_choice.hpp"
#include "residual.hpp"

namespace oclspkt {
namespace {

/// How much worse growth or dominance may get before the trial solve runs again.
constexpr double kWorsening = 10;
/// A pivot smaller than this many eps against its row is missing evidence.
constexpr double kSmallPivotEps = 100;

void check_options(const Options& o) {
  if (o.precision != Precision::same) {
    throw InvalidInput(std::string("precision ") + name(o.precision) +
                       " has no kernels in this version: use precision same");
  }
  if (o.variant != "default") throw InvalidInput("variant '" + o.variant + "' does not exist; there is: default");
  if (!(o.rtol >= 0 && o.rtol < 1)) throw InvalidInput("rtol must lie in [0, 1), 0 for the rounding of the arithmetic");
  if (o.partition < 0) throw InvalidInput("partition must be 0 (chosen) or a number of rows");
  if (o.device_memory < 0) throw InvalidInput("device_memory must be 0 (the device's own limit) or a number of bytes");
  if (!(o.timeout >= 0)) throw InvalidInput("timeout must be 0 (100 times the predicted time) or a number of seconds");
}

std::unique_ptr<DeviceSolver<float>> make_device_solver(DeviceModule& m, int device, const DeviceSettings& s, float) {
  return m.make_float(device, s);
}
std::unique_ptr<DeviceSolver<double>> make_device_solver(DeviceModule& m, int device, const DeviceSettings& s, double) {
  return m.make_double(device, s);
}

std::string error_text(double error) {
  char text[48];
  std::snprintf(text, sizeof text, "backward error %.1e", error);
  return text;
}

bool overlap(const void* a, const void* b, std::int64_t bytes) {
  const auto first = reinterpret_cast<std::uintptr_t>(a), second = reinterpret_cast<std::uintptr_t>(b);
  const auto size = static_cast<std::uintptr_t>(bytes);
  return first < second + size && second < first + size;
}

}  // namespace

template <typename T>
class Solver<T>::Impl {
 public:
  explicit Impl(Options options) : options_(std::move(options)) { check_options(options_); }

  void set_options(Options options) {
    options_ = std::move(options);
    survives_ = false;  // a device solver keeps the settings that it was made with
  }
  void set_up();
  void apply(const T* y, T* x);

  Options options_;
  Bands<T> bands_;
  Report report_;
  std::unique_ptr<Solver<T>> transposed_;
  bool transpose_stale_ = true;
  Times finished_;  ///< of solvers that are gone
  double total_seconds_ = 0;
  std::unique_ptr<DeviceSolver<T>> solver_;

 private:
  /// What the last trial solve found; it covers later set-ups that are no worse.
  struct Checked {
    Method method = Method::pivot;
    std::string device;
    LineSet lines;
    double growth = 0, dominance = 0, backward_error = 0;
  };

  void choose(const DeviceChoice& device);
  void adopt(const DeviceChoice& device, const Proposal& proposal);
  std::optional<std::string> refuse(const Proposal& proposal);
  std::optional<std::string> refuse_pivots(Proposal& proposal);
  std::optional<std::string> judge_trial(const Proposal& proposal, double error) const;
  bool checked_before(const Proposal& proposal) const;
  DeviceSettings settings(const DeviceChoice& device, const Plan& plan) const;
  void degrade(const DeviceError& error);
  void retire();

  Survey survey_;
  bool survives_ = false;  ///< solver_ may be set up again for the same method and device
  std::optional<Checked> checked_;
};

template <typename T>
void Solver<T>::Impl::retire() {
  if (solver_ == nullptr) return;
  const Times t = solver_->times();
  finished_.applies += t.applies;
  finished_.kernel_seconds += t.kernel_seconds;
  finished_.transfer_seconds += t.transfer_seconds;
  finished_.bytes_to_device += t.bytes_to_device;
  finished_.bytes_from_device += t.bytes_from_device;
  solver_.reset();
}

template <typename T>
DeviceSettings Solver<T>::Impl::settings(const DeviceChoice& device, const Plan& plan) const {
  DeviceSettings s;
  s.copy_vectors = options_.transfer == Transfer::copy;
  s.device_memory = options_.device_memory;
  s.timeout = options_.timeout;
  s.predicted_seconds = predict_seconds(device.profile, plan.n, plan.words_per_row(), 1, sizeof(T));
  return s;
}

/// Make the solver of a proposal, or reuse the present one, and move the bands to it.
template <typename T>
void Solver<T>::Impl::adopt(const DeviceChoice& device, const Proposal& proposal) {
  const Method method = proposal.plan.method;
  const bool on_host = device.host() || !device_carries(method);
  const std::string name = on_host ? "host" : device.info.name + " (" + device.info.platform + ")";
  const std::string previous = report_.device_type == "host" ? "host" : report_.device + " (" + report_.platform + ")";
  if (solver_ == nullptr || !survives_ || report_.method != method || previous != name) {
    retire();
    solver_ = on_host ? make_host_solver<T>(method)
                      : make_device_solver(*device.module, device.index, settings(device, proposal.plan), T());
  }
  survives_ = true;
  report_.method = method;
  report_.device = on_host ? "host" : device.info.name;
  report_.device_type = on_host ? "host" : oclspkt::name(device.info.type);
  report_.platform = on_host ? "" : device.info.platform;
  report_.device_why = device.why;
  if (on_host && !device.host()) report_.device_why = "the devices' kernels do not carry this method";
  solver_->set_up(proposal.plan, bands_);
}

template <typename T>
bool Solver<T>::Impl::checked_before(const Proposal& p) const {
  // A matrix that is not strictly dominant can turn singular by an arbitrarily small change: always tried.
  return checked_ && survey_.dominance > 1 && checked_->method == p.plan.method && checked_->device == report_.device &&
         checked_->lines == bands_.lines() && p.growth <= kWorsening * checked_->growth &&
         survey_.dominance - 1 >= (checked_->dominance - 1) / kWorsening;
}

/// Stored factors: growth and pivots are known once they are made.
template <typename T>
std::optional<std::string> Solver<T>::Impl::refuse_pivots(Proposal& p) {
  const auto* host = dynamic_cast<const HostSolver<T>*>(solver_.get());
  if (host == nullptr) return std::nullopt;
  p.growth = host->growth();
  report_.growth = p.growth;
  if (named(options_.method)) return std::nullopt;
  char text[80];
  if (!(p.growth <= kGrowthLimit)) {
    std::snprintf(text, sizeof text, "growth %.1e > %.0f", p.growth, kGrowthLimit);
    return text;
  }
  if (!(host->smallest_pivot() >= kSmallPivotEps * std::numeric_limits<T>::epsilon())) {
    std::snprintf(text, sizeof text, "a pivot of %.1e against its row", host->smallest_pivot());
    return text;
  }
  return std::nullopt;
}

/// What the trial solve says against a method, with the singular lines named for `pivot`.
template <typename T>
std::optional<std::string> Solver<T>::Impl::judge_trial(const Proposal& p, double error) const {
  const double limit = kTrialLimitEps * static_cast<double>(std::numeric_limits<T>::epsilon());
  const auto* pivot = dynamic_cast<const PivotSolver<T>*>(solver_.get());
  if (pivot != nullptr) {
    const Reference<T>& reference = pivot->reference();
    if (reference.singular_line() >= 0) {
      return "singular: line " + std::to_string(reference.singular_line()) + ", pivot of row " +
             std::to_string(reference.singular_row()) + " is zero or not finite with partial pivoting";
    }
    if (reference.suspect_line() >= 0 && !(error <= limit)) {
      return "singular: the last pivot of line " + std::to_string(reference.suspect_line()) + " vanishes, " +
             error_text(error);
    }
    return std::isfinite(error) ? std::nullopt : std::optional<std::string>("the trial solve is not finite");
  }
  if (error <= limit || (named(options_.method) && std::isfinite(error))) return std::nullopt;
  return p.why + ", " + error_text(error) + " of the trial solve";
}

/// Hold a proposal that has been adopted against its evidence. @return the reason if it does not hold
template <typename T>
std::optional<std::string> Solver<T>::Impl::refuse(const Proposal& proposal) {
  Proposal p = proposal;
  if (auto reason = refuse_pivots(p)) return reason;
  report_.why = p.why;
  report_.certificate = p.certificate;
  report_.certificate_above_tolerance = p.above_tolerance;
  report_.growth = p.growth;
  report_.backward_error = 0;
  if (!p.needs_trial) return std::nullopt;
  if (checked_before(p)) {
    report_.backward_error = checked_->backward_error;
  } else {
    checked_.reset();
    const double error = trial_solve<T>(bands_.lines(), bands_.view(), [&](const T* y, T* x) { solver_->apply(y, x); });
    if (auto reason = judge_trial(p, error)) return reason;
    report_.backward_error = error;
    checked_ = Checked{p.plan.method, report_.device, bands_.lines(), p.growth, survey_.dominance, error};
  }
  report_.why += ", checked: " + error_text(report_.backward_error);
  const double limit = kTrialLimitEps * static_cast<double>(std::numeric_limits<T>::epsilon());
  if (p.plan.method != Method::pivot && !(report_.backward_error <= limit)) report_.certificate_above_tolerance = true;
  return std::nullopt;
}

/// Go through the methods in order and keep the first that holds.
template <typename T>
void Solver<T>::Impl::choose(const DeviceChoice& device) {
  const Index n = bands_.lines().rows();
  for (const Method method : methods_to_try(options_.method, device.host())) {
    const bool on_host = device.host() || !device_carries(method);
    const DeviceTraits traits =
        on_host ? DeviceTraits{.lanes = 1}
                : device.module->traits(device.index, sizeof(T) == 8, settings(device, Plan{.n = n}));
    const Problem<T> problem{options_, bands_, survey_, traits, on_host};
    std::string reason;
    const std::optional<Proposal> proposal = propose(problem, method, reason);
    if (proposal) {
      adopt(device, *proposal);
      const auto refusal = refuse(*proposal);
      if (!refusal) {
        const Plan& plan = proposal->plan;
        const bool cut = method != Method::exact_factored && method != Method::pivot;
        report_.partition = cut ? plan.m : 0;
        report_.partitions = cut ? plan.partitions() : 0;
        report_.halo = plan.halo;
        report_.words_per_row = plan.words_per_row();
        report_.candidates.push_back({method, true, report_.why});
        report_.ready = true;
        return;
      }
      reason = *refusal;
    }
    report_.candidates.push_back({method, false, reason});
  }
  retire();
  std::string text = "no method holds for this matrix";
  for (const Candidate& c : report_.candidates) text += std::string("; ") + name(c.method) + ": " + c.why;
  if (named(options_.method)) text += "; method auto tries others";
  throw Breakdown(text);
}

template <typename T>
void Solver<T>::Impl::set_up() {
  const Report previous = std::move(report_);
  report_ = Report{};
  report_.method = previous.method;  // which solver is there to be reused
  report_.device = previous.device;
  report_.device_type = previous.device_type;
  report_.platform = previous.platform;
  transpose_stale_ = true;
  bands_.close_lines();
  const LineSet& lines = bands_.lines();
  survey_ = survey(lines, bands_.view());
  report_.rows = lines.rows();
  report_.lines = lines.count();
  report_.dominance = survey_.dominance;
  report_.tolerance = tolerance<T>(options_);
  if (!survey_.finite) {
    throw Breakdown("the bands hold NaN or Inf at row " + std::to_string(survey_.weakest_row));
  }
  const Demand demand{lines, sizeof(T) == 8, likely_words<T>(options_, survey_), 1};
  DeviceChoice device = choose_device(options_, demand);
  report_.degraded = device.degraded;
  try {
    choose(device);
  } catch (const DeviceError& error) {
    if (options_.on_device_failure == OnDeviceFailure::error) throw;
    degrade(error);
  }
}

/// Put the host in the place of a device that failed.
template <typename T>
void Solver<T>::Impl::degrade(const DeviceError& error) {
  report_.degraded.push_back(report_.device + ": " + error.what());
  retire();
  report_.candidates.clear();
  report_.ready = false;
  DeviceChoice host;
  host.why = "the device failed";
  choose(host);
}

template <typename T>
void Solver<T>::Impl::apply(const T* y, T* x) {
  if (!report_.ready) throw InvalidInput("apply needs a set_up that succeeded");
  const LineSet& lines = bands_.lines();
  if (lines.rows() == 0) return;
  if (y == nullptr || x == nullptr) throw InvalidInput("apply needs two vectors, got a null pointer");
  if (overlap(y, x, lines.extent() * static_cast<std::int64_t>(sizeof(T)))) {
    throw InvalidInput("x and y of apply overlap: use two vectors");
  }
  const auto start = std::chrono::steady_clock::now();
  try {
    solver_->apply(y, x);
  } catch (const DeviceError& error) {
    if (options_.on_device_failure == OnDeviceFailure::error) throw;
    degrade(error);
    solver_->apply(y, x);
  }
  total_seconds_ += std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
}

template <typename T>
Solver<T>::Solver(Options options) : impl_(std::make_unique<Impl>(std::move(options))) {}
template <typename T>
Solver<T>::~Solver() = default;
template <typename T>
Solver<T>::Solver(Solver&&) noexcept = default;
template <typename T>
Solver<T>& Solver<T>::operator=(Solver&&) noexcept = default;

template <typename T>
Bands<T>& Solver<T>::bands(const LineSet& lines) {
  impl_->bands_.reshape(lines);
  return impl_->bands_;
}

template <typename T>
void Solver<T>::set_up() {
  impl_->set_up();
}

template <typename T>
void Solver<T>::set_up(const LineSet& lines, const T* lower, const T* diag, const T* upper) {
  if (lines.rows() > 0 && (lower == nullptr || diag == nullptr || upper == nullptr)) {
    throw InvalidInput("set_up needs three bands, got a null pointer");
  }
  Bands<T>& own = bands(lines);
  std::copy_n(lower, lines.extent(), own.lower());
  std::copy_n(diag, lines.extent(), own.diag());
  std::copy_n(upper, lines.extent(), own.upper());
  set_up();
}

template <typename T>
void Solver<T>::apply(const T* y, T* x) {
  impl_->apply(y, x);
}

template <typename T>
void Solver<T>::apply_transpose(const T* y, T* x) {
  if (!impl_->report_.ready) throw InvalidInput("apply_transpose needs a set_up that succeeded");
  if (impl_->transpose_stale_) {
    if (!impl_->transposed_) impl_->transposed_ = std::make_unique<Solver<T>>(impl_->options_);
    impl_->transposed_->set_options(impl_->options_);
    const LineSet& lines = impl_->bands_.lines();
    transpose(lines, impl_->bands_.view(), impl_->transposed_->bands(lines));
    impl_->transposed_->set_up();
    impl_->transpose_stale_ = false;
  }
  impl_->transposed_->apply(y, x);
}

template <typename T>
const Options& Solver<T>::options() const {
  return impl_->options_;
}

template <typename T>
void Solver<T>::set_options(Options options) {
  check_options(options);
  impl_->set_options(std::move(options));
}

template <typename T>
const LineSet& Solver<T>::lines() const {
  return impl_->bands_.lines();
}

template <typename T>
const Report& Solver<T>::report() const {
  return impl_->report_;
}

template <typename T>
const Report& Solver<T>::transpose_report() const {
  static const Report none;
  return impl_->transposed_ ? impl_->transposed_->report() : none;
}

template <typename T>
Times Solver<T>::times() const {
  Times t = impl_->finished_;
  if (impl_->solver_) {
    const Times present = impl_->solver_->times();
    t.applies += present.applies;
    t.kernel_seconds += present.kernel_seconds;
    t.transfer_seconds += present.transfer_seconds;
    t.bytes_to_device += present.bytes_to_device;
    t.bytes_from_device += present.bytes_from_device;
  }
  t.total_seconds = impl_->total_seconds_;
  return t;
}

template <typename T>
std::int64_t Solver<T>::bytes() const {
  return impl_->bands_.bytes() + (impl_->solver_ ? impl_->solver_->bytes() : 0) +
         (impl_->transposed_ ? impl_->transposed_->bytes() : 0);
}

template class Solver<float>;
template class Solver<double>;

void release_devices() {
  // Only a module that is open already has something to release.
  if (DeviceModule* module = open_device_module()) module->release();
}

}  // namespace oclspkt
