// SPDX-License-Identifier: BSD-2-Clause
#include "segment_factors.hpp"

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

/// Rows of a segment of a level.
struct SegmentRows {
  Index first, end;
  bool full;
};

/// Inner rows swept down from 0; of the first row 0. @return what is left of the last row
template <typename T>
T sweep_inner(const LevelOf<T>& level, const SegmentRows& rows, const std::vector<T>& y, std::vector<T>& d) {
  T entering = 0;
  for (Index i = rows.first; i < rows.end; ++i) {
    const auto at = static_cast<std::size_t>(i);
    d[at] = entering = i > rows.first ? y[at] - level.multiplier[i] * entering : T(0);
  }
  return rows.full ? entering : T(0);
}

/// An apply as kernels/gpu/grid_fold.cl and grid_whole.cl define it, row by row.
template <typename T>
std::vector<T> solve_from(const std::vector<LevelOf<T>>& levels, std::size_t k, Index segment_rows, Index upper_rows,
                          const std::vector<T>& y) {
  const auto& level = levels[k];
  const auto at = [](Index i) { return static_cast<std::size_t>(i); };
  std::vector<T> x(y.size()), left, known;
  const auto back = [&](const SegmentRows& rows, T below) {
    for (Index i = rows.end - 1; i >= rows.first; --i)
      x[at(i)] = below = x[at(i)] * level.reciprocal[i] - level.coupling[i] * below;
  };
  if (k + 1 == levels.size()) {
    T entering = 0;
    for (Index i = 0; i < level.rows; ++i) x[at(i)] = entering = y[at(i)] - level.multiplier[i] * entering;
    back({0, level.rows, false}, 0);
    return x;
  }
  const auto rows_of = [&](Index s) {
    const Index end = (s + 1) * segment_rows;
    return SegmentRows{s * segment_rows, std::min(level.rows, end), end <= level.rows};
  };
  for (Index s = 0; s < level.segments(segment_rows); ++s) {
    const SegmentRows rows = rows_of(s);
    const T last = sweep_inner(level, rows, y, x);
    T first = y[at(rows.first)];
    for (Index i = rows.first; i < rows.end; ++i) first -= level.weight[i] * x[at(i)];
    left.push_back(first);
    left.push_back(last);
  }
  known = solve_from<T>(levels, k + 1, upper_rows, upper_rows, left);
  for (Index s = 0; s < level.segments(segment_rows); ++s) {
    const SegmentRows rows = rows_of(s);
    T minus_s = 1;
    x[at(rows.first)] = known[at(2 * s)];
    for (Index i = rows.first + 1; i < rows.end; ++i) x[at(i)] += (minus_s *= -level.multiplier[i]) * known[at(2 * s)];
    back(rows, known[at(2 * s + 1)]);
  }
  return x;
}

template <typename T>
class Segmented : public ::testing::Test {
 protected:
  /// As worst_error() has it.
  static double error(Bands<T> bands, Index segment_rows, Index upper_rows) {
    bands.close_lines();
    SegmentFactors<T> factors;
    factors.factor(bands.lines().rows(), bands.view(), segment_rows, upper_rows);
    return test::worst_error(bands, [&](const std::vector<T>& y) {
      return solve_from<T>(factors.levels(), 0, segment_rows, upper_rows, y);
    });
  }
};
using Scalars = ::testing::Types<float, double>;
TYPED_TEST_SUITE(Segmented, Scalars);

TYPED_TEST(Segmented, LevelsAreRightForEveryLength) {
  using T = TypeParam;
  for (const Index segment_rows : {4, 5, 16}) {
    for (const Index n : {1, 2, 3, 4, 5, 15, 16, 17, 33, 257, 1000}) {
      for (const Index upper_rows : {4, 32}) {
        EXPECT_LE(this->error(test::random_dominant<T>(LineSet::one(n), 1.5), segment_rows, upper_rows), 4)
            << n << " rows in segments of " << segment_rows << ", then " << upper_rows;
      }
    }
  }
}

TYPED_TEST(Segmented, RoundingIsNotMultipliedWithoutDominance) {
  using T = TypeParam;
  for (const Index n : {Index{1024}, Index{50'000}}) {
    test::at_dominance_one<T>(n, [&](const char* what, Bands<T>&& bands) {
      EXPECT_LE(this->error(std::move(bands), 128, 1024), 4) << what << ", " << n;
    });
    for (const test::Decades& decades : test::kWideRanges) {
      EXPECT_LE(this->error(test::wide_conduction<T>(LineSet::one(n), decades), 128, 1024), 4)
          << decades.what << ", " << n;
    }
  }
}

TYPED_TEST(Segmented, CouplingsOfSymmetricInnerRowsAreMultipliers) {
  using T = TypeParam;
  const Index n = 100, segment_rows = 16;
  Bands<T> bands = test::random_symmetric<T>(LineSet::one(n), 1.2);
  bands.close_lines();
  SegmentFactors<T> factors;
  factors.factor(n, bands.view(), segment_rows, segment_rows);
  const auto& level = factors.levels().front();
  for (Index i = 0; i < n; ++i) {
    const Index within = i % segment_rows;
    if (within == 0) {
      EXPECT_EQ(level.multiplier[i], bands.lower()[i + 1]) << i;
    } else if (within > 1) {
      EXPECT_EQ(level.multiplier[i], level.coupling[i - 1]) << i;
    }
  }
}

TYPED_TEST(Segmented, LinesStayApart) {
  using T = TypeParam;
  EXPECT_LE(this->error(test::diffusion<T>(LineSet::equal(300, 61), 1e3), 64, 64), 4);
}

}  // namespace
}  // namespace oclspkt
