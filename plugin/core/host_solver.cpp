// SPDX-License-Identifier: BSD-2-Clause
#include "host_solver.hpp"

#include <algorithm>
#include <chrono>
#include <cmath>
#include <limits>

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
void HostSolver<T>::factor(const LineSet& lines, const BandsView<T>& bands) {
  lines_ = lines;
  multiplier_.resize(lines.extent());
  reciprocal_.resize(lines.extent());
  coupling_.resize(lines.extent());
  bool finite = true;
  double growth = 0, smallest = std::numeric_limits<double>::infinity();
  for_each_bundle(lines, [&](Index first, Index stride, Index wide, Index length) {
    for (Index i = 0; i < length; ++i) {
      for (Index at = first + i * stride; at < first + i * stride + wide; ++at) {
        const T multiplier = i > 0 ? bands.lower[at] * reciprocal_[at - stride] : T(0);
        const T filled = i > 0 ? multiplier * bands.upper[at - stride] : T(0);
        const T pivot = bands.diag[at] - filled;
        multiplier_[at] = multiplier;
        reciprocal_[at] = T(1) / pivot;
        coupling_[at] = i + 1 < length ? bands.upper[at] * reciprocal_[at] : T(0);
        const T row_growth = (std::abs(filled) + std::abs(pivot)) / std::abs(bands.diag[at]);
        const T largest = std::max({std::abs(bands.lower[at]), std::abs(bands.diag[at]), std::abs(bands.upper[at])});
        smallest = std::min(smallest, static_cast<double>(std::abs(pivot) / largest));
        finite = finite && row_growth <= std::numeric_limits<T>::max();
        growth = std::max(growth, static_cast<double>(row_growth));
      }
    }
  });
  growth_ = finite ? growth : std::numeric_limits<double>::quiet_NaN();
  smallest_pivot_ = finite ? smallest : 0;
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
