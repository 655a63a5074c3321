// SPDX-License-Identifier: BSD-2-Clause
#pragma once

#include "backward_error.hpp"
#include "matrices.hpp"
#include "residual.hpp"

namespace oclspkt::test {

/// A x
template <typename T>
std::vector<T> product(const Bands<T>& bands, const std::vector<T>& x) {
  std::vector<T> y(x.size());
  multiply(bands.lines(), bands.view(), x.data(), y.data());
  return y;
}

/// What couplings out of lines hold is left out.
template <typename T>
Bands<T> transposed(const Bands<T>& bands) {
  const Bands<T> from = closed(copy_of(bands));
  Bands<T> to;
  transpose(from.lines(), from.view(), to);
  return to;
}

/// Componentwise backward error over eps.
template <typename T>
double componentwise_error(const Bands<T>& bands, const std::vector<T>& x, const std::vector<T>& y) {
  return componentwise_backward_error(bands.lines(), bands.view(), x.data(), y.data()) / static_cast<double>(kEpsOf<T>);
}

}  // namespace oclspkt::test
