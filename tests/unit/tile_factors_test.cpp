// SPDX-License-Identifier: BSD-2-Clause
#include "tile_factors.hpp"

#include <gtest/gtest.h>

#include <limits>

#include "certificate.hpp"
#include "matrices.hpp"
#include "residual.hpp"
#include "worst_error.hpp"

namespace oclspkt {
namespace {

/// An apply as kernels/gpu/tile_fold.cl and tile_stored.cl define it, row by row.
template <typename T>
std::vector<T> solve_level(const std::vector<typename TileFactors<T>::Level>& levels, std::size_t k, Index tile_rows,
                           const std::vector<T>& y) {
  const auto& level = levels[k];
  const Index tiles = level.tiles(tile_rows);
  std::vector<T> outer, x(y.size());
  if (k + 1 < levels.size()) {
    std::vector<T> left(static_cast<std::size_t>(2 * tiles));
    for (Index t = 0; t < tiles; ++t) {
      T d = 0, x_first = 0;
      for (Index i = t * tile_rows; i < (t + 1) * tile_rows; ++i) {
        const bool there = i < level.rows;
        d = there ? y[static_cast<std::size_t>(i)] - (i > t * tile_rows ? level.multiplier[i] * d : T(0)) : T(0);
        if (there) x_first += level.weight[i] * d;
      }
      for (Index side : {0, 1}) {
        const T* corner = level.corners.data() + 4 * t + 2 * side;
        left[static_cast<std::size_t>(2 * t + side)] = corner[0] * x_first + corner[1] * d;
      }
    }
    outer = solve_level<T>(levels, k + 1, tile_rows, left);
  }
  for (Index t = 0; t < tiles; ++t) {
    const Index first = t * tile_rows, end = std::min(level.rows, first + tile_rows);
    T entering = t > 0 ? outer[static_cast<std::size_t>(2 * t - 1)] : T(0);
    for (Index i = first; i < end; ++i)
      x[static_cast<std::size_t>(i)] = entering = y[static_cast<std::size_t>(i)] - level.multiplier[i] * entering;
    entering = t + 1 < tiles ? outer[static_cast<std::size_t>(2 * t + 2)] : T(0);
    for (Index i = end - 1; i >= first; --i) {
      T& value = x[static_cast<std::size_t>(i)];
      value = entering = value * level.reciprocal[i] - level.coupling[i] * entering;
    }
  }
  return x;
}

template <typename T>
class Folded : public ::testing::Test {
 protected:
  /// As worst_error() has it.
  static double error(Bands<T> bands, Index tile_rows) {
    bands.close_lines();
    TileFactors<T> factors;
    factors.factor(bands.lines().rows(), bands.view(), tile_rows);
    return test::worst_error(
        bands, [&](const std::vector<T>& y) { return solve_level<T>(factors.levels(), 0, tile_rows, y); });
  }
};
using Scalars = ::testing::Types<float, double>;
TYPED_TEST_SUITE(Folded, Scalars);

TYPED_TEST(Folded, LevelsAreRightForEveryLength) {
  using T = TypeParam;
  for (const Index tile_rows : {4, 5, 16}) {
    for (const Index n : {1, 2, 3, 4, 5, 15, 16, 17, 33, 257, 1000}) {
      EXPECT_LE(this->error(test::random_dominant<T>(LineSet::one(n), 1.5), tile_rows), 4)
          << n << " rows in tiles of " << tile_rows;
    }
  }
}

TYPED_TEST(Folded, RoundingIsNotMultipliedWithoutDominance) {
  using T = TypeParam;
  for (const Index n : {4096, 100'000}) {
    const LineSet one = LineSet::one(n);
    EXPECT_LE(this->error(test::constant<T>(one, -1, 2, -1), 256), 10) << "Poisson, " << n;
    // Where a tile multiplies what enters it, it also multiplies its rounding. That is said beforehand.
    Plan plan = make_fold_plan(n, 8, sizeof(T), {.group_items = 32, .local_bytes = 1 << 15});
    ASSERT_EQ(plan.m, 256);
    Bands<T> rough = test::row_sums_zero<T>(one), smooth = test::constant<T>(one, -1, 2, -1);
    rough.close_lines();
    smooth.close_lines();
    EXPECT_GT(settling_growth(plan, rough.view()), 1e3);
    EXPECT_LE(settling_growth(plan, smooth.view()), 2);
    for (const double lambda : {1e2, 1e4, 1e8}) {
      EXPECT_LE(this->error(test::diffusion<T>(one, lambda), 256), 10) << "lambda " << lambda << ", " << n;
    }
  }
}

TYPED_TEST(Folded, LinesStayApart) {
  using T = TypeParam;
  EXPECT_LE(this->error(test::diffusion<T>(LineSet::equal(300, 61), 1e3), 64), 4);
}

}  // namespace
}  // namespace oclspkt
