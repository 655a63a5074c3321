// SPDX-License-Identifier: BSD-2-Clause
#include "oclspkt/solver.hpp"

#include <algorithm>
#include <chrono>
#include <cstdint>
#include <utility>

#include "residual.hpp"
#include "solver_impl.hpp"
#include "write_bands.hpp"

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

}  // namespace

template <typename T>
void Solver<T>::Impl::set_options(Options options) {
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

template <typename T>
Bands<T>& Solver<T>::Impl::bands(const LineSet& lines) {
  system_.give_back();
  expect(lines);
  return system_.lend(lines);
}

template <typename T>
Bands<T>& Solver<T>::Impl::write(const LineSet& lines) {
  expect(lines);
  return system_.write(lines);
}

template <typename T>
Bands<T>& Solver<T>::Impl::edit(const LineSet& lines) {
  system_.put_back();
  expect(lines);
  return system_.edit(lines);
}

/// Do the work of some applies, and record its joules. Work that throws is not recorded.
template <typename T>
template <typename Work>
void Solver<T>::Impl::metered(Index applies, bool queued, const Work& work) {
  if (energy_) energy_->begin();
  work();
  if (energy_ && energy_->end(applies, queued)) report_.energy = energy_->report();
}

/// metered(), and record the time as well. @return seconds
template <typename T>
template <typename Work>
double Solver<T>::Impl::timed(Index applies, bool queued, const Work& work) {
  const auto start = std::chrono::steady_clock::now();
  metered(applies, queued, work);
  const double seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
  total_seconds_ += seconds;
  applies_ += applies;
  return seconds;
}

/// Prepare for new bands of such lines.
template <typename T>
void Solver<T>::Impl::expect(const LineSet& lines) {
  report_.ready = false;
  if (!(lines == system_.lines())) lost_.clear();  // devices that these lines did not fit may hold others
}

template <typename T>
void Solver<T>::Impl::fill(const LineSet& lines, const BandsFill<T>& fill) {
  expect(lines);
  const auto start = std::chrono::steady_clock::now();
  system_.fill(lines, fill);
  fill_seconds_ = std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
}

template <typename T>
void Solver<T>::Impl::swap_bands(const LineSet& lines, Bands<T>& filled, const std::optional<Survey>& survey,
                                 bool& rounded) {
  expect(lines);
  system_.swap(lines, filled, survey, rounded);
}

template <typename T>
void Solver<T>::Impl::apply(const T* y, Index y_stride, T* x, Index x_stride, Index columns) {
  if (!report_.ready) throw InvalidInput("apply was called without a successful set_up: call set_up first");
  const Index extent = lines().extent();
  check_columns(extent, y_stride, x_stride, columns);
  if (lines().rows() == 0 || columns == 0) return;
  if (y == nullptr || x == nullptr)
    throw InvalidInput(std::string(y == nullptr ? "y" : "x") + " of apply is a null pointer: pass a vector of " +
                       std::to_string(extent) + " places");
  const Index word = sizeof(T);
  if (overlap(y, ((columns - 1) * y_stride + extent) * word, x, ((columns - 1) * x_stride + extent) * word)) {
    throw InvalidInput("x and y of apply overlap: use two separate vectors");
  }
  const double seconds = timed(columns, false, [&] {
    for (bool solved = false; !solved;) {
      try {
        solve(y, y_stride, x, x_stride, columns);
        solved = true;
      } catch (const DeviceError& error) {
        fall_back(error);  // each time one device fewer
      }
    }
  });
  sharing_.note_single(seconds / static_cast<double>(columns));
}

template <typename T>
DeviceHandles Solver<T>::Impl::device_handles() const {
  return report_.ready && chosen_ ? chosen_->handles() : DeviceHandles{};
}

template <typename T>
void Solver<T>::Impl::apply_on_device(_cl_mem* y, _cl_mem* x) {
  if (!report_.ready) throw InvalidInput("apply_on_device was called without a successful set_up: call set_up first");
  if (lines().rows() == 0) return;
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
  try {
    timed(1, false, [&] { chosen_->apply_on_device(y, x); });
  } catch (const DeviceError& error) {
    if (options_.on_device_failure != OnDeviceFailure::error)
      lose({chosen_.device(), report_.device.name + ": " + error.what()});
    throw;
  }
}

template <typename T>
DeviceSolver<T>* Solver<T>::Impl::alone_on_device() const {
  return report_.ready && chosen_.device() >= 0 && !sharing_.active() && system_.fallback().none() ? chosen_.get()
                                                                                                   : nullptr;
}

/// Take this solver's step of a visit.
/// @return false if the device failed; the next apply takes another way
template <typename T>
bool Solver<T>::Impl::take_step(Visit<T>& visit, std::size_t step, const T* y, T* x) {
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
bool Solver<T>::Impl::solves_on_queue() const {
  return report_.ready && of_queue_ >= 0 && chosen_.device() == of_queue_ && system_.fallback().none();
}

template <typename T>
bool Solver<T>::Impl::takes(const DeviceQueue& queue) const {
  return solves_on_queue() && chosen_->takes(queue);
}

template <typename T>
void Solver<T>::Impl::enqueue(const DeviceQueue& queue, const T* y, Index y_stride, T* x, Index x_stride,
                              Index columns) {
  if (!report_.ready) throw InvalidInput("enqueue was called without a successful set_up: call set_up first");
  if (!solves_on_queue()) {
    const bool told = !report_.device.vectors.empty();
    throw InvalidInput("enqueue takes vectors only where the device of the queue solves all lines, but " +
                       (told ? report_.device.vectors : "set_up was told of no queue (Known::queue)") +
                       ": use apply() with host vectors");
  }
  check_columns(lines().extent(), y_stride, x_stride, columns);
  if (columns > 1 && queue.kind == DeviceQueue::Kind::opencl) {
    throw InvalidInput("enqueue takes one column in a buffer of OpenCL, not " + std::to_string(columns) +
                       ": call it for each");
  }
  if (lines().rows() == 0 || columns == 0) return;
  try {
    timed(columns, true, [&] {
      for (Index k = 0; k < columns; ++k) chosen_->enqueue(queue, y + k * y_stride, x + k * x_stride);
    });
  } catch (const DeviceError& error) {
    if (options_.on_device_failure != OnDeviceFailure::error)
      lose({chosen_.device(), report_.device.name + ": " + error.what()});
    throw;
  }
}

template <typename T>
bool Solver<T>::Impl::takes_transpose(const DeviceQueue& queue) const {
  return report_.ready && known_.queue && !transpose_stale_ && transposed_->takes(queue);
}

template <typename T>
void Solver<T>::Impl::enqueue_transpose(const DeviceQueue& queue, const T* y, T* x) {
  if (!report_.ready) throw InvalidInput("enqueue_transpose was called without a successful set_up: call set_up first");
  metered(1, true, [&] { on_transposed([&] { transposed_->enqueue(queue, y, 0, x, 0, 1); }); });
}

/// Work with the transposed solver, set up for the present bands.
template <typename T>
template <typename Work>
void Solver<T>::Impl::on_transposed(const Work& work) {
  try {
    if (transpose_stale_) set_up_transpose();
    transpose_stale_ = false;
    work();
  } catch (...) {
    share_losses();
    throw;
  }
  share_losses();
}

template <typename T>
void Solver<T>::Impl::apply_transpose(const T* y, T* x) {
  if (!report_.ready) throw InvalidInput("apply_transpose was called without a successful set_up: call set_up first");
  metered(1, false, [&] { on_transposed([&] { transposed_->apply(y, x); }); });
}

/// Set up the transposed solver.
template <typename T>
void Solver<T>::Impl::ready_transpose() {
  if (!report_.ready) throw InvalidInput("set_up_transpose was called without a successful set_up: call set_up first");
  on_transposed([] {});
}

template <typename T>
void Solver<T>::Impl::set_up_transpose() {
  Options options = options_;
  options.energy = false;  // this solver measures that of both
  if (!transposed_) transposed_ = std::make_unique<Solver<T>>(options);
  transposed_->set_options(std::move(options));
  const LineSet& lines = system_.bands().lines();
  Bands<T>& bands = transposed_->impl_->write(lines);
  system_.fallback().with_whole_bands([&] { transpose(lines, system_.given(), bands); });
  transposed_->impl_->lost_ = lost_;
  transposed_->set_up(known_);
}

/// Record the devices that the transposed solver lost: the next set-up of this one skips them, and its report has them.
template <typename T>
void Solver<T>::Impl::share_losses() {
  if (!transposed_) return;  // there was no memory for it
  for (const LostDevice& device : transposed_->impl_->lost_) lose(device);
}

template <typename T>
Times Solver<T>::Impl::times() const {
  Times t = chosen_.times();
  if (sharing_.active()) t = t + sharing_.lines().times();
  t.total_seconds = total_seconds_;
  return t;
}

template <typename T>
std::int64_t Solver<T>::Impl::bytes() const {
  return system_.bytes() + chosen_.bytes() + (sharing_.active() ? sharing_.lines().bytes() : 0) +
         (transposed_ ? transposed_->bytes() : 0);
}

template <typename T>
FilledBands<T>::FilledBands() : survey_(std::make_unique<Survey>()) {}
template <typename T>
FilledBands<T>::~FilledBands() = default;
template <typename T>
FilledBands<T>::FilledBands(FilledBands&&) noexcept = default;
template <typename T>
FilledBands<T>& FilledBands<T>::operator=(FilledBands&&) noexcept = default;

template <typename T>
void FilledBands<T>::fill(const LineSet& lines, const BandsFill<T>& fill) {
  surveyed_ = rounded_ = false;
  bands_.reshape(lines);
  *survey_ = survey_while(bands_, fill);
  surveyed_ = true;
}

template <typename T>
void FilledBands<T>::fill(Index rows, const BandsFill<T>& fill) {
  surveyed_ = rounded_ = false;
  bands_.reshape(LineSet::one(rows));
  write_bands(bands_, fill);
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
  return impl_->bands(lines);
}

template <typename T>
void Solver<T>::fill(const LineSet& lines, const BandsFill<T>& fill) {
  impl_->fill(lines, fill);
}

template <typename T>
void Solver<T>::swap_bands(const LineSet& lines, FilledBands<T>& filled) {
  if (filled.extent() != lines.extent()) {
    throw InvalidInput("swap_bands was given bands of " + std::to_string(filled.extent()) + " places for " +
                       lines.describe() + ": fill them for these lines");
  }
  std::optional<Survey> survey;
  if (std::exchange(filled.surveyed_, false) && filled.bands_.lines() == lines) survey = *filled.survey_;
  impl_->swap_bands(lines, filled.bands_, survey, filled.rounded_);
}

template <typename T>
void Solver<T>::set_up(const Known& known) {
  impl_->system().take_anew();
  impl_->system().check_precision(impl_->options());
  impl_->set_up(known);
}

template <typename T>
void Solver<T>::set_up(const LineSet& lines, const T* lower, const T* diag, const T* upper, const Known& known) {
  if (lines.rows() > 0 && (lower == nullptr || diag == nullptr || upper == nullptr)) {
    throw InvalidInput(std::string(lower == nullptr  ? "lower"
                                   : diag == nullptr ? "diag"
                                                     : "upper") +
                       " of set_up is a null pointer: pass an array of " + std::to_string(lines.extent()) + " places");
  }
  fill(lines, copy_of<T>({lower, diag, upper}));
  set_up(known);
}

template <typename T>
void Solver<T>::apply(const T* y, T* x) {
  impl_->apply(y, 0, x, 0, 1);
}

template <typename T>
void Solver<T>::apply(const T* y, Index y_stride, T* x, Index x_stride, Index columns) {
  impl_->apply(y, y_stride, x, x_stride, columns);
}

template <typename T>
DeviceHandles Solver<T>::device_handles() const {
  return impl_->device_handles();
}

template <typename T>
void Solver<T>::apply_on_device(_cl_mem* y, _cl_mem* x) {
  impl_->apply_on_device(y, x);
}

template <typename T>
bool Solver<T>::takes(const DeviceQueue& queue) const {
  return impl_->takes(queue);
}

template <typename T>
bool Solver<T>::takes_transpose(const DeviceQueue& queue) const {
  return impl_->takes_transpose(queue);
}

template <typename T>
void Solver<T>::enqueue(const DeviceQueue& queue, const void* y, Index y_stride, void* x, Index x_stride,
                        Index columns) {
  impl_->enqueue(queue, static_cast<const T*>(y), y_stride, static_cast<T*>(x), x_stride, columns);
}

template <typename T>
void Solver<T>::enqueue_transpose(const DeviceQueue& queue, const void* y, void* x) {
  impl_->enqueue_transpose(queue, static_cast<const T*>(y), static_cast<T*>(x));
}

template <typename T>
std::unique_ptr<Borders<T>> Solver<T>::borders(const BorderLayout<T>& layout) {
  return impl_->borders(layout);
}

template <typename T>
void Solver<T>::apply_transpose(const T* y, T* x) {
  impl_->apply_transpose(y, x);
}

template <typename T>
void Solver<T>::set_up_transpose() {
  impl_->ready_transpose();
}

template <typename T>
const Options& Solver<T>::options() const {
  return impl_->options();
}

template <typename T>
void Solver<T>::set_options(Options options) {
  impl_->set_options(std::move(options));
}

template <typename T>
const LineSet& Solver<T>::lines() const {
  return impl_->lines();
}

template <typename T>
const Report& Solver<T>::report() const {
  return impl_->report();
}

template <typename T>
const Report& Solver<T>::transpose_report() const {
  static const Report none;
  return impl_->transposed() != nullptr ? impl_->transposed()->report() : none;
}

template <typename T>
Times Solver<T>::times() const {
  return impl_->times();
}

template <typename T>
Times Solver<T>::transpose_times() const {
  return impl_->transposed() != nullptr ? impl_->transposed()->times() : Times{};
}

template <typename T>
Counts Solver<T>::counts() const {
  return impl_->counts();
}

template <typename T>
std::vector<Index> Solver<T>::pinned_lines() const {
  return impl_->system().pinned_lines();
}

template <typename T>
void Solver<T>::copy_bands(Bands<T>& out) {
  impl_->system().copy_bands(out);
}

template <typename T>
std::int64_t Solver<T>::bytes() const {
  return impl_->bytes();
}

template class FilledBands<float>;
template class FilledBands<double>;
template class Solver<float>;
template class Solver<double>;

void release_devices() {
  // Only a module that is open already has something to release.
  if (DeviceModule* module = open_device_module()) module->release();
}

}  // namespace oclspkt
