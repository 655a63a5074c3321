// SPDX-License-Identifier: BSD-2-Clause
#pragma once

#include "card.hpp"

namespace oclspkt::test {

/// Solvers by CUDA's module over the fake driver and the fake compiler.
template <typename T>
class CudaOf : public OnCards<T> {
 protected:
  CudaOf() { fake::restart(); }
  ~CudaOf() override { expect_clean_cards(); }
};
using Cuda = CudaOf<double>;

}  // namespace oclspkt::test
