// SPDX-License-Identifier: BSD-2-Clause
#include <algorithm>
#include <chrono>
#include <utility>

#include "line_solver.hpp"
#include "schemes/proposal.hpp"

namespace oclspkt {

template <typename T>
void LineSolver<T>::begin_set_up() {
  Report report;
  report.losses = report_.losses;
  report_ = std::move(report);
  for (const LostDevice& device : lost_) report_.degraded.push_back(device.line);
  system_.close();
  report_.rows = system_.lines().rows();
  report_.lines = system_.bands().lines().count();
  report_.dominance = system_.survey().dominance;
  report_.tolerance = tolerance<T>(options_);
}

template <typename T>
void LineSolver<T>::set_up(Options options, const Known& known) {
  set_options(std::move(options));
  system_.check_precision(options_);
  set_up(known);
}

template <typename T>
void LineSolver<T>::set_up(const Known& known) {
  known_ = known;
  const std::int64_t applies = std::exchange(applies_, 0);
  if (applies > 0) expected_applies_ = applies;
  ++counts_.set_ups;
  const std::optional<InUse> before = std::exchange(in_use_, std::nullopt);
  begin_set_up();
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
  sharing_.watch_single(chosen_.device(), seconds() + std::exchange(fill_seconds_, 0));
  watch_energy();
}

/// Choose anew after the device of this solver failed in the middle of a solve; called while the error is handled.
template <typename T>
void LineSolver<T>::fall_back(const DeviceError& error) {
  if (options_.on_device_failure == OnDeviceFailure::error) throw;
  if (sharing_.active()) {
    sharing_.drop();
    report_.sharing = {{}, std::string("rows are not shared: ") + error.what(), 0, 0, 0};
  } else if (chosen_.device() < 0) {
    throw;
  } else {
    lose({chosen_.device(), report_.device.name + ": " + error.what()});
  }
  discard_choice();
  // If the device was released, the caller may have released the queue as well.
  if (!report_.device.vectors.empty()) forget_queue("the device of the queue failed");
  known_.queue = {};
  choose_of_those_left(std::nullopt, std::nullopt);
  watch_energy();
}

/// Solve for vectors of the host until the next set-up, and say why.
template <typename T>
void LineSolver<T>::forget_queue(const std::string& why) {
  known_.queue = {};
  report_.device.vectors = "copied: " + why;
}

template <typename T>
void LineSolver<T>::lose(const LostDevice& device) {
  const auto is_it = [&](const LostDevice& known) { return known.index == device.index; };
  if (std::any_of(lost_.begin(), lost_.end(), is_it)) return;
  lost_.reserve(lost_.size() + 1);  // both lists grow or none, if memory runs out
  report_.degraded.push_back(device.line);
  lost_.push_back(device);
  ++report_.losses;
}

/// Go back to the state before a choice was made.
template <typename T>
void LineSolver<T>::discard_choice() {
  chosen_.retire();
  system_.put_back();
  report_.candidates.clear();
  report_.groups.clear();
  report_.ready = false;
}

/// Report how vectors on a caller's device are solved.
template <typename T>
void LineSolver<T>::note_queue(const Processors& processors) {
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
}

/// The processors that the options name, without those that were lost.
template <typename T>
Processors LineSolver<T>::find_those_left() {
  Processors found = find_processors(
      options_for_choice(), {system_.bands().lines(), sizeof(T) == 8, host_seconds(choosing().outlook()), known_.queue},
      lost_);
  for (const LostDevice& lost : found.lost) lose(lost);
  return found;
}

/// Choose among the processors that are left. If one fails, the next cheapest takes over; the host is the last resort.
/// @param found  the processors that are left, if they are known
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
      note_queue(processors);
      return;
    } catch (const VectorsNotShared& error) {
      discard_choice();
      forget_queue(error.what());
    } catch (const DeviceError& error) {
      if (options_.on_device_failure == OnDeviceFailure::error || tried->host()) throw;
      lose({tried->index, tried->info.name + ": " + error.what()});
      discard_choice();
    }
  }
}

template class LineSolver<float>;
template class LineSolver<double>;

}  // namespace oclspkt
