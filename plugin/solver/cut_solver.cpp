// SPDX-License-Identifier: BSD-2-Clause
#include "oclspkt/cut_solver.hpp"

#include <algorithm>
#include <chrono>
#include <limits>

#include "cut_solver_impl.hpp"
#include "residual.hpp"
#include "schemes/proposal.hpp"
#include "solver_impl.hpp"
#include "write_bands.hpp"

namespace oclspkt {
namespace {

/// Solve for all columns, even after one fails: other processes wait for each.
template <typename F>
void solve_each(Index columns, const F& solve) {
  std::exception_ptr failure;
  for (Index k = 0; k < columns; ++k) {
    try {
      solve(k);
    } catch (...) {
      if (!failure) failure = std::current_exception();
    }
  }
  if (failure) std::rethrow_exception(failure);
}

}  // namespace

template <typename T>
void CutSolver<T>::Impl::set_options(Options options) {
  Solver<T> check(options);  // refuses values out of range
  options_ = std::move(options);
}

template <typename T>
Bands<T>& CutSolver<T>::Impl::bands(const LineSet& lines, Cuts cuts, std::shared_ptr<Exchange> exchange) {
  begin(lines, std::move(cuts), std::move(exchange));
  return solver_.bands(lines);
}

template <typename T>
Bands<T>& CutSolver<T>::Impl::write(const LineSet& lines, Cuts cuts, std::shared_ptr<Exchange> exchange) {
  begin(lines, std::move(cuts), std::move(exchange));
  return solver_.impl_->write(lines);
}

template <typename T>
void CutSolver<T>::Impl::keep_bands(const LineSet& lines, Cuts cuts, std::shared_ptr<Exchange> exchange) {
  begin(lines, std::move(cuts), std::move(exchange));
  solver_.impl_->edit(lines);
}

/// Begin with new lines, whose bands follow.
template <typename T>
void CutSolver<T>::Impl::begin(const LineSet& lines, Cuts cuts, std::shared_ptr<Exchange> exchange) {
  restore();
  known_rows_.reset();
  ready_ = false;
  set_.lines = lines;
  cuts_ = std::move(cuts);
  std::shared_ptr<Exchange>& present = set_.exchange;
  if (present != exchange) transposed_.reset();
  present = std::move(exchange);
}

/// Fill the bands. Couplings across cuts are kept, and set-up surveys cut lines one by one; else Solver fills.
template <typename T>
void CutSolver<T>::Impl::fill(const LineSet& lines, Cuts cuts, std::shared_ptr<Exchange> exchange,
                              const BandsFill<T>& fill, const std::optional<Survey>& rows) {
  const bool cut = !cuts.chains.empty();
  begin(lines, std::move(cuts), std::move(exchange));
  if (cut || rows) {
    write_bands(solver_.impl_->write(lines), fill);
  } else {
    solver_.fill(lines, fill);
  }
  known_rows_ = rows;
  if (rows) solver_.impl_->system().know(*rows);
}

template <typename T>
void CutSolver<T>::Impl::swap_bands(const LineSet& lines, Cuts cuts, std::shared_ptr<Exchange> exchange,
                                    FilledBands<T>& filled) {
  begin(lines, std::move(cuts), std::move(exchange));
  solver_.swap_bands(lines, filled);
}

template <typename T>
void CutSolver<T>::Impl::apply(const T* y, T* x) {
  if (!ready_) throw InvalidInput("apply was called without a successful set_up: call set_up first");
  if (!overall_.cut) {
    solver_.apply(y, x);
    return;
  }
  const auto start = std::chrono::steady_clock::now();
  std::exception_ptr failure;
  try {
    solver_.apply(y, x);
  } catch (...) {
    failure = std::current_exception();
  }
  const bool finite = interface_.solve(failure ? nullptr : y, x);
  if (failure) std::rethrow_exception(failure);
  gathered_.tell(report_);
  gathered_.check();
  if (!finite) look_at(y, x);
  ++applies_;
  total_seconds_ += std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
}

/// Look for cut lines whose solution is not finite although the right-hand side here is, and report them or fail, see
/// Choosing::note_answers().
template <typename T>
void CutSolver<T>::Impl::look_at(const T* y, const T* x) {
  bool leaves = false;
  for (Index c = 0; c < set_.cut.count() && !leaves; ++c) leaves = leaves_range(set_.lines, set_.cut[c].line, y, x);
  if (!leaves) return;
  report_.rounding = std::numeric_limits<double>::infinity();
  if (named(options_.method)) return;
  report_.above_bound =
      "an answer is not finite: it leaves the range of the numbers, or another process has a part of the right-hand "
      "side that is not finite";
  if (options_.above_bound == AboveBound::warn) return;
  throw Breakdown("method auto has no answer within its limits for this right-hand side: " + report_.above_bound +
                  "; above_bound warn returns it all the same");
}

template <typename T>
void CutSolver<T>::Impl::apply(const T* y, Index y_stride, T* x, Index x_stride, Index columns) {
  if (!ready_) throw InvalidInput("apply was called without a successful set_up: call set_up first");
  if (!overall_.cut) {
    solver_.apply(y, y_stride, x, x_stride, columns);
    return;
  }
  solve_each(columns, [&](Index k) { apply(y + k * y_stride, x + k * x_stride); });
}

template <typename T>
void CutSolver<T>::Impl::apply_transpose(const T* y, T* x) {
  if (!ready_) throw InvalidInput("apply_transpose was called without a successful set_up: call set_up first");
  if (!overall_.cut) {
    solver_.apply_transpose(y, x);
    return;
  }
  transposed().apply(y, x);
}

template <typename T>
bool CutSolver<T>::Impl::takes(const DeviceQueue& queue) const {
  return ready_ && solver_.takes(queue) && (!overall_.cut || borders_ != nullptr);
}

/// Collective: the solver of A^T for cut lines, set up for the present bands.
template <typename T>
CutSolver<T>& CutSolver<T>::Impl::transposed() {
  if (transpose_stale_) set_up_transpose();
  transpose_stale_ = false;
  return *transposed_;
}

template <typename T>
bool CutSolver<T>::Impl::takes_transpose(const DeviceQueue& queue) const {
  if (!ready_) return false;
  return overall_.cut ? !transpose_stale_ && transposed_->takes(queue) : solver_.takes_transpose(queue);
}

template <typename T>
void CutSolver<T>::Impl::enqueue(const DeviceQueue& queue, const T* y, Index y_stride, T* x, Index x_stride,
                                 Index columns) {
  if (!ready_) throw InvalidInput("enqueue was called without a successful set_up: call set_up first");
  if (!overall_.cut) {
    solver_.enqueue(queue, y, y_stride, x, x_stride, columns);
    return;
  }
  solve_each(columns, [&](Index k) { enqueue_parts(queue, y + k * y_stride, x + k * x_stride); });
}

/// Solve the inner rows, exchange the numbers next to the cuts, and correct the inner rows. Other processes wait for
/// this one whether or not its device fails.
template <typename T>
void CutSolver<T>::Impl::enqueue_parts(const DeviceQueue& queue, const T* y, T* x) {
  const auto start = std::chrono::steady_clock::now();
  std::exception_ptr failure;
  try {
    if (!borders_)
      throw InvalidInput("enqueue takes no vectors where lines are gathered: use apply() with host vectors");
    solver_.enqueue(queue, y, 0, x, 0, 1);
    borders_->take(queue, y, x, set_.parts.numbers());
    set_.parts.right_hand_sides();
  } catch (...) {
    failure = std::current_exception();
  }
  if (failure) {
    interface_.solve(nullptr, nullptr);
    std::rethrow_exception(failure);
  }
  interface_.exchange();
  borders_->put(queue, set_.parts.unknowns(), x);
  ++applies_;
  total_seconds_ += std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
}

template <typename T>
void CutSolver<T>::Impl::enqueue_transpose(const DeviceQueue& queue, const T* y, T* x) {
  if (!ready_) throw InvalidInput("enqueue_transpose was called without a successful set_up: call set_up first");
  if (overall_.cut) {
    transposed().enqueue(queue, y, 0, x, 0, 1);
  } else {
    solver_.enqueue_transpose(queue, y, x);
  }
}

/// Set up the solver of A^T: the couplings across a cut change sides.
template <typename T>
void CutSolver<T>::Impl::set_up_transpose() {
  Accord accord(*set_.exchange);
  Bands<T> whole;
  accord.attempt([&] {
    whole = whole_bands();
    if (!transposed_) transposed_ = std::make_unique<CutSolver<T>>(options_);
    transposed_->set_options(options_);
  });
  accord.agree();
  Wire<T> across;
  across.open(*set_.exchange, route_across(set_.cut, [](Index, int) { return 1; }));
  const Beyond<T> beyond = set_.look_across(across, whole.lower(), whole.upper());
  Bands<T>& bands = transposed_->impl_->write(set_.lines, cuts_, set_.exchange);
  transpose(set_.lines, whole.view(), bands);
  for (Index c = 0; c < set_.cut.count(); ++c) {
    const PartSlot& s = set_.slot(c);
    if (s.above) bands.lower()[s.top] = beyond.above[static_cast<std::size_t>(c)];
    if (s.below) bands.upper()[s.bottom] = beyond.below[static_cast<std::size_t>(c)];
  }
  transposed_->set_up(known_);
}

/// Set up the solver of A^T, or have Solver do so if no line is cut.
template <typename T>
void CutSolver<T>::Impl::ready_transpose() {
  if (!ready_) throw InvalidInput("set_up_transpose was called without a successful set_up: call set_up first");
  if (overall_.cut) {
    transposed();
  } else {
    solver_.set_up_transpose();
  }
}

template <typename T>
const CutReport& CutSolver<T>::Impl::transpose_cut_report() const {
  static const CutReport none;
  return overall_.cut && transposed_ ? transposed_->cut_report() : none;
}

template <typename T>
const Report& CutSolver<T>::Impl::transpose_report() const {
  if (!overall_.cut) return solver_.transpose_report();
  static const Report none;
  return transposed_ ? transposed_->report() : none;
}

template <typename T>
Times CutSolver<T>::Impl::times() const {
  if (!overall_.cut) return solver_.times();
  Times t = solver_.times() - before_;
  t.applies = applies_;
  t.total_seconds = total_seconds_;
  return t;
}

template <typename T>
Times CutSolver<T>::Impl::transpose_times() const {
  if (!overall_.cut) return solver_.transpose_times();
  return transposed_ ? transposed_->times() : Times{};
}

template <typename T>
Counts CutSolver<T>::Impl::counts() const {
  Counts counts = solver_.counts();
  counts.set_ups = set_ups_;
  return counts;
}

template <typename T>
std::int64_t CutSolver<T>::Impl::bytes() const {
  std::int64_t sum = solver_.bytes() + (transposed_ ? transposed_->bytes() : 0);
  if (!overall_.cut) return sum;
  sum += set_.parts.bytes() + interface_.bytes() + gathered_.bytes();
  return sum + (refused_ ? refused_->bytes() : 0);
}

template <typename T>
CutSolver<T>::CutSolver(Options options) : impl_(std::make_unique<Impl>(std::move(options))) {}
template <typename T>
CutSolver<T>::~CutSolver() = default;
template <typename T>
CutSolver<T>::CutSolver(CutSolver&&) noexcept = default;
template <typename T>
CutSolver<T>& CutSolver<T>::operator=(CutSolver&&) noexcept = default;

template <typename T>
Bands<T>& CutSolver<T>::bands(const LineSet& lines, Cuts cuts, std::shared_ptr<Exchange> exchange) {
  return impl_->bands(lines, std::move(cuts), std::move(exchange));
}
template <typename T>
void CutSolver<T>::fill(const LineSet& lines, Cuts cuts, std::shared_ptr<Exchange> exchange, const BandsFill<T>& fill) {
  impl_->fill(lines, std::move(cuts), std::move(exchange), fill, std::nullopt);
}
template <typename T>
void CutSolver<T>::fill_known(const LineSet& lines, Cuts cuts, std::shared_ptr<Exchange> exchange,
                              const BandsFill<T>& fill, const Survey& rows) {
  impl_->fill(lines, std::move(cuts), std::move(exchange), fill, rows);
}

template <typename T>
void CutSolver<T>::swap_bands(const LineSet& lines, Cuts cuts, std::shared_ptr<Exchange> exchange,
                              FilledBands<T>& filled) {
  impl_->swap_bands(lines, std::move(cuts), std::move(exchange), filled);
}
template <typename T>
void CutSolver<T>::write(const LineSet& lines, Cuts cuts, std::shared_ptr<Exchange> exchange,
                         const std::function<void(Bands<T>&)>& write) {
  write(impl_->write(lines, std::move(cuts), std::move(exchange)));
}
template <typename T>
void CutSolver<T>::keep_bands(const LineSet& lines, Cuts cuts, std::shared_ptr<Exchange> exchange) {
  impl_->keep_bands(lines, std::move(cuts), std::move(exchange));
}
template <typename T>
Bands<T>& CutSolver<T>::bands(const LineSet& lines) {
  return impl_->bands(lines, {}, nullptr);
}
template <typename T>
void CutSolver<T>::set_up(const Known& known) {
  impl_->set_up(known);
}
template <typename T>
void CutSolver<T>::apply(const T* y, T* x) {
  impl_->apply(y, x);
}
template <typename T>
void CutSolver<T>::apply(const T* y, Index y_stride, T* x, Index x_stride, Index columns) {
  impl_->apply(y, y_stride, x, x_stride, columns);
}
template <typename T>
void CutSolver<T>::apply_transpose(const T* y, T* x) {
  impl_->apply_transpose(y, x);
}
template <typename T>
void CutSolver<T>::set_up_transpose() {
  impl_->ready_transpose();
}
template <typename T>
bool CutSolver<T>::takes(const DeviceQueue& queue) const {
  return impl_->takes(queue);
}
template <typename T>
bool CutSolver<T>::takes_transpose(const DeviceQueue& queue) const {
  return impl_->takes_transpose(queue);
}
template <typename T>
void CutSolver<T>::enqueue(const DeviceQueue& queue, const void* y, Index y_stride, void* x, Index x_stride,
                           Index columns) {
  impl_->enqueue(queue, static_cast<const T*>(y), y_stride, static_cast<T*>(x), x_stride, columns);
}
template <typename T>
void CutSolver<T>::enqueue_transpose(const DeviceQueue& queue, const void* y, void* x) {
  impl_->enqueue_transpose(queue, static_cast<const T*>(y), static_cast<T*>(x));
}
template <typename T>
Solver<T>* CutSolver<T>::whole() {
  return impl_->whole();
}
template <typename T>
const Options& CutSolver<T>::options() const {
  return impl_->options();
}
template <typename T>
void CutSolver<T>::set_options(Options options) {
  impl_->set_options(std::move(options));
}
template <typename T>
const LineSet& CutSolver<T>::lines() const {
  return impl_->lines();
}
template <typename T>
const Report& CutSolver<T>::report() const {
  return impl_->report();
}
template <typename T>
const Report& CutSolver<T>::transpose_report() const {
  return impl_->transpose_report();
}
template <typename T>
const CutReport& CutSolver<T>::cut_report() const {
  return impl_->cut_report();
}
template <typename T>
const CutReport& CutSolver<T>::transpose_cut_report() const {
  return impl_->transpose_cut_report();
}
template <typename T>
Times CutSolver<T>::times() const {
  return impl_->times();
}
template <typename T>
Times CutSolver<T>::transpose_times() const {
  return impl_->transpose_times();
}
template <typename T>
Times CutSolver<T>::part_times() const {
  return impl_->part_times();
}
template <typename T>
Counts CutSolver<T>::counts() const {
  return impl_->counts();
}
template <typename T>
std::int64_t CutSolver<T>::bytes() const {
  return impl_->bytes();
}

template class CutSolver<float>;
template class CutSolver<double>;

}  // namespace oclspkt
