/* SPDX-License-Identifier: BSD-2-Clause */
#include <oclspkt/oclspkt.h>

int main(int argc, char** argv) {
  PC pc;

  PetscCall(PetscInitialize(&argc, &argv, NULL, NULL));
  PetscCall(PCOCLSPKTInitializePackage());
  PetscCall(PCCreate(PETSC_COMM_SELF, &pc));
  PetscCall(PCSetType(pc, PCOCLSPKT));
  PetscCall(PCOCLSPKTSetMethod(pc, PC_OCLSPKT_METHOD_EXACT));
  PetscCall(PCDestroy(&pc));
  return PetscFinalize();
}
