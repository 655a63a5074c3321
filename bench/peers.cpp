// SPDX-License-Identifier: BSD-2-Clause
#include "peers.hpp"

#include <lapacke.h>

#include <limits>
#include <string>

#include "clock.hpp"
#include "oclspkt/error.hpp"
#include "parallel.hpp"

namespace oclspkt::bench {
namespace {

lapack_int gtsv_work(lapack_int n, float* l, float* d, float* u, float* b) {
  return LAPACKE_sgtsv_work(LAPACK_COL_MAJOR, n, 1, l, d, u, b, n);
}
lapack_int gtsv_work(lapack_int n, double* l, double* d, double* u, double* b) {
  return LAPACKE_dgtsv_work(LAPACK_COL_MAJOR, n, 1, l, d, u, b, n);
}
lapack_int gttrf_work(lapack_int n, float* l, float* d, float* u, float* u2, lapack_int* p) {
  return LAPACKE_sgttrf_work(n, l, d, u, u2, p);
}
lapack_int gttrf_work(lapack_int n, double* l, double* d, double* u, double* u2, lapack_int* p) {
  return LAPACKE_dgttrf_work(n, l, d, u, u2, p);
}
lapack_int gttrs_work(lapack_int n, const float* l, const float* d, const float* u, const float* u2,
                      const lapack_int* p, float* b) {
  return LAPACKE_sgttrs_work(LAPACK_COL_MAJOR, 'N', n, 1, l, d, u, u2, p, b, n);
}
lapack_int gttrs_work(lapack_int n, const double* l, const double* d, const double* u, const double* u2,
                      const lapack_int* p, double* b) {
  return LAPACKE_dgttrs_work(LAPACK_COL_MAJOR, 'N', n, 1, l, d, u, u2, p, b, n);
}

lapack_int lapack_rows(Index n) {
  constexpr Index most = std::numeric_limits<lapack_int>::max();
  if (n > most) {
    throw InvalidInput("LAPACK's integers hold " + std::to_string(most) + " rows, not " + std::to_string(n) +
                       ": leave gtsv and gttrs out of --methods");
  }
  return static_cast<lapack_int>(n);
}

/// LAPACK's layout: its lower band begins at row 1.
template <typename T>
void copy_bands(const Problem<T>& p, AlignedArray<T>& lower, AlignedArray<T>& diag, AlignedArray<T>& upper) {
  for (AlignedArray<T>* band : {&lower, &diag, &upper}) band->resize(p.n());
  copy(p.bands.view().lower + 1, p.n() - 1, lower.data());
  copy(p.bands.view().diag, p.n(), diag.data());
  copy(p.bands.view().upper, p.n() - 1, upper.data());
}

}  // namespace

template <typename T>
double gtsv(Problem<T>& p) {
  const lapack_int n = lapack_rows(p.n());
  AlignedArray<T>&lower = p.scratch[0], &diag = p.scratch[1], &upper = p.scratch[2];
  copy_bands(p, lower, diag, upper);
  copy(p.y.data(), p.n(), p.x.data());
  return seconds_of([&] { gtsv_work(n, lower.data(), diag.data(), upper.data(), p.x.data()); });
}

template <typename T>
void LapackFactors<T>::factor(const Problem<T>& p) {
  const lapack_int n = lapack_rows(p.n());
  copy_bands(p, lower_, diag_, upper_);
  upper2_.resize(p.n());
  pivots_.resize(static_cast<std::size_t>(p.n()));
  gttrf_work(n, lower_.data(), diag_.data(), upper_.data(), upper2_.data(), pivots_.data());
}

template <typename T>
double LapackFactors<T>::solve(Problem<T>& p) const {
  const lapack_int n = lapack_rows(p.n());
  copy(p.y.data(), p.n(), p.x.data());
  return seconds_of(
      [&] { gttrs_work(n, lower_.data(), diag_.data(), upper_.data(), upper2_.data(), pivots_.data(), p.x.data()); });
}

template <typename T>
double thomas(Problem<T>& p) {
  p.scratch[0].resize(p.n());
  const T *a = p.bands.view().lower, *b = p.bands.view().diag, *c = p.bands.view().upper, *y = p.y.data();
  T *scaled = p.scratch[0].data(), *x = p.x.data();
  return seconds_of([&] {
    T coupling = 0, value = 0;
    for (Index i = 0; i < p.n(); ++i) {
      const T reciprocal = T(1) / (b[i] - a[i] * coupling);
      scaled[i] = coupling = c[i] * reciprocal;
      x[i] = value = (y[i] - a[i] * value) * reciprocal;
    }
    for (Index i = p.n() - 2; i >= 0; --i) x[i] = value = x[i] - scaled[i] * value;
  });
}

#define OCLSPKT_INSTANTIATE(T)       \
  template double gtsv(Problem<T>&); \
  template class LapackFactors<T>;   \
  template double thomas(Problem<T>&);
OCLSPKT_INSTANTIATE(float)
OCLSPKT_INSTANTIATE(double)

}  // namespace oclspkt::bench
