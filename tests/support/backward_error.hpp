// SPDX-License-Identifier: BSD-2-Clause
#pragma once

#include <algorithm>
#include <limits>
#include <mutex>
#include <vector>

#include "../../plugin/core/parallel.hpp"  // bench has a header of that name, too
#include "oclspkt/bands.hpp"
#include "residual.hpp"

namespace oclspkt {

// Residuals are computed in long double for every T, so that cancellation does not amplify rounding.

/// y = A x for every line. @param x, y shape [lines.extent()]
template <typename T>
void multiply(const LineSet& lines, const BandsView<T>& bands, const T* x, T* y) {
  for_row_pieces(lines, [&](Index l, Index begin, Index end) {
    const Index first = lines.first(l), stride = lines.row_stride(), length = lines.length(l);
    for (Index i = begin; i < end; ++i) {
      y[first + i * stride] = static_cast<T>(row_product<long double>(bands, x, first, stride, length, i).value);
    }
  });
}

/// The largest |y - A x| of a line and what it is compared with.
struct LineNorms {
  long double residual = 0, a = 0, x = 0, y = 0;
  double by_row = 0;  ///< largest |y - A x|_i / (|A| |x| + |y|)_i
  bool finite = true;

  void merge(const LineNorms& other) {
    residual = std::max(residual, other.residual);
    a = std::max(a, other.a);
    x = std::max(x, other.x);
    y = std::max(y, other.y);
    by_row = std::max(by_row, other.by_row);
    finite = finite && other.finite;
  }
};

template <typename T>
std::vector<LineNorms> line_norms(const LineSet& lines, const BandsView<T>& bands, const T* x, const T* y) {
  std::vector<LineNorms> all(static_cast<std::size_t>(lines.count()));
  std::mutex mutex;
  for_row_pieces(lines, [&](Index l, Index begin, Index end) {
    const Index first = lines.first(l), stride = lines.row_stride(), length = lines.length(l);
    LineNorms n;
    for (Index i = begin; i < end; ++i) {
      const Index at = first + i * stride;
      const auto r = row_product<long double>(bands, x, first, stride, length, i);
      const auto right = widened<long double>(y[at]);
      const long double residual = std::abs(right - r.value), size = std::abs(right);
      n.finite = n.finite && std::isfinite(residual) && is_finite(x[at]);
      n.residual = std::max(n.residual, residual);
      n.a = std::max(n.a, r.row_sum);
      n.x = std::max(n.x, std::abs(widened<long double>(x[at])));
      n.y = std::max(n.y, size);
      if (residual > n.by_row * (r.magnitude + size)) n.by_row = static_cast<double>(residual / (r.magnitude + size));
    }
    const std::lock_guard lock(mutex);
    all[static_cast<std::size_t>(l)].merge(n);
  });
  return all;
}

template <typename Error>
double worst_line(const std::vector<LineNorms>& lines, const Error& error) {
  double worst = 0;
  for (const LineNorms& n : lines) {
    if (!n.finite) return std::numeric_limits<double>::quiet_NaN();
    worst = std::max(worst, error(n));
  }
  return worst;
}

/// Normwise backward error max |y - A x| / (max_i sum_j |a_ij| * max |x| + max |y|), largest over lines; NaN if any
/// number is NaN or x is not finite, 0 for empty sets.
template <typename T>
double normwise_backward_error(const LineSet& lines, const BandsView<T>& bands, const T* x, const T* y) {
  return worst_line(line_norms(lines, bands, x, y), [](const LineNorms& n) {
    return n.residual == 0 ? 0 : static_cast<double>(n.residual / (n.a * n.x + n.y));
  });
}

/// Componentwise backward error max_i |y - A x|_i / (|A| |x| + |y|)_i, largest over lines (0/0 counts 0); NaN if any
/// number is NaN or x is not finite.
template <typename T>
double componentwise_backward_error(const LineSet& lines, const BandsView<T>& bands, const T* x, const T* y) {
  return worst_line(line_norms(lines, bands, x, y), [](const LineNorms& n) { return n.by_row; });
}

}  // namespace oclspkt
