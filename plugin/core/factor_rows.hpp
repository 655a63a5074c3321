// SPDX-License-Identifier: BSD-2-Clause
// Rows of neighbouring lines that are factored side by side.
#pragma once

#include <algorithm>
#include <cmath>
#include <limits>

#include "factors.hpp"
#include "interface.hpp"

namespace oclspkt {

/// The componentwise rounding bound of a row that is eliminated from one side and substituted by stored factors. The
/// result is the bound times |diag|: |r_i| <= (result / |diag|) eps (|A| |x| + |y|)_i for the computed x.
///
/// Let u = eps / 2, p the pivot, and f = l c the number that elimination subtracts from the diagonal. Every product and
/// every sum rounds. The sweeps leave errors of 4 u |lower|, 4 u |upper| and, in the diagonal, 4 u (|p| + |f|). The
/// pivot adds an error of the diagonal that depends on how it is computed:
///   - From the diagonal, as diag - f: 2 u |f| + u |p|.
///   - From the excess, s before the elimination and e after it: u (|s| + |e| + |p| + 6 |lower| + 5 |f|). Of this,
///     3 u |lower| come from the pivot above and the multiplier. The other |lower| terms come from rounding and
///     multiplying the excess above, |lower| - |f|. A row carries its excess if 2 |diag| >= |lower| + |upper|; then
///     |s| <= |diag|, and |e| is at most max(|p|, |upper|).
/// Scaling of rows does not change the bound. Scaling of columns does not either, if the same rows carry their excess.
/// @param lower  the coupling that is eliminated
/// @param taken  f
/// @param size   |p|
/// @return the bound for real numbers, without |diag| / 2 for s, which PivotExtremes::pivots() adds
template <typename T>
Real<T> row_rounding(T lower, T diag, T upper, T taken, Real<T> size) {
  using R = Real<T>;
  const R carried = carries_diagonal(lower, diag, upper) ? R(0) : 3 * modulus(lower) + R(0.5) * modulus(upper);
  return 3 * size + (R(4.5) * modulus(taken) + carried);
}

/// The largest rounding bound of some rows, see Factors::Pivots. Divides only for a new maximum.
template <typename T>
struct PivotExtremes {
  Real<T> rounding = 0;
  Real<T> most = 0;    ///< the largest |multiplier|
  Real<T> spoilt = 0;  ///< 0, or NaN after a reciprocal that is not finite
  bool finite = true;
  bool forgiven = false;  ///< an excess of some row is_forgiven()

  /// @param bound  the result of row_rounding()
  void see(Real<T> bound, T multiplier, T reciprocal, T diag) {
    const Real<T> before = modulus(diag);
    const Real<T> factor = modulus(multiplier);
    spoilt += spoilt_by(reciprocal);
    most = factor > most ? factor : most;  // a NaN multiplier makes the reciprocal NaN
    if (!(bound <= rounding * before)) rounding = bound / before;
  }
  void add(const PivotExtremes& some) {
    finite = finite && some.finite;
    spoilt += some.spoilt;
    most = std::max(most, some.most);
    forgiven = forgiven || some.forgiven;
    if (!(some.rounding <= rounding)) rounding = some.rounding;
  }
  /// The bound plus two terms that see() leaves out: 0.5 eps for the excess s, and 2 eps if excesses are forgiven.
  typename Factors<T>::Pivots pivots() const {
    const bool sound = finite && spoilt == 0 && most <= kMostMultiplier<Real<T>>;
    if (!sound || !(rounding <= std::numeric_limits<Real<T>>::max())) {
      return {std::numeric_limits<double>::quiet_NaN(), forgiven};
    }
    return {kOfArithmetic<T> * (static_cast<double>(rounding) + (forgiven ? 2.5 : 0.5)), forgiven};
  }
};

/// One row of a bundle, with an entry for each line: the bands, the results of the row above, the results of this row.
template <typename T>
struct BundleRow {
  const T *lower, *diag, *upper;
  const T *upper_above, *reciprocal_above;
  Real<T>* excess;  ///< in: excess of the row above; out: excess of this row
  T *multiplier, *reciprocal, *coupling;
  bool forgives;
};

#define OCLSPKT_DECLARE(T) void factor_row(Index width, const BundleRow<T>& row, PivotExtremes<T>& extremes);
OCLSPKT_SCALARS(OCLSPKT_DECLARE)
#undef OCLSPKT_DECLARE

}  // namespace oclspkt
