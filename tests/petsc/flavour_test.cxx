// SPDX-License-Identifier: BSD-2-Clause
#include "check_flavour.hxx"
#include "support.hxx"

namespace oclspkt::test {
namespace {

using petsc::BuiltFlavour;
using petsc::complaint;
using petsc::Flavour;

TEST(Flavour, OfTheRunningPetscIsTheOneBuiltFor) {
  EXPECT_EQ(petsc::RunningFlavour(), BuiltFlavour());
  EXPECT_EQ(complaint(BuiltFlavour(), petsc::RunningFlavour()), "");
  OK(petsc::CheckFlavour());
}

TEST(Flavour, AnotherReleaseIsToldFromAnotherKind) {
  Flavour newer = BuiltFlavour();
  newer.minor += 1;
  const std::string text = complaint(BuiltFlavour(), newer);
  expect_in(text,
            {petsc::describe(BuiltFlavour()), petsc::describe(newer), "Build oclspkt against the program's PETSc"});

  Flavour single = BuiltFlavour();
  single.precision = "single";
  EXPECT_TRUE(contains(complaint(BuiltFlavour(), single), "supports only PETSc in double precision"));
}

TEST(Flavour, ALibraryThatNobodyInitializedIsAnotherOneThanTheProgram) {
  EXPECT_TRUE(contains(petsc::complaint_of_stranger(BuiltFlavour()),
                       "bound to a libpetsc in which PetscInitialize() was not called"));
}

TEST(Flavour, HasAFileNamedAfterWhatMakesItIncompatible) {
  EXPECT_EQ(petsc::library_name(petsc::kind({3, 24, false, "double", 64})), "liboclspkt-petsc-3.24-real-64.so");
  EXPECT_EQ(petsc::library_name(petsc::kind({3, 18, false, "double", 32})), "liboclspkt-petsc-3.18-real.so");
}

TEST(Flavour, IsNewerThanTestedFromTheNextReleaseOn) {
  using petsc::is_newer_than_tested, petsc::kNewestTestedMajor, petsc::kNewestTestedMinor;
  EXPECT_FALSE(is_newer_than_tested({3, 18, false, "double", 32}));
  EXPECT_FALSE(is_newer_than_tested({kNewestTestedMajor, kNewestTestedMinor, false, "double", 32}));
  EXPECT_TRUE(is_newer_than_tested({kNewestTestedMajor, kNewestTestedMinor + 1, false, "double", 32}));
  EXPECT_TRUE(is_newer_than_tested({kNewestTestedMajor + 1, 0, false, "double", 32}));
}

}  // namespace
}  // namespace oclspkt::test
