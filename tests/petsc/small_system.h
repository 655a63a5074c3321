/* SPDX-License-Identifier: BSD-2-Clause */
/* What programs that solve one system by themselves share. */
#pragma once

#include <petscmat.h>

/// tridiag(-1, 4, -2), x = 1.5 in all rows, and b = A x.
static inline PetscErrorCode CreateSystem(PetscInt n, Mat* A, Vec* x, Vec* b) {
  PetscFunctionBeginUser;
  PetscCall(MatCreateSeqAIJ(PETSC_COMM_SELF, n, n, 3, NULL, A));
  for (PetscInt i = 0; i < n; ++i) {
    if (i > 0) PetscCall(MatSetValue(*A, i, i - 1, -1, INSERT_VALUES));
    PetscCall(MatSetValue(*A, i, i, 4, INSERT_VALUES));
    if (i < n - 1) PetscCall(MatSetValue(*A, i, i + 1, -2, INSERT_VALUES));
  }
  PetscCall(MatAssemblyBegin(*A, MAT_FINAL_ASSEMBLY));
  PetscCall(MatAssemblyEnd(*A, MAT_FINAL_ASSEMBLY));
  PetscCall(MatCreateVecs(*A, x, b));
  PetscCall(VecSet(*x, 1.5));
  PetscCall(MatMult(*A, *x, *b));
  PetscFunctionReturn(0);
}
