// SPDX-License-Identifier: BSD-2-Clause
#include "residual.hpp"

#include <gtest/gtest.h>

#include "matrices.hpp"

namespace oclspkt {
namespace {

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
  EXPECT_NEAR(line_normwise_backward_error(bands.lines(), bands.view(), 0, x, y), 0.5 / (1e6 * 4 + 1e6), 1e-18);
  EXPECT_DOUBLE_EQ(line_rowwise_backward_error(bands.lines(), bands.view(), 0, x, y), 0.5 / (1 * 4 + 1.5));
  const double bad[] = {1, std::numeric_limits<double>::quiet_NaN(), 1};
  EXPECT_TRUE(std::isnan(line_rowwise_backward_error(bands.lines(), bands.view(), 0, bad, y)));
}

TEST(Residual, OfLongLinesSeesWhateverPieceIsWrong) {
  const LineSet lines = LineSet::equal(2, 150'000);
  Bands<double> bands = test::closed(test::constant<double>(lines, 1, 4, 1));
  const std::vector<double> x(300'000, 1);
  std::vector<double> exact(x.size());
  multiply(lines, bands.view(), x.data(), exact.data());
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
  std::vector<double> y(x.size());
  multiply(lines, bands.view(), x.data(), y.data());
  EXPECT_LE(componentwise_backward_error(lines, bands.view(), x.data(), y.data()), 1.2e-16);
}

TEST(Residual, TransposeOfTheTransposeIsTheMatrix) {
  const LineSet lines = LineSet::grid_axis(1, 3, 4, 2);
  Bands<double> bands = test::closed(test::random_dominant<double>(lines, 2)), once, twice;
  transpose(lines, bands.view(), once);
  transpose(lines, once.view(), twice);
  for (Index i = 0; i < lines.extent(); ++i) {
    EXPECT_EQ(twice.view().lower[i], bands.view().lower[i]);
    EXPECT_EQ(twice.view().diag[i], bands.view().diag[i]);
    EXPECT_EQ(twice.view().upper[i], bands.view().upper[i]);
  }
  // <A x, z> = <x, A^T z>
  const auto x = test::random_vector<double>(lines.extent(), 1), z = test::random_vector<double>(lines.extent(), 2);
  std::vector<double> ax(x.size()), atz(x.size());
  multiply(lines, bands.view(), x.data(), ax.data());
  multiply(lines, once.view(), z.data(), atz.data());
  double left = 0, right = 0;
  for (std::size_t i = 0; i < x.size(); ++i) {
    left += ax[i] * z[i];
    right += x[i] * atz[i];
  }
  EXPECT_NEAR(left, right, 1e-11 * std::abs(left));
}

}  // namespace
}  // namespace oclspkt
