// SPDX-License-Identifier: BSD-2-Clause
#include "extract.hxx"

#include "lines.hxx"
#include "pc_oclspkt.hxx"
#include "support.hxx"

namespace oclspkt::test {
namespace {

int searches(PC pc) { return petsc::data(pc)->first().extraction.searches(); }

/// Solve with the tridiagonal matrix `same` by LU and with the PC of `A`, and compare.
void expect_solves_like(const Matrix& A, const Rows& same) {
  const Preconditioner pc(A);
  const Matrix T(same);
  const Vector b(A.rows()), x(A.rows()), y(A.rows());
  HeldKSP lu = make_ksp(T, PCLU);
  OK(PCApply(pc, b, x));
  OK(PCApply(pc_of(lu), b, y));
  EXPECT_LE(distance(x, y), 1e-13);
}

TEST(Extraction, TakesTheBandsOfATridiagonalMatrix) {
  for (const PetscInt n : {1, 2, 3, 4, 31, 1000}) {
    const Rows rows = tridiagonal(n, -1, 4, -2);
    expect_solves_like(Matrix(rows), rows);
  }
}

TEST(Extraction, TakesColumnsInAnyOrder) {
  Rows rows = tridiagonal(50, -1, 4, -2), shuffled = rows;
  for (auto& row : shuffled) std::reverse(row.begin(), row.end());
  expect_solves_like(Matrix(shuffled), rows);
}

TEST(Extraction, IgnoresAndCountsWhatIsOffTheBands) {
  Rows rows = tridiagonal(40, -1, 4, -2), wider = rows;
  for (PetscInt i = 5; i < 40; ++i) wider[static_cast<std::size_t>(i)].insert(wider[i].begin(), {i - 5, -0.5});
  const Matrix A(wider);
  expect_solves_like(A, rows);
  const Preconditioner pc(A);
  OK(PCSetUp(pc));
  EXPECT_EQ(ignored(pc), 35);
  expect_in(pc.view(), {"ignored: 35 nonzero entries off the three bands"});
}

TEST(Extraction, CountsNoStoredZeros) {
  Rows rows = tridiagonal(40, -1, 4, -2);
  rows[0].emplace_back(39, 0.0);
  const auto& [A, pc, b, x] = System(rows);
  OK(PCSetUp(pc));
  EXPECT_EQ(ignored(pc), 0);
  EXPECT_FALSE(contains(pc.view(), "ignored")) << pc.view();
}

TEST(Extraction, TakesMissingEntriesForZeros) {
  // [0 1; 1 0] blocks: no diagonal is stored, and nothing couples the pairs.
  Rows rows(10);
  for (PetscInt i = 0; i < 10; ++i) rows[static_cast<std::size_t>(i)].emplace_back(i % 2 ? i - 1 : i + 1, 2.0);
  const auto& [A, pc, b, x] = System(rows);
  OK(PCApply(pc, b, x));
  for (PetscInt i = 0; i < 10; ++i) EXPECT_LE(std::abs(x[i] - 0.5 * b[i % 2 ? i - 1 : i + 1]), 1e-15);
}

TEST(Extraction, LooksAgainAtAnotherMatrixOrPattern) {
  const Matrix A(tridiagonal(100, -1, 4, -2));
  Rows reversed = tridiagonal(100, -1, 4, -2);
  for (auto& row : reversed) std::reverse(row.begin(), row.end());
  const Matrix B(reversed);
  const Preconditioner pc(A);
  const Vector b(100), x(100), y(100);
  OK(PCApply(pc, b, x));
  OK(PCSetOperators(pc, B, B));
  OK(PCApply(pc, b, y));
  EXPECT_EQ(searches(pc), 2);
  EXPECT_EQ(distance(x, y), 0);

  HeldMat C;
  OK(MatCreateSeqAIJ(PETSC_COMM_SELF, 100, 100, 3, nullptr, &C));
  for (PetscInt i = 0; i < 100; ++i) OK(MatSetValue(C, i, i, 2, INSERT_VALUES));
  OK(MatSetOption(C, MAT_NEW_NONZERO_ALLOCATION_ERR, PETSC_FALSE));
  OK(assemble(C));
  OK(PCSetOperators(pc, C, C));
  OK(PCApply(pc, b, x));
  EXPECT_LE(std::abs(x[50] - 0.5 * b[50]), 1e-15);
  OK(MatSetValue(C, 50, 51, 2, INSERT_VALUES));
  OK(assemble(C));
  OK(PCApply(pc, b, x));
  EXPECT_EQ(searches(pc), 4);
  EXPECT_LE(std::abs(x[50] - 0.5 * (b[50] - b[51])), 1e-15);
  OK(MatSetValue(C, 3, 50, 7, INSERT_VALUES));  // off the bands
  OK(assemble(C));
  OK(PCSetUp(pc));
  EXPECT_EQ(searches(pc), 5);
  EXPECT_EQ(ignored(pc), 1);
}

TEST(Extraction, LooksThroughLongPatternsPieceByPiece) {
  constexpr PetscInt kLong = 200'000, kMany = 300;  // more entries than a slot counts
  const Rows rows = tridiagonal(kLong, -1, 4, -2);
  Rows wider = rows;
  for (const PetscInt i : {PetscInt{10}, PetscInt{65'535}, PetscInt{65'536}, kLong - 1}) {
    auto& row = wider[static_cast<std::size_t>(i)];
    std::reverse(row.begin(), row.end());
    for (PetscInt k = 0; k < kMany; ++k) row.insert(row.begin(), {(i + kLong / 2 + k) % kLong, 0.0});
  }
  expect_solves_like(Matrix(wider), rows);
}

TEST(Extraction, RefusesEntriesStoredTwiceAndNamesTheFirstRow) {
  Rows rows = tridiagonal(200'000, -1, 4, -2);
  for (const PetscInt i : {190'000, 70'000, 140'000}) rows[static_cast<std::size_t>(i)].emplace_back(i, 1.0);
  const auto& [A, pc, b, x] = System(rows);
  EXPECT_ERROR(PCSetUp(pc), PETSC_ERR_ARG_WRONG, "row 70000 ", "MatSetValues");
}

/// The rows before and behind each place, line by line.
std::vector<std::array<PetscInt, 2>> neighbours(const petsc::LineLayout& layout, PetscInt first_row) {
  const LineSet& lines = layout.lines;
  std::vector<std::array<PetscInt, 2>> all(static_cast<std::size_t>(lines.rows()), {-7, -7});
  for (Index l = 0; l < lines.count(); ++l) {
    const auto line = static_cast<std::size_t>(l);
    for (Index i = 0; i < lines.length(l); ++i) {
      const Index place = lines.first(l) + i * lines.row_stride();
      const bool top = i == 0, bottom = i + 1 == lines.length(l);
      all[static_cast<std::size_t>(place)] = {!top           ? first_row + layout.row(place - lines.row_stride())
                                              : layout.cut() ? layout.above[line]
                                                             : -1,
                                              !bottom        ? first_row + layout.row(place + lines.row_stride())
                                              : layout.cut() ? layout.below[line]
                                                             : -1};
    }
  }
  return all;
}

TEST(Neighbours, AreThoseOfTheLinesWhereverAPieceBegins) {
  for (const LineSet& lines :
       {LineSet::one(1), LineSet::one(17), LineSet::equal(5, 3), LineSet::equal(4, 1),
        LineSet::unequal({0, 0, 3, 3, 3, 4, 9, 9}), LineSet::grid_axis(0, 3, 2, 4), LineSet::grid_axis(1, 3, 2, 4),
        LineSet::grid_axis(2, 3, 2, 4), LineSet::grid_axis(1, 3, 1, 4), LineSet::strided(4, 2, 2, 1, 3, 8)}) {
    ASSERT_TRUE(lines.gapless()) << lines.describe();
    for (const bool cut : {false, true}) {
      for (const bool moved : {false, true}) {
        SCOPED_TRACE(lines.describe() + (cut ? ", cut" : "") + (moved ? ", moved" : ""));
        petsc::LineLayout layout;
        layout.lines = lines;
        for (Index l = 0; cut && l < lines.count(); ++l) {
          layout.above.push_back(static_cast<PetscInt>(1000 + l));
          layout.below.push_back(static_cast<PetscInt>(2000 + l));
        }
        for (Index i = 0; moved && i < lines.rows(); ++i) {
          layout.rows.push_back(static_cast<PetscInt>(lines.rows() - 1 - i));
        }
        const auto expected = neighbours(layout, 100);
        for (Index first = 0; first < lines.rows(); ++first) {
          for (Index end = first; end <= lines.rows(); ++end) {
            Index next = first;
            petsc::for_neighbours(layout, 100, first, end, [&](Index place, PetscInt above, PetscInt below) {
              EXPECT_EQ(place, next++);
              EXPECT_EQ(above, expected[static_cast<std::size_t>(place)][0]) << place;
              EXPECT_EQ(below, expected[static_cast<std::size_t>(place)][1]) << place;
            });
            EXPECT_EQ(next, end);
          }
        }
      }
    }
  }
}

// Grids of more rows than 32 bits count, without a vector of theirs: two ranks cut the lines along one axis.

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
  const HeldIS lines = indices({0}), ends = indices({0, kMost}), rows = indices({0});
  EXPECT_ERROR(PCOCLSPKTSetLines(pc, lines, ends, rows), PETSC_ERR_ARG_OUTOFRANGE,
               "the 1 rows of this rank, not 3000000000");
}

}  // namespace
}  // namespace oclspkt::test
