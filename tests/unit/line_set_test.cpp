// SPDX-License-Identifier: BSD-2-Clause
#include "oclspkt/line_set.hpp"

#include <gtest/gtest.h>

#include <set>

#include "oclspkt/error.hpp"

namespace oclspkt {
namespace {

TEST(LineSet, OfNothingHasNoRows) {
  for (const LineSet& set : {LineSet(), LineSet::one(0), LineSet::equal(0, 5), LineSet::unequal({0})}) {
    EXPECT_EQ(set.rows(), 0);
    EXPECT_EQ(set.extent(), 0);
    EXPECT_TRUE(set.contiguous());
  }
}

TEST(LineSet, LaysEqualLinesEndToEnd) {
  const LineSet set = LineSet::equal(3, 5);
  EXPECT_EQ(set.rows(), 15);
  EXPECT_EQ(set.first(2), 10);
  EXPECT_EQ(set.length(2), 5);
  EXPECT_EQ(set.line_of(9), 1);
  EXPECT_TRUE(set.contiguous());
}

TEST(LineSet, KeepsUnequalLinesApart) {
  const LineSet set = LineSet::unequal({0, 2, 2, 7});
  EXPECT_EQ(set.count(), 3);
  EXPECT_EQ(set.length(0), 2);
  EXPECT_EQ(set.length(1), 0);
  EXPECT_EQ(set.length(2), 5);
  EXPECT_EQ(set.line_of(1), 0);
  EXPECT_EQ(set.line_of(2), 2);
  EXPECT_EQ(set.line_of(6), 2);
}

TEST(LineSet, CoversAGridOnceAlongEveryAxis) {
  const Index nx = 4, ny = 3, nz = 5;
  for (int axis = 0; axis < 3; ++axis) {
    const LineSet set = LineSet::grid_axis(axis, nx, ny, nz);
    EXPECT_EQ(set.rows(), nx * ny * nz);
    EXPECT_EQ(set.extent(), nx * ny * nz);
    std::set<Index> seen;
    for (Index l = 0; l < set.count(); ++l) {
      for (Index i = 0; i < set.length(l); ++i) seen.insert(set.first(l) + i * set.row_stride());
    }
    EXPECT_EQ(static_cast<Index>(seen.size()), nx * ny * nz) << "axis " << axis;
    EXPECT_EQ(*seen.rbegin(), nx * ny * nz - 1);
    EXPECT_EQ(set.contiguous(), axis == 0);
    EXPECT_EQ(set.side_by_side(), axis == 0 ? 1 : axis == 1 ? nx : nx * ny);
  }
}

TEST(LineSet, StepsAlongYByRowsOfX) {
  const LineSet set = LineSet::grid_axis(1, 4, 3, 2);
  EXPECT_EQ(set.row_stride(), 4);
  EXPECT_EQ(set.first(3), 3);
  EXPECT_EQ(set.first(4), 12);  // the next plane
}

TEST(LineSet, CountsBeyond32Bits) {
  const LineSet equal = LineSet::equal(5'000'000'000, 3), z = LineSet::grid_axis(2, 100'000, 100'000, 1000);
  EXPECT_EQ(equal.rows(), 15'000'000'000);
  EXPECT_EQ(equal.first(4'999'999'999), 14'999'999'997);
  EXPECT_EQ(equal.line_of(14'999'999'996), 4'999'999'998);
  EXPECT_TRUE(equal.contiguous());
  EXPECT_EQ(z.rows(), 10'000'000'000'000);
  EXPECT_EQ(z.extent(), z.rows());
  EXPECT_EQ(z.row_stride(), 10'000'000'000);
  EXPECT_EQ(z.first(9'999'999'999) + 999 * z.row_stride(), z.extent() - 1);
  EXPECT_TRUE(z.beside() && z.gapless());
  const LineSet y = LineSet::grid_axis(1, 100'000, 100'000, 1000);
  EXPECT_EQ(y.blocks(), 1000);
  EXPECT_EQ(y.first(99'999'999), 99'999 + 999 * y.block_stride());
  const LineSet unequal = LineSet::unequal({0, 3'000'000'000, 3'000'000'001});
  EXPECT_EQ(unequal.length(0), 3'000'000'000);
  EXPECT_EQ(unequal.line_of(3'000'000'000), 1);
}

TEST(LineSet, RefusesRowsOnTheSamePlace) {
  EXPECT_THROW(LineSet::strided(4, 2, 3, 1), InvalidInput);
  EXPECT_THROW(LineSet::strided(4, 0, 1, 1), InvalidInput);
  EXPECT_THROW(LineSet::one(-1), InvalidInput);
  EXPECT_THROW(LineSet::unequal({1, 2}), InvalidInput);
  EXPECT_THROW(LineSet::unequal({0, 3, 2}), InvalidInput);
  EXPECT_THROW(LineSet::equal(Index(1) << 40, Index(1) << 40), InvalidInput);
  EXPECT_THROW(LineSet::grid_axis(3, 1, 1, 1), InvalidInput);
}

TEST(LineSet, DescribesItself) {
  EXPECT_EQ(LineSet::one(100).describe(), "1 line of 100 rows");
  EXPECT_EQ(LineSet::grid_axis(1, 4, 3, 2).describe(), "8 lines of 3 rows, row stride 4");
}

}  // namespace
}  // namespace oclspkt
