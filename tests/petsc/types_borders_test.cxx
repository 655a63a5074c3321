// SPDX-License-Identifier: BSD-2-Clause
// Products of matrices of several ranks by -oclspkt_types, whose messages carry the borders alone: against dense
// matrices of PETSc, which are never dressed. Entries are small integers, so that numbers are exact.

#include <array>
#include <functional>
#include <random>

#include "types_support.hxx"

namespace oclspkt::test {
namespace {

/// Rows of ranks, some without any, and columns of matrices that are not square.
constexpr std::array<PetscInt, 4> kRows{40, 0, 25, 17}, kColumns{13, 30, 0, 22};
PetscInt of_rank(const std::array<PetscInt, 4>& sizes) { return sizes[static_cast<std::size_t>(PetscGlobalRank) % 4]; }

PetscScalar number(PetscInt i, PetscInt j) { return static_cast<PetscScalar>((i * 31 + j * 17) % 9) - 4; }

/// Every row has some entries in columns of this rank and of others.
Mat draw_matrix(PetscInt rows, PetscInt columns, unsigned seed) {
  Mat A;
  PetscInt first, end, n;
  std::mt19937 random(seed + static_cast<unsigned>(PetscGlobalRank));
  MatCreateAIJ(PETSC_COMM_WORLD, rows, columns, PETSC_DETERMINE, PETSC_DETERMINE, 8, nullptr, 8, nullptr, &A);
  MatSetOption(A, MAT_NEW_NONZERO_ALLOCATION_ERR, PETSC_FALSE);
  MatGetOwnershipRange(A, &first, &end);
  MatGetSize(A, nullptr, &n);
  for (PetscInt i = first; i < end; ++i) {
    for (const PetscInt j : {PetscInt{0}, n - 1, static_cast<PetscInt>(random() % static_cast<unsigned>(n)), i % n}) {
      MatSetValue(A, i, j, number(i, j), INSERT_VALUES);
    }
  }
  assemble(A);
  return A;
}

/// Numbers of this rank in a vector: dressed, with its values on the device, or of the host.
class Numbers : public Owned {
 public:
  Numbers(PetscInt local, bool dressed, PetscInt seed) : Owned(local, dressed) {
    std::vector<PetscScalar> values;
    for (PetscInt i = 0; i < local; ++i) values.push_back(number(i + PetscGlobalRank, seed));
    write_values(*this, values);
    VecScale(*this, 2);
  }
};

/// All products of a matrix, of vectors that are dressed, of the host, and of both kinds.
void expect_products_of_dense(Mat A, const std::string& what) {
  HeldMat dense;
  PetscInt rows, columns;
  OK(MatConvert(A, MATDENSE, MAT_INITIAL_MATRIX, &dense));
  OK(MatGetLocalSize(A, &rows, &columns));
  for (const bool transposed : {false, true}) {
    const PetscInt from = transposed ? rows : columns, to = transposed ? columns : rows;
    const auto multiply = transposed ? MatMultTranspose : MatMult;
    const auto multiply_add = transposed ? MatMultTransposeAdd : MatMultAdd;
    for (int dressed = 7; dressed >= 0; --dressed) {
      SCOPED_TRACE(what + (transposed ? " transposed, " : ", ") + std::to_string(dressed) + " dressed");
      const Numbers x(from, (dressed & 1) != 0, 3), y(to, (dressed & 2) != 0, 5), z(to, (dressed & 4) != 0, 7);
      const Numbers host_x(from, false, 3), host_y(to, false, 5), host_z(to, false, 7);
      OK(multiply(A, x, z));
      OK(multiply(dense, host_x, host_z));
      EXPECT_EQ(values_of(z), values_of(host_z));
      OK(multiply_add(A, x, y, z));
      OK(multiply_add(dense, host_x, host_y, host_z));
      EXPECT_EQ(values_of(z), values_of(host_z));
      OK(multiply_add(A, x, z, z));
      OK(multiply_add(dense, host_x, host_z, host_z));
      EXPECT_EQ(values_of(z), values_of(host_z));
    }
  }
}

/// Begins anew with other options of the types, and ends with those of the program.
class TypesBorders : public testing::Test {
 protected:
  static void restart(const char* least, const char* view = "false") {
    OK(PetscOptionsSetValue(nullptr, "-oclspkt_types_least", least));
    OK(PetscOptionsSetValue(nullptr, "-oclspkt_types_view", view));
    OK(PCOCLSPKTFinalizePackage());
    OK(PCOCLSPKTInitializePackage());
  }
  void TearDown() override { restart("1"); }
};

TEST_F(TypesBorders, MultiplyAsDenseOnesDo) {
  HeldMat A = draw_matrix(of_rank(kRows), of_rank(kRows), 1), B = draw_matrix(of_rank(kRows), of_rank(kColumns), 2);
  expect_products_of_dense(A, "square");
  expect_products_of_dense(B, "not square");
}

TEST_F(TypesBorders, RanksWithoutNeighboursNeedNone) {
  HeldMat A;
  PetscInt first, end;
  OK(MatCreateAIJ(PETSC_COMM_WORLD, of_rank(kRows), of_rank(kRows), PETSC_DETERMINE, PETSC_DETERMINE, 1, nullptr, 0,
                  nullptr, &A));
  OK(MatGetOwnershipRange(A, &first, &end));
  for (PetscInt i = first; i < end; ++i) OK(MatSetValue(A, i, i, number(i, i), INSERT_VALUES));
  OK(assemble(A));
  expect_products_of_dense(A, "diagonal");
}

TEST_F(TypesBorders, VectorsThatRanksCutInAnotherWayAreRefused) {
  if (PetscGlobalSize != 3) return;
  HeldMat A = draw_matrix(10 + PetscGlobalRank, 10 + PetscGlobalRank, 1);
  const Numbers right(10 + PetscGlobalRank, true, 1), wrong(10 + (PetscGlobalRank + 1) % 3, true, 1);
  EXPECT_ERROR(MatMultAdd(A, wrong, right, right), PETSC_ERR_ARG_SIZ, "make the vector by MatCreateVecs()");
  EXPECT_ERROR(MatMultTransposeAdd(A, right, wrong, wrong), PETSC_ERR_ARG_SIZ, "make the vector by MatCreateVecs()");
  expect_products_of_dense(A, "after the error");
  const Numbers other(10, true, 1); /* newer PETScs leave vectors locked behind an error */
  OK(VecScale(other, 2));
  EXPECT_TRUE(is_away(other)) << "the device is lost";
}

TEST_F(TypesBorders, FollowTheValues) {
  HeldMat A = draw_matrix(of_rank(kRows), of_rank(kRows), 3), other;
  const Numbers left(of_rank(kRows), true, 1), right(of_rank(kRows), true, 2);
  const PetscInt row[] = {0};
  const PetscInt count = PetscGlobalRank == 0 ? 1 : 0;
  expect_products_of_dense(A, "new");
  OK(MatScale(A, -2));
  expect_products_of_dense(A, "MatScale");
  OK(MatDiagonalScale(A, left, right));
  expect_products_of_dense(A, "MatDiagonalScale");
  OK(MatSetOption(A, MAT_KEEP_NONZERO_PATTERN, PETSC_TRUE));
  OK(MatZeroRows(A, count, row, 3, nullptr, nullptr));
  expect_products_of_dense(A, "MatZeroRows");
  OK(MatZeroRowsColumns(A, count, row, 3, nullptr, nullptr));
  expect_products_of_dense(A, "MatZeroRowsColumns");
  OK(MatDuplicate(A, MAT_COPY_VALUES, &other));
  OK(MatScale(other, 3));
  expect_products_of_dense(other, "MatDuplicate");
  OK(MatCopy(other, A, SAME_NONZERO_PATTERN));
  expect_products_of_dense(A, "MatCopy");
  OK(MatAXPY(A, 2, other, SAME_NONZERO_PATTERN));
  expect_products_of_dense(A, "MatAXPY");
  OK(MatZeroEntries(A));
  expect_products_of_dense(A, "MatZeroEntries");
}

TEST_F(TypesBorders, FollowTheStateOfTheMatrixOfAllRanks) {
  if (PetscGlobalSize == 1) return;
  HeldMat A = draw_matrix(of_rank(kRows), of_rank(kRows), 7);
  expect_products_of_dense(A, "new");
  Mat blocks[2];
  OK(MatMPIAIJGetSeqAIJ(A, blocks, blocks + 1, nullptr));
  for (const Mat block : blocks) {
    PetscObjectState before, after;
    PetscScalar* values;
    MatInfo info;
    OK(PetscObjectStateGet((PetscObject)block, &before));
    OK(MatGetInfo(block, MAT_LOCAL, &info));
    OK(MatSeqAIJGetArray(block, &values));
    for (int k = 0; k < static_cast<int>(info.nz_used); ++k) values[k] += k % 3;
    OK(MatSeqAIJRestoreArray(block, &values));
    OK(PetscObjectStateSet((PetscObject)block, before)); /* what some functions of PETSc leave it at */
    OK(PetscObjectStateGet((PetscObject)block, &after));
    ASSERT_EQ(after, before);
  }
  OK(PetscObjectStateIncrease((PetscObject)A));
  expect_products_of_dense(A, "changed");
}

TEST_F(TypesBorders, FollowThePattern) {
  HeldMat A = draw_matrix(of_rank(kRows), of_rank(kRows), 4);
  PetscInt rows;
  OK(MatGetSize(A, &rows, nullptr));
  expect_products_of_dense(A, "new");
  // One rank needs columns that it had not, and the others do not know.
  if (PetscGlobalRank == 0) {
    for (PetscInt j = 0; j < rows; j += 3) OK(MatSetValue(A, 1, j, 2, INSERT_VALUES));
  }
  OK(assemble(A));
  expect_products_of_dense(A, "MatSetValues");
  OK(MatTranspose(A, MAT_INPLACE_MATRIX, &A));
  expect_products_of_dense(A, "MatTranspose");
  for (const PetscInt step : {1, 7}) {
    std::vector<PetscInt> i, j;
    std::vector<PetscScalar> values;
    PetscInt first, end;
    OK(MatGetOwnershipRange(A, &first, &end));
    for (PetscInt row = first; row < end; ++row) {
      for (const PetscInt column : {row, (row + step) % rows, (row + 30) % rows}) {
        i.push_back(row);
        j.push_back(column);
        values.push_back(number(row, column + step));
      }
    }
    OK(MatSetPreallocationCOO(A, static_cast<PetscInt>(i.size()), i.data(), j.data()));
    OK(MatSetValuesCOO(A, values.data(), INSERT_VALUES));
    expect_products_of_dense(A, "MatSetPreallocationCOO " + std::to_string(step));
  }
}

TEST_F(TypesBorders, RanksBelowTheLimitTakePart) {
  restart("30");
  HeldMat A = draw_matrix(of_rank(kRows), of_rank(kRows), 5);
  const Numbers x(of_rank(kRows), true, 1), z(of_rank(kRows), true, 2);
  OK(MatMult(A, x, z));
  if (of_rank(kRows) > 0) {
    EXPECT_EQ(is_away(z), of_rank(kRows) >= 30) << "where it is worked on";
  }
  expect_products_of_dense(A, "ranks below the limit");
}

TEST_F(TypesBorders, RanksMayDifferInTheirLimits) {
  restart(PetscGlobalRank == 0 ? "1000" : "1");
  HeldMat A = draw_matrix(of_rank(kRows), of_rank(kRows), 8);
  expect_products_of_dense(A, "limits of ranks");
}

TEST_F(TypesBorders, RanksBelowTheLimitAloneLeaveItToPetsc) {
  restart("1000");
  HeldMat A = draw_matrix(of_rank(kRows), of_rank(kRows), 6);
  expect_products_of_dense(A, "all below the limit");
}

/// What -oclspkt_types_view prints, on rank 0.
std::string view_of_types() {
  char* text = nullptr;
  std::size_t size = 0;
  std::FILE* const before = PETSC_STDOUT;
  PETSC_STDOUT = open_memstream(&text, &size);
  PCOCLSPKTFinalizePackage();
  std::fclose(PETSC_STDOUT);
  PETSC_STDOUT = before;
  const std::string printed(text, size);
  std::free(text);
  return printed;
}

TEST_F(TypesBorders, TakeNothingButTheBordersToTheHost) {
  constexpr PetscInt kLocal = 3000, kPlane = 50, kProducts = 10;
  if (PetscGlobalSize == 1) return;
  for (const bool transposed : {false, true}) {
    restart("1", "true");
    Mat A = second_differences(kLocal, 1, kPlane);
    {
      const Numbers x(kLocal, true, 1), y(kLocal, true, 2), z(kLocal, true, 3);
      for (PetscInt k = 0; k < kProducts / 2; ++k) {
        OK((transposed ? MatMultTranspose : MatMult)(A, x, z));
        OK((transposed ? MatMultTransposeAdd : MatMultAdd)(A, z, y, x));
      }
    }
    const std::string view = view_of_types();
    OK(MatDestroy(&A));                                                            /* after the types have ended */
    const long down = kProducts * kPlane * static_cast<long>(sizeof(PetscScalar)); /* rank 0 has one neighbour */
    if (PetscGlobalRank == 0) {
      expect_in(view, {" " + std::to_string(down) + " down", "copied up 3 times, down 0 times"});
      EXPECT_FALSE(contains(view, "by the host")) << view;
      EXPECT_TRUE(contains(view, std::to_string(PetscGlobalSize) + " ranks of this node take turns on it")) << view;
    }
  }
}

TEST_F(TypesBorders, SumsOfRanksAreOneMessage) {
  const Numbers x(20, true, 1), y(20, true, 2), z(20, true, 3);
  const Vec several[] = {x, y, z};
  PetscScalar products[3];
  PetscReal norms[2];
  const std::pair<const char*, std::function<PetscErrorCode()>> sums[] = {
      {"VecDot", [&] { return VecDot(x, y, products); }},
      {"VecMDot", [&] { return VecMDot(x, 3, several, products); }},
      {"VecMTDot", [&] { return VecMTDot(x, 3, several, products); }},
      {"VecDotNorm2", [&] { return VecDotNorm2(x, y, products, norms); }},
      {"VecNorm 1", [&] { return VecNorm(x, NORM_1, norms); }},
      {"VecNorm 2", [&] { return VecNorm(x, NORM_2, norms); }},
      {"VecNorm infinity", [&] { return VecNorm(x, NORM_INFINITY, norms); }},
      {"VecNorm 1 and 2", [&] { return VecNorm(x, NORM_1_AND_2, norms); }},
      {"split",
       [&] {
         VecDotBegin(x, y, products);
         VecNormBegin(z, NORM_2, norms);
         VecMDotBegin(y, 2, several, products + 1);
         VecDotEnd(x, y, products);
         VecNormEnd(z, NORM_2, norms);
         return VecMDotEnd(y, 2, several, products + 1);
       }},
  };
  for (const auto& [name, sum] : sums) {
    for (const Vec v : several) OK(PetscObjectStateIncrease((PetscObject)v)); /* so that norms are not remembered */
    const PetscLogDouble before = petsc_allreduce_ct;
    OK(sum());
    EXPECT_LE(petsc_allreduce_ct - before, 1) << name;
    const Numbers host_x(20, false, 1), host_y(20, false, 2), host_z(20, false, 3);
    if (std::string(name) == "split") {
      EXPECT_EQ(products[2], dot(host_y, host_y));
      EXPECT_EQ(products[0], dot(host_x, host_y));
      EXPECT_NEAR(norms[0], norm_of(host_z), 1e-13 * norm_of(host_z));
    } else if (std::string(name) == "VecNorm 1 and 2") {
      EXPECT_EQ(norms[0], norm_of(host_x, NORM_1));
      EXPECT_NEAR(norms[1], norm_of(host_x), 1e-13 * norm_of(host_x));
    }
  }
}

}  // namespace
}  // namespace oclspkt::test
