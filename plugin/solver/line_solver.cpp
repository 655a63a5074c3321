// SPDX-License-Identifier: BSD-2-Clause
#include "line_solver.hpp"

#include <algorithm>
#include <chrono>
#include <cstdint>
#include <utility>

#include "schemes/proposal.hpp"
#include "selection.hpp"

namespace oclspkt {
namespace {

bool overlap(const void* a, std::int64_t a_bytes, const void* b, std::int64_t b_bytes) {
  const auto first = reinterpret_cast<std::uintptr_t>(a), second = reinterpret_cast<std::uintptr_t>(b);
  return first < second + static_cast<std::uintptr_t>(b_bytes) && second < first + static_cast<std::uintptr_t>(a_bytes);
}

/// @throws InvalidInput for a negative number of columns, or for strides that do not fit
void check_columns(Index extent, Index y_stride, Index x_stride, Index columns) {
  if (columns < 0) throw InvalidInput("apply was given " + std::to_string(columns) + " columns: use 0 or more");
  if (columns > 1 && std::min(y_stride, x_stride) < extent) {
    throw InvalidInput("apply was given columns that lie " + std::to_string(std::min(y_stride, x_stride)) +
                       " places apart: use strides of at least " + std::to_string(extent));
  }
}

/// @throws InvalidInput if a vector is null, or if the vectors overlap
template <typename T>
void check_vectors(Index extent, const Columns<const T>& y, const Columns<T>& x, Index count) {
  if (y.first == nullptr || x.first == nullptr)
    throw InvalidInput(std::string(y.first == nullptr ? "y" : "x") + " of apply is a null pointer: pass a vector of " +
                       std::to_string(extent) + " places");
  const Index word = sizeof(T);
  if (overlap(y.first, ((count - 1) * y.stride + extent) * word, x.first, ((count - 1) * x.stride + extent) * word)) {
    throw InvalidInput("x and y of apply overlap: use two separate vectors");
  }
}

}  // namespace

void require_ready(bool ready, const char* call) {
  if (!ready) throw InvalidInput(std::string(call) + " was called without a successful set_up: call set_up first");
}

template <typename T>
void LineSolver<T>::set_options(Options options) {
  if (options == options_) return;
  check_options(options);
  lost_.clear();  // devices that failed under the old options may work with other options
  options_ = std::move(options);
  sharing_.renew();
  shared_.reset();
  in_use_.reset();
  expected_applies_ = 0;
  applies_ = 0;
  chosen_.renew();
}

/// Measure the joules of applies: for the processors that solve or may solve, and for the host.
template <typename T>
void LineSolver<T>::watch_energy() {
  report_.energy = {};
  if (!options_.energy) {
    energy_.reset();
    return sharing_.watch_energy(nullptr);
  }
  std::vector<PoweredDevice> devices;
  const auto add = [&](const PoweredDevice& device) {
    const auto same = [&](const PoweredDevice& known) { return known.physical == device.physical; };
    if (std::none_of(devices.begin(), devices.end(), same)) devices.push_back(device);
  };
  for (const Sharer& s : sharing_.sharers()) add(s.meter);
  if (chosen_.device() >= 0) add(powered(open_device_module()->info(chosen_.device())));
  add({});
  if (!energy_ || energy_->devices() != devices) {
    MeterSettings settings = usual_meter_settings();
    settings.rated = parse_rated(options_.rated_power);
    energy_ = std::make_unique<ApplyEnergy>(std::move(devices), std::move(settings));
  }
  sharing_.watch_energy(energy_.get());
  report_.energy = energy_->report();
}

template <typename T>
auto LineSolver<T>::begin_applies() -> Start {
  if (energy_) energy_->begin();
  return std::chrono::steady_clock::now();
}

template <typename T>
void LineSolver<T>::end_metered(Index applies, bool queued) {
  if (energy_ && energy_->end(applies, queued)) report_.energy = energy_->report();
}

/// Record the joules and the time of applies. @return seconds since `start`
template <typename T>
double LineSolver<T>::end_applies(Start start, Index applies, bool queued) {
  end_metered(applies, queued);
  const double seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
  total_seconds_ += seconds;
  applies_ += applies;
  return seconds;
}

template <typename T>
System<T>& LineSolver<T>::expect(const LineSet& lines) {
  report_.ready = false;
  if (!(lines == system_.lines())) lost_.clear();  // a device too small for the old lines may hold the new lines
  return system_;
}

/// Share the rows among the processors that are named, if that pays.
/// @param[out] found  if rows are not shared, the processors of which one solves, if they are known
/// @return true if the rows are shared and set up
template <typename T>
bool LineSolver<T>::share(std::optional<Processors>& found) {
  sharing_.learn();
  sharing_.pieces().clear();
  std::unique_ptr<SharedLines<T>> shared = std::move(shared_);
  only_.clear();
  // Shares cannot pin a line. `auto` means only the fastest processor.
  const bool whole = known_.queue || options_.method == MethodChoice::pivot || options_.devices == "auto" ||
                     (known_.constant_null_space && options_.singular != Singular::fail);
  if (whole || needs_no_device(options_.devices)) return false;
  found = find_those_left();
  if (found->automatic) return false;
  const Sharer* const only = sharing_.decide(*found, choosing().outlook(), report_.sharing);
  std::string& why = report_.sharing.why;
  found->remarks.push_back(sharing_.profile_trouble());
  for (const std::string& remark : found->remarks) why += (why.empty() || remark.empty() ? "" : "; ") + remark;
  if (only != nullptr) {
    only_ = only->processor.word();
    found->keep_only(only->processor.index);
  }
  if (sharing_.pieces().empty()) return false;
  found.reset();  // the set-up of shares may lose devices
  std::vector<std::string> words;
  for (const Sharer& s : sharing_.sharers()) words.push_back(s.processor.word());
  if (!shared || shared->words() != words) shared = std::make_unique<SharedLines<T>>(options_, words);
  try {
    shared->set_up(system_.bands(), system_.survey(), sharing_.pieces(), known_);
  } catch (const Breakdown& error) {  // one processor may still solve, or report the breakdown of whole lines
    why = std::string("rows are not shared: ") + error.what() + "; " + why;
    report_.sharing.predicted_seconds = report_.sharing.single_seconds = 0;
    sharing_.fail();
    return false;
  }
  shared_ = std::move(shared);
  chosen_.give_way();
  shared_->write_report(report_);
  note_losses();
  return true;
}

/// Record the devices that the solvers of shares lost: they are not tried again.
template <typename T>
void LineSolver<T>::note_losses() {
  for (const Piece& piece : sharing_.pieces()) {
    const int device = sharing_.sharers()[piece.owner].processor.index;
    for (const std::string& line : shared_->solver(piece).report().degraded) lose({device, line});
  }
}

template <typename T>
void LineSolver<T>::set_up(Options options, const Known& known) {
  set_options(std::move(options));
  known_ = known;
  const std::int64_t applies = std::exchange(applies_, 0);
  if (applies > 0) expected_applies_ = applies;
  const std::optional<InUse> before = std::exchange(in_use_, std::nullopt);
  Report report;
  report.losses = report_.losses;
  report_ = std::move(report);
  for (const LostDevice& device : lost_) report_.degraded.push_back(device.line);
  system_.close();
  report_.rows = system_.lines().rows();
  report_.lines = system_.bands().lines().count();
  report_.dominance = system_.survey().dominance;
  report_.tolerance = tolerance<T>(options_);
  if (!system_.survey().finite)
    throw NotFinite("the bands hold NaN or Inf at row " + std::to_string(system_.survey().weakest_row) +
                    ": give finite entries");
  const auto start = std::chrono::steady_clock::now();
  const auto seconds = [&] { return std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count(); };
  std::optional<Processors> found;
  if (share(found)) {
    watch_energy();
    return;
  }
  choose_of_those_left(before, std::move(found));
  sharing_.watch_single(chosen_.device(), seconds() + system_.take_fill_seconds());
  watch_energy();
}

/// Choose anew after a device failed during a solve. @pre called from the handler of `error`, because it may rethrow
template <typename T>
void LineSolver<T>::fall_back(const DeviceError& error) {
  if (options_.on_device_failure == OnDeviceFailure::error) throw;
  if (shared_) {
    shared_.reset();
    sharing_.fail();
    report_.sharing = {{}, std::string("rows are not shared: ") + error.what(), 0, 0, 0};
  } else if (chosen_.device() < 0) {
    throw;
  } else {
    lose({chosen_.device(), report_.device.name + ": " + error.what()});
  }
  // If the device was released, the caller may have released the queue as well.
  discard_choice(report_.device.vectors.empty() ? "" : "the device of the queue failed");
  known_.queue = {};
  choose_of_those_left(std::nullopt, std::nullopt);
  watch_energy();
}

template <typename T>
void LineSolver<T>::lose(const LostDevice& device) {
  const auto is_it = [&](const LostDevice& known) { return known.index == device.index; };
  if (std::any_of(lost_.begin(), lost_.end(), is_it)) return;
  lost_.reserve(lost_.size() + 1);  // if memory runs out, neither list grows
  report_.degraded.push_back(device.line);
  lost_.push_back(device);
  ++report_.losses;
}

/// Go back to the state before a choice was made.
/// @param why_copied  why vectors go through the host until the next set-up; empty: no change
template <typename T>
void LineSolver<T>::discard_choice(const std::string& why_copied) {
  chosen_.retire();
  system_.put_back();
  report_.candidates.clear();
  report_.groups.clear();
  report_.ready = false;
  if (why_copied.empty()) return;
  known_.queue = {};
  report_.device.vectors = "copied: " + why_copied;
}

/// The processors that the options name, without lost devices. If sharing chose one processor to solve alone, the
/// result has only this processor, and the others become spare devices.
template <typename T>
Processors LineSolver<T>::find_those_left() {
  Options options = options_;
  if (!only_.empty()) options.spare_devices = std::exchange(options.devices, only_);
  Processors found = find_processors(options,
                                     {system_.bands().lines(), sizeof(Real<T>) == sizeof(double), kIsComplex<T>,
                                      host_seconds(choosing().outlook()), known_.queue},
                                     lost_);
  for (const LostDevice& lost : found.lost) lose(lost);
  return found;
}

/// Choose among the processors that are left. If one fails, the next cheapest takes over; the host is the last resort.
/// @param found  the result of find_those_left(), if the caller has it
template <typename T>
void LineSolver<T>::choose_of_those_left(const std::optional<InUse>& before, std::optional<Processors> found) {
  const Processor host;
  for (;; found.reset()) {
    Processors processors = found ? std::move(*found) : find_those_left();
    of_queue_ = processors.of_queue;
    std::vector<Way> ways = ways_there(processors, host, choosing().outlook());
    const Processor* tried = &host;
    try {
      in_use_ = choosing().choose(processors, std::move(ways), before, tried);
      if (!known_.queue) return;
      std::string& text = report_.device.vectors;
      if (solves_on_queue()) {
        text = processors.why_copied.empty()
                   ? "on the device, no copy"
                   : "copied on the device, where each apply is waited for: " + processors.why_copied;
      } else if (of_queue_ < 0) {
        text = "copied: " + processors.why_not_of_queue;
      } else {
        text = chosen_.device() < 0 ? "copied: the host solves" : "copied: the host solves some lines";
      }
      return;
    } catch (const VectorsNotShared& error) {
      discard_choice(error.what());
    } catch (const DeviceError& error) {
      if (options_.on_device_failure == OnDeviceFailure::error || tried->host()) throw;
      lose({tried->index, tried->info.name + ": " + error.what()});
      discard_choice("");
    }
  }
}

/// @throws InvalidInput if no single device solves all lines, or if that device is not the device of the caller's queue
template <typename T>
void LineSolver<T>::require_device(const Place& place) const {
  if (place.kind == Place::Kind::queue) {
    if (solves_on_queue()) return;
    const bool told = !report_.device.vectors.empty();
    throw InvalidInput("enqueue takes vectors only where the device of the queue solves all lines, but " +
                       (told ? report_.device.vectors : "set_up was told of no queue (Known::queue)") +
                       ": use apply() with host vectors");
  }
  if (shared_) {
    throw InvalidInput("several devices share the rows (" + report_.device.name +
                       ") and take no buffers of one of them: name one device, or use apply() with host vectors");
  }
  if (!system_.fallback().none()) {
    const GroupReport& first = report_.groups.front();
    throw InvalidInput("the host solves " + std::to_string(first.lines) +
                       (first.lines == 1 ? " fallback line" : " fallback lines") + ", from line " +
                       std::to_string(first.first_line) + " on (" + first.why +
                       "), and takes no buffers of a device: use apply() with host vectors");
  }
  if (chosen_.device() < 0) {
    throw InvalidInput(
        "the host solves and takes no buffers of a device: use apply() with host vectors, or name a device and a "
        "method that it supports (the report says why the host was chosen)");
  }
  if (chosen_.by_cuda()) {
    throw InvalidInput(report_.device.name + " is driven by " + report_.device.platform +
                       " and takes no buffers of OpenCL: use enqueue()");
  }
}

template <typename T>
void LineSolver<T>::apply(const Place& place, Columns<const T> y, Columns<T> x, Index count) {
  require_ready(report_.ready, place.call());
  const bool on_host = place.kind == Place::Kind::host, queued = place.kind == Place::Kind::queue;
  if (queued) require_device(place);
  const Index extent = system_.lines().extent();
  check_columns(extent, y.stride, x.stride, count);
  if (count > 1 && (place.kind == Place::Kind::buffers || place.queue.kind == DeviceQueue::Kind::opencl)) {
    throw InvalidInput(std::string(place.call()) + " takes one column in a buffer of OpenCL, not " +
                       std::to_string(count) + ": call it for each");
  }
  if (system_.lines().rows() == 0 || count == 0) return;
  if (place.kind == Place::Kind::buffers) require_device(place);
  if (on_host) check_vectors(extent, y, x, count);
  const Start start = begin_applies();
  for (bool solved = false; !solved;) {
    try {
      const bool shared = on_host && shared_;
      shared ? shared_->apply(y, x, count) : chosen_->apply(place, y, x, count);
      if (shared) note_losses();
      if (on_host && !shared) {
        system_.fallback().solve(y.first, y.stride, x.first, x.stride, count);
        choosing().note_answers();
      }
      solved = true;
    } catch (const DeviceError& error) {
      if (on_host) {
        fall_back(error);  // terminates: each failure leaves one device fewer
        continue;
      }
      if (options_.on_device_failure != OnDeviceFailure::error)
        lose({chosen_.device(), report_.device.name + ": " + error.what()});
      throw;
    }
  }
  const double seconds = end_applies(start, count, queued);
  if (on_host) sharing_.note_apply(seconds / static_cast<double>(count));
  if (!shared_) return;
  report_.sharing.seconds = sharing_.seconds();
  shared_->update_report(report_);
}

template <typename T>
DeviceSolver<T>* LineSolver<T>::alone_on_device() const {
  return report_.ready && chosen_.device() >= 0 && !shared_ && system_.fallback().none() ? chosen_.get() : nullptr;
}

/// Take this solver's step of a visit.
/// @return false if the device failed and the caller must use apply()
template <typename T>
bool LineSolver<T>::take_step(Visit<T>& visit, std::size_t step, const T* y, T* x) {
  const Start start = begin_applies();
  try {
    visit.take(step, y, x);
  } catch (const DeviceError& error) {
    fall_back(error);
    return false;
  }
  end_applies(start, 1, false);
  return true;
}

/// True if the device of Known::queue solves all lines.
template <typename T>
bool LineSolver<T>::solves_on_queue() const {
  return report_.ready && of_queue_ >= 0 && chosen_.device() == of_queue_ && system_.fallback().none();
}

template <typename T>
Times LineSolver<T>::times() const {
  Times t = chosen_.times();
  if (shared_) t = t + shared_->times();
  t.total_seconds = total_seconds_;
  return t;
}

template <typename T>
std::int64_t LineSolver<T>::bytes() const {
  return system_.bytes() + chosen_.bytes() + (shared_ ? shared_->bytes() : 0);
}

#define OCLSPKT_INSTANTIATE(T) template class LineSolver<T>;
OCLSPKT_SCALARS(OCLSPKT_INSTANTIATE)

}  // namespace oclspkt
