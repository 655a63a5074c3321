// SPDX-License-Identifier: BSD-2-Clause
// Vectors of -oclspkt_types whose device fails.
#include <algorithm>
#include <vector>

#include "faults.hpp"
#include "oclspkt/oclspkt.h"
#include "oclspkt/oclspkt_vec.h"
#include "support.hxx"

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
  void TearDown() override {
    for (Vec* v : {&x_, &y_}) OK(VecDestroy(v));
  }
  /// Have the host have the values, too.
  static void bring_down(Vec v) {
    const PetscScalar* values;
    OK(VecGetArrayRead(v, &values));
    OK(VecRestoreArrayRead(v, &values));
  }
  static PetscScalar first(Vec v) {
    const PetscScalar* values = nullptr;
    PetscScalar value = 0;
    EXPECT_EQ(VecGetArrayRead(v, &values), 0);
    if (values != nullptr) value = values[0];
    EXPECT_EQ(VecRestoreArrayRead(v, &values), 0);
    return value;
  }
  Vec x_ = nullptr, y_ = nullptr;
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
  PetscScalar product = 0;
  OK(VecDot(x_, y_, &product));
  EXPECT_EQ(product, 5 * kRows);
  EXPECT_EQ(Faults::seen(), 0) << "a device that failed was used";
}

TEST_F(TypesLost, SayThatValuesAreLostIfOnlyTheDeviceHasThem) {
  const Faults faults;
  Faults::at(ocl::Place::launch, -1, 0, 1000000);
  {
    const ErrorTexts errors;
    EXPECT_EQ(VecAXPY(y_, 3, x_), PETSC_ERR_LIB);
    EXPECT_NE(errors.text().find("VecAXPY failed, and values were on a device only"), std::string::npos)
        << errors.text();
  }
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

TEST_F(TypesLost, HaveNoMemoryForKernelsOfTheProgram) {
  const Faults faults;
  struct _cl_mem* memory = nullptr;
  bring_down(y_);
  Faults::anywhere(-1, 0, 1000000);
  OK(VecScale(y_, 3)); /* PETSc's own does it */
  const ErrorTexts errors;
  for (const Vec v : {x_, y_}) {
    EXPECT_EQ(VecOpenCLGetMemRead(v, &memory, nullptr), PETSC_ERR_LIB);
    EXPECT_NE(errors.text().find("vectors are on the host"), std::string::npos) << errors.text();
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
  {
    const ErrorTexts errors;
    EXPECT_EQ(VecOpenCLGetMemRead(y_, &memory, nullptr), PETSC_ERR_LIB);
    EXPECT_NE(errors.text().find("the device was lost"), std::string::npos) << errors.text();
    EXPECT_EQ(VecOpenCLRestoreMemRead(y_, &memory), PETSC_ERR_ORDER);
  }
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
  OK(VecDot(x_, y_, &product));
  EXPECT_EQ(product, 2 * kRows);
  const Faults faults;
  Faults::none();
  OK(VecDot(x_, y_, &product));
  EXPECT_GT(Faults::seen(ocl::Place::launch), 0);
}

}  // namespace
}  // namespace oclspkt::test
