// SPDX-License-Identifier: BSD-2-Clause
#pragma once

#include <string>
#include <vector>

#include "matrices.hpp"

namespace oclspkt::test {

/// A matrix of the collection, in double; float tests round it.
struct HardMatrix {
  std::string name;
  std::vector<double> lower, diag, upper;
};

/// The twenty tridiagonal matrices of Klein and Strzodka, ids 1 ... 20, n rows.
/// @pre 1 <= id <= 20, n >= 3
HardMatrix klein_strzodka(int id, Index n);

/// T1-T5 of this project: implicit diffusion, variable coefficients, Poisson, upwind advection, compact schemes.
std::vector<HardMatrix> applications(Index n);

template <typename T>
Bands<T> to_bands(const HardMatrix& m) {
  return fill<T>(LineSet::one(static_cast<Index>(m.diag.size())), [&](Index i) {
    const auto at = static_cast<std::size_t>(i);
    return Row{m.lower[at], m.diag[at], m.upper[at]};
  });
}

}  // namespace oclspkt::test
