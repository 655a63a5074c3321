// SPDX-License-Identifier: BSD-2-Clause
// The trial solves of cut lines: evidence that no process could find alone.
#include <algorithm>
#include <cmath>
#include <limits>

#include "cut_solver_impl.hpp"
#include "method_choice.hpp"

namespace oclspkt {
namespace {

/// Numbers of LineErrors in a message.
constexpr Index kErrors = 5;

/// Call f(offset, row within the line) for the rows of a line.
template <typename F>
void for_rows(const LineSet& lines, Index line, const F& f) {
  for (Index i = 0, at = lines.first(line); i < lines.length(line); ++i, at += lines.row_stride()) f(at, i);
}

/// A row times x, and what its error is measured against.
struct Product {
  double value = 0, magnitude = 0;
  void add(double coupling, double unknown) {
    if (coupling == 0) return;
    value += coupling * unknown;
    magnitude += std::abs(coupling * unknown);
  }
};

}  // namespace

/// Rows that are strictly dominant bound growth and spikes. Others may turn singular by an arbitrarily small change.
template <typename T>
bool CutSolver<T>::Impl::needs_trial() const {
  return !(overall_.dominance > 1) && !report_.above_tolerance;
}

/// The bands as they were given, couplings across cuts included.
template <typename T>
Bands<T> CutSolver<T>::Impl::whole_bands() {
  Bands<T> whole(lines_);
  if (refused_) {
    whole.copy_from(refused_->view());
  } else {
    solver_.copy_bands(whole);
  }
  parts_.put_back(whole);
  return whole;
}

/// Tell the neighbours the numbers of the top and bottom rows of each part, and hear theirs.
/// @param top, bottom shape [extent]; numbers of the vectors' layout
template <typename T>
typename CutSolver<T>::Impl::Beyond CutSolver<T>::Impl::look_across(Wire<T>& across, const T* top,
                                                                    const T* bottom) const {
  for (const Route::Item& item : across.route.out) {
    const PartSlot& s = slot(item.line);
    across.out[item.at] = item.place < cut_[item.line].place ? top[s.top] : bottom[s.bottom];
  }
  across.talk();
  Beyond beyond{std::vector<T>(cut_.lines.size()), std::vector<T>(cut_.lines.size())};
  for (const Route::Item& item : across.route.in) {
    const bool above = item.place < cut_[item.line].place;
    (above ? beyond.above : beyond.below)[static_cast<std::size_t>(item.line)] = across.in[item.at];
  }
  return beyond;
}

/// See trial_right_hand_side() of evidence.hpp; here rows couple beyond the cuts.
template <typename T>
void CutSolver<T>::Impl::trial_right_hand_side(const Bands<T>& whole, TrialKind kind, Wire<T>& across, T* y) const {
  const BandsView<T> b = whole.view();
  TrialCoin coin(exchange_->rank());
  AlignedArray<T> x(lines_.extent());
  for (const CutLine& cut : cut_.lines) {
    for_rows(lines_, cut.line, [&](Index at, Index) { x[at] = coin.toss() ? 1 : 2; });
  }
  const Beyond beyond = look_across(across, x.data(), x.data());
  for (Index c = 0; c < cut_.count(); ++c) {
    const Index line = cut_[c].line, last = lines_.length(line) - 1, stride = lines_.row_stride();
    for_rows(lines_, line, [&](Index at, Index i) {
      if (kind == TrialKind::rough) {
        const T magnitude = std::abs(b.lower[at]) + std::abs(b.diag[at]) + std::abs(b.upper[at]);
        y[at] = x[at] > T(1) ? magnitude : -magnitude;
        return;
      }
      const T x_above = i > 0 ? x[at - stride] : beyond.above[static_cast<std::size_t>(c)];
      const T x_below = i < last ? x[at + stride] : beyond.below[static_cast<std::size_t>(c)];
      y[at] = b.lower[at] * x_above + b.diag[at] * x[at] + b.upper[at] * x_below;
    });
  }
}

/// What a part's rows say of a trial solve.
template <typename T>
LineErrors CutSolver<T>::Impl::trial_errors(const Bands<T>& whole, Index c, const Beyond& beyond, const T* y,
                                            const T* x) const {
  const BandsView<T> b = whole.view();
  const Index line = cut_[c].line, last = lines_.length(line) - 1, stride = lines_.row_stride();
  LineErrors e;
  bool finite = true;
  for_rows(lines_, line, [&](Index at, Index i) {
    Product row;
    row.add(b.lower[at], i > 0 ? x[at - stride] : beyond.above[static_cast<std::size_t>(c)]);
    row.add(b.diag[at], x[at]);
    row.add(b.upper[at], i < last ? x[at + stride] : beyond.below[static_cast<std::size_t>(c)]);
    const double right = std::abs(static_cast<double>(y[at])), unknown = std::abs(static_cast<double>(x[at]));
    const double residual = std::abs(static_cast<double>(y[at]) - row.value), scale = row.magnitude + right;
    finite = finite && std::isfinite(residual) && std::isfinite(unknown);
    if (residual > e.componentwise * scale) e.componentwise = residual / scale;
    e.residual = std::max(e.residual, residual);
    e.row = std::max(e.row, std::abs(static_cast<double>(b.lower[at])) + std::abs(static_cast<double>(b.diag[at])) +
                                std::abs(static_cast<double>(b.upper[at])));
    e.x = std::max(e.x, unknown);
    e.y = std::max(e.y, right);
  });
  if (!finite) e.componentwise = std::numeric_limits<double>::quiet_NaN();
  return e;
}

/// Make what parts found hold for their lines.
/// @param[in,out] errors shape [cut lines]; of the part, then of the line
template <typename T>
void CutSolver<T>::Impl::combine(std::vector<LineErrors>& errors) {
  Wire<double> up, back;
  up.open(*exchange_, route_to_roots(cut_, [](Index, int) { return kErrors; }));
  back.open(*exchange_, up.route.back());
  const auto of = [&](const Route::Item& item) -> LineErrors& { return errors[static_cast<std::size_t>(item.line)]; };
  const auto write = [](const LineErrors& e, double* to) {
    for (const double number : {e.componentwise, e.residual, e.row, e.x, e.y}) *to++ = number;
  };
  const auto read = [](const double* from) { return LineErrors{from[0], from[1], from[2], from[3], from[4]}; };
  for (const Route::Item& item : up.route.out) write(of(item), up.out.data() + item.at);
  up.talk();
  for (const Route::Item& item : up.route.in) {
    const LineErrors part = read(up.in.data() + item.at);
    LineErrors& line = of(item);
    if (!(part.componentwise <= line.componentwise) && !std::isnan(line.componentwise)) {
      line.componentwise = part.componentwise;
    }
    line.residual = std::max(line.residual, part.residual);
    line.row = std::max(line.row, part.row);
    line.x = std::max(line.x, part.x);
    line.y = std::max(line.y, part.y);
  }
  for (const Route::Item& item : back.route.out) write(of(item), back.out.data() + item.at);
  back.talk();
  for (const Route::Item& item : back.route.in) of(item) = read(back.in.data() + item.at);
}

/// Run both trial solves. Where |p x_t| is far larger than x, rounding of x = z - p x_t is small by norm and not by
/// components (upwind, 1e6 rows a part: 161 eps where x passes through 0), which is as stable as pivoting by norm; so a
/// line fails only if both are too large. A tolerance above rounding admits as much error, which only the smooth one
/// measures: its solution is of one size everywhere.
/// @param[out] why shape [cut lines]; the lines whose error is above the limit on any process
/// @return true if there is one on any process
template <typename T>
bool CutSolver<T>::Impl::try_lines(Accord& accord, std::vector<Gathering>& why) {
  const auto eps = static_cast<double>(std::numeric_limits<T>::epsilon());
  const bool loose = tolerance<T>(options_) > eps;
  const double limit = kTrialLimitEps * eps + (loose ? 8 * tolerance<T>(options_) : 0);
  why.assign(cut_.lines.size(), Gathering::none);
  Bands<T> whole;
  AlignedArray<T> y, x;
  accord.attempt([&] {
    whole = whole_bands();
    y.resize(lines_.extent());
    x.resize(lines_.extent());
    std::fill_n(y.data(), y.size(), T(0));
    std::fill_n(x.data(), x.size(), T(0));
  });
  accord.agree();
  Wire<T> across;
  across.open(*exchange_, route_across(cut_, [](Index, int) { return 1; }));
  double worst = 0;
  for (const TrialKind kind : {TrialKind::rough, TrialKind::smooth}) {
    if (loose && kind == TrialKind::rough) continue;
    trial_right_hand_side(whole, kind, across, y.data());
    accord.attempt([&] { solver_.apply(y.data(), x.data()); });
    accord.agree();
    exchange(y.data(), x.data());
    const Beyond beyond = look_across(across, x.data(), x.data());
    std::vector<LineErrors> errors(cut_.lines.size());
    for (Index c = 0; c < cut_.count(); ++c) {
      if (!gathered(c)) errors[static_cast<std::size_t>(c)] = trial_errors(whole, c, beyond, y.data(), x.data());
    }
    combine(errors);
    for (std::size_t c = 0; c < errors.size(); ++c) {
      const double error = errors[c].componentwise;
      if (!(error <= limit) && !(errors[c].normwise() <= kStableEps * eps)) why[c] = Gathering::trial;
      if (!(error <= worst)) worst = std::isnan(worst) ? worst : error;
    }
  }
  const auto failed = [](Gathering g) { return g != Gathering::none; };
  std::vector<double> all{worst, std::any_of(why.begin(), why.end(), failed) ? 1.0 : 0.0};
  accord.agree(all);
  report_.backward_error = all[0];
  return all[1] > 0;
}

#define OCLSPKT_INSTANTIATE(T)                                                                             \
  template bool CutSolver<T>::Impl::needs_trial() const;                                                   \
  template Bands<T> CutSolver<T>::Impl::whole_bands();                                                     \
  template CutSolver<T>::Impl::Beyond CutSolver<T>::Impl::look_across(Wire<T>&, const T*, const T*) const; \
  template void CutSolver<T>::Impl::trial_right_hand_side(const Bands<T>&, TrialKind, Wire<T>&, T*) const; \
  template bool CutSolver<T>::Impl::try_lines(Accord&, std::vector<Gathering>&);
OCLSPKT_INSTANTIATE(float)
OCLSPKT_INSTANTIATE(double)

}  // namespace oclspkt
