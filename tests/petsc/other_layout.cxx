// SPDX-License-Identifier: BSD-2-Clause
// Compiled as if for a PETSc with SAWs or with devices, whose objects have members more; it runs under one without.
#include "check_flavour.hxx"

int main(int argc, char** argv) {
  PetscCall(PetscInitialize(&argc, &argv, nullptr, nullptr));
  PetscCall(oclspkt::petsc::CheckFlavour());
  PetscCall(PetscPrintf(PETSC_COMM_WORLD, "ran\n"));
  PetscCall(PetscFinalize());
  return 0;
}
