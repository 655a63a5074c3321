// SPDX-License-Identifier: BSD-2-Clause
#include "schemes/grids/segment_factors.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>

#include "matrices.hpp"
#include "residual.hpp"
#include "worst_error.hpp"

namespace oclspkt {
namespace {

template <typename T>
using LevelOf = typename SegmentFactors<T>::Level;

/// Rows of a work-item, which sums of many rows are put together from.
constexpr Index kItemRows = 16;

/// An apply as kernels/gpu/grid_condense.cl and grid_whole.cl define it, row by row.
template <typename T>
std::vector<T> solve_from(const std::vector<LevelOf<T>>& levels, std::size_t k, const SegmentCut& cut,
                          const std::vector<T>& y) {
  const auto& level = levels[k];
  const auto at = [](Index i) { return static_cast<std::size_t>(i); };
  const bool whole = level.segments == 1;
  const Index segment_rows = whole ? level.rows : cut.segment_rows(k);
  const auto end_of = [&](Index s) { return std::min(level.rows, (s + 1) * segment_rows); };
  std::vector<T> x(y.size()), left(at(level.segments)), known;
  for (Index s = 0; s < level.segments; ++s) {
    const Index first = s * segment_rows;
    T d = x[at(first)] = whole ? y[0] : T(0), sum = 0;
    for (Index i = first + 1; i < end_of(s); ++i) {
      x[at(i)] = d = y[at(i)] - level.multiplier[i] * d;
      if (!whole) sum += level.weight[i] * d;
      if (i % kItemRows != 0 && i + 1 < end_of(s)) continue;
      left[at(s)] -= sum;
      sum = 0;
    }
    left[at(s)] += y[at(first)];
    if (s + 1 < level.segments) left[at(s + 1)] = -level.multiplier[end_of(s)] * d;
  }
  if (!whole) known = solve_from<T>(levels, k + 1, cut, left);
  for (Index s = 0; s < level.segments; ++s) {
    const Index first = s * segment_rows;
    if (!whole) x[at(first)] = known[at(s)];
    T minus_s = 1;
    for (Index i = first + 1; i < end_of(s) && !whole; ++i)
      x[at(i)] += (minus_s *= -level.multiplier[i]) * known[at(s)];
    T below = s + 1 < level.segments ? known[at(s + 1)] : T(0);
    for (Index i = end_of(s) - 1; i >= first; --i)
      x[at(i)] = below = x[at(i)] * level.reciprocal[i] - level.coupling[i] * below;
  }
  return x;
}

template <typename T>
class Segmented : public ::testing::Test {
 protected:
  /// As worst_error() has it.
  static double error(Bands<T> bands, const SegmentCut& cut) {
    bands.close_lines();
    SegmentFactors<T> factors;
    factors.factor(bands.lines().rows(), bands.view(), cut);
    return test::worst_error(bands,
                             [&](const std::vector<T>& y) { return solve_from<T>(factors.levels(), 0, cut, y); });
  }
};
using Scalars = ::testing::Types<float, double>;
TYPED_TEST_SUITE(Segmented, Scalars);

TYPED_TEST(Segmented, LevelsAreRightForEveryLength) {
  using T = TypeParam;
  for (const SegmentCut& cut : {SegmentCut{2, 2}, {4, 4}, {4, 32}, {5, 4}, {16, 7}}) {
    for (const Index n : {1, 2, 3, 4, 5, 15, 16, 17, 33, 257, 1000}) {
      EXPECT_LE(this->error(test::random_dominant<T>(LineSet::one(n), 1.5), cut), 4)
          << n << " rows in segments of " << cut.rows << ", then " << cut.upper_rows;
    }
  }
}

TYPED_TEST(Segmented, RoundingIsNotMultipliedWithoutDominance) {
  using T = TypeParam;
  for (const SegmentCut& cut : {SegmentCut{128, 1024}, {2048, 2048}}) {
    // Where nothing decays on the way up, row by row, a segment's rounding adds up to what its first row was told.
    const double most = 4 + static_cast<double>(cut.rows) / 128;
    for (const Index n : {Index{1024}, Index{50'000}}) {
      test::at_dominance_one<T>(n, [&](const char* what, Bands<T>&& bands) {
        EXPECT_LE(this->error(std::move(bands), cut), most) << what << ", " << n;
      });
      for (const test::Decades& decades : test::kWideRanges) {
        EXPECT_LE(this->error(test::wide_conduction<T>(LineSet::one(n), decades), cut), most)
            << decades.what << ", " << n;
      }
    }
  }
}

TYPED_TEST(Segmented, CouplingsOfSymmetricRowsAreMultipliers) {
  using T = TypeParam;
  for (const Index n : {100, 97}) {
    SegmentCut cut{16, 16};
    Bands<T> bands = test::random_symmetric<T>(LineSet::one(n), 1.2);
    bands.close_lines();
    SegmentFactors<T> factors, serving;
    factors.factor(n, bands.view(), cut);
    cut.symmetric = true;
    serving.factor(n, bands.view(), cut);
    const auto &level = factors.levels().front(), &kept = serving.levels().front();
    ASSERT_EQ(kept.multiplier.size(), level.segments);
    for (Index i = 1; i < n; ++i) {
      const bool second = i % cut.rows == 1;
      EXPECT_EQ(level.multiplier[i], second ? kept.multiplier[i / cut.rows] : kept.coupling[i - 1]) << i;
    }
    EXPECT_LT(serving.bytes(), factors.bytes());
  }
}

TYPED_TEST(Segmented, LinesStayApart) {
  using T = TypeParam;
  EXPECT_LE(this->error(test::diffusion<T>(LineSet::equal(300, 61), 1e3), {64, 64}), 4);
}

}  // namespace
}  // namespace oclspkt
