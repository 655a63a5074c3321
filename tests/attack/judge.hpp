// SPDX-License-Identifier: BSD-2-Clause
#pragma once

#include <vector>

#include "oclspkt/bands.hpp"

namespace oclspkt::attack {

/// Rows that couple with each other: a line, or a part of one between rows that do not couple.
struct Piece {
  Index first = 0;   ///< offset of the first row
  Index rows = 0;    ///< at least 1
  Index stride = 1;  ///< offset from row to row
};

template <typename T>
std::vector<Piece> pieces_of(const Bands<T>& bands);

/// Backward errors of an answer, over eps of T, from residuals in long double. Infinite where x is not finite.
struct Errors {
  double row = 0;    ///< largest |r_i| / (|A_i| max |x| + |y_i|) with |A_i| the row's sum, max |x| over its piece
  Index row_at = 0;  ///< offset of that row
  double norm = 0;   ///< max |r| / (max |A_i| max |x| + max |y|) over all rows
};

/// Judge x as the answer to A x = y.
/// @param bands couplings out of lines are 0
/// @param x, y  shape [bands.lines().extent()]
template <typename T>
Errors judge(const Bands<T>& bands, const std::vector<Piece>& pieces, const T* x, const T* y);

/// y = A x, from sums in long double.
template <typename T>
std::vector<T> multiply(const Bands<T>& bands, const std::vector<Piece>& pieces, const std::vector<T>& x);

/// The solution of A x = y by elimination with pivoting in long double; not finite where the piece is singular.
template <typename T>
std::vector<long double> solve_exactly(const Bands<T>& bands, const std::vector<Piece>& pieces,
                                       const std::vector<T>& y);

/// LAPACK's gtsv, piece by piece; NaN where it finds the piece singular.
template <typename T>
std::vector<T> solve_by_lapack(const Bands<T>& bands, const std::vector<Piece>& pieces, const std::vector<T>& y);

/// For each piece max |x - exact| / max |exact| over eps of T; NaN where `exact` is not finite or 0.
template <typename T>
std::vector<double> forward_errors(const std::vector<Piece>& pieces, const T* x, const std::vector<long double>& exact);

}  // namespace oclspkt::attack
