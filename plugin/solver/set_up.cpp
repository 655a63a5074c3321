// SPDX-License-Identifier: BSD-2-Clause
#include <algorithm>
#include <chrono>
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

std::unique_ptr<DeviceSolver<float>> make_device_solver(DeviceModule& m, int device, const DeviceSettings& s, float) {
  return m.make_float(device, s);
}
std::unique_ptr<DeviceSolver<double>> make_device_solver(DeviceModule& m, int device, const DeviceSettings& s, double) {
  return m.make_double(device, s);
}

/// Stored factors by work-groups have interface systems across tiles, whatever their lines; so do partitions in the
/// paper's form.
TrialRules rules_for(const Plan& plan) {
  const Scheme& scheme = scheme_of(plan);
  return {scheme.in_pieces(plan) || scheme.solves_interfaces(), scheme.solves_interfaces()};
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

}  // namespace

/// Make the solver of a way, or reuse the present one, and move the bands to it.
template <typename T>
void Solver<T>::Impl::adopt(const Way& way) {
  const Processor& processor = *way.processor;
  const bool on_host = processor.host();
  const std::string platform = processor.info.platform;
  // A device solves by any method with the buffers that it has.
  const bool same = (!on_host || report_.method == way.plan.method) && report_.device.name == processor.name() &&
                    report_.device.platform == platform && device_ == processor.index;
  if (solver_ == nullptr || !reusable_ || !same) {
    retire();
    solver_ = on_host ? make_host_solver<T>(way.plan.method)
                      : make_device_solver(*processor.module, processor.index, device_settings(options_), T());
  }
  reusable_ = true;
  device_ = processor.index;
  by_cuda_ = processor.info.cuda;
  report_.method = way.plan.method;
  report_.device.name = processor.name();
  report_.device.platform = platform;
  report_.device.type = on_host ? "host" : name(processor.info.type);
  report_.device.emulated = processor.info.emulated;
  ++counts_.uploads;
  solver_->expect(way.apply);
  solver_->set_up(way.plan, bands_);
}

/// Hold what was adopted against its evidence. A method that the user named is taken with the error that it has, as
/// long as its answer is finite and nothing else was asked for as well.
template <typename T>
Rejection Solver<T>::Impl::examine_adopted(Proposal& p, bool insist) {
  report_.backward_error = 0;
  // Of the factors as they were made; where work-items share an interface system, the plan's bound counts that, too.
  if (const double made = solver_->rounding(); made != 0) {
    if (!scheme_of(p.plan).solves_interfaces() || !p.rounding || p.rounding->eps < made) p.rounding = Rounding{made};
  }
  if (!p.needs_trial && in_range<T>(survey_)) return {};
  double error = -1;
  const Times start = solver_->times();
  Rejection rejection = examine(bands_, *solver_, rules_for(p.plan), error, p.growth);
  counts_.trials += error >= 0;
  const bool asked_for = insist && p.plan.method != Method::pivot;
  if (rejection && asked_for && error < 0) {
    error = trial_solve<T>(bands_.lines(), bands_.view(), TrialKind::rough, [&](const T* y, T* x) {
              solver_->apply(y, x);
            }).worst;
  }
  trials_ = trials_ + (solver_->times() - start);
  if (rejection && !(asked_for && std::isfinite(error))) return rejection;
  if (rejection) p.above_tolerance = true;
  report_.backward_error = error;
  return {};
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
  report_.device.name = std::move(previous.device.name);
  report_.device.type = std::move(previous.device.type);
  report_.device.platform = std::move(previous.device.platform);
  report_.device.emulated = previous.device.emulated;
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
  const auto start = std::chrono::steady_clock::now();
  const auto seconds = [&] { return std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count(); };
  if (share()) {
    sharing_.note_set_up(seconds());
    return;
  }
  choose_of_those_left(before);
  sharing_.watch_single(device_, seconds());
}

/// Choose anew after the device of this solver failed in the middle of a solve; called while the error is handled.
template <typename T>
void Solver<T>::Impl::fall_back(const DeviceError& error) {
  if (options_.on_device_failure == OnDeviceFailure::error) throw;
  if (sharing_.active()) {
    sharing_.drop();
    report_.sharing = {{}, std::string("rows are not shared: ") + error.what(), 0, 0, 0};
  } else if (device_ < 0) {
    throw;
  } else {
    lose({device_, report_.device.name + ": " + error.what()});
  }
  discard_choice();
  known_.queue = {};  // of a device that failed; where it was released, the caller may have released the queue as well
  if (!report_.device.vectors.empty()) report_.device.vectors = "copied: the device of the queue failed";
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
