// SPDX-License-Identifier: BSD-2-Clause
#pragma once

#include <cmath>

#include "interface.hpp"
#include "oclspkt/bands.hpp"
#include "plan.hpp"
#include "survey.hpp"

namespace oclspkt {

/// A row after elimination of the row above, in double. Notation: rounding.hpp.
struct EliminatedRow {
  double ratio = 0;     ///< multiplier |a_i / u_(i-1)|
  double taken = 0;     ///< a_i c_(i-1) / u_(i-1), subtracted from the diagonal
  double against = 0;   ///< added to the excess: 2 |taken| if `taken` enlarges the diagonal, else 0
  double own = 0;       ///< the excess before elimination
  double before = 0;    ///< the carried excess of the row above
  double size = 0;      ///< size of the pivot |u_i|
  bool direct = false;  ///< the pivot follows from the diagonal, not from the excess
};

/// Computes the pivots of rows, one after the other, by carrying the excess from row to row. No excess is forgiven.
struct PivotChain {
  double pivot = 0;  ///< pivot of the last row; 0: no row yet
  double reciprocal = 0;
  double upper = 0, excess = 0;  ///< members of the last row; |pivot| = |upper| + excess

  template <typename T>
  EliminatedRow next(T lower, T diag, T upper_of_row);
};

template <typename T>
EliminatedRow PivotChain::next(T lower, T diag, T upper_of_row) {
  const double a = std::abs(static_cast<double>(lower)), b = diag, c = std::abs(static_cast<double>(upper_of_row));
  const double sign = b < 0 ? -1 : 1;
  const bool linked = a > 0 && pivot != 0;
  EliminatedRow row;
  row.own = exact_excess(lower, diag, upper_of_row);
  row.before = excess;
  row.ratio = linked ? a * std::abs(reciprocal) : 0;
  row.taken = linked ? static_cast<double>(lower) * reciprocal * upper : 0;
  row.against = std::abs(row.taken) - sign * row.taken;
  row.direct = carries_diagonal(lower, diag, upper_of_row);
  // If there is no row above, the coupling to it counts as excess.
  const double carried = row.own + (linked ? row.ratio * excess + row.against : a);
  const double left = row.direct ? std::abs(b) - sign * row.taken : c + carried;
  row.size = std::abs(left);
  pivot = sign * left;
  reciprocal = 1 / pivot;
  upper = upper_of_row;
  excess = row.direct || left < 0 ? row.size - c : carried;
  return row;
}

/// Rounding bounds assume exact pivots. They hold as long as the relative error of pivots is at most this number.
inline constexpr double kKnownPivots = 0.05;

/// True if arithmetic in T computes the pivots of a plan to within kKnownPivots, and rounding makes no unknown
/// overflow. Notation: rounding.hpp. At dominance 1, row i inherits the relative error of the pivot above, times |a_i
/// c_(i-1)| / |u_(i-1) u_i|. This factor can exceed 1 for many rows. Where couplings grow towards one side, plain
/// pivots b_i - a_i c_(i-1) / u_(i-1) soon lose all digits. Carried excesses lose only the forgiven part of a row, and
/// digits that cancel in rows without dominance. Growing couplings may also amplify rounding of y beyond T's range
/// (Dorr's matrix in float, 212 rows).
///
/// If the dominance d is well above 1, pivots are accurate: all errors together act as relative errors of the diagonal,
/// which change an excess by at most d / (d - 1) times as much.
/// @cost nothing if the dominance is well above 1; else one division and some 30 operations a row, one processor a line
template <typename T>
bool knows_pivots(const Plan& plan, const LineSet& lines, const BandsView<T>& bands, const Survey& survey);

}  // namespace oclspkt
