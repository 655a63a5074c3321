// SPDX-License-Identifier: BSD-2-Clause
#pragma once

#include <cmath>

#include "interface.hpp"
#include "oclspkt/bands.hpp"
#include "plan.hpp"
#include "survey.hpp"

namespace oclspkt {

/// What elimination makes of a row, in double.
struct EliminatedRow {
  double ratio = 0;     ///< |a_i / u_(i-1)|
  double taken = 0;     ///< a_i c_(i-1) / u_(i-1), off the diagonal
  double against = 0;   ///< what of it adds to the excess, as it grows the diagonal
  double own = 0;       ///< the excess before elimination
  double before = 0;    ///< the excess of the row above
  double size = 0;      ///< |u_i|
  bool direct = false;  ///< the row carries its diagonal
};

/// Pivots of rows, one after the other, by the excess that is carried from row to row. Nothing is forgiven.
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
  // A coupling to nothing stays where it is.
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

/// Whether T's arithmetic finds the pivots of a plan to within kKnownPivots, and no unknown overflows by rounding
/// alone.
///
/// Rows of dominance 1 pass an error of their pivot on, times |a_i c_(i-1)| / |u_(i-1) u_i| relative to the next one's,
/// which can be large for many rows: where couplings grow towards one side, plain pivots b_i - a_i c_(i-1) / u_(i-1)
/// soon have no digit left. Carried excesses only lose what is forgiven of a row, and what cancels in rows that are not
/// dominant. The same matrices may amplify the rounding of a right-hand side beyond T's range (Dorr's, float, 212
/// rows).
///
/// Rows of a dominance that is well above 1 know their pivots: all errors together are those of relative errors of the
/// diagonal, which change excesses by d / (d - 1) times as much.
/// @cost rows of such a dominance: none; else one division and some 30 operations a row, by a processor a line
template <typename T>
bool knows_pivots(const Plan& plan, const LineSet& lines, const BandsView<T>& bands, const Survey& survey);

}  // namespace oclspkt
