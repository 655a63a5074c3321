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
  constexpr RowFlops kStored{5, 5};     // multiplier, reciprocal of the pivot, coupling over the pivot
  constexpr RowFlops kOf[] = {{0, 9},   // truncated-halo eliminates in every apply
                              kStored,  // truncated-streamed
                              {0, 80},  // exact-twopass in both passes, the excess of each row carried
                              kStored,  // exact-factored
                              {5, 7}};  // pivot: gttrf, gttrs; a second coupling above the diagonal
  return kOf[static_cast<int>(method)];
}

}  // namespace oclspkt
