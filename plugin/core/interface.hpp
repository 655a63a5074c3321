// SPDX-License-Identifier: BSD-2-Clause
#pragma once

#include <cmath>
#include <limits>

#include "oclspkt/bands.hpp"
#include "scalars.hpp"

namespace oclspkt {

/// One equation of a tridiagonal system, with the excess stored in place of the diagonal:
///     diag x_i + lower x_(i-1) + upper x_(i+1) = f,   |diag| = |lower| + |upper| + excess.
/// `sign` is the sign of diag. If excess >= 0, eliminations only add to it, so that nothing cancels at dominance 1.
/// Complex rows have no such excess: they carry their diagonal, see pivot_of(), and `excess` stays 0.
/// @source Grassmann, Taksar, Heyman 1985 (the state reduction without subtractions), extended to couplings of any sign
template <typename T>
struct ExcessRow {
  T lower = 0, upper = 0;
  Real<T> excess = 0;
  T f = 0, sign = 1;
  /// The diagonal times `sign`; it may be negative if rows are not dominant, see as_pivot().
  T magnitude() const { return (std::abs(lower) + std::abs(upper)) + excess; }
  T diag() const { return sign * magnitude(); }
  /// This equation, multiplied by -1 if magnitude() is negative, because eliminate() needs a pivot row of magnitude()
  /// at least 0.
  ExcessRow as_pivot() const {
    const bool negated = magnitude() < 0;
    ExcessRow row = *this;
    row.sign = negated ? -sign : sign;
    row.excess = negated ? -2 * (std::abs(lower) + std::abs(upper)) - excess : excess;
    return row;
  }
};

/// The largest multiplier of an elimination: the square root of the range of T. Larger multipliers would cost digits of
/// right-hand sides near the end of the range.
template <typename T>
inline constexpr T kMostMultiplier = 0x1p64F;
template <>
inline constexpr double kMostMultiplier<double> = 0x1p512;
template <>
inline constexpr long double kMostMultiplier<long double> = 0x1p8192L;

/// a - b and the rounding error of that difference.
template <typename T>
void two_difference(T a, T b, T& difference, T& error) {
  difference = a - b;
  const T b_virtual = a - difference;
  const T a_virtual = difference + b_virtual;
  error = (a - a_virtual) + (b_virtual - b);
}

/// |diag| - |lower| - |upper|, rounded once: the rounding errors of the two differences are added to the result.
/// @source Knuth TwoSum
template <typename T>
T exact_excess(T lower, T diag, T upper) {
  T first, first_error, second, second_error;
  two_difference(std::abs(diag), std::abs(lower), first, first_error);
  two_difference(first, std::abs(upper), second, second_error);
  return second + (first_error + second_error);
}

/// True if an excess is negative by at most a rounding of the diagonal: in [-2 eps |diag|, 0).
template <typename T>
bool is_forgiven(Real<T> excess, T diag) {
  const Real<T> one_rounding = 2 * kEpsOf<T> * std::abs(diag);
  return (excess < 0) & (excess >= -one_rounding);  // without a branch, so that compilers vectorise over rows
}

/// exact_excess(), or 0 if the excess is_forgiven().
/// @param forgives  false: return the excess itself, because 0 would change the solution (core/forgiven.hpp)
template <typename T>
T row_excess(T lower, T diag, T upper, bool forgives = true) {
  const T excess = exact_excess(lower, diag, upper);
  return (forgives & is_forgiven(excess, diag)) ? T(0) : excess;
}

template <typename T>
ExcessRow<T> make_row(T lower, T diag, T upper, T f, bool forgives = true) {
  if constexpr (kIsComplex<T>) {
    return {lower, upper, 0, f};
  } else {
    return {lower, upper, row_excess(lower, diag, upper, forgives), f, std::copysign(T(1), diag)};
  }
}

/// True if the row carries its diagonal: it is complex, or |diag| is so small against the couplings that the excess
/// would lose its digits.
template <typename T>
bool carries_diagonal(T lower, T diag, T upper) {
  return kIsComplex<T> || 2 * std::abs(diag) < std::abs(lower) + std::abs(upper);
}

/// The equations of a segment's top and bottom row after its inner rows are eliminated.
///   top:    lower couples to x_above, upper to x_bottom
///   bottom: lower couples to x_top,   upper to x_below
/// A segment of one row is its bottom row; `single` is then true and top is not used.
template <typename T>
struct SchurSegment {
  ExcessRow<T> top, bottom;
  bool single = true;
};

template <typename T>
SchurSegment<T> begin_segment(const ExcessRow<T>& row) {
  return {row, row, true};
}

/// coupling * unknown, but 0 if the coupling is 0, so that a NaN does not cross from line to line.
template <typename T>
T coupled(T coupling, T unknown) {
  return coupling == T(0) ? T(0) : coupling * unknown;
}

/// Eliminate the unknown of row p from row q, and update q.excess and q.f.
/// @return the new coupling of row q, to the other neighbour of row p
/// @param t       multiplier: the coupling of row q to p, divided by p.diag()
/// @param p_to_q  coupling of row p to q
/// @param p_far   coupling of row p to its other neighbour
/// @pre p is as_pivot(); its couplings are p_to_q and p_far (0 if that neighbour is already eliminated)
template <typename T>
T eliminate(ExcessRow<T>& q, T t, const ExcessRow<T>& p, T p_to_q, T p_far) {
  // Let both diagonals be scaled to be positive. Couplings of opposite signs add |filled| to the diagonal of q, and its
  // excess grows by 2 |filled|, because p.magnitude() contains |p_to_q|. Couplings of equal signs subtract |filled|,
  // and the excess does not change. The difference below is exactly 2 |filled| or 0.
  if constexpr (!kIsComplex<T>) {
    const T filled = t * p_to_q;
    q.excess += std::abs(t) * p.excess + (std::abs(filled) - q.sign * filled);
  }
  q.f -= coupled(t, p.f);
  return -t * p_far;
}

/// Eliminate row `above` from the next row down. The result couples to the upper neighbour of `above`.
/// @param t row.lower / above.diag()
/// @pre above is as_pivot()
template <typename T>
ExcessRow<T> eliminate_above(const ExcessRow<T>& above, T t, ExcessRow<T> row) {
  row.lower = eliminate(row, t, above, above.upper, above.lower);
  return row;
}

/// A row after the elimination of the row above, as_pivot(), with the size of its pivot.
template <typename T>
struct PivotRow {
  ExcessRow<T> row;
  Real<T> size;
  T reciprocal;  ///< 1 / pivot
};

/// Make a PivotRow: from the diagonal if the row carries_diagonal(), else from the excess.
/// @param row        the row after the eliminations
/// @param taken      the number that the eliminations subtract from the diagonal, times row.sign
/// @param lower, diag, upper  the row's numbers before any elimination
template <typename T>
PivotRow<T> pivot_of(ExcessRow<T> row, T taken, T lower, T diag, T upper) {
  if constexpr (kIsComplex<T>) {
    const T left = diag - taken;
    return {row, modulus(left), reciprocal_of(left)};
  } else {
    const bool direct = carries_diagonal(lower, diag, upper);
    const T carried = row.magnitude(), left = direct ? std::abs(diag) - taken : carried;
    const T couplings = std::abs(row.lower) + std::abs(row.upper), size = std::abs(left);
    const bool negated = left < 0;
    row.excess = direct ? size - couplings : negated ? -2 * couplings - row.excess : row.excess;
    row.sign = negated ? -row.sign : row.sign;
    return {row, size, row.sign / size};
  }
}

/// Append the next row: the old bottom becomes an inner row and is eliminated.
/// @cost 1 division, 11 multiply-adds
template <typename T>
void append_row(SchurSegment<T>& s, const ExcessRow<T>& row) {
  if (s.single) {
    s.bottom = row;  // top.upper and bottom.lower couple the two rows directly
    s.single = false;
    return;
  }
  const ExcessRow<T> inner = s.bottom.as_pivot();
  const T r = T(1) / inner.diag();
  s.top.upper = eliminate(s.top, s.top.upper * r, inner, inner.lower, inner.upper);
  s.bottom = eliminate_above(inner, row.lower * r, row);
}

/// The tridiagonal system in the boundary unknowns of p segments: 2p rows (top, bottom, top, bottom ...). A forward and
/// a back sweep solve it and carry the excess, in double. If a matrix is dominant by columns only, its pivots are as
/// small as the couplings below them; in float, long chains of segments sometimes round a pivot to 0.
/// @cost 4p divisions, 30p multiply-adds; 6 doubles of scratch a segment, allocated by resize
template <typename T>
class OCLSPKT_API ReducedSystem {
 public:
  void resize(Index segments);
  Index segments() const { return pivot_.size() / 2; }
  /// Solve for all boundary unknowns.
  /// @param[in]  segment shape [p]
  /// @param[out] x_top, x_bottom  shape [p]; both are the unknown of the row if a segment has one row
  /// @throws nothing; zero pivots give Inf or NaN, which trial solves reject
  void solve(const SchurSegment<T>* segment, T* x_top, T* x_bottom);
  /// The growth of the last solve, see elimination_growth(); NaN if a pivot was zero or not finite.
  double growth() const { return growth_; }

 private:
  AlignedArray<double> pivot_, coupling_, f_;
  double growth_ = 0;
};

}  // namespace oclspkt
