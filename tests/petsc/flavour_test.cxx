// SPDX-License-Identifier: BSD-2-Clause
#include "flavour.hxx"

#include "support.hxx"

namespace oclspkt::test {
namespace {

using petsc::complaint;
using petsc::Flavour;

TEST(Flavour, OfTheRunningPetscIsTheOneBuiltFor) {
  Flavour running;
  OK(petsc::RunningFlavour(&running));
  EXPECT_EQ(running, Flavour());
  EXPECT_EQ(complaint(Flavour(), running), "");
}

TEST(Flavour, AnotherReleaseIsToldFromAnotherKind) {
  Flavour newer;
  newer.minor += 1;
  const std::string text = complaint(Flavour(), newer);
  EXPECT_TRUE(contains(text, petsc::describe(Flavour()))) << text;
  EXPECT_TRUE(contains(text, petsc::describe(newer))) << text;
  EXPECT_TRUE(contains(text, "Build oclspkt against the program's PETSc")) << text;

  Flavour single;
  single.double_precision = false;
  EXPECT_TRUE(contains(complaint(Flavour(), single), "supports only PETSc with real scalars in double precision"));
}

TEST(Flavour, ALibraryThatNobodyInitializedIsAnotherOneThanTheProgram) {
  Flavour stranger;
  stranger.initialized = false;
  EXPECT_TRUE(
      contains(complaint(Flavour(), stranger), "bound to a libpetsc in which PetscInitialize() was not called"));
}

}  // namespace
}  // namespace oclspkt::test
