// SPDX-License-Identifier: BSD-2-Clause
// Rows of neighbouring lines that are factored side by side.
#pragma once

#include <algorithm>
#include <cmath>
#include <limits>

#include "factors.hpp"

namespace oclspkt {

/// The extremes of pivots, see Factors::Pivots; divisions are paid only where a record breaks.
template <typename T>
struct PivotExtremes {
  T growth = 0, smallest = 1;
  bool finite = true;
  bool forgiven = false;  ///< an excess of some row is_forgiven()

  /// @param taken  magnitude of what elimination took from the diagonal
  /// @param left   magnitude of the pivot
  /// @param lower, diag, upper  the row before any elimination
  void see(T taken, T left, T reciprocal, T lower, T diag, T upper) {
    const T largest = std::max({std::abs(lower), std::abs(diag), std::abs(upper)});
    see_last(taken, left, reciprocal, diag);
    if (!(left >= smallest * largest)) smallest = left / largest;
  }
  /// The same of a pivot that may be tiny, since nothing is eliminated by it.
  void see_last(T taken, T left, T reciprocal, T diag) {
    const T before = std::abs(diag);
    finite = finite && std::isfinite(reciprocal);
    if (!(taken + left <= growth * before)) growth = (taken + left) / before;
  }
  void add(const PivotExtremes& some) {
    finite = finite && some.finite;
    forgiven = forgiven || some.forgiven;
    if (!(some.growth <= growth)) growth = some.growth;
    if (!(some.smallest >= smallest)) smallest = some.smallest;
  }
  typename Factors<T>::Pivots pivots() const {
    if (!finite || !(growth <= std::numeric_limits<T>::max())) {
      return {std::numeric_limits<double>::quiet_NaN(), 0, forgiven};
    }
    return {static_cast<double>(growth), static_cast<double>(smallest), forgiven};
  }
};

/// One row of a bundle, an entry for each line: what is read, what the row above left, and what is written.
template <typename T>
struct BundleRow {
  const T *lower, *diag, *upper;
  const T *upper_above, *reciprocal_above;
  T* excess;  ///< in: of the row above; out: of this one
  T *multiplier, *reciprocal, *coupling;
  bool forgives;
};

/// Factor a row of a bundle, and take in its extremes. Rows are made wide, see OCLSPKT_WIDE.
void factor_row(Index width, const BundleRow<double>& row, PivotExtremes<double>& extremes);
void factor_row(Index width, const BundleRow<float>& row, PivotExtremes<float>& extremes);

}  // namespace oclspkt
