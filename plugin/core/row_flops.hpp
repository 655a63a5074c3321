// SPDX-License-Identifier: BSD-2-Clause
#pragma once

#include "oclspkt/options.hpp"

namespace oclspkt {

/// Flops of a row by a method. An addition, a multiplication and a division count one each; what a device computes
/// twice to work in parallel does not count, rows of halos apart.
struct RowFlops {
  double set_up, apply;
};

/// The only list of them, equal to what kernels do (oclspkt-bench paper runs them with a scalar that counts).
/// @param stores  exact-factored keeps factors; kernels for FPGAs eliminate in every apply
constexpr RowFlops flops_of(Method method, bool stores = true) {
  switch (method) {
    case Method::truncated_halo:  // eliminates in every apply
      return {0, 9};
    case Method::exact_twopass:  // the excess of each row carried: 29 in the first pass, 27 in the second
      return {0, 56};
    case Method::pivot:  // gttrf, gttrs: a second coupling above the diagonal
      return {5, 7};
    default:  // stored factors: multiplier, reciprocal of the pivot, coupling over the pivot
      return stores ? RowFlops{5, 5} : RowFlops{0, 9};
  }
}

/// Flops of a row of halo above a partition, which is swept down only, and of one below it.
inline constexpr double kHaloFlops = 7 + 9;

}  // namespace oclspkt
