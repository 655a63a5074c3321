// SPDX-License-Identifier: BSD-2-Clause
/* Grids of more rows than 32 bits count, without a vector of theirs: two ranks cut the lines along one axis. */
#include "lines.hxx"
#include "support.hxx"

namespace oclspkt::test {
namespace {

using petsc::Grid;
using petsc::kAxes;
using petsc::LineLayout;

/// A grid whose axis `cut` is shared by two ranks, of which this one is `rank`.
Grid shared_grid(const std::array<Index, kAxes>& nodes, std::size_t cut, Index first_width, std::size_t rank) {
  Grid grid;
  grid.axes = kAxes;
  grid.nodes = nodes;
  for (std::size_t a = 0; a < kAxes; ++a) grid.widths[a] = {nodes[a]};
  grid.widths[cut] = {first_width, nodes[cut] - first_width};
  grid.place[cut] = rank;
  return grid;
}

LineLayout layout_of(const Grid& grid, std::size_t axis) {
  LineLayout layout;
  layout.lines = lines_along(grid, axis);
  cut_lines(grid, axis, layout);
  return layout;
}

/// Global rows are PetscInt: with 32 bits PETSc itself makes no such grid.
bool rows_fit() { return sizeof(PetscInt) == 8; }

TEST(HugeGrid, LinesAlongZHaveTheirNeighboursOnTheOtherRank) {
  if (!rows_fit()) GTEST_SKIP() << "this PETSc has 32-bit indices";
  constexpr Index kX = 50000, kY = 3, kZ = 100000, kFirst = 60000;
  const LineLayout upper = layout_of(shared_grid({kX, kY, kZ}, 2, kFirst, 0), 2),
                   lower = layout_of(shared_grid({kX, kY, kZ}, 2, kFirst, 1), 2);
  EXPECT_EQ(upper.lines.rows(), kX * kY * kFirst);
  EXPECT_EQ(lower.lines.rows(), kX * kY * (kZ - kFirst));
  ASSERT_EQ(upper.lines.count(), kX * kY);
  for (const Index line : {Index{0}, kX - 1, kX, kX * kY - 1}) {
    const auto l = static_cast<std::size_t>(line);
    EXPECT_EQ(upper.above[l], -1);
    EXPECT_EQ(upper.below[l], kX * kY * kFirst + line) << line;
    EXPECT_EQ(lower.above[l], kX * kY * (kFirst - 1) + line) << line;
    EXPECT_EQ(lower.below[l], -1);
    EXPECT_EQ(upper.cuts.number[l], line);
    EXPECT_EQ(upper.lines.first(line) + (kFirst - 1) * upper.lines.row_stride(), lower.above[l]) << "the same row";
  }
}

TEST(HugeGrid, LinesAlongYOfSeveralUnknownsHaveThemToo) {
  if (!rows_fit()) GTEST_SKIP() << "this PETSc has 32-bit indices";
  constexpr Index kX = 3, kY = 100000, kZ = 20000, kFirst = 50000, kUnknowns = 2;
  Grid grid = shared_grid({kX, kY, kZ}, 1, kFirst, 0);
  grid.unknowns = kUnknowns;
  const LineLayout layout = layout_of(grid, 1);
  ASSERT_EQ(layout.lines.rows(), kX * kFirst * kZ * kUnknowns);
  ASSERT_EQ(layout.below.size(), static_cast<std::size_t>(kX * kZ * kUnknowns));
  for (const Index k : {Index{0}, Index{1}, kZ - 1}) {
    for (Index in_row = 0; in_row < kX * kUnknowns; ++in_row) {  // along x: node by node, unknown by unknown
      const auto l = static_cast<std::size_t>(k * kX * kUnknowns + in_row);
      const Index other_rank = kX * kFirst * kZ * kUnknowns;
      EXPECT_EQ(layout.below[l], other_rank + k * kX * (kY - kFirst) * kUnknowns + in_row);
      EXPECT_EQ(layout.above[l], -1);
    }
  }
}

TEST(HugeGrid, GivenLinesSayTheirNumbersWhole) {
  if (!rows_fit()) GTEST_SKIP() << "this PETSc has 32-bit indices";
  const auto kMost = static_cast<PetscInt>(3'000'000'000);
  const Preconditioner pc;
  const PetscInt number = 0, row = 0, starts[] = {0, kMost};
  HeldIS lines, ends, rows;
  OK(ISCreateGeneral(PETSC_COMM_SELF, 1, &number, PETSC_COPY_VALUES, &lines));
  OK(ISCreateGeneral(PETSC_COMM_SELF, 2, starts, PETSC_COPY_VALUES, &ends));
  OK(ISCreateGeneral(PETSC_COMM_SELF, 1, &row, PETSC_COPY_VALUES, &rows));
  EXPECT_ERROR(PCOCLSPKTSetLines(pc, lines, ends, rows), PETSC_ERR_ARG_OUTOFRANGE,
               "the 1 rows of this rank, not 3000000000");
}

}  // namespace
}  // namespace oclspkt::test
