// SPDX-License-Identifier: BSD-2-Clause
#include "host_solver.hpp"

#include <algorithm>
#include <chrono>
#include <cmath>
#include <limits>

#include "evidence.hpp"
#include "interface.hpp"

namespace oclspkt {
namespace {

/// Call f(first, stride, side_by_side, length) for every bundle of lines that lie side by side.
template <typename F>
void for_each_bundle(const LineSet& lines, const F& f) {
  const Index bundle = lines.side_by_side();
  for (Index l = 0; l < lines.count(); l += bundle) {
    f(lines.first(l), lines.row_stride(), std::min(bundle, lines.count() - l), lines.length(l));
  }
}

}  // namespace

template <typename T>
bool HostSolver<T>::Pivots::sound() const {
  return growth <= kGrowthLimit && smallest >= kSmallPivotEps * static_cast<double>(std::numeric_limits<T>::epsilon());
}

/// A line carries its excess: where couplings are tiny against their row, plain pivots lose |c_i / u_i| <= 1 to
/// rounding (row sums 0, float, 2.6e5 rows: backward error 13 eps instead of 0.3).
template <typename T>
typename HostSolver<T>::Pivots HostSolver<T>::factor_line(const BandsView<T>& bands, Index line) {
  ExcessRow<T> above;  // a row of zeros: the first row has nothing to eliminate
  T reciprocal = 0, growth = 0, smallest = 1;
  bool finite = true;
  for (Index i = 0, at = lines_.first(line); i < lines_.length(line); ++i, at += lines_.row_stride()) {
    const ExcessRow<T> row = make_row(bands.lower[at], bands.diag[at], bands.upper[at], T(0));
    const T multiplier = row.lower * reciprocal;
    const T filled = std::abs(multiplier * above.upper), before = std::abs(bands.diag[at]);
    above = eliminate_above(above, multiplier, row).as_pivot();
    const T pivot = above.magnitude();
    reciprocal = T(1) / above.diag();
    multiplier_[at] = multiplier;
    reciprocal_[at] = reciprocal;
    coupling_[at] = row.upper * reciprocal;
    finite = finite && std::isfinite(reciprocal);
    // Divisions only where a record is broken.
    if (!(filled + pivot <= growth * before)) growth = (filled + pivot) / before;
    const T largest = std::max({std::abs(row.lower), before, std::abs(row.upper)});
    if (!(pivot >= smallest * largest)) smallest = pivot / largest;
  }
  if (!finite || !(growth <= std::numeric_limits<T>::max())) {
    return {std::numeric_limits<double>::quiet_NaN(), 0};
  }
  return {static_cast<double>(growth), static_cast<double>(smallest)};
}

template <typename T>
void HostSolver<T>::factor(const LineSet& lines, const BandsView<T>& bands) {
  lines_ = lines;
  multiplier_.resize(lines.extent());
  reciprocal_.resize(lines.extent());
  coupling_.resize(lines.extent());
  pivots_ = {};
  doubtful_.clear();
  for (Index l = 0; l < lines.count(); ++l) {
    const Pivots line = factor_line(bands, l);
    if (!line.sound()) doubtful_.push_back(l);
    if (!(line.growth <= pivots_.growth) && !std::isnan(pivots_.growth)) pivots_.growth = line.growth;
    pivots_.smallest = std::min(pivots_.smallest, line.smallest);
  }
}

template <typename T>
void HostSolver<T>::set_up(const Plan& /*plan*/, const Bands<T>& bands) {
  factor(bands.lines(), bands.view());
}

template <typename T>
void HostSolver<T>::apply(const T* y, T* x) {
  const auto start = std::chrono::steady_clock::now();
  solve(y, x);
  times_.kernel_seconds += std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
  ++times_.applies;
}

template <typename T>
void HostSolver<T>::solve(const T* y, T* x) const {
  const T* multiplier = multiplier_.data();
  const T* reciprocal = reciprocal_.data();
  const T* coupling = coupling_.data();
  for_each_bundle(lines_, [&](Index first, Index stride, Index wide, Index length) {
    if (length == 0) return;
    if (wide == 1) {  // the carried value stays in a register
      T carry = 0;
      for (Index i = 0, at = first; i < length; ++i, at += stride) x[at] = carry = y[at] - multiplier[at] * carry;
      carry = 0;
      for (Index i = length - 1, at = first + i * stride; i >= 0; --i, at -= stride) {
        x[at] = carry = x[at] * reciprocal[at] - coupling[at] * carry;
      }
      return;
    }
    std::copy(y + first, y + first + wide, x + first);
    for (Index i = 1; i < length; ++i) {
      const Index row = first + i * stride;
      for (Index at = row; at < row + wide; ++at) x[at] = y[at] - multiplier[at] * x[at - stride];
    }
    const Index last = first + (length - 1) * stride;
    for (Index at = last; at < last + wide; ++at) x[at] *= reciprocal[at];
    for (Index i = length - 2; i >= 0; --i) {
      const Index row = first + i * stride;
      for (Index at = row; at < row + wide; ++at) x[at] = x[at] * reciprocal[at] - coupling[at] * x[at + stride];
    }
  });
}

template <typename T>
std::int64_t HostSolver<T>::bytes() const {
  return multiplier_.bytes() + reciprocal_.bytes() + coupling_.bytes();
}

template class HostSolver<float>;
template class HostSolver<double>;

}  // namespace oclspkt
