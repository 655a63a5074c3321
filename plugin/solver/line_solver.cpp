// SPDX-License-Identifier: BSD-2-Clause
#include "line_solver.hpp"

#include <algorithm>
#include <chrono>
#include <cstdint>
#include <utility>

namespace oclspkt {
namespace {

bool overlap(const void* a, std::int64_t a_bytes, const void* b, std::int64_t b_bytes) {
  const auto first = reinterpret_cast<std::uintptr_t>(a), second = reinterpret_cast<std::uintptr_t>(b);
  return first < second + static_cast<std::uintptr_t>(b_bytes) && second < first + static_cast<std::uintptr_t>(a_bytes);
}

/// @throws InvalidInput
void check_columns(Index extent, Index y_stride, Index x_stride, Index columns) {
  if (columns < 0) throw InvalidInput("apply was given " + std::to_string(columns) + " columns: use 0 or more");
  if (columns > 1 && std::min(y_stride, x_stride) < extent) {
    throw InvalidInput("apply was given columns that lie " + std::to_string(std::min(y_stride, x_stride)) +
                       " places apart: use strides of at least " + std::to_string(extent));
  }
}

/// @throws InvalidInput
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
  lost_.clear();  // devices that failed may work under other options
  options_ = std::move(options);
  sharing_.renew();
  in_use_.reset();
  expected_applies_ = 0;
  applies_ = 0;
  chosen_.renew();
}

/// metered(), and record the time as well. @return seconds
template <typename T>
template <typename Work>
double LineSolver<T>::timed(Index applies, bool queued, const Work& work) {
  const auto start = std::chrono::steady_clock::now();
  metered(applies, queued, work);
  const double seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
  total_seconds_ += seconds;
  applies_ += applies;
  return seconds;
}

template <typename T>
System<T>& LineSolver<T>::expect(const LineSet& lines) {
  report_.ready = false;
  if (!(lines == system_.lines())) lost_.clear();  // devices that these lines did not fit may hold others
  return system_;
}

template <typename T>
void LineSolver<T>::fill(const LineSet& lines, const BandsFill<T>& fill) {
  const auto start = std::chrono::steady_clock::now();
  expect(lines).fill(lines, fill);
  fill_seconds_ = std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
}

/// @throws InvalidInput where the device of the caller's queue does not solve all lines
template <typename T>
void LineSolver<T>::require_queue() const {
  if (solves_on_queue()) return;
  const bool told = !report_.device.vectors.empty();
  throw InvalidInput("enqueue takes vectors only where the device of the queue solves all lines, but " +
                     (told ? report_.device.vectors : "set_up was told of no queue (Known::queue)") +
                     ": use apply() with host vectors");
}

/// @throws InvalidInput where no single device of OpenCL solves all lines
template <typename T>
void LineSolver<T>::require_buffers() const {
  if (sharing_.active()) {
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
  if (chosen_.by_cuda()) {
    throw InvalidInput(report_.device.name + " is driven by " + report_.device.platform +
                       " and takes no buffers of OpenCL: use enqueue()");
  }
}

template <typename T>
void LineSolver<T>::apply(const Place& place, Columns<const T> y, Columns<T> x, Index count) {
  require_ready(report_.ready, place.call());
  const bool on_host = place.kind == Place::Kind::host, queued = place.kind == Place::Kind::queue;
  if (queued) require_queue();
  const Index extent = lines().extent();
  check_columns(extent, y.stride, x.stride, count);
  if (count > 1 && (place.kind == Place::Kind::buffers || place.queue.kind == DeviceQueue::Kind::opencl)) {
    throw InvalidInput(std::string(place.call()) + " takes one column in a buffer of OpenCL, not " +
                       std::to_string(count) + ": call it for each");
  }
  if (lines().rows() == 0 || count == 0) return;
  if (place.kind == Place::Kind::buffers) require_buffers();
  if (on_host) check_vectors(extent, y, x, count);
  const double seconds = timed(count, queued, [&] {
    for (bool solved = false; !solved;) {
      try {
        if (on_host) solve(y.first, y.stride, x.first, x.stride, count);
        for (Index k = 0; !on_host && k < count; ++k) chosen_->enqueue(place.queue, y[k], x[k]);
        solved = true;
      } catch (const DeviceError& error) {
        if (on_host) {
          fall_back(error);  // each time one device fewer
          continue;
        }
        if (options_.on_device_failure != OnDeviceFailure::error)
          lose({chosen_.device(), report_.device.name + ": " + error.what()});
        throw;
      }
    }
  });
  if (on_host) sharing_.note_single(seconds / static_cast<double>(count));
}

template <typename T>
DeviceSolver<T>* LineSolver<T>::alone_on_device() const {
  return report_.ready && chosen_.device() >= 0 && !sharing_.active() && system_.fallback().none() ? chosen_.get()
                                                                                                   : nullptr;
}

/// Take this solver's step of a visit.
/// @return false if the device failed; the next apply takes another way
template <typename T>
bool LineSolver<T>::take_step(Visit<T>& visit, std::size_t step, const T* y, T* x) {
  try {
    timed(1, false, [&] { visit.take(step, y, x); });
  } catch (const DeviceError& error) {
    fall_back(error);
    return false;
  }
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
  if (sharing_.active()) t = t + sharing_.lines().times();
  t.total_seconds = total_seconds_;
  return t;
}

template <typename T>
std::int64_t LineSolver<T>::bytes() const {
  return system_.bytes() + chosen_.bytes() + (sharing_.active() ? sharing_.lines().bytes() : 0);
}

template class LineSolver<float>;
template class LineSolver<double>;

}  // namespace oclspkt
