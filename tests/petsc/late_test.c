/* SPDX-License-Identifier: BSD-2-Clause */
/* PCs and a vector that are alive when PETSc ends. PETSc's own PCDestroy() is not possible after PetscFinalize() for
   any type (its MPI attributes are gone), so the plugin's part of it is called alone; one PC is left to the end of the
   process.
 */
#include <petsc/private/pcimpl.h>
#include <petsc/private/vecimpl.h>
#include <petscksp.h>

#include "oclspkt/oclspkt.h"
#include "small_system.h"

#define ROWS 5000
#define COUNT 3

static PetscErrorCode Solve(const char* devices, PC* pc) {
  Mat A;
  PetscReal error;
  Vec x, y, b;

  PetscFunctionBeginUser;
  PetscCall(CreateSystem(ROWS, &A, &x, &b));
  PetscCall(VecDuplicate(x, &y));
  PetscCall(PCCreate(PETSC_COMM_SELF, pc));
  PetscCall(PCSetType(*pc, PCOCLSPKT));
  PetscCall(PCOCLSPKTSetDevices(*pc, devices));
  PetscCall(PCSetOperators(*pc, A, A));
  PetscCall(PCSetUp(*pc));
  PetscCall(PCApply(*pc, b, y));
  PetscCall(VecAXPY(y, -1, x));
  PetscCall(VecNorm(y, NORM_INFINITY, &error));
  PetscCheck(error < 1e-12, PETSC_COMM_SELF, PETSC_ERR_PLIB, "%s: error %g", devices, (double)error);
  PetscCall(VecDestroy(&x));
  PetscCall(VecDestroy(&y));
  PetscCall(VecDestroy(&b));
  PetscCall(MatDestroy(&A));
  PetscFunctionReturn(0);
}

int main(int argc, char** argv) {
  const char* const devices[COUNT] = {"host", "portable", "portable"};
  PC pcs[COUNT];
  Vec late;
  PetscErrorCode ierr = 0;

  MPI_Init(&argc, &argv);
  PetscCall(PetscInitialize(&argc, &argv, NULL, NULL));
  PetscCall(PCOCLSPKTInitializePackage());
  PetscCall(VecCreateSeq(PETSC_COMM_SELF, ROWS, &late));
  PetscCall(VecSet(late, 2));
  for (int i = 0; i < COUNT; ++i) PetscCall(Solve(devices[i], &pcs[i]));
  PetscCall(PetscFinalize());
  for (int i = 0; i + 1 < COUNT && ierr == 0; ++i) ierr = (*pcs[i]->ops->reset)(pcs[i]);
  for (int i = 0; i + 1 < COUNT && ierr == 0; ++i) ierr = (*pcs[i]->ops->destroy)(pcs[i]);
  if (ierr == 0) ierr = (*late->ops->destroy)(late);
  printf(ierr == 0 ? "destroyed after the end\n" : "failed\n");
  MPI_Finalize();
  return ierr == 0 ? 0 : 1;
}
