// SPDX-License-Identifier: BSD-2-Clause
#pragma once

#include <limits>
#include <vector>

#include "matrices.hpp"
#include "residual.hpp"

namespace oclspkt::test {

/// Largest normwise backward error in units of eps: of random y, and of y = A x for random x, which is large where A is
/// ill-conditioned.
/// @param solve  gives x of y
template <typename T, typename F>
double worst_error(const Bands<T>& bands, const F& solve) {
  double worst = 0;
  for (const bool rough : {true, false}) {
    std::vector<T> y = random_vector<T>(bands.lines().rows());
    if (rough) {
      const std::vector<T> x = y;
      multiply(bands.lines(), bands.view(), x.data(), y.data());
    }
    const std::vector<T> x = solve(y);
    const double error = normwise_backward_error(bands.lines(), bands.view(), x.data(), y.data());
    worst = error <= worst ? worst : error;
  }
  return worst / static_cast<double>(std::numeric_limits<T>::epsilon());
}

}  // namespace oclspkt::test
