// SPDX-License-Identifier: BSD-2-Clause
#include "residual.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <mutex>

#include "parallel.hpp"
#include "scalars.hpp"

namespace oclspkt {
namespace {

/// The largest |y - A x|_i / scale_i of rows [begin, end) of a line; NaN if a number is NaN or x is not finite.
/// @param scale  called with a row's product and |y_i|
template <typename Wide, typename T, typename Scale>
double rows_error(const LineSet& lines, const BandsView<T>& bands, Index line, Index begin, Index end, const T* x,
                  const T* y, const Scale& scale) {
  const Index first = lines.first(line), length = lines.length(line), stride = lines.row_stride();
  Wide worst = 0;
  bool finite = true;
  for (Index i = begin; i < end; ++i) {
    const Index at = first + i * stride;
    const auto r = row_product<Wide>(bands, x, first, stride, length, i);
    const auto right = widened<Wide>(y[at]);
    const Wide residual = std::abs(right - r.value), size = scale(r, std::abs(right));
    finite = finite && std::isfinite(residual) && is_finite(x[at]);
    if (residual > worst * size) worst = residual / size;  // divide only for a new maximum
  }
  return finite ? static_cast<double>(worst) : std::numeric_limits<double>::quiet_NaN();
}

}  // namespace

template <typename T>
double line_rowwise_backward_error(const LineSet& lines, const BandsView<T>& bands, Index line, const T* x,
                                   const T* y) {
  using Wide = long double;
  const Index length = lines.length(line);
  Wide largest = 0;
  for (Index i = 0; i < length; ++i) {
    largest = std::max(largest, std::abs(widened<Wide>(x[lines.first(line) + i * lines.row_stride()])));
  }
  return rows_error<Wide>(lines, bands, line, 0, length, x, y,
                          [&](const RowProduct<Widened<Wide, T>>& r, Wide size) { return r.row_sum * largest + size; });
}

template <typename T>
double line_backward_error(const LineSet& lines, const BandsView<T>& bands, Index line, const T* x, const T* y) {
  double worst = 0;
  std::mutex mutex;
  for_pieces(lines.length(line), kPieceRows, [&](Index begin, Index end) {
    const double error =
        rows_error<double>(lines, bands, line, begin, end, x, y,
                           [](const RowProduct<Widened<double, T>>& r, double size) { return r.magnitude + size; });
    const std::lock_guard lock(mutex);
    if (!(error <= worst)) worst = std::isnan(worst) ? worst : error;
  });
  return worst;
}

template <typename T>
bool leaves_range(const LineSet& lines, Index line, const T* y, const T* x) {
  const Index first = lines.first(line), stride = lines.row_stride(), length = lines.length(line);
  const auto finite = [&](const T* vector) {
    Real<T> spoilt = 0;
#pragma omp simd reduction(+ : spoilt)
    for (Index i = 0; i < length; ++i) spoilt += spoilt_by(vector[first + i * stride]);
    return spoilt == 0;
  };
  return !finite(x) && finite(y);
}

template <typename T>
void transpose(const LineSet& lines, const BandsView<T>& bands, Bands<T>& out) {
  out.reshape(lines);
  for (Index l = 0; l < lines.count(); ++l) {
    const Index length = lines.length(l), stride = lines.row_stride();
    for (Index i = 0; i < length; ++i) {
      const Index at = lines.first(l) + i * stride;
      out.diag()[at] = bands.diag[at];
      out.lower()[at] = i > 0 ? bands.upper[at - stride] : T(0);
      out.upper()[at] = i + 1 < length ? bands.lower[at + stride] : T(0);
    }
  }
}

#define OCLSPKT_INSTANTIATE(T)                                                                                 \
  template double line_rowwise_backward_error(const LineSet&, const BandsView<T>&, Index, const T*, const T*); \
  template double line_backward_error(const LineSet&, const BandsView<T>&, Index, const T*, const T*);         \
  template bool leaves_range(const LineSet&, Index, const T*, const T*);                                       \
  template void transpose(const LineSet&, const BandsView<T>&, Bands<T>&);
OCLSPKT_SCALARS(OCLSPKT_INSTANTIATE)

}  // namespace oclspkt
