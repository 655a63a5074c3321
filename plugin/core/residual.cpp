// SPDX-License-Identifier: BSD-2-Clause
#include "residual.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <mutex>

#include "parallel.hpp"

namespace oclspkt {
namespace {

/// One row of a line: entries of A x and |A| |x|.
template <typename Wide>
struct RowProduct {
  Wide value, magnitude;
  Wide row_sum;  ///< |lower| + |diag| + |upper|, without couplings out of the line
};

template <typename Wide = long double, typename T>
RowProduct<Wide> row_product(const BandsView<T>& bands, const T* x, Index first, Index stride, Index length, Index i) {
  const Index at = first + i * stride;
  RowProduct<Wide> r{Wide(bands.diag[at]) * x[at], 0, std::abs(Wide(bands.diag[at]))};
  r.magnitude = std::abs(r.value);
  const auto add = [&](T coupling, T unknown) {
    const Wide term = Wide(coupling) * unknown;
    r.value += term;
    r.magnitude += std::abs(term);
    r.row_sum += std::abs(Wide(coupling));
  };
  if (i > 0) add(bands.lower[at], x[at - stride]);
  if (i + 1 < length) add(bands.upper[at], x[at + stride]);
  return r;
}

/// The norms in the normwise backward error of a line.
struct Norms {
  long double residual = 0, a = 0, x = 0, y = 0;
  bool finite = true;

  void merge(const Norms& other) {
    residual = std::max(residual, other.residual);
    a = std::max(a, other.a);
    x = std::max(x, other.x);
    y = std::max(y, other.y);
    finite = finite && other.finite;
  }
  double error() const {
    if (!finite) return std::numeric_limits<double>::quiet_NaN();
    return residual == 0 ? 0 : static_cast<double>(residual / (a * x + y));
  }
};

template <typename T>
Norms norms(const LineSet& lines, const BandsView<T>& bands, Index line, Index begin, Index end, const T* x,
            const T* y) {
  using Wide = long double;
  const Index first = lines.first(line), length = lines.length(line);
  Norms n;
  for (Index i = begin; i < end; ++i) {
    const Index at = first + i * lines.row_stride();
    const auto r = row_product(bands, x, first, lines.row_stride(), length, i);
    const Wide difference = std::abs(Wide(y[at]) - r.value);
    n.finite = n.finite && std::isfinite(difference) && std::isfinite(x[at]);
    n.residual = std::max(n.residual, difference);
    n.a = std::max(n.a, r.row_sum);
    n.x = std::max(n.x, std::abs(Wide(x[at])));
    n.y = std::max(n.y, std::abs(Wide(y[at])));
  }
  return n;
}

/// The larger of two errors; NaN if one is NaN, so that it fails every limit.
double worse(double a, double b) {
  return std::isnan(a) || std::isnan(b) ? std::numeric_limits<double>::quiet_NaN() : std::max(a, b);
}

/// Componentwise backward error of rows [begin, end) of a line.
template <typename Wide, typename T>
double rows_error(const LineSet& lines, const BandsView<T>& bands, Index line, Index begin, Index end, const T* x,
                  const T* y) {
  const Index first = lines.first(line), length = lines.length(line), stride = lines.row_stride();
  Wide worst = 0;
  bool finite = true;
  for (Index i = begin; i < end; ++i) {
    const Index at = first + i * stride;
    const auto r = row_product<Wide>(bands, x, first, stride, length, i);
    const Wide residual = std::abs(Wide(y[at]) - r.value);
    const Wide scale = r.magnitude + std::abs(Wide(y[at]));
    finite = finite && std::isfinite(residual) && std::isfinite(x[at]);
    if (residual > worst * scale) worst = residual / scale;  // divide only for a new maximum
  }
  return finite ? static_cast<double>(worst) : std::numeric_limits<double>::quiet_NaN();
}

/// Componentwise backward error of one line, by all processors if it is long.
template <typename Wide, typename T>
double line_error(const LineSet& lines, const BandsView<T>& bands, Index line, const T* x, const T* y) {
  double worst = 0;
  std::mutex mutex;
  for_pieces(lines.length(line), kPieceRows, [&](Index begin, Index end) {
    const double error = rows_error<Wide>(lines, bands, line, begin, end, x, y);
    const std::lock_guard lock(mutex);
    worst = worse(worst, error);
  });
  return worst;
}

}  // namespace

template <typename T>
void multiply(const LineSet& lines, const BandsView<T>& bands, const T* x, T* y) {
  for_row_pieces(lines, [&](Index l, Index begin, Index end) {
    const Index first = lines.first(l), length = lines.length(l), stride = lines.row_stride();
    for (Index i = begin; i < end; ++i) {
      y[first + i * stride] = static_cast<T>(row_product(bands, x, first, stride, length, i).value);
    }
  });
}

template <typename T>
double line_rowwise_backward_error(const LineSet& lines, const BandsView<T>& bands, Index line, const T* x,
                                   const T* y) {
  using Wide = long double;
  const Index first = lines.first(line), length = lines.length(line), stride = lines.row_stride();
  const Norms of_line = norms(lines, bands, line, 0, length, x, y);
  Wide worst = 0;
  for (Index i = 0; i < length; ++i) {
    const Index at = first + i * stride;
    const auto r = row_product(bands, x, first, stride, length, i);
    const Wide residual = std::abs(Wide(y[at]) - r.value), scale = r.row_sum * of_line.x + std::abs(Wide(y[at]));
    if (residual > worst * scale) worst = residual / scale;
  }
  return of_line.finite ? static_cast<double>(worst) : std::numeric_limits<double>::quiet_NaN();
}

template <typename T>
double normwise_backward_error(const LineSet& lines, const BandsView<T>& bands, const T* x, const T* y) {
  double worst = 0;
  Norms cut;  // norms of a line of which only some pieces have been added
  Index line = -1;
  std::mutex mutex;
  for_row_pieces(lines, [&](Index l, Index begin, Index end) {
    const Norms piece = norms(lines, bands, l, begin, end, x, y);
    const std::lock_guard lock(mutex);
    if (end - begin == lines.length(l)) {
      worst = worse(worst, piece.error());
      return;
    }
    if (l != line) {
      worst = worse(worst, cut.error());
      cut = {};
      line = l;
    }
    cut.merge(piece);
  });
  return worse(worst, cut.error());
}

template <typename T>
double componentwise_backward_error(const LineSet& lines, const BandsView<T>& bands, const T* x, const T* y) {
  double worst = 0;
  for (Index l = 0; l < lines.count(); ++l) worst = worse(worst, line_error<long double>(lines, bands, l, x, y));
  return worst;
}

template <typename T>
double line_backward_error(const LineSet& lines, const BandsView<T>& bands, Index line, const T* x, const T* y) {
  return line_error<double>(lines, bands, line, x, y);
}

template <typename T>
bool leaves_range(const LineSet& lines, Index line, const T* y, const T* x) {
  const Index first = lines.first(line), stride = lines.row_stride(), length = lines.length(line);
  const auto finite = [&](const T* vector) {
    T spoilt = 0;  // 0, or NaN if a number is not finite
#pragma omp simd reduction(+ : spoilt)
    for (Index i = 0; i < length; ++i) spoilt += 0 * vector[first + i * stride];
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
  template void multiply(const LineSet&, const BandsView<T>&, const T*, T*);                                   \
  template double normwise_backward_error(const LineSet&, const BandsView<T>&, const T*, const T*);            \
  template double componentwise_backward_error(const LineSet&, const BandsView<T>&, const T*, const T*);       \
  template double line_rowwise_backward_error(const LineSet&, const BandsView<T>&, Index, const T*, const T*); \
  template double line_backward_error(const LineSet&, const BandsView<T>&, Index, const T*, const T*);         \
  template bool leaves_range(const LineSet&, Index, const T*, const T*);                                       \
  template void transpose(const LineSet&, const BandsView<T>&, Bands<T>&);
OCLSPKT_INSTANTIATE(float)
OCLSPKT_INSTANTIATE(double)

}  // namespace oclspkt
