/* SPDX-License-Identifier: BSD-2-Clause */
/* Start and end PETSc three times in one process, with the plugin linked and named by -dll_append, and solve each time.
   Options behind -once are those of the first time alone. */
#include <petscksp.h>
#include <string.h>

#include "oclspkt/oclspkt.h"
#include "small_system.h"

static PetscErrorCode Solve(PetscReal* error) {
  Mat A;
  Vec x, b, y;
  KSP ksp;
  PC pc;

  PetscFunctionBeginUser;
  PetscCall(CreateSystem(5000, &A, &x, &b));
  PetscCall(VecDuplicate(x, &y));
  PetscCall(KSPCreate(PETSC_COMM_SELF, &ksp));
  PetscCall(KSPSetType(ksp, KSPPREONLY));
  PetscCall(KSPSetOperators(ksp, A, A));
  PetscCall(KSPGetPC(ksp, &pc));
  PetscCall(PCSetType(pc, PCOCLSPKT));
  PetscCall(KSPSetFromOptions(ksp));
  PetscCall(KSPSolve(ksp, b, y));
  PetscCall(VecAXPY(y, -1, x));
  PetscCall(VecNorm(y, NORM_INFINITY, error));
  PetscCall(KSPDestroy(&ksp));
  PetscCall(VecDestroy(&x));
  PetscCall(VecDestroy(&y));
  PetscCall(VecDestroy(&b));
  PetscCall(MatDestroy(&A));
  PetscFunctionReturn(0);
}

int main(int argc, char** argv) {
  /* PETSc ends MPI only if it started it, and MPI starts once in a process. */
  MPI_Init(&argc, &argv);
  for (int round = 0; round < 3; ++round) {
    PetscReal error;

    if (round == 1 && argc > 1 && strcmp(argv[1], "-once") == 0) argc = 1;
    PetscCall(PetscInitialize(&argc, &argv, NULL, NULL));
    PetscCall(PCOCLSPKTInitializePackage());
    PetscCall(Solve(&error));
    PetscCheck(error < 1e-13, PETSC_COMM_SELF, PETSC_ERR_PLIB, "round %d: error %g", round, (double)error);
    PetscCall(PetscPrintf(PETSC_COMM_SELF, "round %d is right\n", round));
    PetscCall(PetscFinalize());
  }
  MPI_Finalize();
  return 0;
}
