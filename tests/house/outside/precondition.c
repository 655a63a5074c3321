/* SPDX-License-Identifier: BSD-2-Clause */
/* Both C and C++. [1 4 1] with ones on the right has the solution 3/14, 1/7, 3/14. */
#include <oclspkt/oclspkt.h>

int main(int argc, char** argv) {
  const PetscInt all[] = {0, 1, 2};
  const PetscScalar rows[] = {4, 1, 0, 1, 4, 1, 0, 1, 4}, expected[] = {3. / 14, 1. / 7, 3. / 14};
  const PetscScalar* values;
  PetscBool right = PETSC_TRUE;
  Mat A;
  Vec x, y;
  PC pc;

  PetscCall(PetscInitialize(&argc, &argv, NULL, NULL));
  PetscCall(PCOCLSPKTInitializePackage());
  PetscCall(MatCreateSeqAIJ(PETSC_COMM_SELF, 3, 3, 3, NULL, &A));
  PetscCall(MatSetValues(A, 3, all, 3, all, rows, INSERT_VALUES));
  PetscCall(MatAssemblyBegin(A, MAT_FINAL_ASSEMBLY));
  PetscCall(MatAssemblyEnd(A, MAT_FINAL_ASSEMBLY));
  PetscCall(MatCreateVecs(A, &x, &y));
  PetscCall(VecSet(y, 1));
  PetscCall(PCCreate(PETSC_COMM_SELF, &pc));
  PetscCall(PCSetOperators(pc, A, A));
  PetscCall(PCSetType(pc, PCOCLSPKT));
  PetscCall(PCOCLSPKTSetMethod(pc, PC_OCLSPKT_METHOD_EXACT));
  PetscCall(PCApply(pc, y, x));
  PetscCall(VecGetArrayRead(x, &values));
  for (PetscInt i = 0; i < 3; ++i) right = (PetscBool)(right && PetscAbsScalar(values[i] - expected[i]) < 1e-15);
  PetscCall(VecRestoreArrayRead(x, &values));
  PetscCall(PCDestroy(&pc));
  PetscCall(VecDestroy(&x));
  PetscCall(VecDestroy(&y));
  PetscCall(MatDestroy(&A));
  PetscCall(PetscFinalize());
  return right ? 0 : 1;
}
