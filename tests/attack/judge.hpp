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

  std::size_t place(Index row) const { return static_cast<std::size_t>(first + row * stride); }
};

template <typename T>
std::vector<Piece> pieces_of(const Bands<T>& bands);

/// Backward errors of an answer, over eps of T, from residuals in long double. Infinite where x is not finite.
/// Underflow of a product or of an unknown counts as one rounding.
struct Errors {
  double row = 0;        ///< largest |r_i| / (|A_i| max |x| + |y_i|) with |A_i| the row's sum, max |x| over its piece
  double units = 0;      ///< the same where x is measured in the columns' units
  double component = 0;  ///< largest |r_i| / (|A| |x| + |y|)_i
  double norm = 0;       ///< max |r| / (max |A_i| max |x| + max |y|) over all rows
  Index row_at = 0, component_at = 0;  ///< offsets of the rows that have the errors
};

/// Judge x as the answer to A x = y.
/// @param bands couplings out of lines are 0
/// @param units of columns, all 1 or of dominant_units(); an answer in units of 0 is infinitely wrong
/// @param x, y  shape [bands.lines().extent()]
template <typename T>
Errors judge(const Bands<T>& bands, const std::vector<Piece>& pieces, const std::vector<double>& units, const T* x,
             const T* y);

/// What a bound by rows takes for |x|: of each column, its unit times the largest |x| of its piece in units.
template <typename T>
std::vector<long double> largest_in_units(const std::vector<Piece>& pieces, const std::vector<double>& units,
                                          const T* x);

/// y = A x, from sums in long double.
template <typename T>
std::vector<T> multiply(const Bands<T>& bands, const std::vector<Piece>& pieces, const std::vector<T>& x);

}  // namespace oclspkt::attack
