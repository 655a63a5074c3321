// SPDX-License-Identifier: BSD-2-Clause
#include "oclspkt/solver.hpp"

#include <utility>

#include "oclspkt/device_visit.hpp"
#include "residual.hpp"
#include "solver_impl.hpp"
#include "write_bands.hpp"

namespace oclspkt {

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
System<T>& Solver<T>::Impl::begin(const ProcessLines& lines) {
  active = nullptr;
  whole.system().give_back();
  if (cut.exchange() != lines.exchange) transposed.reset();
  cut.begin(lines);
  return whole.expect(lines.lines);
}

/// Write the bands, and survey them if `rows` is unknown and no line is cut. Set-up surveys cut lines itself, with
/// their couplings across cuts.
template <typename T>
void Solver<T>::Impl::fill(const ProcessLines& lines, const BandsFill<T>& fill, const std::optional<Survey>& rows) {
  System<T>& system = begin(lines);
  if (!lines.cuts.chains.empty() || rows) {
    write_bands(system.write(lines.lines), fill);
  } else {
    system.fill(lines.lines, fill);
  }
  if (rows) cut.know(*rows);
}

/// If the solver of A^T is not set up for the present bands, set it up. Then call `work`. The solver of A does not use
/// devices that the solver of A^T loses.
template <typename T>
template <typename Work>
void Solver<T>::Impl::on_transposed(const Work& work) {
  const auto share_losses = [&] {
    if (!transposed) return;  // memory ran out before the solver of A^T was made
    for (const LostDevice& device : transposed->impl_->whole.lost()) whole.lose(device);
  };
  try {
    if (transpose_stale) set_up_transpose();
    transpose_stale = false;
    work();
  } catch (...) {
    share_losses();
    throw;
  }
  share_losses();
}

template <typename T>
void Solver<T>::Impl::set_up_transpose() {
  Options own = options;
  own.energy = false;  // the solver of A measures the energy of both solvers
  const auto make = [&] {
    if (!transposed) transposed = std::make_unique<Solver<T>>(own);
    transposed->set_options(own);
  };
  if (is_cut()) {
    Accord accord(*cut.exchange());
    Bands<T>* bands = nullptr;
    accord.attempt([&] {
      make();
      const LineSet& lines = whole.system().lines();
      bands = &transposed->impl_->begin({lines, cut.cuts(), cut.exchange()}).write(lines);
    });
    accord.agree();
    cut.transpose_to(*bands);
  } else {
    make();
    const LineSet& lines = whole.system().bands().lines();
    Bands<T>& bands = transposed->impl_->begin(lines).write(lines);
    SolvedBands<T>& own_bands = whole.system().overlay();
    own_bands.without(0, [&] { transpose(lines, own_bands.now().view(), bands); });
    transposed->impl_->whole.lost() = whole.lost();
  }
  transposed->set_up(known);
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
Bands<T>& Solver<T>::bands(const ProcessLines& lines) {
  return impl_->begin(lines).lend(lines.lines);
}

template <typename T>
void Solver<T>::write(const ProcessLines& lines, const std::function<void(Bands<T>&)>& write) {
  write(impl_->begin(lines).write(lines.lines));
}

template <typename T>
void Solver<T>::keep_bands(const ProcessLines& lines) {
  impl_->begin(lines).edit(lines.lines);
}

template <typename T>
void Solver<T>::fill(const ProcessLines& lines, const BandsFill<T>& fill) {
  impl_->fill(lines, fill, std::nullopt);
}

template <typename T>
void Solver<T>::swap_bands(const ProcessLines& lines, FilledBands<T>& filled) {
  if (filled.extent() != lines.lines.extent()) {
    throw InvalidInput("swap_bands was given bands of " + std::to_string(filled.extent()) + " places for " +
                       lines.lines.describe() + ": fill them for these lines");
  }
  System<T>& system = impl_->begin(lines);
  std::optional<Survey> survey;
  if (std::exchange(filled.surveyed_, false) && filled.bands_.lines() == lines.lines) survey = *filled.survey_;
  system.swap(lines.lines, filled.bands_, survey, filled.rounded_);
}

template <typename T>
void Solver<T>::set_up(const Known& known) {
  Impl& s = *impl_;
  s.known = known;
  ++s.set_ups;
  s.active = nullptr;
  s.transpose_stale = true;
  s.whole.system().give_back();
  const bool cut = s.cut.exchange() && s.cut.set_up(known);
  if (!s.cut.exchange()) {
    s.whole.system().check_precision(s.options);
    s.whole.set_up(s.options, known);
  }
  s.before = s.whole.times();
  s.active = cut ? static_cast<Operator<T>*>(&s.cut) : &s.whole;
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
void Solver<T>::apply(const Place& place, Columns<const T> y, Columns<T> x, Index count) {
  require_ready(impl_->active != nullptr, place.call());
  impl_->active->apply(place, y, x, count);
}

template <typename T>
bool Solver<T>::takes(const DeviceQueue& queue) const {
  return impl_->active != nullptr && impl_->active->takes(queue);
}

template <typename T>
void Solver<T>::apply_transpose(const T* y, T* x, const Place& place) {
  require_ready(impl_->ready(), place.kind == Place::Kind::host ? "apply_transpose" : "enqueue_transpose");
  impl_->whole.begin_applies();
  impl_->on_transposed([&] { impl_->transposed->apply(place, {y}, {x}, 1); });
  impl_->whole.end_metered(1, place.kind == Place::Kind::queue);
}

template <typename T>
bool Solver<T>::takes_transpose(const DeviceQueue& queue) const {
  return impl_->ready() && !impl_->transpose_stale && impl_->transposed->takes(queue);
}

template <typename T>
void Solver<T>::set_up_transpose() {
  require_ready(impl_->ready(), "set_up_transpose");
  impl_->on_transposed([] {});
}

template <typename T>
DeviceHandles Solver<T>::device_handles() const {
  const Chosen<T>& chosen = impl_->whole.chosen();
  return report().ready && chosen ? chosen->handles() : DeviceHandles{};
}

template <typename T>
const Options& Solver<T>::options() const {
  return impl_->options;
}

template <typename T>
void Solver<T>::set_options(Options options) {
  check_options(options);
  if (options == impl_->options) return;
  impl_->options = std::move(options);
  // If lines are cut, the solver of inner rows gets its own options at the next set-up.
  if (!impl_->is_cut()) impl_->whole.set_options(impl_->options);
}

template <typename T>
const LineSet& Solver<T>::lines() const {
  return impl_->whole.system().lines();
}

template <typename T>
const Report& Solver<T>::report() const {
  return impl_->whole.report();
}

template <typename T>
const CutReport& Solver<T>::cut_report() const {
  return impl_->cut.report();
}

template <typename T>
const Solver<T>& Solver<T>::transposed() const {
  static const Solver<T> none;
  return impl_->transposed ? *impl_->transposed : none;
}

template <typename T>
Times Solver<T>::times() const {
  return impl_->is_cut() ? impl_->cut.times() : impl_->whole.times();
}

template <typename T>
Times Solver<T>::part_times() const {
  return impl_->whole.times() - impl_->before;
}

template <typename T>
Counts Solver<T>::counts() const {
  Counts counts = impl_->whole.chosen().counts();
  counts.set_ups = impl_->set_ups;
  return counts;
}

template <typename T>
void Solver<T>::copy_bands(Bands<T>& out) {
  impl_->whole.system().copy_bands(out);
}

template <typename T>
std::int64_t Solver<T>::bytes() const {
  return impl_->whole.bytes() + (impl_->is_cut() ? impl_->cut.bytes() : 0) +
         (impl_->transposed ? impl_->transposed->bytes() : 0);
}

template <typename T>
DeviceVisit<T>::DeviceVisit() = default;
template <typename T>
DeviceVisit<T>::~DeviceVisit() = default;
template <typename T>
DeviceVisit<T>::DeviceVisit(DeviceVisit&&) noexcept = default;
template <typename T>
DeviceVisit<T>& DeviceVisit<T>::operator=(DeviceVisit&&) noexcept = default;

template <typename T>
void DeviceVisit<T>::forget() {
  visit_.reset();
  uploads_.clear();
  order_ = {};
}

template <typename T>
void DeviceVisit<T>::set_up(Order order) {
  forget();
  order_ = std::move(order);
  VisitSteps<T> steps{.solvers = {}, .sum = order_.sum, .between = order_.between};
  const Solver<T>& front = *order_.solvers.front();
  const LineSolver<T>* const first = front.impl_->alone();
  for (const Solver<T>* of_order : order_.solvers) {
    const LineSolver<T>* const solver = of_order->impl_->alone();
    DeviceSolver<T>* const on_device = solver != nullptr ? solver->alone_on_device() : nullptr;
    if (on_device == nullptr || solver->chosen().device() != first->chosen().device() ||
        of_order->lines().extent() != front.lines().extent()) {
      return;
    }
    steps.solvers.push_back(on_device);
    uploads_.push_back(of_order->counts().uploads);
  }
  try {
    visit_ = steps.solvers.front()->visit(steps);
  } catch (const DeviceError&) {  // solvers report this error when they use the device
    if (front.options().on_device_failure == OnDeviceFailure::error) throw;
  }
}

template <typename T>
bool DeviceVisit<T>::ready() const {
  if (visit_ == nullptr) return false;
  for (std::size_t k = 0; k < uploads_.size(); ++k) {
    const LineSolver<T>* const solver = order_.solvers[k]->impl_->alone();
    if (solver == nullptr || solver->alone_on_device() == nullptr) return false;
    if (order_.solvers[k]->counts().uploads != uploads_[k]) return false;
  }
  return true;
}

template <typename T>
bool DeviceVisit<T>::apply(const T* y, Index y_stride, T* x, Index x_stride, Index columns) {
  if (!ready()) return false;
  const std::size_t last = order_.solvers.size() - 1;
  for (Index k = 0; k < columns; ++k) {
    for (std::size_t step = 0; step <= last; ++step) {
      LineSolver<T>& solver = *order_.solvers[step]->impl_->alone();
      const T* const from = step == 0 ? y + k * y_stride : nullptr;
      if (!solver.take_step(*visit_, step, from, step == last ? x + k * x_stride : nullptr)) return false;
    }
  }
  return true;
}

template <typename T>
std::int64_t DeviceVisit<T>::bytes() const {
  return visit_ != nullptr ? visit_->bytes() : 0;
}

#define OCLSPKT_INSTANTIATE(T)   \
  template class FilledBands<T>; \
  template class Solver<T>;      \
  template class DeviceVisit<T>;
OCLSPKT_SCALARS(OCLSPKT_INSTANTIATE)

void release_devices() {
  // Only a module that is open already has something to release.
  if (DeviceModule* module = open_device_module()) module->release();
}

}  // namespace oclspkt
