// SPDX-License-Identifier: BSD-2-Clause
#pragma once

#include <cmath>

#include "oclspkt/bands.hpp"
#include "oclspkt/export.hpp"
#include "scalars.hpp"

namespace oclspkt {

/// One row of a line: entries of A x and |A| |x|, in the number type Wide, which is complex if A is.
template <typename Wide>
struct RowProduct {
  Wide value;
  Real<Wide> magnitude;
  Real<Wide> row_sum;  ///< |lower| + |diag| + |upper|, without couplings out of the line
};

template <typename Wide, typename T>
RowProduct<Widened<Wide, T>> row_product(const BandsView<T>& bands, const T* x, Index first, Index stride, Index length,
                                         Index i) {
  const Index at = first + i * stride;
  const auto diag = widened<Wide>(bands.diag[at]), own = diag * widened<Wide>(x[at]);
  RowProduct<Widened<Wide, T>> r{own, std::abs(own), std::abs(diag)};
  const auto add = [&](T coupling, T unknown) {
    const auto term = widened<Wide>(coupling) * widened<Wide>(unknown);
    r.value += term;
    r.magnitude += std::abs(term);
    r.row_sum += std::abs(widened<Wide>(coupling));
  };
  if (i > 0) add(bands.lower[at], x[at - stride]);
  if (i + 1 < length) add(bands.upper[at], x[at + stride]);
  return r;
}

/// Backward error of one line, each row against its own size: max_i |y - A x|_i / (sum_j |a_ij| * max |x| + |y|_i);
/// NaN if any number is NaN or x is not finite. The residual is computed in long double.
template <typename T>
OCLSPKT_API double line_rowwise_backward_error(const LineSet& lines, const BandsView<T>& bands, Index line, const T* x,
                                               const T* y);

/// Componentwise backward error of one line, max_i |y - A x|_i / (|A| |x| + |y|)_i (0/0 counts 0); NaN if any number is
/// NaN or x is not finite. It is computed in double, and accurate to a few eps of double.
template <typename T>
OCLSPKT_API double line_backward_error(const LineSet& lines, const BandsView<T>& bands, Index line, const T* x,
                                       const T* y);

/// True if x of a line is not finite although y is.
template <typename T>
bool leaves_range(const LineSet& lines, Index line, const T* y, const T* x);

template <typename T>
OCLSPKT_API void transpose(const LineSet& lines, const BandsView<T>& bands, Bands<T>& out);

}  // namespace oclspkt
