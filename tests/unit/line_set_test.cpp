// SPDX-License-Identifier: BSD-2-Clause
// Sets of lines, and the pieces that processors get of them.
#include "oclspkt/line_set.hpp"

#include <gtest/gtest.h>

#include <set>
#include <vector>

#include "oclspkt/error.hpp"
#include "pieces.hpp"

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

/// Every row of the lines is in one piece, in the order of places; chains name the pieces that hold a line.
void expect_covers(const LineSet& lines, const std::vector<Piece>& pieces) {
  std::vector<int> seen(static_cast<std::size_t>(lines.extent()), 0);
  Index rows = 0;
  for (std::size_t p = 0; p < pieces.size(); ++p) {
    const Piece& piece = pieces[p];
    rows += piece.lines.rows();
    for (Index l = 0; l < piece.lines.count(); ++l) {
      for (Index i = 0; i < piece.lines.length(l); ++i) {
        ++seen[static_cast<std::size_t>(piece.first + piece.lines.first(l) + i * piece.lines.row_stride())];
      }
    }
    for (const std::vector<int>& chain : piece.cuts.chains) {
      EXPECT_NE(std::find(chain.begin(), chain.end(), static_cast<int>(p)), chain.end());
    }
  }
  EXPECT_EQ(rows, lines.rows());
  for (Index l = 0; l < lines.count(); ++l) {
    for (Index i = 0; i < lines.length(l); ++i) {
      EXPECT_EQ(seen[static_cast<std::size_t>(lines.first(l) + i * lines.row_stride())], 1);
    }
  }
}

TEST(Pieces, CutOneLineWhereItIsAsked) {
  const LineSet line = LineSet::one(100'000);
  const auto pieces = cut_into_pieces(line, std::vector<Index>{30'000, 50'000, 20'000});
  ASSERT_EQ(pieces.size(), 3u);
  expect_covers(line, pieces);
  EXPECT_EQ(pieces[1].first, 30'000);
  EXPECT_EQ(pieces[1].lines, LineSet::one(50'000));
  ASSERT_EQ(pieces[1].cuts.chains.size(), 2u);
  EXPECT_EQ(pieces[1].cuts.chains[1], (std::vector<int>{0, 1, 2}));
}

TEST(Pieces, LeaveShortLinesWhole) {
  const LineSet lines = LineSet::equal(1000, 100);
  const auto pieces = cut_into_pieces(lines, std::vector<Index>{33'333, 66'667});
  ASSERT_EQ(pieces.size(), 2u);
  expect_covers(lines, pieces);
  for (const Piece& piece : pieces) EXPECT_TRUE(piece.cuts.chains.empty());
  EXPECT_EQ(pieces[0].lines, LineSet::equal(333, 100));
  EXPECT_EQ(pieces[1].first_line, 333);
}

TEST(Pieces, CutAFewLongLines) {
  const LineSet lines = LineSet::unequal({0, 40'000, 40'000, 100'000});
  const auto pieces = cut_into_pieces(lines, std::vector<Index>{20'000, 60'000, 20'000});
  ASSERT_EQ(pieces.size(), 3u);
  expect_covers(lines, pieces);
  EXPECT_EQ(pieces[1].lines.count(), 3) << "one of them has no rows";
  EXPECT_EQ(pieces[1].cuts.number, (std::vector<Index>{0, 1, 2}));
}

TEST(Pieces, GiveBlocksAsAWholeAndCutTheOnlyOne) {
  const LineSet along_y = LineSet::grid_axis(1, 10, 20, 30), along_z = LineSet::grid_axis(2, 10, 20, 30);
  const std::vector<Index> rows{1'500, 4'500};
  const auto blocks = cut_into_pieces(along_y, rows), planes = cut_into_pieces(along_z, rows);
  ASSERT_EQ(blocks.size(), 2u);
  ASSERT_EQ(planes.size(), 2u);
  expect_covers(along_y, blocks);
  expect_covers(along_z, planes);
  EXPECT_TRUE(blocks[1].cuts.chains.empty());
  EXPECT_EQ(planes[1].cuts.chains, (std::vector<std::vector<int>>{{0, 1}}));
}

TEST(Pieces, OfNoRowsAreLeftOut) {
  const LineSet line = LineSet::one(1000);
  const auto pieces = cut_into_pieces(line, std::vector<Index>{0, 1000, 0});
  ASSERT_EQ(pieces.size(), 1u);
  EXPECT_EQ(pieces[0].owner, 1u);
  EXPECT_TRUE(pieces[0].cuts.chains.empty());
  EXPECT_EQ(pieces[0].lines, line);
  EXPECT_TRUE(cut_into_pieces(LineSet::one(0), std::vector<Index>{0, 0}).empty());
  EXPECT_EQ(cut_into_pieces(LineSet::one(3), std::vector<Index>{1, 2}).size(), 1u);
}

TEST(Pieces, CoverEveryRowWhateverIsAsked) {
  for (const LineSet& lines :
       {LineSet::one(7919), LineSet::equal(13, 611), LineSet::unequal({0, 1, 1, 5000, 5003, 7000}),
        LineSet::grid_axis(1, 7, 33, 5), LineSet::grid_axis(2, 7, 33, 5), LineSet::strided(40, 9, 7, 1, 3, 400)}) {
    for (Index first = 0; first <= lines.rows(); first += lines.rows() / 17 + 1) {
      const Index rest = lines.rows() - first;
      expect_covers(lines, cut_into_pieces(lines, std::vector<Index>{first, rest / 3, rest - rest / 3}));
    }
  }
}

}  // namespace
}  // namespace oclspkt
