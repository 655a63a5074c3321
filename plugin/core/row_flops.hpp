// SPDX-License-Identifier: BSD-2-Clause
#pragma once

#include "oclspkt/options.hpp"

namespace oclspkt {

/// Flops of a row by a method. An addition, a multiplication and a division count one each; what a device computes
/// twice to work in parallel does not count, rows of halos apart.
struct RowFlops {
  double set_up, apply;
  double halo = 0;  ///< of a row above a partition, which is swept down only, and of one below it
};

/// The only list of them, equal to what kernels do (oclspkt-bench paper runs them with a scalar that counts).
/// @param stores  exact-factored keeps factors; kernels for FPGAs eliminate in every apply
constexpr RowFlops flops_of(Method method, bool stores = true) {
  constexpr RowFlops kStored{5, 5};      // multiplier, reciprocal of the pivot, coupling over the pivot
  constexpr RowFlops kEliminates{0, 9};  // in every apply
  const RowFlops of[] = {{0, 9, 7 + 9},  // truncated-halo
                         kStored,        // truncated-streamed
                         {0, 56},        // exact-twopass carries the excess of each row: 29 and 27 in its passes
                         stores ? kStored : kEliminates,
                         {5, 7}};  // pivot: gttrf, gttrs; a second coupling above the diagonal
  return of[static_cast<int>(method)];
}

}  // namespace oclspkt
