// SPDX-License-Identifier: BSD-2-Clause
#include "reference.hpp"

#include "matrices.hpp"
#include "residual.hpp"
#include "scalar_test.hpp"

namespace oclspkt {
namespace {

template <typename T>
class ReferenceSolver : public ::testing::Test {};

SCALAR_TEST(ReferenceSolver, FindsTheAnalyticSolution) {
  const Bands<T> bands = test::constant<T>(LineSet::one(3), 1, 4, 1);
  const T y[] = {1, 1, 1};
  T x[3];
  Reference<T> reference;
  reference.factor(bands.lines(), bands.view());
  reference.solve(y, x);
  const T eps = std::numeric_limits<T>::epsilon();
  EXPECT_NEAR(x[0], T(3) / 14, eps);
  EXPECT_NEAR(x[1], T(1) / 7, eps);
  EXPECT_NEAR(x[2], T(3) / 14, eps);
}

SCALAR_TEST(ReferenceSolver, FollowsTheDiscretePoissonSolution) {
  // -x'' = 1 on n points: x_i = (i + 1)(n - i) / 2, exact in floating point for small n.
  const Index n = 100;
  const Bands<T> bands = test::constant<T>(LineSet::one(n), -1, 2, -1);
  const std::vector<T> y(n, T(1));
  std::vector<T> x(n);
  Reference<T> reference;
  reference.factor(bands.lines(), bands.view());
  reference.solve(y.data(), x.data());
  for (Index i = 0; i < n; ++i) {
    const T exact = T(i + 1) * T(n - i) / 2;
    EXPECT_NEAR(x[static_cast<std::size_t>(i)], exact, 2000 * std::numeric_limits<T>::epsilon() * exact);
  }
}

SCALAR_TEST(ReferenceSolver, PivotsAcrossZeroDiagonals) {
  for (const Index n : {2, 4, 64}) {
    const Bands<T> bands = test::constant<T>(LineSet::one(n), 1, 0, 1);
    const std::vector<T> x_true = test::random_vector<T>(n);
    std::vector<T> y(x_true.size()), x(x_true.size());
    multiply(bands.lines(), bands.view(), x_true.data(), y.data());
    Reference<T> reference;
    reference.factor(bands.lines(), bands.view());
    EXPECT_TRUE(reference.doubts().empty());
    reference.solve(y.data(), x.data());
    EXPECT_LE(normwise_backward_error(bands.lines(), bands.view(), x.data(), y.data()),
              10 * std::numeric_limits<T>::epsilon());
  }
}

SCALAR_TEST(ReferenceSolver, NamesTheSingularLineAndRow) {
  Bands<T> bands = test::constant<T>(LineSet::equal(3, 4), -1, 4, -1);
  for (Index i = 4; i < 8; ++i) {  // the second line: Neumann
    bands.diag()[i] = i == 4 || i == 7 ? 1 : 2;
  }
  Reference<T> reference;
  reference.factor(bands.lines(), bands.view());
  ASSERT_EQ(reference.doubts().size(), 1u);
  EXPECT_EQ(reference.doubts()[0].line, 1);
  EXPECT_EQ(reference.doubts()[0].row, 3);
  EXPECT_TRUE(reference.doubts()[0].singular);
}

SCALAR_TEST(ReferenceSolver, SolvesEveryLayout) {
  for (const LineSet& lines : {LineSet::one(1), LineSet::one(2), LineSet::unequal({0, 3, 3, 4, 9}),
                               LineSet::grid_axis(1, 3, 4, 2), LineSet::grid_axis(2, 3, 2, 5), LineSet::equal(0, 3)}) {
    const Bands<T> bands = test::random_dominant<T>(lines, 1.5);
    const std::vector<T> y = test::random_vector<T>(lines.extent());
    std::vector<T> x(y.size());
    Reference<T> reference;
    reference.factor(lines, bands.view());
    reference.solve(y.data(), x.data());
    EXPECT_LE(componentwise_backward_error(lines, bands.view(), x.data(), y.data()),
              10 * std::numeric_limits<T>::epsilon())
        << lines.describe();
  }
}

}  // namespace
}  // namespace oclspkt
