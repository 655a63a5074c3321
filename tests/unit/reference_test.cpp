// SPDX-License-Identifier: BSD-2-Clause
// The reference solver, and what is left in rows by a solution.
#include "reference.hpp"

#include "hard_matrices.hpp"
#include "matrix_algebra.hpp"
#include "scalar_test.hpp"

namespace oclspkt {
namespace {

template <typename T>
class ReferenceSolver : public ::testing::Test {};

SCALAR_TEST(ReferenceSolver, FindsTheAnalyticSolution) {
  const Bands<T> bands = test::constant<T>(LineSet::one(3), 1, 4, 1);
  const std::vector<T> x = solve_by_reference(bands, {1, 1, 1});
  const T eps = std::numeric_limits<T>::epsilon();
  EXPECT_NEAR(x[0], T(3) / 14, eps);
  EXPECT_NEAR(x[1], T(1) / 7, eps);
  EXPECT_NEAR(x[2], T(3) / 14, eps);
}

SCALAR_TEST(ReferenceSolver, FollowsTheDiscretePoissonSolution) {
  // -x'' = 1 on n points: x_i = (i + 1)(n - i) / 2, exact in floating point for small n.
  const Index n = 100;
  const Bands<T> bands = test::constant<T>(LineSet::one(n), -1, 2, -1);
  const std::vector<T> x = solve_by_reference(bands, std::vector<T>(n, T(1)));
  for (Index i = 0; i < n; ++i) {
    const T exact = T(i + 1) * T(n - i) / 2;
    EXPECT_NEAR(x[static_cast<std::size_t>(i)], exact, 2000 * std::numeric_limits<T>::epsilon() * exact);
  }
}

SCALAR_TEST(ReferenceSolver, PivotsAcrossZeroDiagonals) {
  for (const Index n : {2, 4, 64}) {
    const Bands<T> bands = test::constant<T>(LineSet::one(n), 1, 0, 1);
    const std::vector<T> y = test::product(bands, test::random_vector<T>(n));
    std::vector<T> x(y.size());
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
    EXPECT_LE(test::componentwise_error(bands, solve_by_reference(bands, y), y), 10) << lines.describe();
  }
}

TEST(Residual, OfTheAnalyticSolutionIsZero) {
  // [1 4 1] with ones: 3/14, 1/7, 3/14.
  const Bands<double> bands = test::constant<double>(LineSet::one(3), 1, 4, 1);
  const double x[] = {3.0 / 14, 1.0 / 7, 3.0 / 14};
  const double y[] = {1, 1, 1};
  EXPECT_LE(normwise_backward_error(bands.lines(), bands.view(), x, y), 1e-16);
  double product[3];
  multiply(bands.lines(), bands.view(), x, product);
  for (const double p : product) EXPECT_NEAR(p, 1, 1e-15);
}

TEST(Residual, SeesAWrongRow) {
  const Bands<double> bands = test::constant<double>(LineSet::one(3), 1, 4, 1);
  const double x[] = {1, 1, 1}, y[] = {5, 6, 5.5};  // row 2 is off by 0.5
  EXPECT_DOUBLE_EQ(normwise_backward_error(bands.lines(), bands.view(), x, y), 0.5 / (6 * 1 + 6));
  EXPECT_DOUBLE_EQ(componentwise_backward_error(bands.lines(), bands.view(), x, y), 0.5 / (5 + 5.5));
}

TEST(Residual, IsJudgedLineByLine) {
  // A line of tiny numbers beside a line of large ones must not hide.
  const LineSet lines = LineSet::equal(2, 1);
  Bands<double> bands(lines);
  bands.diag()[0] = 1e10;
  bands.diag()[1] = 1e-10;
  const double x[] = {1, 1}, y[] = {1e10, 2e-10};
  EXPECT_NEAR(normwise_backward_error(lines, bands.view(), x, y), 1.0 / 3, 1e-12);
}

TEST(Residual, OfARowIsHeldAgainstTheRowAndTheLargestUnknown) {
  // Row 2 is off by half of what it is made of. The largest row hides that, the largest unknown explains some of it.
  Bands<double> bands = test::constant<double>(LineSet::one(3), 0, 1, 0);
  bands.diag()[0] = 1e6;
  const double x[] = {1, 4, 1}, y[] = {1e6, 4, 1.5};
  EXPECT_NEAR(normwise_backward_error(bands.lines(), bands.view(), x, y), 0.5 / (1e6 * 4 + 1e6), 1e-18);
  EXPECT_DOUBLE_EQ(line_rowwise_backward_error(bands.lines(), bands.view(), 0, x, y), 0.5 / (1 * 4 + 1.5));
  const double bad[] = {1, std::numeric_limits<double>::quiet_NaN(), 1};
  EXPECT_TRUE(std::isnan(line_rowwise_backward_error(bands.lines(), bands.view(), 0, bad, y)));
}

TEST(Residual, OfLongLinesSeesWhateverPieceIsWrong) {
  const LineSet lines = LineSet::equal(2, 150'000);
  Bands<double> bands = test::closed(test::constant<double>(lines, 1, 4, 1));
  const std::vector<double> x(300'000, 1), exact = test::product(bands, x);
  EXPECT_EQ(exact[150'000], 5);
  EXPECT_EQ(exact[65'536], 6);
  EXPECT_EQ(normwise_backward_error(lines, bands.view(), x.data(), exact.data()), 0);
  for (const std::size_t wrong : {0, 70'000, 149'999, 150'000, 299'999}) {
    std::vector<double> y = exact;
    y[wrong] += 0.5;
    const double largest = std::max(6.0, y[wrong]);
    EXPECT_DOUBLE_EQ(normwise_backward_error(lines, bands.view(), x.data(), y.data()), 0.5 / (6 * 1 + largest))
        << wrong;
    y[wrong] = std::numeric_limits<double>::quiet_NaN();
    EXPECT_TRUE(std::isnan(normwise_backward_error(lines, bands.view(), x.data(), y.data()))) << wrong;
  }
}

TEST(Residual, OfNaNIsNaNWhereverItStands) {
  const Bands<float> bands = test::constant<float>(LineSet::one(3), 1, 4, 1);
  for (int bad = 0; bad < 3; ++bad) {
    float x[] = {1, 1, 1}, y[] = {5, 6, 5};
    x[bad] = std::numeric_limits<float>::quiet_NaN();
    EXPECT_TRUE(std::isnan(normwise_backward_error(bands.lines(), bands.view(), x, y)));
    EXPECT_TRUE(std::isnan(componentwise_backward_error(bands.lines(), bands.view(), x, y)));
    x[bad] = std::numeric_limits<float>::infinity();
    EXPECT_TRUE(std::isnan(normwise_backward_error(bands.lines(), bands.view(), x, y)));
    x[bad] = 1;
    y[bad] = std::numeric_limits<float>::quiet_NaN();
    EXPECT_TRUE(std::isnan(componentwise_backward_error(bands.lines(), bands.view(), x, y)));
  }
}

TEST(Residual, FollowsStrides) {
  const LineSet lines = LineSet::grid_axis(1, 3, 4, 2);
  const Bands<double> bands = test::random_dominant<double>(lines, 2);
  const auto x = test::random_vector<double>(lines.extent());
  EXPECT_LE(test::componentwise_error(bands, x, test::product(bands, x)), 0.54);
}

TEST(Residual, TransposeOfTheTransposeIsTheMatrix) {
  const LineSet lines = LineSet::grid_axis(1, 3, 4, 2);
  const Bands<double> bands = test::closed(test::random_dominant<double>(lines, 2)), once = test::transposed(bands);
  EXPECT_TRUE(test::same_bands(test::transposed(once), bands));
  // <A x, z> = <x, A^T z>
  const auto x = test::random_vector<double>(lines.extent(), 1), z = test::random_vector<double>(lines.extent(), 2);
  const std::vector<double> ax = test::product(bands, x), atz = test::product(once, z);
  double left = 0, right = 0;
  for (std::size_t i = 0; i < x.size(); ++i) {
    left += ax[i] * z[i];
    right += x[i] * atz[i];
  }
  EXPECT_NEAR(left, right, 1e-11 * std::abs(left));
}

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
