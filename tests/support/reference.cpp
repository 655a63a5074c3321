// SPDX-License-Identifier: BSD-2-Clause
#include "reference.hpp"

#include <lapacke.h>

#include <algorithm>
#include <cmath>
#include <limits>

#include "oclspkt/error.hpp"

namespace oclspkt {
namespace {

lapack_int gttrf(lapack_int n, float* l, float* d, float* u, float* u2, lapack_int* p) {
  return LAPACKE_sgttrf_work(n, l, d, u, u2, p);
}
lapack_int gttrf(lapack_int n, double* l, double* d, double* u, double* u2, lapack_int* p) {
  return LAPACKE_dgttrf_work(n, l, d, u, u2, p);
}
lapack_int gttrs(lapack_int n, const float* l, const float* d, const float* u, const float* u2, const lapack_int* p,
                 float* b) {
  return LAPACKE_sgttrs_work(LAPACK_COL_MAJOR, 'N', n, 1, l, d, u, u2, p, b, n);
}
lapack_int gttrs(lapack_int n, const double* l, const double* d, const double* u, const double* u2, const lapack_int* p,
                 double* b) {
  return LAPACKE_dgttrs_work(LAPACK_COL_MAJOR, 'N', n, 1, l, d, u, u2, p, b, n);
}

}  // namespace

template <typename T>
void Reference<T>::factor(const LineSet& lines, const BandsView<T>& bands) {
  lines_ = lines;
  doubts_.clear();
  lower_.resize(lines.rows());
  diag_.resize(lines.rows());
  upper_.resize(lines.rows());
  upper2_.resize(lines.rows());
  pivots_.resize(static_cast<std::size_t>(lines.rows()));
  Index longest = 0;
  for (Index l = 0, at = 0; l < lines.count(); at += lines.length(l), ++l) {
    const Index n = lines.length(l), first = lines.first(l), stride = lines.row_stride();
    if (n > std::numeric_limits<lapack_int>::max()) {
      throw InvalidInput("the reference takes lines of at most " +
                         std::to_string(std::numeric_limits<lapack_int>::max()) + " rows (LAPACK's integers), not " +
                         std::to_string(n));
    }
    longest = std::max(longest, n);
    if (n == 0) continue;
    for (Index i = 0; i < n; ++i) {
      const Index from = first + i * stride;
      diag_[at + i] = bands.diag[from];
      if (i > 0) lower_[at + i - 1] = bands.lower[from];
      if (i + 1 < n) upper_[at + i] = bands.upper[from];
    }
    const T last_row = std::max(std::abs(diag_[at + n - 1]), n > 1 ? std::abs(lower_[at + n - 2]) : T(0));
    gttrf(static_cast<lapack_int>(n), &lower_[at], &diag_[at], &upper_[at], &upper2_[at],
          pivots_.data() + static_cast<std::size_t>(at));
    const T nearly_zero = 4 * std::numeric_limits<T>::epsilon() * last_row;
    Index bad = 0;
    while (bad < n && std::abs(diag_[at + bad]) > 0 && std::isfinite(diag_[at + bad])) ++bad;
    if (bad < n) {
      doubts_.push_back({l, bad, true});
    } else if (!(std::abs(diag_[at + n - 1]) > nearly_zero)) {
      doubts_.push_back({l, n - 1, false});
    }
  }
  work_.resize(longest);
}

template <typename T>
void Reference<T>::solve(const T* y, T* x) {
  const Index stride = lines_.row_stride();
  for (Index l = 0, at = 0; l < lines_.count(); at += lines_.length(l), ++l) {
    const Index n = lines_.length(l), first = lines_.first(l);
    if (n == 0) continue;
    for (Index i = 0; i < n; ++i) work_[i] = y[first + i * stride];
    gttrs(static_cast<lapack_int>(n), &lower_[at], &diag_[at], &upper_[at], &upper2_[at],
          pivots_.data() + static_cast<std::size_t>(at), work_.data());
    for (Index i = 0; i < n; ++i) x[first + i * stride] = work_[i];
  }
}

template class Reference<float>;
template class Reference<double>;

}  // namespace oclspkt
