/* SPDX-License-Identifier: BSD-2-Clause */
/* A program of another build of PETSc; it must not get past PetscInitialize() when told to load the plugin. */
#include <petscsys.h>

int main(int argc, char** argv) {
  PetscCall(PetscInitialize(&argc, &argv, NULL, NULL));
  PetscCall(PetscPrintf(PETSC_COMM_WORLD, "ran\n"));
  PetscCall(PetscFinalize());
  return 0;
}
