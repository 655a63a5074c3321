/* SPDX-License-Identifier: BSD-2-Clause */
/* Ask for the plugin before PETSc runs; an error code must come back, and after PetscInitialize() it must work. */
#include "oclspkt/oclspkt.h"

int main(int argc, char** argv) {
  PC pc;

  if (!PCOCLSPKTInitializePackage()) return 1;
  PetscCall(PetscInitialize(&argc, &argv, NULL, NULL));
  PetscCall(PetscPrintf(PETSC_COMM_WORLD, "refused\n"));
  PetscCall(PCOCLSPKTInitializePackage());
  PetscCall(PCCreate(PETSC_COMM_SELF, &pc));
  PetscCall(PCSetType(pc, PCOCLSPKT));
  PetscCall(PCDestroy(&pc));
  PetscCall(PetscFinalize());
  return 0;
}
