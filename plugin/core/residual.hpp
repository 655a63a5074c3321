// SPDX-License-Identifier: BSD-2-Clause
#pragma once

#include "oclspkt/bands.hpp"
#include "oclspkt/export.hpp"

namespace oclspkt {

// Residuals are computed in long double for every T, so that cancellation does not amplify rounding.

/// y = A x for every line. @param x, y shape [lines.extent()]
template <typename T>
OCLSPKT_API void multiply(const LineSet& lines, const BandsView<T>& bands, const T* x, T* y);

/// Normwise backward error max |y - A x| / (max_i sum_j |a_ij| * max |x| + max |y|), largest over lines; NaN if any
/// number is NaN or x is not finite, 0 for empty sets.
template <typename T>
OCLSPKT_API double normwise_backward_error(const LineSet& lines, const BandsView<T>& bands, const T* x, const T* y);

/// Componentwise backward error max_i |y - A x|_i / (|A| |x| + |y|)_i, largest over lines (0/0 counts 0); NaN if any
/// number is NaN or x is not finite.
template <typename T>
OCLSPKT_API double componentwise_backward_error(const LineSet& lines, const BandsView<T>& bands, const T* x,
                                                const T* y);

/// Backward error of one line, each row against its own size: max_i |y - A x|_i / (sum_j |a_ij| * max |x| + |y|_i).
template <typename T>
OCLSPKT_API double line_rowwise_backward_error(const LineSet& lines, const BandsView<T>& bands, Index line, const T* x,
                                               const T* y);

/// componentwise_backward_error() of one line, computed in double: faster, and accurate to a few eps of double.
template <typename T>
OCLSPKT_API double line_backward_error(const LineSet& lines, const BandsView<T>& bands, Index line, const T* x,
                                       const T* y);

/// True if x of a line is not finite although y is.
template <typename T>
bool leaves_range(const LineSet& lines, Index line, const T* y, const T* x);

template <typename T>
OCLSPKT_API void transpose(const LineSet& lines, const BandsView<T>& bands, Bands<T>& out);

}  // namespace oclspkt
