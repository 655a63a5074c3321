// SPDX-License-Identifier: BSD-2-Clause
#include "cut_operator.hpp"

#include <algorithm>
#include <chrono>
#include <limits>

#include "residual.hpp"
#include "schemes/proposal.hpp"

namespace oclspkt {

template <typename T>
void CutOperator<T>::begin(const LineSet& lines, Cuts cuts, std::shared_ptr<Exchange> exchange) {
  known_rows_.reset();
  set_.lines = lines;
  cuts_ = std::move(cuts);
  set_.exchange = std::move(exchange);
}

template <typename T>
void CutOperator<T>::know(const Survey& rows) {
  known_rows_ = rows;
  inner_.system().know(rows);
}

/// Solve for all columns, even after one fails: other processes wait for each.
template <typename T>
void CutOperator<T>::apply(const Place& place, Columns<const T> y, Columns<T> x, Index count) {
  std::exception_ptr failure;
  for (Index k = 0; k < count; ++k) {
    try {
      solve(place, y[k], x[k]);
    } catch (...) {
      if (!failure) failure = std::current_exception();
    }
  }
  if (failure) std::rethrow_exception(failure);
}

/// Solve the inner rows, exchange the numbers next to the cuts, and correct the inner rows. Other processes wait for
/// this one whether or not it fails.
template <typename T>
void CutOperator<T>::solve(const Place& place, const T* y, T* x) {
  const auto start = std::chrono::steady_clock::now();
  const bool on_host = place.kind == Place::Kind::host;
  std::exception_ptr failure;
  try {
    if (place.kind == Place::Kind::buffers)
      throw InvalidInput("apply_on_device takes no vectors where lines are cut: use enqueue()");
    if (!on_host && !borders_)
      throw InvalidInput("enqueue takes no vectors where lines are gathered: use apply() with host vectors");
    inner_.apply(place, {y}, {x}, 1);
    if (!on_host) {
      borders_->take(place.queue, y, x, set_.parts.numbers());
      set_.parts.right_hand_sides();
    }
  } catch (...) {
    failure = std::current_exception();
  }
  if (failure) {
    interface_.solve(nullptr, nullptr);
    std::rethrow_exception(failure);
  }
  if (on_host) {
    const bool finite = interface_.solve(y, x);
    gathered_.tell(report_);
    gathered_.check();
    if (!finite) look_at(y, x);
  } else {
    interface_.exchange();
    borders_->put(place.queue, set_.parts.unknowns(), x);
  }
  ++applies_;
  total_seconds_ += std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
}

/// Look for cut lines whose solution is not finite although the right-hand side here is, and report them or fail, see
/// Choosing::note_answers().
template <typename T>
void CutOperator<T>::look_at(const T* y, const T* x) {
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
void CutOperator<T>::transpose_to(Bands<T>& bands) {
  Wire<T> across;
  across.open(*set_.exchange, route_across(set_.cut, [](Index, int) { return 1; }));
  Beyond<T> beyond;
  inner_.system().overlay().without(0, [&] {
    const BandsView<T> whole = inner_.system().given();
    beyond = set_.look_across(across, whole.lower, whole.upper);
    transpose(set_.lines, whole, bands);
  });
  for (Index c = 0; c < set_.cut.count(); ++c) {
    const PartSlot& s = set_.slot(c);
    if (s.above) bands.lower()[s.top] = beyond.above[static_cast<std::size_t>(c)];
    if (s.below) bands.upper()[s.bottom] = beyond.below[static_cast<std::size_t>(c)];
  }
}

template <typename T>
Times CutOperator<T>::times() const {
  Times t = inner_.times() - before_;
  t.applies = applies_;
  t.total_seconds = total_seconds_;
  return t;
}

template <typename T>
std::int64_t CutOperator<T>::bytes() const {
  return set_.parts.bytes() + interface_.bytes() + gathered_.bytes();
}

template class CutOperator<float>;
template class CutOperator<double>;

}  // namespace oclspkt
