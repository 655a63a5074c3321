// SPDX-License-Identifier: BSD-2-Clause
#include "cut_operator.hpp"

#include <algorithm>
#include <chrono>
#include <cmath>
#include <limits>

#include "evidence.hpp"
#include "residual.hpp"
#include "rounding.hpp"
#include "schemes/proposal.hpp"

namespace oclspkt {
namespace {

/// Call f(offset, row within the line) for the rows of a line.
template <typename F>
void for_rows(const LineSet& lines, Index line, const F& f) {
  for (Index i = 0, at = lines.first(line); i < lines.length(line); ++i, at += lines.row_stride()) f(at, i);
}

/// A row times x, and the sum of the magnitudes of its terms, which is the scale of the row's error.
template <typename T>
struct Product {
  Doubled<T> value = 0;
  double magnitude = 0;
  void add(T coupling, T unknown) {
    if (coupling == T(0)) return;
    const auto term = widened<double>(coupling) * widened<double>(unknown);
    value += term;
    magnitude += std::abs(term);
  }
};

/// The errors of a line in a trial solve: maxima over its rows.
struct LineErrors {
  double componentwise = 0;  ///< backward error; NaN if a number is not finite
  double residual = 0, row = 0, x = 0, y = 0;
  double normwise() const {
    if (std::isnan(componentwise)) return componentwise;
    return residual == 0 ? 0 : residual / (row * x + y);
  }
};

/// Make a right-hand side like trial_right_hand_side() of evidence.hpp, with couplings across the cuts in addition.
/// @param[out] x  the solution for y, in cut lines
template <typename T>
void right_hand_side(const CutSet<T>& set, const Bands<T>& whole, TrialKind kind, Wire<T>& across, T* y, T* x) {
  const BandsView<T> b = whole.view();
  TrialCoin coin(set.exchange->rank());
  for (const CutLine& cut : set.cut.lines) {
    for_rows(set.lines, cut.line, [&](Index at, Index) { x[at] = coin.toss() ? 1 : 2; });
  }
  const Beyond<T> beyond = set.look_across(across, x, x);
  for (Index c = 0; c < set.cut.count(); ++c) {
    const Index line = set.cut[c].line, last = set.lines.length(line) - 1, stride = set.lines.row_stride();
    for_rows(set.lines, line, [&](Index at, Index i) {
      if (kind == TrialKind::rough) {
        const Real<T> magnitude = std::abs(b.lower[at]) + std::abs(b.diag[at]) + std::abs(b.upper[at]);
        y[at] = x[at] == T(2) ? magnitude : -magnitude;
        return;
      }
      const T x_above = i > 0 ? x[at - stride] : beyond.above[static_cast<std::size_t>(c)];
      const T x_below = i < last ? x[at + stride] : beyond.below[static_cast<std::size_t>(c)];
      y[at] = b.lower[at] * x_above + b.diag[at] * x[at] + b.upper[at] * x_below;
    });
  }
}

template <typename T>
LineErrors errors_of(const CutSet<T>& set, const Bands<T>& whole, Index c, const Beyond<T>& beyond, const T* y,
                     const T* x) {
  const BandsView<T> b = whole.view();
  const Index line = set.cut[c].line, last = set.lines.length(line) - 1, stride = set.lines.row_stride();
  LineErrors e;
  bool finite = true;
  for_rows(set.lines, line, [&](Index at, Index i) {
    Product<T> row;
    row.add(b.lower[at], i > 0 ? x[at - stride] : beyond.above[static_cast<std::size_t>(c)]);
    row.add(b.diag[at], x[at]);
    row.add(b.upper[at], i < last ? x[at + stride] : beyond.below[static_cast<std::size_t>(c)]);
    const double right = std::abs(widened<double>(y[at])), unknown = std::abs(widened<double>(x[at]));
    const double residual = std::abs(widened<double>(y[at]) - row.value), scale = row.magnitude + right;
    finite = finite && std::isfinite(residual) && std::isfinite(unknown);
    if (residual > e.componentwise * scale) e.componentwise = residual / scale;
    e.residual = std::max(e.residual, residual);
    e.row = std::max(e.row, std::abs(widened<double>(b.lower[at])) + std::abs(widened<double>(b.diag[at])) +
                                std::abs(widened<double>(b.upper[at])));
    e.x = std::max(e.x, unknown);
    e.y = std::max(e.y, right);
  });
  if (!finite) e.componentwise = std::numeric_limits<double>::quiet_NaN();
  return e;
}

/// Combine the errors of parts into the errors of their lines.
/// @param[in,out] errors shape [cut lines]; in: errors of this process's part; out: errors of the whole line
template <typename T>
void combine(const CutSet<T>& set, std::vector<LineErrors>& errors) {
  Wire<LineErrors> up, back;
  up.open(*set.exchange, route_to_roots(set.cut, [](Index, int) { return 1; }));
  back.open(*set.exchange, up.route.back());
  const auto of = [&](const Route::Item& item) -> LineErrors& { return errors[static_cast<std::size_t>(item.line)]; };
  for (const Route::Item& item : up.route.out) up.out[item.at] = of(item);
  up.talk();
  for (const Route::Item& item : up.route.in) {
    const LineErrors& part = up.in[item.at];
    LineErrors& line = of(item);
    line.componentwise = larger(line.componentwise, part.componentwise);
    line.residual = std::max(line.residual, part.residual);
    line.row = std::max(line.row, part.row);
    line.x = std::max(line.x, part.x);
    line.y = std::max(line.y, part.y);
  }
  for (const Route::Item& item : back.route.out) back.out[item.at] = of(item);
  back.talk();
  for (const Route::Item& item : back.route.in) of(item) = back.in[item.at];
}

}  // namespace

template <typename T>
void CutOperator<T>::begin(const ProcessLines& lines) {
  known_rows_.reset();
  set_.lines = lines.lines;
  cuts_ = lines.cuts;
  set_.exchange = lines.exchange;
}

template <typename T>
void CutOperator<T>::know(const Survey& rows) {
  known_rows_ = rows;
  inner_.system().know(rows);
}

/// Solve for all columns, even if one column fails, because other processes wait for each column.
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

/// Solve the inner rows, exchange the values next to the cuts, and correct the inner rows. If the inner solver fails,
/// the exchange still takes place, because other processes wait for it.
template <typename T>
void CutOperator<T>::solve(const Place& place, const T* y, T* x) {
  const auto start = std::chrono::steady_clock::now();
  const bool on_host = place.kind == Place::Kind::host;
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
    interface_.solve(nullptr, nullptr);
    throw;
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

/// If a cut line has a finite right-hand side on this process but no finite solution, report or throw as in
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
  refuse_answer(options_, report_.above_bound);
}

/// A line fails only if both its componentwise and its normwise error are too large. An apply corrects inner unknowns z
/// to x = z - p x_t, with the spike p and the unknown x_t at the cut. If |p x_t| is far larger than x, rounding is
/// large by components but small by norm, as in pivoting. (Example: upwind, 1e6 rows a part; the backward error is
/// 161 eps where x passes through 0.) A tolerance above rounding admits larger errors. Then only the smooth trial runs,
/// because all entries of its solution have similar size.
template <typename T>
auto CutOperator<T>::try_lines(Accord& accord, const Bands<T>& whole) -> TrialResult {
  const auto eps = static_cast<double>(kEpsOf<T>), tol = tolerance<T>(options_);
  const bool loose = tol > eps;
  const double limit = kTrialLimitEps * eps + (loose ? 8 * tol : 0);
  TrialResult result;
  result.why.assign(set_.cut.lines.size(), Gathering::none);
  AlignedArray<T> y, x;
  accord.attempt([&] {
    y.resize(set_.lines.extent());
    x.resize(set_.lines.extent());
    std::fill_n(y.data(), y.size(), T(0));
    std::fill_n(x.data(), x.size(), T(0));
  });
  accord.agree();
  Wire<T> across;
  across.open(*set_.exchange, route_across(set_.cut, [](Index, int) { return 1; }));
  double worst = 0;
  for (const TrialKind kind : {TrialKind::rough, TrialKind::smooth}) {
    if (loose && kind == TrialKind::rough) continue;
    right_hand_side(set_, whole, kind, across, y.data(), x.data());
    accord.attempt([&] { inner_.apply(y.data(), x.data()); });
    accord.agree();
    interface_.solve(y.data(), x.data());
    const Beyond<T> beyond = set_.look_across(across, x.data(), x.data());
    std::vector<LineErrors> errors(set_.cut.lines.size());
    for (Index c = 0; c < set_.cut.count(); ++c) {
      if (!set_.gathered(c))
        errors[static_cast<std::size_t>(c)] = errors_of(set_, whole, c, beyond, y.data(), x.data());
    }
    combine(set_, errors);
    for (std::size_t c = 0; c < errors.size(); ++c) {
      const double error = errors[c].componentwise;
      if (!(error <= limit) && !(errors[c].normwise() <= kStableEps * eps)) result.why[c] = Gathering::trial;
      worst = larger(worst, error);
    }
  }
  const auto failed = [](Gathering g) { return g != Gathering::none; };
  std::vector<double> all{worst, std::any_of(result.why.begin(), result.why.end(), failed) ? 1.0 : 0.0};
  accord.agree(all);
  result.backward_error = all[0];
  result.failed = all[1] > 0;
  return result;
}

template <typename T>
void CutOperator<T>::transpose_to(Bands<T>& bands) {
  Wire<T> across;
  across.open(*set_.exchange, route_across(set_.cut, [](Index, int) { return 1; }));
  Beyond<T> beyond;
  SolvedBands<T>& own = inner_.system().overlay();
  own.without(0, [&] {
    const BandsView<T> whole = own.now().view();
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

#define OCLSPKT_INSTANTIATE(T) template class CutOperator<T>;
OCLSPKT_SCALARS(OCLSPKT_INSTANTIATE)

}  // namespace oclspkt
