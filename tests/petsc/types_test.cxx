// SPDX-License-Identifier: BSD-2-Clause
// What vectors and matrices of -oclspkt_types could get wrong, case by case: each was wrong in a type that lacked an
// operation, or in a trial of these. The options of the program have what is not valid on the host made NaN.
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cstring>
#include <numeric>

#include "grid_problem.hxx"
#include "types_support.hxx"

namespace oclspkt::test {
namespace {

TEST(Types, WorkOnTheDevice) {
  const Owned x(100), y(100);
  OK(VecSet(x, 2));
  EXPECT_TRUE(is_away(x));
  OK(VecCopy(x, y));
  OK(VecAXPY(y, 3, x));
  EXPECT_TRUE(is_away(y));
  EXPECT_EQ(norm_of(y, NORM_INFINITY), 8);
  EXPECT_TRUE(is_away(y)) << "a norm took it to the host";
}

TEST(Types, KeepTheNamesOfPetsc) {
  const Owned x(10);
  VecType type;
  OK(VecGetType(x, &type));
  EXPECT_STREQ(type, PetscGlobalSize == 1 ? VECSEQ : VECMPI);
}

TEST(Types, TheNormAfterAProductIsNotTheCachedOneOfBefore) {
  HeldMat A = second_differences(50);
  const Owned x(50), y(50), z(50);
  const PetscInt rows = 50 * PetscGlobalSize;
  OK(VecSet(x, 1));
  OK(VecSet(y, 3));
  EXPECT_NEAR(norm_of(y), 3 * std::sqrt(rows), 1e-12);
  OK(MatMult(A, x, y));
  EXPECT_NEAR(norm_of(y), std::sqrt(2.), 1e-14);
  OK(MatMultTranspose(A, x, y));
  OK(VecSet(z, 1));
  OK(MatMultAdd(A, x, z, y));
  EXPECT_NEAR(norm_of(y), std::sqrt(rows + 6.), 1e-12);
  OK(MatMultTransposeAdd(A, x, y, y));
  EXPECT_NEAR(norm_of(y), std::sqrt(rows + 16.), 1e-12);
}

TEST(Types, WhatIsWrittenThroughASubVectorReachesItsVector) {
  const Owned x(20);
  expect_parts_written(x);
}

TEST(Types, AnArrayThatIsKeptSeesAndMakesChanges) {
  const Owned x(8), ones(8);
  PetscScalar* a;
  OK(VecSet(x, 1));
  OK(VecSet(ones, 1));
  OK(VecGetArray(x, &a));
  OK(VecScale(x, 2));
  EXPECT_EQ(a[7], 2);
  std::fill_n(a, 8, 7);
  EXPECT_EQ(dot(x, ones), 56 * PetscGlobalSize);
  OK(VecSet(x, 3));
  EXPECT_EQ(a[0], 3);
  OK(VecRestoreArray(x, &a));
  OK(VecScale(x, 2));
  EXPECT_TRUE(is_away(x)) << "it stays on the host after its array came back";
}

TEST(Types, ADuplicateHasValuesOfItsOwn) {
  const Owned x(8), tag(1);
  OK(PetscObjectCompose((PetscObject)(Vec)x, "tag", (PetscObject)(Vec)tag));
  Vec copy;
  OK(VecSet(x, 1));
  OK(VecDuplicate(x, &copy));
  OK(VecSet(copy, 5));
  OK(VecScale(x, 2));
  EXPECT_TRUE(is_away(copy));
  EXPECT_EQ(norm_of(copy, NORM_INFINITY), 5);
  EXPECT_EQ(norm_of(x, NORM_INFINITY), 2);
  OK(VecDestroy(&copy));
  EXPECT_EQ(norm_of(x, NORM_INFINITY), 2);
}

TEST(Types, AnArrayToBeWrittenHasTheValuesOfBefore) {
  const Owned x(8);
  PetscScalar* a;
  OK(VecSet(x, 4));
  OK(VecGetArrayWrite(x, &a));
  EXPECT_EQ(a[3], 4);
  OK(VecRestoreArrayWrite(x, &a));
  EXPECT_EQ(norm_of(x, NORM_INFINITY), 4);
}

TEST(Types, ATypeSetAgainKeepsTheValues) {
  const Owned x(8);
  OK(VecSet(x, 4));
  OK(VecSetType(x, VECSTANDARD));
  OK(VecSetFromOptions(x));
  EXPECT_EQ(norm_of(x, NORM_INFINITY), 4);
  OK(VecSetType(x, PetscGlobalSize == 1 ? VECSEQ : VECMPI));
  EXPECT_EQ(norm_of(x, NORM_INFINITY), 4);
}

TEST(Types, VectorsWithoutRowsAreWorkedOn) {
  const Owned x(PetscGlobalRank == 0 ? 0 : 3), y(PetscGlobalRank == 0 ? 0 : 3);
  const PetscReal rows = 3 * (PetscGlobalSize - 1);
  OK(VecSet(x, 2));
  OK(VecCopy(x, y));
  OK(VecAXPY(y, 1, x));
  OK(VecPointwiseMult(y, y, x));
  EXPECT_EQ(dot(x, y), 16 * rows);
  EXPECT_EQ(norm_of(y, NORM_1), 8 * rows);
  EXPECT_EQ(norm_of(y, NORM_INFINITY), rows > 0 ? 8 : 0);
  EXPECT_NEAR(norm_of(y), 8 * std::sqrt(rows), 1e-13);
}

TEST(Types, MixWithVectorsOfTheHostInEveryPlace) {
  const std::vector<PetscScalar> w0{1, -2, 3}, x0{4, 5, -6}, y0{-7, 2, 9};
  for (const Operation& operation : kOperations) {
    const Owned w(w0, false), x(x0, false), y(y0, false);
    OK(operation.run({w, x, y, 2, -3, .5}));
    for (int dressed = 1; dressed < 8; ++dressed) {
      SCOPED_TRACE(std::string(operation.name) + " " + std::to_string(dressed));
      const Owned wd(w0, (dressed & 1) != 0), xd(x0, (dressed & 2) != 0), yd(y0, (dressed & 4) != 0);
      for (const Vec v : {(Vec)wd, (Vec)xd, (Vec)yd}) send_away(v);
      OK(operation.run({wd, xd, yd, 2, -3, .5}));
      EXPECT_TRUE(same_numbers(values_of(wd), values_of(w)));
      EXPECT_TRUE(same_numbers(values_of(xd), values_of(x)));
      PetscScalar products[3][2];
      for (const auto& [k, pair] : {std::pair{0, std::pair<Vec, Vec>{w, x}}, {1, {wd, xd}}, {2, {xd, wd}}}) {
        PetscReal square;
        OK(VecDotNorm2(pair.first, pair.second, products[k], &square));
        OK(VecMDot(pair.first, 1, &pair.second, products[k] + 1));
        EXPECT_TRUE(same_number(products[k][0], products[0][0]));
        EXPECT_TRUE(same_number(products[k][1], products[0][0]));
      }
    }
  }
}

TEST(Types, FactorsOfZeroMeanWhatTheyMeanOnTheHost) {
  const std::vector<PetscScalar> strange{kNan, kInf, -kInf, 1, 0, -2};
  const std::vector<PetscScalar> plain{1, 2, 3, 4, 5, 6};
  for (const Operation& operation : kOperations) {
    for (int which = 0; which < 8; ++which) {
      for (int zero = 0; zero < 8; ++zero) {
        SCOPED_TRACE(std::string(operation.name) + " NaN in " + std::to_string(which) + ", 0 in " +
                     std::to_string(zero));
        std::vector<PetscScalar> found[2];
        for (const bool dressed : {false, true}) {
          const Owned w((which & 1) != 0 ? strange : plain, dressed), x((which & 2) != 0 ? strange : plain, dressed),
              y((which & 4) != 0 ? strange : plain, dressed);
          OK(operation.run({w, x, y, (zero & 1) != 0 ? 0. : 2., (zero & 2) != 0 ? 0. : 3., (zero & 4) != 0 ? 0. : 5.}));
          found[dressed] = values_of(w);
        }
        EXPECT_TRUE(same_numbers(found[1], found[0]))
            << testing::PrintToString(found[1]) << " for " << testing::PrintToString(found[0]);
      }
    }
  }
}

/// The Euclidean norm without over- and underflow, which those of many BLAS have.
PetscReal true_norm(const std::vector<PetscScalar>& values) {
  long double squares = 0;
  for (const PetscScalar v : values) squares += static_cast<long double>(v) * v;
  return static_cast<PetscReal>(std::sqrt(squares));
}

/// Of one rank: MPI does not say what the largest of NaN and numbers is.
TEST(Types, NormsOfStrangeNumbersAreRight) {
  const std::vector<PetscScalar> several[] = {
      {1, kNan, 2},        {kNan, 1, 2}, {1, 2, -kInf},  {kInf, kNan, 1},      {3e200, -4e200, 0},
      {3e-200, 4e-200, 0}, {0, 0, 0},    {1e-320, 0, 0}, {3e200, 4e-200, 1.5}, {-1e307, 1e307, 1e307}};
  for (const auto& values : several) {
    SCOPED_TRACE(testing::PrintToString(values));
    PetscReal largest = 0, sum = 0, found[2];
    for (const PetscScalar v : values) {
      largest = std::isnan(v) || std::isnan(largest) ? kNan : std::max(largest, std::abs(v));
      sum += std::abs(v);
    }
    HeldVec v;
    OK(VecCreateSeq(PETSC_COMM_SELF, 3, &v));
    write_values(v, values);
    EXPECT_PRED2(same_number, norm_of(v, NORM_1), sum);
    EXPECT_PRED2(same_number, norm_of(v, NORM_2), true_norm(values));
    EXPECT_PRED2(same_number, norm_of(v, NORM_INFINITY), largest);
    OK(PetscObjectStateIncrease((PetscObject)v)); /* so that PETSc asks again */
    OK(VecNorm(v, NORM_1_AND_2, found));
    EXPECT_PRED2(same_number, found[0], sum);
    EXPECT_PRED2(same_number, found[1], true_norm(values));
    OK(PetscObjectStateIncrease((PetscObject)v));
    EXPECT_PRED2(same_number, norm_of(v, NORM_FROBENIUS), true_norm(values));
  }
}

TEST(Types, OneRanksNanIsEveryRanksNorm) {
  const Owned x(4);
  OK(VecSet(x, 1));
  for (int rank = 0; rank < PetscGlobalSize; ++rank) {
    OK(VecSet(x, 1));
    PetscScalar* array;
    OK(VecGetArray(x, &array));
    if (PetscGlobalRank == rank) array[2] = kNan;
    OK(VecRestoreArray(x, &array));
    for (const NormType type : {NORM_1, NORM_2}) EXPECT_TRUE(std::isnan(norm_of(x, type))) << NormTypes[type];
  }
}

TEST(Types, NormsOfSeveralRanksDoNotOverflow) {
  const Owned x(2);
  OK(VecSet(x, 1e200));
  EXPECT_NEAR(norm_of(x) / 1e200, std::sqrt(2. * PetscGlobalSize), 1e-14);
  OK(VecSet(x, 1e-200));
  EXPECT_NEAR(norm_of(x) / 1e-200, std::sqrt(2. * PetscGlobalSize), 1e-14);
}

TEST(Types, AMatrixScaledByItsDiagonalsMultipliesSo) {
  HeldMat A = second_differences(10);
  const Owned x(10), y(10), scale(10);
  OK(VecSet(x, 1));
  OK(MatMult(A, x, y));
  OK(VecSet(scale, 3));
  OK(MatDiagonalScale(A, scale, scale));
  OK(MatMult(A, x, y));
  EXPECT_NEAR(norm_of(y), 9 * std::sqrt(2.), 1e-13);
}

TEST(Types, StoredValuesOfAMatrixComeBack) {
  HeldMat A = second_differences(10);
  const Owned x(10), y(10);
  OK(VecSet(x, 1));
  OK(MatSetOption(A, MAT_NEW_NONZERO_LOCATIONS, PETSC_FALSE));
  OK(MatStoreValues(A));
  OK(MatScale(A, 3));
  OK(MatMult(A, x, y));
  EXPECT_NEAR(norm_of(y), 3 * std::sqrt(2.), 1e-13);
  OK(MatRetrieveValues(A));
  OK(MatMult(A, x, y));
  EXPECT_NEAR(norm_of(y), std::sqrt(2.), 1e-13);
}

TEST(Types, AMatrixInTheMemoryOfAnotherHasNotItsValues) {
  const Owned x(10), y(10);
  OK(VecSet(x, 1));
  for (int k = 1; k < 20; ++k) {
    HeldMat A = second_differences(10, k);
    OK(MatMult(A, x, y));
    EXPECT_NEAR(norm_of(y), k * std::sqrt(2.), 1e-12);
    OK(MatConvert(A, MATAIJPERM, MAT_INPLACE_MATRIX, &A));
    OK(MatMult(A, x, y));
    EXPECT_NEAR(norm_of(y), k * std::sqrt(2.), 1e-12);
  }
}

TEST(Types, TenThousandVectorsComeAndGoWithoutGrowth) {
#ifdef __SANITIZE_ADDRESS__
  GTEST_SKIP() << "the sanitizer keeps memory that was given back";
#endif
  const Owned x(3);
  PetscLogDouble before = 0, after = 0;
  OK(VecSet(x, 1));
  for (int k = 0; k < 10000; ++k) {
    const HeldVec y = duplicate(x);
    OK(VecWAXPY(y, 1, x, x));
    if (k % 100 == 0) { /* what is enqueued and not done takes room, too */
      EXPECT_EQ(norm_of(y, NORM_INFINITY), 2);
    }
    if (k == 2000) {
      OK(PetscMemoryGetCurrentUsage(&before));
    }
  }
  OK(PetscMemoryGetCurrentUsage(&after));
  EXPECT_LE(after - before, 1e6) << "bytes of 8000 vectors";
  EXPECT_EQ(norm_of(x, NORM_INFINITY), 1);
}

TEST(Types, AForkedProcessHasTheValuesOfTheHostAndDoesNotHang) {
  if (PetscGlobalSize > 1) GTEST_SKIP() << "MPI may not be forked";
  const Owned x(5), y(5);
  OK(VecSet(x, 2));
  OK(VecSet(y, 3));
  EXPECT_EQ(values_of(x)[0], 2); /* on the host, too; those of y are not */
  std::fflush(nullptr);
  const pid_t child = fork();
  if (child == 0) {
    alarm(60);
    const ErrorTexts errors;
    const bool right = VecScale(x, 4) == 0 && values_of(x)[4] == 8 && VecScale(y, 4) == PETSC_ERR_LIB &&
                       errors.text().find("forked") != std::string::npos;
    _exit(right ? 0 : 1);
  }
  int status = -1;
  EXPECT_EQ(waitpid(child, &status, 0), child);
  EXPECT_EQ(status, 0);
  OK(VecScale(y, 2));
  EXPECT_EQ(norm_of(y, NORM_INFINITY), 6);
}

TEST(Types, ALongVectorIsZeroWithoutMemoryOfTheHost) {
  constexpr PetscInt kMany = 1000000;
  constexpr int kVectors = 8;
  const Owned first(kMany), placed(kMany);
  const std::vector<PetscScalar> one(kMany, 1);
  HeldVec many[kVectors];
  rusage before, after;
  char* given_back; /* from now on calloc() would take such arrays from memory like this, and fill it */
  OK(PetscMalloc1(30'000'000, &given_back));
  OK(PetscFree(given_back));
  getrusage(RUSAGE_SELF, &before);
  for (HeldVec& v : many) OK(VecDuplicate(first, &v));
  getrusage(RUSAGE_SELF, &after);
  const long pages = kVectors * kMany * long{sizeof(PetscScalar)} / sysconf(_SC_PAGESIZE);
  EXPECT_LT(after.ru_minflt - before.ru_minflt, pages / 4);
  EXPECT_EQ(norm_of(many[0]), 0);
  OK(VecAXPY(many[1], 2, many[2]));
  EXPECT_EQ(norm_of(many[1], NORM_INFINITY), 0);
  OK(VecShift(many[3], 3));
  EXPECT_EQ(values_of(many[3]), std::vector<PetscScalar>(kMany, 3));
  OK(VecPlaceArray(placed, one.data()));
  EXPECT_EQ(norm_of(placed, NORM_INFINITY), 1);
  OK(VecResetArray(placed));
  EXPECT_EQ(norm_of(placed, NORM_INFINITY), 0);
}

TEST(Types, AVectorMayLiveUntilPetscEnds) {
  Vec x;
  OK(VecCreateSeq(PETSC_COMM_SELF, 5, &x));
  OK(VecSet(x, 1));
  OK(PetscObjectRegisterDestroy((PetscObject)x)); /* main() returns what PetscFinalize() does */
}

TEST(Types, WhatKeepsVectorsOverArraysOfOthersIsRefused) { expect_gasm_refused(); }

TEST(Types, RowsOfNoneAndOfAMillionEntriesAreMultiplied) {
  const PetscInt many = 1'000'000, entries[] = {0, many, 0}, row = 1;
  std::vector<PetscInt> columns(static_cast<std::size_t>(many));
  std::iota(columns.begin(), columns.end(), 0);
  const std::vector<PetscScalar> ones(columns.size(), 1);
  HeldMat A;
  HeldVec x, y;
  OK(MatCreateSeqAIJ(PETSC_COMM_SELF, 3, many, 0, entries, &A));
  OK(MatSetValues(A, 1, &row, many, columns.data(), ones.data(), INSERT_VALUES));
  OK(assemble(A));
  OK(MatCreateVecs(A, &x, &y));
  OK(VecSet(x, 2));
  OK(MatMult(A, x, y));
  EXPECT_EQ(norm_of(y, NORM_1), 2. * static_cast<double>(many));
  EXPECT_EQ(norm_of(y, NORM_INFINITY), 2. * static_cast<double>(many));
  OK(VecSet(y, 3));
  OK(MatMultTransposeAdd(A, y, x, x));
  EXPECT_EQ(norm_of(x, NORM_1), 5. * static_cast<double>(many));
  EXPECT_EQ(norm_of(x, NORM_INFINITY), 5);
}

// The preconditioner amid vectors and matrices of -oclspkt_types. What is not valid on the host is NaN.

TEST(Types, ThePreconditionerTakesThemWhereTheyAre) {
  const Matrix A(tridiagonal(2000, -1, 4, -2));
  const Vector x(2000);
  HeldVec right = duplicate(x), solution = duplicate(x);
  const Preconditioner pc(A, "Portable");
  OK(PCSetUp(pc));
  for (const bool transpose : {false, true}) {
    OK((transpose ? MatMultTranspose : MatMult)(A, x, right));
    OK((transpose ? PCApplyTranspose : PCApply)(pc, right, solution));
    EXPECT_TRUE(is_away(solution));
    EXPECT_LE(distance(solution, x), 1e-12);
  }
  expect_in(pc.view(), {"  vectors: on the device, no copy\n"});
}

/// To ask the matrix for a vector is collective: a rank whose device takes vectors did not ask again, one with too few
/// rows for it did.
TEST(Types, SetUpsFollowEachOtherWhereOneRankHasTooFewRowsForItsDevice) {
  const PetscInt rows = PetscGlobalRank == 1 ? 0 : 40;
  HeldMat A = second_differences(rows);
  HeldVec solution, right, expected;
  OK(MatCreateVecs(A, &solution, &right));
  OK(VecDuplicate(solution, &expected));
  OK(VecSet(expected, 3));
  HeldPC pc = make_pc(A, "Portable");
  for (int i = 0; i < 3; ++i) {
    OK(MatScale(A, 2));
    OK(PCSetUp(pc));
    OK(MatMult(A, expected, right));
    OK(PCApply(pc, right, solution));
    EXPECT_LE(distance(solution, expected), 1e-10) << "set-up " << i;
  }
}

TEST(Types, ThePreconditionerSolvesGridsInEveryCombinationAsOfTheHost) {
  const GridProblem problem(PETSC_COMM_WORLD, {3, {21, 12, 7}, 1});
  PetscInt n;
  OK(VecGetLocalSize(problem.right(), &n));
  const Owned right(n, false), expected(n, false);
  OK(VecCopy(problem.right(), right));
  HeldVec solution = duplicate(problem.right());
  for (const PCOCLSPKTCombine combine : kCombines) {
    for (const char* lines : {"x", "z", "x,y,z"}) {
      const LinePreconditioner pc(problem, lines, combine);
      OK(PCSetDM(pc, problem.dm()));
      OK(PCOCLSPKTSetDevices(pc, "Portable"));
      for (const bool transpose : {false, true}) {
        SCOPED_TRACE(std::string(PCOCLSPKTCombines[combine]) + " " + lines + (transpose ? " transposed" : ""));
        send_away(problem.right());
        OK((transpose ? PCApplyTranspose : PCApply)(pc, right, expected));
        const PetscReal size = norm_of(expected, NORM_INFINITY);
        OK(VecSet(solution, kNan));
        OK(PetscObjectStateIncrease((PetscObject)solution));
        OK((transpose ? PCApplyTranspose : PCApply)(pc, problem.right(), solution));
        EXPECT_LE(distance(solution, expected), 1e-12 * size);
      }
    }
  }
}

}  // namespace
}  // namespace oclspkt::test
