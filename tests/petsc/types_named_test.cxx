// SPDX-License-Identifier: BSD-2-Clause
// The types `opencl` and `aijopencl`, without -oclspkt_types. What is not valid on the host is NaN.

#include <set>
#include <utility>

#include "grid_problem.hxx"
#include "oclspkt/oclspkt_vec.h"
#include "types_support.hxx"

namespace oclspkt::test {
namespace {

const char* mat_name() { return PetscGlobalSize == 1 ? "seqaijopencl" : "mpiaijopencl"; }

std::string type_of(Vec v) { return ((PetscObject)v)->type_name; }
std::string type_of(Mat a) { return ((PetscObject)a)->type_name; }

/// The square matrix of all ranks with rows (-1, 2 + shift, -1).
Mat make_mat(PetscInt local, const char* type, PetscScalar shift = 0) {
  Mat a;
  MatCreate(PETSC_COMM_WORLD, &a);
  MatSetSizes(a, local, local, PETSC_DETERMINE, PETSC_DETERMINE);
  MatSetType(a, type);
  MatSeqAIJSetPreallocation(a, 3, nullptr);
  MatMPIAIJSetPreallocation(a, 3, nullptr, 2, nullptr);
  fill_differences(a, -1, 2 + shift, 1);
  return a;
}

void expect_same_products(Mat a, Mat b) {
  PetscBool same = PETSC_FALSE;
  OK(MatMultEqual(a, b, 3, &same));
  EXPECT_TRUE(same);
  OK(MatMultTransposeEqual(a, b, 3, &same));
  EXPECT_TRUE(same);
  OK(MatMultAddEqual(a, b, 3, &same));
  EXPECT_TRUE(same);
}

TEST(TypesNamed, VectorsAreOnTheDeviceAndKeepTheirName) {
  HeldVec x = make_vec(100, VECOPENCL), copy;
  EXPECT_EQ(type_of(x), VECOPENCL);
  OK(VecSet(x, 2));
  EXPECT_TRUE(is_away(x));
  OK(VecDuplicate(x, &copy));
  EXPECT_EQ(type_of(copy), VECOPENCL);
  OK(VecCopy(x, copy));
  OK(VecAXPY(copy, 3, x));
  EXPECT_TRUE(is_away(copy));
  EXPECT_EQ(norm_of(copy, NORM_1), 800 * PetscGlobalSize);
  Vec* several;
  OK(VecDuplicateVecs(x, 3, &several));
  for (int k = 0; k < 3; ++k) EXPECT_EQ(type_of(several[k]), VECOPENCL);
  OK(VecDestroyVecs(3, &several));
}

TEST(TypesNamed, OtherVectorsAreTheHosts) {
  HeldVec x = make_vec(100, VECSTANDARD);
  OK(VecSet(x, 2));
  EXPECT_FALSE(is_away(x));
}

TEST(TypesNamed, ATypeSetAgainKeepsTheValues) {
  HeldVec x = make_vec(8, VECOPENCL);
  OK(PetscOptionsSetValue(nullptr, "-named_vec_type", VECOPENCL));
  OK(VecSetOptionsPrefix(x, "named_"));
  OK(VecSet(x, 4));
  OK(VecSetType(x, VECOPENCL));
  OK(VecSetFromOptions(x));
  OK(VecSetFromOptions(x));
  EXPECT_EQ(norm_of(x, NORM_INFINITY), 4);
  OK(PetscOptionsClearValue(nullptr, "-named_vec_type"));
  OK(VecSetType(x, VECSTANDARD));
  OK(VecSet(x, 3));
  EXPECT_FALSE(is_away(x)) << "it is the device's under the host's name";
  OK(VecSetType(x, VECOPENCL));
  OK(VecSet(x, 5));
  EXPECT_TRUE(is_away(x));
  EXPECT_EQ(norm_of(x, NORM_INFINITY), 5);
}

TEST(TypesNamed, WhatIsWrittenThroughASubVectorReachesItsVector) {
  HeldVec x = make_vec(20, VECOPENCL);
  expect_parts_written(x);
  EXPECT_EQ(type_of(x), VECOPENCL);
}

TEST(TypesNamed, ALocalVectorHasTheValuesOfItsVector) {
  HeldVec x = make_vec(20, VECOPENCL), local;
  OK(VecSet(x, 3));
  OK(VecCreateLocalVector(x, &local));
  OK(VecGetLocalVector(x, local));
  OK(VecScale(local, 2));
  OK(VecRestoreLocalVector(x, local));
  EXPECT_EQ(norm_of(x, NORM_1), 120 * PetscGlobalSize);
}

TEST(TypesNamed, MatricesMultiplyOnTheDeviceAndKeepTheirName) {
  HeldMat a = make_mat(50, MATAIJOPENCL), plain = make_mat(50, MATAIJ), copy;
  HeldVec x, y;
  EXPECT_EQ(type_of(a), mat_name());
  OK(MatCreateVecs(a, &x, &y));
  EXPECT_EQ(type_of(x), VECOPENCL);
  EXPECT_EQ(type_of(y), VECOPENCL);
  OK(VecSet(x, 1));
  EXPECT_TRUE(is_away(x));
  OK(MatMult(a, x, y));
  if (PetscGlobalSize == 1) {
    EXPECT_TRUE(is_away(y));
  }
  EXPECT_NEAR(norm_of(y, NORM_1), 2, 1e-14);
  expect_same_products(a, plain);
  OK(MatDuplicate(a, MAT_COPY_VALUES, &copy));
  EXPECT_EQ(type_of(copy), mat_name());
  OK(MatScale(copy, 3));
  OK(MatScale(plain, 3));
  expect_same_products(copy, plain);
  OK(MatMult(copy, x, y));
  EXPECT_NEAR(norm_of(y, NORM_1), 6, 1e-13);
}

TEST(TypesNamed, AMatrixOfSeveralRanksMayHaveOne) {
  if (PetscGlobalSize > 1) GTEST_SKIP() << "of one rank";
  HeldMat a = make_mat(50, "mpiaijopencl"), plain = make_mat(50, MATMPIAIJ);
  Mat diagonal = nullptr;
  EXPECT_EQ(type_of(a), "mpiaijopencl");
  OK(MatMPIAIJGetSeqAIJ(a, &diagonal, nullptr, nullptr));
  EXPECT_EQ(type_of(diagonal), MATSEQAIJ);
  expect_same_products(a, plain);
}

TEST(TypesNamed, BlocksKeepTheirNameAndAreDressed) {
  if (PetscGlobalSize == 1) GTEST_SKIP() << "of several ranks";
  HeldMat a = make_mat(50, MATAIJOPENCL);
  Mat diagonal;
  HeldVec x, y, local, result;
  OK(MatCreateVecs(a, &x, &y));
  OK(VecSet(x, 1));
  OK(MatMult(a, x, y));
  OK(MatMPIAIJGetSeqAIJ(a, &diagonal, nullptr, nullptr));
  EXPECT_EQ(type_of(diagonal), MATSEQAIJ);
  OK(VecCreate(PETSC_COMM_SELF, &local));
  OK(VecSetSizes(local, 50, 50));
  OK(VecSetType(local, VECOPENCL));
  OK(VecDuplicate(local, &result));
  OK(VecSet(local, 1));
  OK(MatMult(diagonal, local, result));
  EXPECT_TRUE(is_away(result)) << "the block is the host's";
}

TEST(TypesNamed, MatricesAreConvertedBothWays) {
  HeldMat plain = make_mat(30, MATAIJ, 1), named, back;
  OK(MatConvert(plain, MATAIJOPENCL, MAT_INITIAL_MATRIX, &named));
  EXPECT_EQ(type_of(named), mat_name());
  expect_same_products(named, plain);
  OK(MatScale(plain, 2));
  OK(MatConvert(plain, MATAIJOPENCL, MAT_REUSE_MATRIX, &named));
  expect_same_products(named, plain);
  OK(MatConvert(named, MATAIJ, MAT_INITIAL_MATRIX, &back));
  EXPECT_EQ(type_of(back), PetscGlobalSize == 1 ? MATSEQAIJ : MATMPIAIJ);
  expect_same_products(back, plain);
  OK(MatConvert(named, MATAIJ, MAT_INPLACE_MATRIX, &named));
  expect_same_products(named, plain);
  OK(MatSetType(named, MATAIJOPENCL));
  EXPECT_EQ(type_of(named), mat_name());
  expect_same_products(named, plain);
}

/// Conversions keep what a matrix has beside its entries, and need no values.
TEST(TypesNamed, MatricesInArraysOfTheProgramAreConverted) {
  const PetscInt begin[] = {0, 2, 4}, first = 2 * PetscGlobalRank, rows = 2 * PetscGlobalSize;
  const PetscInt after = (first + 2) % rows, columns[] = {first, after, first + 1, after};
  const PetscScalar values[] = {1, 2, 3, 4}, later[] = {5, 6, 7, 8};
  if (PetscGlobalSize == 1) GTEST_SKIP() << "of several ranks";
  HeldMat a, plain;
  for (Mat* m : {&a, &plain}) {
    OK(MatCreateMPIAIJWithArrays(PETSC_COMM_WORLD, 2, 2, rows, rows, begin, columns, values, m));
  }
  OK(MatSetType(a, MATAIJOPENCL));
  EXPECT_EQ(type_of(a), mat_name());
  expect_same_products(a, plain);
  for (const Mat m : {(Mat)a, (Mat)plain}) OK(MatUpdateMPIAIJWithArray(m, later));
  expect_same_products(a, plain);
  OK(MatConvert(a, MATAIJ, MAT_INPLACE_MATRIX, &a));
  EXPECT_EQ(type_of(a), MATMPIAIJ);
  for (const Mat m : {(Mat)a, (Mat)plain}) OK(MatUpdateMPIAIJWithArray(m, values));
  expect_same_products(a, plain);
}

TEST(TypesNamed, AMatrixTimesATransposedOne) {
  if (PetscGlobalSize > 1) GTEST_SKIP() << "of one rank";
  HeldMat a = make_mat(30, MATAIJOPENCL, 1), plain = make_mat(30, MATAIJ, 1), c, of_plain;
  OK(MatMatTransposeMult(a, a, MAT_INITIAL_MATRIX, PETSC_DEFAULT, &c));
  OK(MatMatTransposeMult(plain, plain, MAT_INITIAL_MATRIX, PETSC_DEFAULT, &of_plain));
  expect_same_products(c, of_plain);
}

TEST(TypesNamed, AnOrderingIsAPermutationOfTheRanksOwnRows) {
  for (MatOrderingType type : {MATORDERINGRCM, MATORDERINGND, MATORDERINGNATURAL, MATORDERINGROWLENGTH}) {
    SCOPED_TRACE(type);
    std::vector<PetscInt> found[2];
    for (const bool named : {false, true}) {
      HeldMat a = make_mat(12, named ? MATAIJOPENCL : MATAIJ);
      HeldIS rows, columns;
      PetscInt n;
      const PetscInt* places;
      OK(MatGetOrdering(a, type, &rows, &columns));
      OK(ISGetLocalSize(rows, &n));
      OK(ISGetIndices(rows, &places));
      found[named].assign(places, places + n);
      OK(ISRestoreIndices(rows, &places));
      EXPECT_EQ(type_of(a), named ? mat_name() : (PetscGlobalSize == 1 ? MATSEQAIJ : MATMPIAIJ));
    }
    EXPECT_EQ(found[1], found[0]);
    EXPECT_EQ(*std::min_element(found[1].begin(), found[1].end()), 12 * PetscGlobalRank);
    EXPECT_EQ(std::set<PetscInt>(found[1].begin(), found[1].end()).size(), 12);
  }
}

TEST(TypesNamed, ProductsOfMatricesAreThoseOfPetscs) {
  HeldMat a = make_mat(30, MATAIJOPENCL, 1), plain = make_mat(30, MATAIJ, 1), c, of_plain;
  OK(MatPtAP(a, a, MAT_INITIAL_MATRIX, PETSC_DEFAULT, &c));
  OK(MatPtAP(plain, plain, MAT_INITIAL_MATRIX, PETSC_DEFAULT, &of_plain));
  expect_same_products(c, of_plain);
  OK(MatDestroy(&c));
  OK(MatMatMult(a, plain, MAT_INITIAL_MATRIX, PETSC_DEFAULT, &c));
  OK(MatMatMult(plain, plain, MAT_REUSE_MATRIX, PETSC_DEFAULT, &of_plain));
  for (Mat* m : {&c, &of_plain}) OK(MatDestroy(m));
  OK(MatTransposeMatMult(a, a, MAT_INITIAL_MATRIX, PETSC_DEFAULT, &c));
  OK(MatTransposeMatMult(plain, plain, MAT_INITIAL_MATRIX, PETSC_DEFAULT, &of_plain));
  expect_same_products(c, of_plain);
}

TEST(TypesNamed, PetscsSolversTakeThem) {
  HeldMat a = make_mat(40, MATAIJOPENCL, .5);
  HeldVec x, b;
  OK(MatCreateVecs(a, &x, &b));
  OK(VecSet(b, 1));
  for (const char* type : {PCBJACOBI, PCASM, PCSOR, PCJACOBI, PCLU, PCGAMG, PCOCLSPKT}) {
    if (PetscGlobalSize > 1 && std::string(type) == PCLU) continue;
    SCOPED_TRACE(type);
    HeldKSP ksp = make_ksp(a, type);
    OK(KSPSetTolerances(ksp, 1e-12, PETSC_DEFAULT, PETSC_DEFAULT, PETSC_DEFAULT));
    OK(KSPSetFromOptions(ksp));
    OK(VecSet(x, 0));
    OK(KSPSolve(ksp, b, x));
    EXPECT_GT(converged_reason(ksp), 0);
    EXPECT_LE(residual(a, b, x), 1e-10);
  }
}

TEST(TypesNamed, ThePreconditionerTakesThemWhereTheyAre) {
  if (PetscGlobalSize > 1) GTEST_SKIP() << "of one rank";
  HeldMat a = make_mat(2000, MATAIJOPENCL, 2);
  HeldVec x, right, solution;
  OK(MatCreateVecs(a, &x, &right));
  OK(VecDuplicate(x, &solution));
  OK(VecSet(x, 3));
  OK(MatMult(a, x, right));
  HeldPC pc = make_pc(a, "Portable");
  OK(PCSetUp(pc));
  OK(PCApply(pc, right, solution));
  EXPECT_TRUE(is_away(solution));
  EXPECT_LE(distance(solution, x), 1e-12);
  expect_in(view_text((PetscObject)pc), {"  vectors: on the device, no copy\n"});
}

/// A set-up is collective, and which vectors come is known to their rank: the next set-up learns of them, by
/// KSPSolve().
TEST(TypesNamed, AnApplyToVectorsThatTheSetUpDidNotKnowSetsNothingUp) {
  HeldMat a = make_mat(2000, MATAIJ, 2);
  HeldVec x = make_vec(2000, VECOPENCL), right = duplicate(x), solution = duplicate(x);
  OK(VecSet(x, 3));
  OK(MatMult(a, x, right));
  HeldKSP ksp = make_ksp(a, PCOCLSPKT);
  const PC pc = pc_of(ksp);
  OK(KSPSetType(ksp, KSPPREONLY));
  OK(PCOCLSPKTSetDevices(pc, "Portable"));
  OK(PCSetUp(pc));
  const std::string copied = "  vectors: copied: the set-up did not know that they lie on a device";
  OK(PCApply(pc, right, solution));
  EXPECT_LE(distance(solution, x), 1e-12);
  const auto tells = [&] { return contains(view_text((PetscObject)pc), copied) || PetscGlobalRank != 0; };
  EXPECT_TRUE(tells());
  OK(KSPSolve(ksp, right, solution));
  EXPECT_LE(distance(solution, x), 1e-12);
  EXPECT_TRUE(!tells() || PetscGlobalRank != 0);
}

TEST(TypesNamed, GridsMakeThem) {
  const Shape shape{2, {12, 9, 1}, 1};
  const GridProblem named(PETSC_COMM_WORLD, shape, 1.05, VECOPENCL, MATAIJOPENCL), plain(PETSC_COMM_WORLD, shape);
  HeldVec local, x, y;
  EXPECT_EQ(type_of(named.right()), VECOPENCL);
  EXPECT_EQ(type_of(named.matrix()), mat_name());
  OK(DMCreateLocalVector(named.dm(), &local));
  EXPECT_EQ(type_of(local), VECOPENCL);
  for (const Vec v : {named.right(), plain.right()}) OK(VecScale(v, 2));
  EXPECT_TRUE(is_away(named.right()));
  OK(DMGlobalToLocal(named.dm(), named.right(), INSERT_VALUES, local));
  OK(VecDuplicate(named.right(), &y));
  OK(DMLocalToGlobal(named.dm(), local, INSERT_VALUES, y));
  EXPECT_EQ(distance(y, named.right()), 0);
  OK(VecDuplicate(plain.right(), &x));
  OK(MatMult(plain.matrix(), plain.right(), x));
  OK(MatMult(named.matrix(), named.right(), y));
  EXPECT_LE(distance(y, x), 1e-13);
}

TEST(TypesNamed, WhatKeepsVectorsOverArraysOfOthersIsRefused) {
  HeldVec x = make_vec(3, VECOPENCL);
  expect_gasm_refused();
}

/// Calls, copies and bytes that -log_view prints of an event.
PetscEventPerfInfo counted(const char* name) {
  PetscLogEvent event;
  PetscEventPerfInfo info{};
  PetscLogEventGetId(name, &event);
  PetscLogEventGetPerfInfo(0, event, &info);
  return info;
}

TEST(TypesNamed, TheLogHasCopiesAndTheirBytes) {
  HeldVec x = make_vec(1000, VECOPENCL);
  const PetscEventPerfInfo up = counted("OCLSPKTToDevice"), down = counted("OCLSPKTToHost");
  const PetscLogDouble messages = petsc_isend_ct, length = petsc_isend_len;
  for (int round = 0; round < 3; ++round) {
    write_values(x, std::vector<PetscScalar>(1000, 1));
    OK(VecScale(x, 2));
  }
  const PetscEventPerfInfo up_now = counted("OCLSPKTToDevice"), down_now = counted("OCLSPKTToHost");
  EXPECT_EQ(up_now.count - up.count, 3);
  EXPECT_EQ(up_now.numMessages - up.numMessages, 6) << "both ends of a message count";
  EXPECT_EQ(up_now.messageLength - up.messageLength, 48000);
  EXPECT_EQ(down_now.count - down.count, 2);
  EXPECT_EQ(down_now.messageLength - down.messageLength, 32000);
  EXPECT_GT(up_now.time, up.time);
  EXPECT_EQ(petsc_isend_ct, messages) << "copies are messages of MPI";
  EXPECT_EQ(petsc_isend_len, length);
}

TEST(TypesNamed, TheLogHasTheBordersOfProducts) {
  constexpr PetscInt kPlane = 50, kProducts = 3;
  if (PetscGlobalSize == 1) return;
  HeldMat a = second_differences(1000, 1, kPlane);
  HeldVec x, z;
  OK(MatConvert(a, MATAIJOPENCL, MAT_INPLACE_MATRIX, &a));
  OK(MatCreateVecs(a, &x, &z));
  OK(VecSet(x, 1));
  OK(MatMult(a, x, z)); /* brings the matrix up */
  const PetscEventPerfInfo up = counted("OCLSPKTToDevice"), down = counted("OCLSPKTToHost");
  for (PetscInt k = 0; k < kProducts; ++k) OK(MatMult(a, x, z));
  const PetscEventPerfInfo up_now = counted("OCLSPKTToDevice"), down_now = counted("OCLSPKTToHost");
  const int neighbours = (PetscGlobalRank > 0 ? 1 : 0) + (PetscGlobalRank + 1 < PetscGlobalSize ? 1 : 0);
  const PetscLogDouble both_ends = 2. * kProducts * kPlane * neighbours * sizeof(PetscScalar);
  EXPECT_EQ(up_now.count - up.count, kProducts);
  EXPECT_EQ(up_now.messageLength - up.messageLength, both_ends);
  EXPECT_EQ(down_now.count - down.count, kProducts);
  EXPECT_EQ(down_now.messageLength - down.messageLength, both_ends);
}

TEST(TypesNamed, TheLogHasTheirFlops) {
  if (PetscGlobalSize > 1) GTEST_SKIP() << "of one rank";
  HeldMat a = make_mat(100, MATAIJOPENCL);
  HeldVec x, y;
  PetscScalar product, products[2];
  PetscLogDouble before = 0, now = 0;
  OK(MatCreateVecs(a, &x, &y));
  OK(VecSet(x, 1));
  OK(VecSet(y, 2));
  OK(VecDot(x, y, &product));
  const auto since = [&] {
    PetscGetFlops(&now);
    return now - std::exchange(before, now);
  };
  (void)since();
  OK(VecAXPY(y, 3, x));
  EXPECT_EQ(since(), 200);
  OK(VecDot(x, y, &product));
  EXPECT_EQ(since(), 200);
  const Vec both[] = {x, x};
  OK(VecMDot(y, 2, both, products));
  EXPECT_EQ(since(), 400);
  OK(MatMult(a, x, y));
  EXPECT_EQ(since(), 2 * 298);
  HeldPC pc = make_pc(a, "Portable");
  OK(PCOCLSPKTSetMethod(pc, PC_OCLSPKT_METHOD_EXACT_TWOPASS));
  OK(PCSetUp(pc));
  (void)since();
  OK(PCApply(pc, x, y));
  EXPECT_TRUE(is_away(y));
  EXPECT_EQ(since(), 5600) << "56 a row";
}

}  // namespace
}  // namespace oclspkt::test
