// SPDX-License-Identifier: BSD-2-Clause
#pragma once

#include <cmath>

#include "interface.hpp"
#include "oclspkt/bands.hpp"
#include "plan.hpp"
#include "survey.hpp"

namespace oclspkt {

/// A row after elimination of the row above, in double.
struct EliminatedRow {
  double ratio = 0;     ///< |a_i / u_(i-1)|
  double taken = 0;     ///< a_i c_(i-1) / u_(i-1), subtracted from the diagonal
  double against = 0;   ///< twice |taken| if that enlarges the diagonal: it adds to the excess
  double own = 0;       ///< the excess before elimination
  double before = 0;    ///< the excess of the row above
  double size = 0;      ///< |u_i|
  bool direct = false;  ///< the pivot follows from the diagonal, not from the excess
};

/// Computes the pivots of rows, one after the other, by the excess carried from row to row. No excess is forgiven.
struct PivotChain {
  double pivot = 0;              ///< u of the last row; 0: there is none
  double reciprocal = 0;         ///< 1 / u
  double upper = 0, excess = 0;  ///< |u| = |upper| + excess

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
  // A coupling to no row counts as excess.
  const double carried = row.own + (linked ? row.ratio * excess + row.against : a);
  const double left = row.direct ? std::abs(b) - sign * row.taken : c + carried;
  row.size = std::abs(left);
  pivot = sign * left;
  reciprocal = 1 / pivot;
  upper = upper_of_row;
  excess = row.direct || left < 0 ? row.size - c : carried;
  return row;
}

/// The largest relative error of pivots with which a bound on rounding, which takes them as exact, still holds.
inline constexpr double kKnownPivots = 0.05;

/// True if T's arithmetic finds the pivots of a plan to within kKnownPivots, and no unknown overflows by rounding
/// alone.
///
/// At dominance 1, a row passes the relative error of its pivot on to the next one, times
/// |a_i c_(i-1)| / |u_(i-1) u_i|, which can be large for many rows. Where couplings grow towards one side, plain pivots
/// b_i - a_i c_(i-1) / u_(i-1) soon have no digit left. Carried excesses lose only the forgiven part of a row, and the
/// digits that cancel in rows that are not dominant. Such matrices may also amplify the rounding of a right-hand side
/// beyond T's range (Dorr's, float, 212 rows).
///
/// If dominance is well above 1, the pivots are accurate: all errors together act as relative errors of the diagonal,
/// which change excesses by d / (d - 1) times as much.
/// @cost none for such rows; else one division and some 30 operations a row, one processor a line
template <typename T>
bool knows_pivots(const Plan& plan, const LineSet& lines, const BandsView<T>& bands, const Survey& survey);

}  // namespace oclspkt
