// SPDX-License-Identifier: BSD-2-Clause
#include <gtest/gtest.h>
#include <petscsys.h>

#include "oclspkt/oclspkt.h"

int main(int argc, char** argv) {
  testing::InitGoogleTest(&argc, argv);
  if (GTEST_FLAG_GET(list_tests)) return RUN_ALL_TESTS();  // CMake asks while it builds: no PETSc, no MPI
  if (PetscInitialize(&argc, &argv, nullptr, nullptr) != 0) return 1;
  PetscLogDefaultBegin();
  if (PCOCLSPKTInitializePackage() != 0) return 1;
  const int failed = RUN_ALL_TESTS();
  return PetscFinalize() != 0 ? 1 : failed;
}
