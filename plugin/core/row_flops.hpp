// SPDX-License-Identifier: BSD-2-Clause
#pragma once

#include "oclspkt/options.hpp"

namespace oclspkt {

/// Flops of a row by a method. An addition, a multiplication and a division count one each; what a device computes
/// twice to work in parallel does not count, rows of halos apart.
struct RowFlops {
  double set_up, apply;
};

/// The only list of them.
constexpr RowFlops flops_of(Method method) {
  switch (method) {
    case Method::truncated_halo:  // eliminates in every apply
      return {0, 9};
    case Method::exact_twopass:  // the same in both passes, the excess of each row carried
      return {0, 80};
    case Method::pivot:  // gttrf, gttrs: a second coupling above the diagonal
      return {5, 7};
    default:  // stored factors: multiplier, reciprocal of the pivot, coupling over the pivot
      return {5, 5};
  }
}

}  // namespace oclspkt
