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

/// Add up what each row collects, in units of eps / 2: a row that waits for its turn is rounded once for every pivot
/// row that is taken off it, by its numbers and its right-hand side, and shares in what that pivot row's substitution
/// rounds.
/// @param at, n  of a line in the factors
/// @param rows   shape [n]; the sums of absolute values of its rows
/// @return the largest, in eps
template <typename T>
double Reference<T>::line_rounding(Index at, Index n, const T* rows) const {
  // Substitution: three products and a division.
  constexpr double kSubstituted = 4, kTakenOff = 3;
  const auto size = [&](Index i) {
    return std::abs(static_cast<double>(diag_[at + i])) + (i + 1 < n ? std::abs(double{upper_[at + i]}) : 0) +
           (i + 2 < n ? std::abs(double{upper2_[at + i]}) : 0);
  };
  double collected = 0, row = rows[0], worst = 0;  // what the row that is eliminated next has collected, and its sum
  for (Index i = 0; i < n; ++i) {
    const bool last = i + 1 == n,
               swapped = !last && pivots_[static_cast<std::size_t>(at + i)] != static_cast<int>(i + 1);
    const double substituted = kSubstituted * size(i);
    const double next_row = last ? 0 : static_cast<double>(rows[i + 1]);
    const double pivoted = swapped ? substituted / next_row : (collected + substituted) / row;
    if (!(pivoted <= worst)) worst = std::isnan(worst) ? worst : pivoted;
    if (last) break;
    const double multiplier = std::abs(static_cast<double>(lower_[at + i]));
    if (!swapped) row = next_row;
    collected = (swapped ? collected : 0) + multiplier * substituted + kTakenOff * (row + multiplier * size(i));
  }
  return worst / 2;
}

template <typename T>
void Reference<T>::factor(const LineSet& lines, const BandsView<T>& bands) {
  lines_ = lines;
  doubts_.clear();
  rounding_ = 0;
  exponents_.resize(static_cast<std::size_t>(lines.rows()));
  std::vector<T> rows;
  lower_.resize(lines.rows());
  diag_.resize(lines.rows());
  upper_.resize(lines.rows());
  upper2_.resize(lines.rows());
  pivots_.resize(static_cast<std::size_t>(lines.rows()));
  Index longest = 0;
  for (Index l = 0, at = 0; l < lines.count(); at += lines.length(l), ++l) {
    const Index n = lines.length(l), first = lines.first(l), stride = lines.row_stride();
    if (n > std::numeric_limits<lapack_int>::max()) {
      throw InvalidInput("method pivot takes lines of at most " +
                         std::to_string(std::numeric_limits<lapack_int>::max()) + " rows (LAPACK's integers), not " +
                         std::to_string(n) + ": choose another method");
    }
    longest = std::max(longest, n);
    if (n == 0) continue;
    rows.resize(static_cast<std::size_t>(n));
    for (Index i = 0; i < n; ++i) {
      const Index from = first + i * stride;
      const T lower = i > 0 ? bands.lower[from] : T(0), upper = i + 1 < n ? bands.upper[from] : T(0);
      const T largest = std::max({std::abs(lower), std::abs(bands.diag[from]), std::abs(upper)});
      int& exponent = exponents_[static_cast<std::size_t>(at + i)];
      exponent = 0;
      if (largest > 0 && std::isfinite(largest)) std::frexp(largest, &exponent);
      diag_[at + i] = std::ldexp(bands.diag[from], -exponent);
      if (i > 0) lower_[at + i - 1] = std::ldexp(lower, -exponent);
      if (i + 1 < n) upper_[at + i] = std::ldexp(upper, -exponent);
      rows[static_cast<std::size_t>(i)] =
          std::ldexp(std::abs(lower), -exponent) + std::abs(diag_[at + i]) + std::ldexp(std::abs(upper), -exponent);
    }
    const T last_row = std::max(std::abs(diag_[at + n - 1]), n > 1 ? std::abs(lower_[at + n - 2]) : T(0));
    gttrf(static_cast<lapack_int>(n), &lower_[at], &diag_[at], &upper_[at], &upper2_[at],
          pivots_.data() + static_cast<std::size_t>(at));
    const double of_line = line_rounding(at, n, rows.data());
    if (!(of_line <= rounding_)) rounding_ = std::isnan(rounding_) ? rounding_ : of_line;
    const T nearly_zero = 4 * std::numeric_limits<T>::epsilon() * last_row;
    Index bad = 0;
    while (bad < n && std::abs(diag_[at + bad]) > 0 && std::isfinite(diag_[at + bad])) ++bad;
    if (bad < n) {
      doubts_.push_back({l, bad, true});
    } else if (!(std::abs(diag_[at + n - 1]) > nearly_zero)) {
      doubts_.push_back({l, n - 1, false});
    }
  }
  work_.resize(lines.contiguous() ? 0 : longest);
}

template <typename T>
void Reference<T>::solve(const T* y, T* x) {
  const Index stride = lines_.row_stride();
  for (Index l = 0, at = 0; l < lines_.count(); at += lines_.length(l), ++l) {
    const Index n = lines_.length(l), first = lines_.first(l);
    if (n == 0) continue;
    const bool in_place = lines_.contiguous();
    T* b = in_place ? x + first : work_.data();
    for (Index i = 0; i < n; ++i)
      b[i] = std::ldexp(y[first + i * stride], -exponents_[static_cast<std::size_t>(at + i)]);
    gttrs(static_cast<lapack_int>(n), &lower_[at], &diag_[at], &upper_[at], &upper2_[at],
          pivots_.data() + static_cast<std::size_t>(at), b);
    if (in_place) continue;
    for (Index i = 0; i < n; ++i) x[first + i * stride] = b[i];
  }
}

template <typename T>
std::int64_t Reference<T>::bytes() const {
  return lower_.bytes() + diag_.bytes() + upper_.bytes() + upper2_.bytes() + work_.bytes() +
         static_cast<std::int64_t>((pivots_.capacity() + exponents_.capacity()) * sizeof(int));
}

template class Reference<float>;
template class Reference<double>;

}  // namespace oclspkt
