// SPDX-License-Identifier: BSD-2-Clause
// Vectors of -oclspkt_types whose device fails.

#include "faults.hpp"
#include "oclspkt/oclspkt.h"
#include "oclspkt/oclspkt_vec.h"
#include "types_support.hxx"

namespace oclspkt::test {
namespace {

constexpr PetscInt kRows = 100;

/// Two vectors, of 1 and of 2 in all places, by types that begin anew.
class TypesLost : public testing::Test {
 protected:
  void SetUp() override {
    OK(PCOCLSPKTFinalizePackage());
    OK(PCOCLSPKTInitializePackage());
    for (Vec* v : {&x_, &y_}) OK(VecCreateSeq(PETSC_COMM_SELF, kRows, v));
    OK(VecSet(x_, 1));
    OK(VecSet(y_, 2));
  }
  /// Have the host have the values, too.
  static void bring_down(Vec v) { (void)values_of(v); }
  static PetscScalar first(Vec v) { return values_of(v)[0]; }
  HeldVec x_, y_;
};

TEST_F(TypesLost, GoOnOnTheHostIfItHasTheValues) {
  bring_down(x_);
  bring_down(y_);
  const Faults faults;
  Faults::at(ocl::Place::launch, -1, 0, 1000000);
  OK(VecAXPY(y_, 3, x_));
  EXPECT_GT(Faults::fired(), 0);
  Faults::none();
  EXPECT_EQ(first(y_), 5);
  EXPECT_EQ(dot(x_, y_), 5 * kRows);
  EXPECT_EQ(Faults::seen(), 0) << "a device that failed was used";
}

TEST_F(TypesLost, SayThatValuesAreLostIfOnlyTheDeviceHasThem) {
  const Faults faults;
  Faults::at(ocl::Place::launch, -1, 0, 1000000);
  EXPECT_ERROR(VecAXPY(y_, 3, x_), PETSC_ERR_LIB, "VecAXPY failed, and values were on a device only");
}

TEST_F(TypesLost, TakeNewValuesInThePlaceOfLostOnes) {
  const Faults faults;
  bring_down(x_);
  Faults::anywhere(-1, 0, 1000000);
  OK(VecCopy(x_, y_));
  EXPECT_EQ(first(y_), 1);
  OK(VecSet(y_, 7));
  EXPECT_EQ(first(y_), 7);
}

TEST_F(TypesLost, LetKspcgSolveWhereConjugateGradientsLoseTheDevice) {
  const Faults faults;
  for (const int first : {0, 25}) {
    SetUp();
    HeldMat a = second_differences(kRows);
    HeldKSP ksp;
    PC pc;
    OK(KSPCreate(PETSC_COMM_SELF, &ksp));
    OK(KSPSetOperators(ksp, a, a));
    OK(KSPSetType(ksp, KSPCGDEVICE));
    OK(KSPGetPC(ksp, &pc));
    OK(PCSetType(pc, PCNONE));
    bring_down(x_);
    bring_down(y_);
    Faults::at(ocl::Place::launch, -1, first, 1000000);
    OK(KSPSolve(ksp, x_, y_));
    EXPECT_GT(Faults::fired(), 0);
    Faults::none();
    EXPECT_GT(converged_reason(ksp), 0);
    OK(MatMult(a, y_, x_));
    OK(VecShift(x_, -1));
    EXPECT_LT(norm_of(x_), 1e-3);
    VecDestroy(&x_);
    VecDestroy(&y_);
  }
}

TEST_F(TypesLost, HaveNoMemoryForKernelsOfTheProgram) {
  const Faults faults;
  struct _cl_mem* memory = nullptr;
  bring_down(y_);
  Faults::anywhere(-1, 0, 1000000);
  OK(VecScale(y_, 3)); /* PETSc's own does it */
  for (const Vec v : {(Vec)x_, (Vec)y_}) {
    EXPECT_ERROR(VecOpenCLGetMemRead(v, &memory, nullptr), PETSC_ERR_LIB, "vectors are on the host");
  }
  EXPECT_EQ(memory, nullptr);
}

TEST_F(TypesLost, SayThatMemoryCannotBeHad) {
  const Faults faults;
  struct _cl_mem* memory = nullptr;
  bring_down(y_);
  OK(PetscObjectStateIncrease((PetscObject)y_));
  PetscScalar* values;
  OK(VecGetArray(y_, &values));
  OK(VecRestoreArray(y_, &values));
  Faults::anywhere(-1, 0, 1000000);
  EXPECT_ERROR(VecOpenCLGetMemRead(y_, &memory, nullptr), PETSC_ERR_LIB, "the device was lost");
  EXPECT_ERROR(VecOpenCLRestoreMemRead(y_, &memory), PETSC_ERR_ORDER, "nobody got the memory");
  EXPECT_EQ(first(y_), 2);
}

TEST_F(TypesLost, WaitAfterEachOperationWhereTheLogIsToBeTrue) {
  for (const char* sync : {"false", "true"}) {
    OK(PetscOptionsSetValue(nullptr, "-oclspkt_types_sync", sync));
    OK(PCOCLSPKTFinalizePackage());
    OK(PCOCLSPKTInitializePackage());
    OK(VecScale(x_, 2));
    const Faults faults;
    Faults::none();
    OK(VecScale(x_, 2));
    EXPECT_EQ(Faults::seen(ocl::Place::launch), 1);
    EXPECT_EQ(Faults::seen(ocl::Place::wait), std::string(sync) == "true" ? 1 : 0);
  }
  OK(PetscOptionsClearValue(nullptr, "-oclspkt_types_sync"));
}

TEST_F(TypesLost, BeginAnewWithThePackage) {
  PetscScalar product = 0;
  EXPECT_EQ(dot(x_, y_), 2 * kRows);
  const Faults faults;
  Faults::none();
  OK(VecDot(x_, y_, &product));
  EXPECT_GT(Faults::seen(ocl::Place::launch), 0);
}

PetscErrorCode multiply(int kind, Mat A, Vec x, Vec y, Vec z) {
  if (kind == 0) return MatMult(A, x, z);
  if (kind == 1) return MatMultTranspose(A, x, z);
  return (kind == 2 ? MatMultAdd : MatMultTransposeAdd)(A, x, y, z);
}

/// The sum of squares of a vector by the host, over all ranks.
PetscScalar squares(Vec v) {
  PetscScalar sum = 0;
  for (const PetscScalar value : values_of(v)) sum += value * value;
  MPI_Allreduce(MPI_IN_PLACE, &sum, 1, MPIU_SCALAR, MPI_SUM, PETSC_COMM_WORLD);
  return sum;
}

/// Calls that a rank makes to its device for a product fail one after the other, each with all behind it; the device of
/// other ranks goes on. Some are left out, of a first product most.
TEST_F(TypesLost, OneRanksDeviceLostInAProductLeavesAllRanksRight) {
  if (PetscGlobalSize == 1) return;
  const PetscScalar n = kRows * PetscGlobalSize;
  struct Case {
    int kind, step;
    bool is_first;
  };
  for (const auto& [kind, step, is_first] : {Case{1, 20, true}, {0, 1, false}, {3, 3, false}}) {
    int fired = 1;
    for (int calls = 0; fired > 0; calls += step) {
      SCOPED_TRACE("product " + std::to_string(kind) + ", call " + std::to_string(calls));
      SetUp();
      HeldMat A = second_differences(kRows);
      HeldVec x, y, z;
      OK(VecCreateMPI(PETSC_COMM_WORLD, kRows, PETSC_DETERMINE, &x));
      OK(VecDuplicate(x, &y));
      OK(VecDuplicate(x, &z));
      OK(VecSet(x, 1));
      OK(VecSet(y, 2));
      bring_down(x);
      bring_down(y);
      if (!is_first) {
        OK(multiply(kind, A, x, y, z));
      }
      {
        const Faults faults;
        if (PetscGlobalRank == 1) Faults::anywhere(-1, calls, 1000000);
        OK(multiply(kind, A, x, y, z));
        fired = Faults::fired();
      }
      EXPECT_EQ(squares(z), kind < 2 ? 2 : 4 * (n - 2) + 2 * 9) << "the ends of A x are 1, all else is 0";
      OK(assemble(A));
      OK(multiply(kind, A, x, y, z));
      EXPECT_EQ(squares(z), kind < 2 ? 2 : 4 * (n - 2) + 2 * 9) << "once more";
      MPI_Allreduce(MPI_IN_PLACE, &fired, 1, MPI_INT, MPI_MAX, PETSC_COMM_WORLD);
      EXPECT_TRUE(fired > 0 || calls > 5) << "so many calls at least";
      TearDown();
    }
  }
}

/// What is to be added to is overwritten: the product is right, or is an error of the rank that lost its device.
TEST_F(TypesLost, OneRanksDeviceLostInAProductInPlaceIsRightOrAnError) {
  if (PetscGlobalSize == 1) return;
  int fired = 1, errors = 0;
  for (int calls = 0; fired > 0; calls += 2) {
    SCOPED_TRACE(calls);
    SetUp();
    HeldMat A = second_differences(kRows);
    HeldVec x, z;
    OK(VecCreateMPI(PETSC_COMM_WORLD, kRows, PETSC_DETERMINE, &x));
    OK(VecDuplicate(x, &z));
    OK(VecSet(x, 1));
    OK(VecSet(z, 2));
    OK(MatMultAdd(A, x, z, z));
    OK(VecSet(z, 2));
    bring_down(x);
    bring_down(z);
    PetscErrorCode code;
    {
      const ErrorTexts texts;
      const Faults faults;
      if (PetscGlobalRank == 1) Faults::anywhere(-1, calls, 1000000);
      code = MatMultAdd(A, x, z, z);
      fired = Faults::fired();
    }
    if (code == 0) {
      EXPECT_EQ(first(z), PetscGlobalRank == 0 ? 3 : 2);
    } else {
      EXPECT_EQ(PetscGlobalRank, 1);
      EXPECT_GT(fired, 0);
      ++errors;
    }
    MPI_Allreduce(MPI_IN_PLACE, &fired, 1, MPI_INT, MPI_MAX, PETSC_COMM_WORLD);
    TearDown();
  }
  EXPECT_EQ(errors > 0, PetscGlobalRank == 1);
}

}  // namespace
}  // namespace oclspkt::test
