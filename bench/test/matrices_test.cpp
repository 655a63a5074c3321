// SPDX-License-Identifier: BSD-2-Clause
#include "matrices.hpp"

#include <gtest/gtest.h>
#include <omp.h>

#include <cmath>
#include <limits>
#include <vector>

#include "oclspkt/error.hpp"
#include "problem.hpp"

namespace oclspkt::bench {
namespace {

constexpr Index kRows = 10007;

/// |diag| / (|lower| + |upper|) of an inner row.
template <typename T>
double dominance(const BandsView<T>& b, Index i) {
  return std::abs(double(b.diag[i])) / (std::abs(double(b.lower[i])) + std::abs(double(b.upper[i])));
}

template <typename T>
class Matrices : public testing::Test {};
using Scalars = testing::Types<float, double>;
TYPED_TEST_SUITE(Matrices, Scalars);

TYPED_TEST(Matrices, RandomRowsHaveTheDominanceAskedFor) {
  Bands<TypeParam> bands(LineSet::one(kRows));
  fill_bands(MatrixSpec{.dominance = 1.25}, bands);
  bool negative = false, positive = false;
  for (Index i = 1; i + 1 < kRows; ++i) {
    EXPECT_NEAR(dominance(bands.view(), i), 1.25, 4 * std::numeric_limits<TypeParam>::epsilon()) << "row " << i;
    negative = negative || bands.diag()[i] < 0;
    positive = positive || bands.diag()[i] > 0;
  }
  EXPECT_TRUE(negative && positive);
}

TYPED_TEST(Matrices, SymmetricOnesAreSymmetricToTheBitWithAPositiveDiagonal) {
  for (const MatrixSpec& spec :
       {MatrixSpec{.dominance = 1.25, .symmetric = true}, MatrixSpec{.matrix = Matrix::conduction, .lambda = 1000}}) {
    Bands<TypeParam> bands(LineSet::one(kRows));
    fill_bands(spec, bands);
    bool varies = false;
    for (Index i = 1; i + 1 < kRows; ++i) {
      ASSERT_EQ(bands.lower()[i], bands.upper()[i - 1]) << "row " << i;
      ASSERT_GT(bands.diag()[i], 0) << "row " << i;
      varies = varies || bands.upper()[i] != bands.upper()[1];
    }
    EXPECT_TRUE(varies);
  }
}

TYPED_TEST(Matrices, SymmetricOnesAreSymmetricAlongLinesSideBySide) {
  for (const LineSet& lines : {LineSet::grid_axis(1, 7, 20, 3), LineSet::grid_axis(2, 7, 3, 20)}) {
    for (const MatrixSpec& spec :
         {MatrixSpec{.dominance = 1.25, .symmetric = true}, MatrixSpec{.matrix = Matrix::conduction, .lambda = 1000}}) {
      Bands<TypeParam> bands(lines);
      fill_bands(spec, bands);
      for (Index l = 0; l < lines.count(); ++l) {
        for (Index i = 1; i < lines.length(l); ++i) {
          const Index at = lines.first(l) + i * lines.row_stride();
          ASSERT_EQ(bands.lower()[at], bands.upper()[at - lines.row_stride()]) << lines.describe() << ", " << at;
        }
      }
    }
  }
}

TYPED_TEST(Matrices, ConductionIsDominantByOne) {
  Bands<TypeParam> bands(LineSet::one(kRows));
  fill_bands(MatrixSpec{.matrix = Matrix::conduction, .lambda = 100}, bands);
  for (Index i = 1; i + 1 < kRows; ++i) {
    const double off = double(bands.lower()[i]) + double(bands.upper()[i]);
    EXPECT_NEAR(bands.diag()[i] + off, 1, 400 * std::numeric_limits<TypeParam>::epsilon()) << "row " << i;
    EXPECT_LT(bands.upper()[i], -10);
    EXPECT_GT(bands.upper()[i], -100);
  }
}

TYPED_TEST(Matrices, ScaledConductionHasTheRatiosOfTheOther) {
  MatrixSpec spec{.matrix = Matrix::conduction, .lambda = 100};
  Bands<TypeParam> bands(LineSet::one(kRows)), scaled(LineSet::one(kRows));
  fill_bands(spec, bands);
  spec.scaled = true;
  fill_bands(spec, scaled);
  EXPECT_EQ(spec.describe(), "conduction, rows scaled, lambda 100, seed 20261121");
  for (Index i = 1; i + 1 < kRows; ++i) {
    const double scale = double(scaled.diag()[i]) / bands.diag()[i], eps = std::numeric_limits<TypeParam>::epsilon();
    EXPECT_GE(scale, 0.5 - eps);
    EXPECT_LE(scale, 1 + eps);
    EXPECT_NEAR(double(scaled.upper()[i]) / bands.upper()[i], scale, 2 * eps) << "row " << i;
    EXPECT_NEAR(double(scaled.lower()[i]) / bands.lower()[i], scale, 2 * eps) << "row " << i;
  }
  EXPECT_NE(scaled.lower()[7], scaled.upper()[6]);
}

TYPED_TEST(Matrices, RowSumsZeroLeavesTheRoundingOfTheDiagonal) {
  Bands<TypeParam> bands(LineSet::one(kRows));
  fill_bands(MatrixSpec{.matrix = Matrix::row_sums_zero}, bands);
  for (Index i = 1; i + 1 < kRows; ++i) {
    EXPECT_LT(bands.lower()[i], 0);
    EXPECT_LT(bands.upper()[i], 0);
    EXPECT_NEAR(dominance(bands.view(), i), 1, std::numeric_limits<TypeParam>::epsilon()) << "row " << i;
  }
}

TYPED_TEST(Matrices, WindBlowsAgainstTheLargerCouplingAndTurnsInTheMiddle) {
  Bands<TypeParam> down(LineSet::one(6)), up(LineSet::one(6)), turning(LineSet::one(6));
  fill_bands(MatrixSpec{.matrix = Matrix::advection, .peclet = 10}, down);
  fill_bands(MatrixSpec{.matrix = Matrix::advection, .peclet = -10}, up);
  fill_bands(MatrixSpec{.matrix = Matrix::turning_wind, .peclet = 10}, turning);
  for (Index i = 1; i < 5; ++i) {
    EXPECT_EQ(down.lower()[i], -11);
    EXPECT_EQ(down.diag()[i], 12);
    EXPECT_EQ(down.upper()[i], -1);
    EXPECT_EQ(up.lower()[i], -1);
    EXPECT_EQ(up.diag()[i], 12);
    EXPECT_EQ(up.upper()[i], -11);
    EXPECT_EQ(turning.lower()[i], i < 3 ? -11 : -1);
    EXPECT_EQ(turning.upper()[i], i < 3 ? -1 : -11);
  }
}

TYPED_TEST(Matrices, DiffusionIsTheImplicitStepOfTheHeatEquation) {
  Bands<TypeParam> bands(LineSet::one(5));
  fill_bands(MatrixSpec{.matrix = Matrix::diffusion, .lambda = 10}, bands);
  const std::vector<TypeParam> lower{0, -10, -10, -10, -10}, upper{-10, -10, -10, -10, 0};
  for (Index i = 0; i < 5; ++i) {
    EXPECT_EQ(bands.lower()[i], lower[static_cast<std::size_t>(i)]);
    EXPECT_EQ(bands.diag()[i], 21);
    EXPECT_EQ(bands.upper()[i], upper[static_cast<std::size_t>(i)]);
  }
}

TYPED_TEST(Matrices, SolutionsScatterByOneAroundThree) {
  std::vector<TypeParam> x(kRows);
  fill_solution(kDefaultSeed, kRows, x.data());
  double mean = 0, variance = 0;
  for (const TypeParam v : x) mean += v / double(kRows);
  for (const TypeParam v : x) variance += (v - mean) * (v - mean) / double(kRows);
  // Five standard errors of 10007 samples.
  EXPECT_NEAR(mean, 3, 0.05);
  EXPECT_NEAR(variance, 1, 0.071);
}

TYPED_TEST(Matrices, DoNotDependOnTheNumberOfThreads) {
  const int threads = omp_get_max_threads();
  omp_set_num_threads(1);
  const Problem<TypeParam> one(MatrixSpec{}, kRows);
  omp_set_num_threads(3);
  const Problem<TypeParam> three(MatrixSpec{}, kRows);
  omp_set_num_threads(threads);
  for (Index i = 0; i < kRows; ++i) {
    ASSERT_EQ(one.bands.view().diag[i], three.bands.view().diag[i]);
    ASSERT_EQ(one.y[i], three.y[i]);
  }
}

TYPED_TEST(Matrices, AnotherSeedGivesAnotherMatrix) {
  Bands<TypeParam> one(LineSet::one(kRows)), other(LineSet::one(kRows));
  fill_bands(MatrixSpec{}, one);
  fill_bands(MatrixSpec{.seed = kDefaultSeed + 1}, other);
  Index equal = 0;
  for (Index i = 0; i < kRows; ++i) equal += one.diag()[i] == other.diag()[i];
  EXPECT_LT(equal, kRows / 100);
}

TEST(MatrixNames, AreAllParsedAndOthersAreRefusedWithTheList) {
  for (const char* text : kMatrixNames) EXPECT_STREQ(name(parse_matrix(text)), text);
  try {
    parse_matrix("hilbert");
    FAIL();
  } catch (const InvalidInput& error) {
    EXPECT_NE(std::string(error.what()).find("row-sums-zero"), std::string::npos);
  }
}

TEST(Memory, ShortageIsRefusedWithTheRowsThatFit) {
  EXPECT_NO_THROW(require_memory(1000, 100));
  try {
    require_memory(Index(1) << 40, 100);
    FAIL();
  } catch (const InvalidInput& error) {
    EXPECT_NE(std::string(error.what()).find("use --rows "), std::string::npos);
  }
}

}  // namespace
}  // namespace oclspkt::bench
