// SPDX-License-Identifier: BSD-2-Clause
#pragma once

#include "oclspkt/bands.hpp"

namespace oclspkt {

/// The rows of a glued system in the order of a sweep: down, or up with the two couplings swapped, so
/// that one sweep text serves both.
template <typename T>
class SweepRows {
 public:
  SweepRows(const BandsView<T>& bands, Index n, bool up)
      : before_(up ? bands.upper : bands.lower),
        diag_(bands.diag),
        after_(up ? bands.lower : bands.upper),
        origin_(up ? n - 1 : 0),
        step_(up ? -1 : 1) {}

  /// Place in the vectors of the i-th row of the sweep.
  Index at(Index i) const { return origin_ + step_ * i; }
  /// Coupling to the row before.
  T lower(Index i) const { return before_[at(i)]; }
  T diag(Index i) const { return diag_[at(i)]; }
  /// Coupling to the row after.
  T upper(Index i) const { return after_[at(i)]; }

 private:
  const T *before_, *diag_, *after_;
  Index origin_, step_;
};

}  // namespace oclspkt
