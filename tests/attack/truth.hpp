// SPDX-License-Identifier: BSD-2-Clause
// What the answer is, and how far from it rounding may be.
#pragma once

#include "judge.hpp"

namespace oclspkt::attack {

/// The solution of A x = y by elimination in long double, whose order no unit of a row or column moves; NaN in pieces
/// that are singular, or where a residual shows that it is not known.
template <typename T>
std::vector<long double> solve_exactly(const Bands<T>& bands, const std::vector<Piece>& pieces,
                                       const std::vector<T>& y);

/// |A^-1| |A| |x|, row by row: what roundings of the matrix's numbers by 1 may change x by. NaN where x is, and in
/// pieces that are singular to nearly all digits of long double.
template <typename T>
std::vector<long double> spread_of(const Bands<T>& bands, const std::vector<Piece>& pieces,
                                   const std::vector<long double>& x);

/// Units d of columns, all >= `hint`, in which every row is dominant: |b_i| d_i >= |a_i| d_(i-1) + |c_i| d_(i+1). They
/// are the least ones, so that no such units are nearer to the hint. A piece whose hint is 1 throughout keeps it; units
/// are 0 in one that no units make dominant.
template <typename T>
std::vector<double> dominant_units(const Bands<T>& bands, const std::vector<Piece>& pieces, std::vector<double> hint);

/// LAPACK's gttrf and gttrs, piece by piece; NaN where it finds the piece singular.
template <typename T>
std::vector<T> solve_by_lapack(const Bands<T>& bands, const std::vector<Piece>& pieces, const std::vector<T>& y);

/// For each piece max |x - exact| / max |exact| over eps of T; NaN where `exact` is not finite or 0.
template <typename T>
std::vector<double> forward_errors(const std::vector<Piece>& pieces, const T* x, const std::vector<long double>& exact);

/// What is known of a solution, column by column.
struct Truth {
  std::vector<long double> x, spread;  ///< of solve_exactly(), spread_of()

  /// With the mean of the spread and `other`. An answer x* solves (A + E) x* = y + f with |E| <= w |A| and |f| <= w
  /// |y|, w its error by component, so that |x* - x| <= w |A^-1| |A| (|x| + |x*|). Where rounding hardly moves x that
  /// is twice its spread. Where A is singular to rounding x* may be far larger than x, and tells how far.
  Truth averaged(const std::vector<long double>& other) const;
};

/// The largest over pieces and units of max |x - exact| / max spread, over eps of T; what is not known is left out.
/// @param decade  of the columns' units: the columns of a piece that have the same one are a unit
/// @param allowed the change of x that is told, relative to the largest of its unit
template <typename T>
double unit_error(const std::vector<Piece>& pieces, const std::vector<int>& decade, const T* x, const Truth& truth,
                  double allowed);

}  // namespace oclspkt::attack
