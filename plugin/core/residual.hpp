// SPDX-License-Identifier: BSD-2-Clause
#pragma once

#include "oclspkt/bands.hpp"
#include "oclspkt/export.hpp"

namespace oclspkt {

/// Backward error of one line, each row against its own size: max_i |y - A x|_i / (sum_j |a_ij| * max |x| + |y|_i);
/// NaN if any number is NaN or x is not finite. The residual is computed in long double.
template <typename T>
OCLSPKT_API double line_rowwise_backward_error(const LineSet& lines, const BandsView<T>& bands, Index line, const T* x,
                                               const T* y);

/// Componentwise backward error of one line, max_i |y - A x|_i / (|A| |x| + |y|)_i (0/0 counts 0); NaN if any number is
/// NaN or x is not finite. It is computed in double: faster, and accurate to a few eps of double.
template <typename T>
OCLSPKT_API double line_backward_error(const LineSet& lines, const BandsView<T>& bands, Index line, const T* x,
                                       const T* y);

/// True if x of a line is not finite although y is.
template <typename T>
bool leaves_range(const LineSet& lines, Index line, const T* y, const T* x);

template <typename T>
OCLSPKT_API void transpose(const LineSet& lines, const BandsView<T>& bands, Bands<T>& out);

}  // namespace oclspkt
