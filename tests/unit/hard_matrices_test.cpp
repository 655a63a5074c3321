// SPDX-License-Identifier: BSD-2-Clause
#include "hard_matrices.hpp"

#include <gtest/gtest.h>

#include <cmath>

namespace oclspkt {
namespace {

TEST(HardMatrices, HaveTheSingularValuesAskedFor) {
  // The product of the singular values is |det|, which the reflectors keep: geometric ones give 1e15^(-n/2).
  const Index n = 6;
  const test::HardMatrix m = test::klein_strzodka(9, n);
  double before = 0, det = 1;  // continuants
  for (std::size_t i = 0; i < 6; ++i) {
    const double next = m.diag[i] * det - (i > 0 ? m.lower[i] * m.upper[i - 1] * before : 0);
    before = det;
    det = next;
  }
  EXPECT_NEAR(std::log10(std::abs(det)), -15.0 * 6 / 2, 1);
}

}  // namespace
}  // namespace oclspkt
