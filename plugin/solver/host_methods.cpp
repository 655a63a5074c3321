// SPDX-License-Identifier: BSD-2-Clause
#include "host_methods.hpp"

#include <algorithm>
#include <chrono>
#include <cmath>
#include <limits>

#include "evidence.hpp"
#include "host_solver.hpp"
#include "parallel.hpp"

namespace oclspkt {
namespace {

constexpr Index kLanes = PivotedLines<double>::kLanes;
/// Eps of double in an eps of T.
template <typename T>
constexpr double kOfDouble = std::numeric_limits<double>::epsilon() /
                             static_cast<double>(std::numeric_limits<T>::epsilon());
/// Trial solves ask for refinement above so many eps.
constexpr double kAskEps = 10;

/// A bound in eps of double, or an error, in eps of T, to which the answer is rounded.
template <typename T>
double rounded(double eps) {
  return kOfDouble<T> * eps + (kOfDouble<T> < 1 ? 0.5 : 0.0);
}

}  // namespace

/// Call f(bundle, scratch of its piece) for all of them, several at once.
template <typename T>
template <typename F>
void PivotSolver<T>::for_bundles(const F& f) {
  const auto count = static_cast<Index>(bundles_.size());
  if (count == 0) return;
  const Index of_a_piece = scratch_.size() / quotient_up(count, piece_);
  for_pieces(count, piece_, [&](Index begin, Index end) {
    for (Index b = begin; b < end; ++b) f(b, scratch_.data() + begin / piece_ * of_a_piece);
  });
}

template <typename T>
void PivotSolver<T>::place_lines() {
  systems_.clear();
  bundles_.clear();
  for (Index l = 0; l < lines_.count();) {
    const Index rows = lines_.length(l), most = std::min(kLanes, lines_.count() - l);
    Index alike = 1;
    while (alike < most && lines_.length(l + alike) == rows) ++alike;
    if (2 * alike < kLanes) alike = 1;  // lanes that idle cost as much as lines
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
  scratch_.resize(quotient_up(count, piece_) * 2 * largest);
}

template <typename T>
void PivotSolver<T>::factor_bundle(Index index, const BandsView<T>& bands, PivotFacts* facts) {
  const Bundle& b = bundles_[static_cast<std::size_t>(index)];
  const auto size = static_cast<std::size_t>(b.rows * b.width);
  std::vector<double> rows(3 * size);
  double *const lower = rows.data(), *const diag = lower + size, *const upper = diag + size;
  std::fill_n(diag, size, 1.0);
  for (Index j = 0; j < b.lines; ++j) {
    for (Index i = 0, from = lines_.first(b.line + j); i < b.rows; ++i, from += lines_.row_stride()) {
      const Index to = i * b.width + j;
      lower[to] = i > 0 ? static_cast<double>(bands.lower[from]) : 0;
      diag[to] = static_cast<double>(bands.diag[from]);
      upper[to] = i + 1 < b.rows ? static_cast<double>(bands.upper[from]) : 0;
    }
  }
  PivotFacts found[kLanes];
  systems_.factor(index, {lower, diag, upper}, found);
  systems_.try_out(index, {lower, diag, upper}, kAskEps / kOfDouble<T>, found);
  std::copy_n(found, b.lines, facts + b.line);
}

template <typename T>
void PivotSolver<T>::set_up(const Plan& /*plan*/, const Bands<T>& bands) {
  lines_ = bands.lines();
  place_lines();
  std::vector<PivotFacts> facts(static_cast<std::size_t>(lines_.count()));
  for_bundles([&](Index b, double*) { factor_bundle(b, bands.view(), facts.data()); });
  judge(facts);
  widen(bands, facts);
}

template <typename T>
void PivotSolver<T>::judge(const std::vector<PivotFacts>& facts) {
  constexpr auto eps = static_cast<double>(std::numeric_limits<T>::epsilon());
  singular_.clear();
  above_limit_.clear();
  trial_error_ = rounding_ = 0;
  for (std::size_t l = 0; l < facts.size(); ++l) {
    const PivotFacts& f = facts[l];
    const auto line = static_cast<Index>(l);
    if (f.overflows || lines_.length(line) == 0) continue;  // see widen()
    const double trial = rounded<T>(f.trial);
    const bool fails = !(trial <= kTrialLimitEps);
    if (f.bad >= 0 || (f.lost && fails)) {
      singular_.push_back({line, std::max<Index>(f.bad, 0), f.bad < 0});
      continue;
    }
    if (fails) above_limit_.push_back(line);
    if (!(trial * eps <= trial_error_)) trial_error_ = std::isnan(trial_error_) ? trial_error_ : trial * eps;
    rounding_ = std::max(rounding_, rounded<T>(f.bound));
  }
}

/// Solve the lines whose pivots overflow in wider numbers.
template <typename T>
void PivotSolver<T>::widen(const Bands<T>& bands, const std::vector<PivotFacts>& facts) {
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
  for_each_row(lines_, wide_lines_, [&](Index there, Index here) {
    wide.lower()[here] = from.lower[there];
    wide.diag()[here] = from.diag[there];
    wide.upper()[here] = from.upper[there];
  });
  wide.close_lines();
  wide_.set_up({}, wide);
  wide_y_.resize(wide.lines().rows());
  wide_x_.resize(wide.lines().rows());
  rounding_ = std::max(rounding_, wide_.rounding());
  for (const Index line : wide_.singular()) {
    singular_.push_back({wide_lines_[static_cast<std::size_t>(line)], 0, false});
  }
  std::sort(singular_.begin(), singular_.end(), [](const auto& a, const auto& b) { return a.line < b.line; });
}

template <typename T>
void PivotSolver<T>::apply(const T* y, T* x) {
  const auto start = std::chrono::steady_clock::now();
  for_bundles([&](Index index, double* scratch) {
    const Bundle& b = bundles_[static_cast<std::size_t>(index)];
    double *const to = scratch, *const work = scratch + b.rows * b.width;
    if constexpr (sizeof(T) == sizeof(double)) {
      if (b.width == 1 && lines_.row_stride() == 1) {
        T* const line = x + lines_.first(b.line);
        std::copy_n(y + lines_.first(b.line), b.rows, line);
        systems_.solve(index, line, work);
        return;
      }
    }
    if (b.lines < b.width) std::fill_n(to, b.rows * b.width, 0.0);
    for (Index j = 0; j < b.lines; ++j) {
      const T* from = y + lines_.first(b.line + j);
      for (Index i = 0; i < b.rows; ++i, from += lines_.row_stride()) to[i * b.width + j] = static_cast<double>(*from);
    }
    systems_.solve(index, to, work);
    for (Index j = 0; j < b.lines; ++j) {
      T* place = x + lines_.first(b.line + j);
      for (Index i = 0; i < b.rows; ++i, place += lines_.row_stride()) *place = static_cast<T>(to[i * b.width + j]);
    }
  });
  if (!wide_lines_.empty()) {
    for_each_row(lines_, wide_lines_, [&](Index there, Index here) { wide_y_[here] = y[there]; });
    wide_.apply(wide_y_.data(), wide_x_.data());
    for_each_row(lines_, wide_lines_, [&](Index there, Index here) { x[there] = wide_x_[here]; });
  }
  times_.kernel_seconds += std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
  ++times_.applies;
}

template <typename T>
std::int64_t PivotSolver<T>::bytes() const {
  return systems_.bytes() + scratch_.bytes() + wide_.bytes() + wide_y_.bytes() + wide_x_.bytes() +
         static_cast<std::int64_t>(bundles_.capacity() * sizeof(Bundle));
}

template <typename T>
std::unique_ptr<DeviceSolver<T>> make_host_solver(Method method) {
  if (method == Method::pivot) return std::make_unique<PivotSolver<T>>();
  return std::make_unique<HostSolver<T>>();
}

template class PivotSolver<float>;
template class PivotSolver<double>;
template std::unique_ptr<DeviceSolver<float>> make_host_solver(Method);
template std::unique_ptr<DeviceSolver<double>> make_host_solver(Method);

}  // namespace oclspkt
