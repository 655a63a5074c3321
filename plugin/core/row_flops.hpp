// SPDX-License-Identifier: BSD-2-Clause
#pragma once

#include "oclspkt/options.hpp"

namespace oclspkt {

/// Flops of a method per row: additions, multiplications and divisions, one each. Of the operations that a
/// device repeats to work in parallel, only those in halo rows count.
struct RowFlops {
  double set_up, apply;
  double halo = 0;  ///< flops of two halo rows: one above a partition, which is only swept down, and one below it
};

/// The flops of a method as its kernels execute them; oclspkt-bench paper counts them with a counting scalar.
/// @param stores  exact-factored stores its factors; false for kernels for FPGAs, which eliminate in every apply
constexpr RowFlops flops_of(Method method, bool stores = true) {
  constexpr RowFlops kStored{5, 5};      // flops for multiplier, reciprocal of the pivot, coupling over the pivot
  constexpr RowFlops kEliminates{0, 9};  // sweeps that eliminate in every apply
  const RowFlops of[] = {{0, 9, 7 + 9},  // truncated-halo
                         kStored,        // truncated-streamed
                         {0, 56},        // exact-twopass: 29 in its first pass and 27 in its second, with excesses
                         stores ? kStored : kEliminates,
                         {5, 7}};  // pivot: LAPACK's gttrf and gttrs; a second coupling above the diagonal
  return of[static_cast<int>(method)];
}

}  // namespace oclspkt
