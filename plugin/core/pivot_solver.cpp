// SPDX-License-Identifier: BSD-2-Clause
#include "pivot_solver.hpp"

#include <algorithm>
#include <chrono>
#include <cmath>
#include <limits>
#include <utility>

#include "evidence.hpp"
#include "parallel.hpp"
#include "residual.hpp"

namespace oclspkt {
namespace {

constexpr Index kLanes = PivotedLines<double>::kLanes;

/// The eps of T, in eps of Number.
template <typename T, typename Number>
constexpr double kUnit = static_cast<double>(static_cast<Real<Number>>(kEpsOf<T>) / kEpsOf<Number>);

/// Limits of measured errors, in eps of T. A solution with an error above kRefineEps is refined. If its error then
/// exceeds kWidenEps, it is computed in wider numbers.
constexpr double kRefineEps = 2, kWidenEps = 10;
/// The largest growth for which refinement suffices. At this growth, solutions keep about four digits.
constexpr double kHardGrowth = 1e12;

/// Convert a bound or an error from eps of Number to eps of T. Half an eps is added if T is narrower, because the
/// solution is rounded to T.
template <typename T, typename Number>
double rounded(double eps) {
  return eps / kUnit<T, Number> + (kUnit<T, Number> > 1 ? 0.5 : 0.0);
}

/// An upper bound of an error, in eps, from its measured value. The measured value is at most 2 eps too small, and no
/// error exceeds 1.
template <typename T>
double measured(double eps) {
  const double most = 1 / static_cast<double>(kEpsOf<T>);
  return eps + 2 <= most ? eps + 2 : most;
}

}  // namespace

/// Call f(bundle, scratch) for all bundles, on several threads, with a scratch for each piece of bundles.
template <typename T, typename Number>
template <typename F>
void PivotSolver<T, Number>::for_bundles(const F& f) {
  const auto count = static_cast<Index>(bundles_.size());
  if (count == 0) return;
  const Index of_a_piece = scratch_.size() / quotient_up(count, piece_);
  for_pieces(count, piece_, [&](Index begin, Index end) {
    for (Index b = begin; b < end; ++b) f(b, scratch_.data() + begin / piece_ * of_a_piece);
  });
}

template <typename T, typename Number>
void PivotSolver<T, Number>::place_lines() {
  systems_.clear();
  bundles_.clear();
  for (Index l = 0; l < lines_.count();) {
    const Index rows = lines_.length(l), most = std::min(kLanes, lines_.count() - l);
    Index alike = 1;
    while (alike < most && lines_.length(l + alike) == rows) ++alike;
    if (2 * alike < kLanes) alike = 1;  // an idle lane costs as much as a line
    const Index width = alike == 1 ? 1 : kLanes;
    if (rows > 0) {
      bundles_.push_back({l, alike, rows, width});
      systems_.place(rows, width);
    }
    l += alike;
  }
  systems_.make_room();
  Index largest = 0;
  for (const Bundle& b : bundles_) largest = std::max(largest, b.rows * b.width);
  const auto count = static_cast<Index>(bundles_.size());
  piece_ = std::max<Index>(1, kPieceRows * count / std::max<Index>(1, systems_.size()));
  scratch_.resize(quotient_up(count, piece_) * 4 * largest);
}

template <typename T, typename Number>
void PivotSolver<T, Number>::factor_bundle(Index index, const BandsView<T>& bands, PivotFacts* facts) {
  const Bundle& b = bundles_[static_cast<std::size_t>(index)];
  const auto size = static_cast<std::size_t>(b.rows * b.width);
  std::vector<Number> rows(3 * size);
  Number *const lower = rows.data(), *const diag = lower + size, *const upper = diag + size;
  std::fill_n(diag, size, Number(1));
  for (Index j = 0; j < b.lines; ++j) {
    for (Index i = 0, from = lines_.first(b.line + j); i < b.rows; ++i, from += lines_.row_stride()) {
      const Index to = i * b.width + j;
      lower[to] = i > 0 ? static_cast<Number>(bands.lower[from]) : Number(0);
      diag[to] = static_cast<Number>(bands.diag[from]);
      upper[to] = i + 1 < b.rows ? static_cast<Number>(bands.upper[from]) : Number(0);
    }
  }
  constexpr double kOne = kUnit<T, Number>;
  PivotFacts found[kLanes];
  systems_.factor(index, {lower, diag, upper}, found);
  const PivotLimits limits{kTrialLimitEps * kOne, kRefineEps * kOne, kWidenEps * kOne, kHardGrowth * kOne};
  systems_.watch(index, {lower, diag, upper}, limits, found);
  std::copy_n(found, b.lines, facts + b.line);
}

template <typename T, typename Number>
void PivotSolver<T, Number>::set_up(const Plan& /*plan*/, const Bands<T>& bands) {
  lines_ = bands.lines();
  place_lines();
  std::vector<PivotFacts> facts(static_cast<std::size_t>(lines_.count()));
  for_bundles([&](Index b, Number*) { factor_bundle(b, bands.view(), facts.data()); });
  judge(facts);
  if constexpr (std::is_same_v<Real<Number>, double>) widen(bands, facts);
}

template <typename T, typename Number>
void PivotSolver<T, Number>::judge(const std::vector<PivotFacts>& facts) {
  constexpr auto eps = static_cast<double>(kEpsOf<T>);
  this->singular_.clear();
  this->trial_error_ = rounding_ = 0;
  worst_.assign(bundles_.size(), 0);
  for (std::size_t l = 0; l < facts.size(); ++l) {
    const PivotFacts& f = facts[l];
    const auto line = static_cast<Index>(l);
    if (lines_.length(line) == 0 || (f.overflows && std::is_same_v<Real<Number>, double>)) continue;  // see widen()
    const double trial = rounded<T, Number>(f.trial);
    if (f.bad >= 0 || (f.lost && !(trial <= kTrialLimitEps))) {
      this->singular_.push_back({line, std::max<Index>(f.bad, 0), f.bad < 0});
      continue;
    }
    if (!(trial * eps <= this->trial_error_) && f.trial != 0) {
      this->trial_error_ = std::isnan(this->trial_error_) ? this->trial_error_ : trial * eps;
    }
    const double bound = rounded<T, Number>(f.bound);
    rounding_ = std::max(rounding_, bound <= kTrialLimitEps ? bound : measured<T>(std::max(kWidenEps, trial)));
  }
}

/// Set up a solver in wider numbers for the lines whose pivots overflow.
template <typename T, typename Number>
void PivotSolver<T, Number>::widen(const Bands<T>& bands, const std::vector<PivotFacts>& facts) {
  wide_lines_.clear();
  std::vector<Index> starts{0};
  for (std::size_t l = 0; l < facts.size(); ++l) {
    if (!facts[l].overflows) continue;
    wide_lines_.push_back(static_cast<Index>(l));
    starts.push_back(starts.back() + lines_.length(static_cast<Index>(l)));
  }
  if (wide_lines_.empty()) return;
  Bands<T> wide(LineSet::unequal(std::move(starts)));
  const BandsView<T> from = bands.view();
  for_each_row(lines_, wide_lines_, [&](Index place, Index at) {
    wide.lower()[at] = from.lower[place];
    wide.diag()[at] = from.diag[place];
    wide.upper()[at] = from.upper[place];
  });
  wide.close_lines();
  if (wide_ == nullptr) wide_ = std::make_unique<PivotSolver<T, Widened<long double, T>>>();
  wide_->set_up({}, wide);
  wide_y_.resize(wide.lines().rows());
  wide_x_.resize(wide.lines().rows());
  auto& singular = this->singular_;
  for (const SingularLine& found : wide_->singular()) {
    singular.push_back({wide_lines_[static_cast<std::size_t>(found.line)], found.row, found.lost});
  }
  std::sort(singular.begin(), singular.end(), [](const auto& a, const auto& b) { return a.line < b.line; });
}

/// Record errors after refinement, and solutions beyond the range of T.
template <typename T, typename Number>
void PivotSolver<T, Number>::see(const double* errors, const Bundle& of, const T* y, const T* x, double& worst) {
  for (Index j = 0; j < of.lines; ++j) {
    const Index line = of.line + j;
    if (std::binary_search(wide_lines_.begin(), wide_lines_.end(), line)) continue;
    if (leaves_range(lines_, line, y, x)) worst = std::numeric_limits<double>::infinity();
    const double error = rounded<T, Number>(errors[j]);
    if (!(error <= kWidenEps)) worst = std::max(worst, measured<T>(error));
  }
}

template <typename T, typename Number>
double PivotSolver<T, Number>::rounding() const {
  return wide_lines_.empty() ? rounding_ : std::max(rounding_, wide_->rounding());
}

template <typename T, typename Number>
double PivotSolver<T, Number>::take_errors() {
  double largest = wide_lines_.empty() ? 0 : wide_->take_errors();
  for (double& worst : worst_) largest = std::max(largest, std::exchange(worst, 0));
  return largest;
}

template <typename T, typename Number>
void PivotSolver<T, Number>::apply(const Place& place, Columns<const T> y, Columns<T> x, Index count) {
  require_host(place);
  for (Index k = 0; k < count; ++k) solve(y[k], x[k]);
}

template <typename T, typename Number>
void PivotSolver<T, Number>::solve(const T* y, T* x) {
  const auto start = std::chrono::steady_clock::now();
  for_bundles([&](Index index, Number* scratch) {
    const Bundle& b = bundles_[static_cast<std::size_t>(index)];
    Number *const to = scratch, *const work = scratch + b.rows * b.width;
    double errors[kLanes];
    if constexpr (std::is_same_v<T, Number>) {
      if (b.width == 1 && lines_.row_stride() == 1) {
        T* const line = x + lines_.first(b.line);
        std::copy_n(y + lines_.first(b.line), b.rows, line);
        systems_.solve(index, line, work, errors);
        see(errors, b, y, x, worst_[static_cast<std::size_t>(index)]);
        return;
      }
    }
    if (b.lines < b.width) std::fill_n(to, b.rows * b.width, Number(0));
    for (Index j = 0; j < b.lines; ++j) {
      const T* from = y + lines_.first(b.line + j);
      for (Index i = 0; i < b.rows; ++i, from += lines_.row_stride()) to[i * b.width + j] = static_cast<Number>(*from);
    }
    systems_.solve(index, to, work, errors);
    for (Index j = 0; j < b.lines; ++j) {
      T* place = x + lines_.first(b.line + j);
      for (Index i = 0; i < b.rows; ++i, place += lines_.row_stride()) *place = static_cast<T>(to[i * b.width + j]);
    }
    see(errors, b, y, x, worst_[static_cast<std::size_t>(index)]);
  });
  if (!wide_lines_.empty()) {
    for_each_row(lines_, wide_lines_, [&](Index place, Index at) { wide_y_[at] = y[place]; });
    wide_->apply(wide_y_.data(), wide_x_.data());
    for_each_row(lines_, wide_lines_, [&](Index place, Index at) { x[place] = wide_x_[at]; });
  }
  times_.kernel_seconds += std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
  ++times_.applies;
}

template <typename T, typename Number>
std::int64_t PivotSolver<T, Number>::bytes() const {
  return systems_.bytes() + scratch_.bytes() + (wide_ ? wide_->bytes() : 0) + wide_y_.bytes() + wide_x_.bytes() +
         static_cast<std::int64_t>(bundles_.capacity() * sizeof(Bundle) + worst_.capacity() * sizeof(double));
}

#define OCLSPKT_INSTANTIATE(T)   \
  template class PivotSolver<T>; \
  template class PivotSolver<T, Widened<long double, T>>;
OCLSPKT_SCALARS(OCLSPKT_INSTANTIATE)

}  // namespace oclspkt
