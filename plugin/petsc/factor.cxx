// SPDX-License-Identifier: BSD-2-Clause
/* The preconditioner as a direct solver of tridiagonal matrices, for programs that ask for LU or Cholesky:
   -pc_type lu -pc_factor_mat_solver_type oclspkt. The factor is a matrix whose data is a PC of our type. */
#include <petsc/private/matimpl.h>

#include "package.hxx"
#include "pc_oclspkt.hxx"

static PC InnerPC(Mat F) { return static_cast<PC>(F->data); }

static PetscErrorCode MatSolve_OCLSPKT(Mat F, Vec b, Vec x) {
  PetscFunctionBegin;
  PetscCall(PCApply(InnerPC(F), b, x));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode MatSolveTranspose_OCLSPKT(Mat F, Vec b, Vec x) {
  PetscFunctionBegin;
  PetscCall(PCApplyTranspose(InnerPC(F), b, x));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode MatMatSolve_OCLSPKT(Mat F, Mat B, Mat X) {
  PetscFunctionBegin;
  PetscCall(PCMatApply(InnerPC(F), B, X));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* A direct solver leaves no entry out. */
static PetscErrorCode CheckTridiagonal(Mat F, PC pc) {
  PetscInt64 ignored;

  PetscFunctionBegin;
  PetscCall(PCOCLSPKTGetIgnoredEntries(pc, &ignored));
  PetscCheck(
      ignored == 0, PetscObjectComm((PetscObject)F), PETSC_ERR_ARG_WRONG,
      "-pc_factor_mat_solver_type oclspkt factors tridiagonal matrices; this one has %" PetscInt64_FMT
      " nonzero entries off the three bands: use -pc_type oclspkt, which makes a preconditioner of the bands, or "
      "another solver type",
      ignored);
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode MatFactorNumeric_OCLSPKT(Mat F, Mat A, const MatFactorInfo*) {
  PC pc = InnerPC(F);
  PCFailedReason reason;

  PetscFunctionBegin;
  PetscCall(PCSetOperators(pc, A, A));
  pc->erroriffailure = A->erroriffailure;
  PetscCall(PCSetUp(pc));
  PetscCall(PCGetFailedReason(pc, &reason));
  F->factorerrortype = MAT_FACTOR_NOERROR;
  if (reason) {
    F->factorerrortype = reason == PC_FACTOR_OTHER ? MAT_FACTOR_OTHER : MAT_FACTOR_NUMERIC_ZEROPIVOT;
  } else {
    PetscCall(CheckTridiagonal(F, pc));
  }
  F->assembled = F->preallocated = PETSC_TRUE;
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* The options of the preconditioner, behind the prefix of the PC that factors. */
static PetscErrorCode ReadOptions(Mat F) {
  PC pc = InnerPC(F);
  const char* prefix;

  PetscFunctionBegin;
  PetscCall(MatGetOptionsPrefix(F, &prefix));
  PetscCall(PCSetOptionsPrefix(pc, prefix));
  PetscCall(PCOCLSPKTSetDirections(pc, "matrix"));
  PetscObjectOptionsBegin((PetscObject)pc);
  PetscCall((*pc->ops->setfromoptions)(pc, PetscOptionsObject));
  PetscOptionsEnd();
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode MatLUFactorSymbolic_OCLSPKT(Mat F, Mat, IS, IS, const MatFactorInfo*) {
  PetscFunctionBegin;
  PetscCall(ReadOptions(F));
  F->ops->lufactornumeric = MatFactorNumeric_OCLSPKT;
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode MatCholeskyFactorSymbolic_OCLSPKT(Mat F, Mat, IS, const MatFactorInfo*) {
  PetscFunctionBegin;
  PetscCall(ReadOptions(F));
  F->ops->choleskyfactornumeric = MatFactorNumeric_OCLSPKT;
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode MatView_OCLSPKT(Mat F, PetscViewer viewer) {
  PetscFunctionBegin;
  PetscCall(PCView(InnerPC(F), viewer));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* PCLU asks for the fill: a tridiagonal matrix has none. */
static PetscErrorCode MatGetInfo_OCLSPKT(Mat, MatInfoType, MatInfo* info) {
  PetscFunctionBegin;
  *info = {};
  info->fill_ratio_given = info->fill_ratio_needed = 1;
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode MatFactorGetSolverType_OCLSPKT(Mat, MatSolverType* type) {
  PetscFunctionBegin;
  *type = PCOCLSPKT;
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode MatDestroy_OCLSPKT(Mat F) {
  PC pc = InnerPC(F);

  PetscFunctionBegin;
  F->data = nullptr;
  PetscCall(PCDestroy(&pc));
  PetscCall(PetscObjectComposeFunction((PetscObject)F, "MatFactorGetSolverType_C", nullptr));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode MatGetFactor_OCLSPKT(Mat A, MatFactorType type, Mat* factor) {
  Mat F;
  PC pc;

  PetscFunctionBegin;
  PetscCall(MatCreate(PetscObjectComm((PetscObject)A), &F));
  PetscCall(MatSetSizes(F, A->rmap->n, A->cmap->n, A->rmap->N, A->cmap->N));
  PetscCall(PetscStrallocpy(PCOCLSPKT, &((PetscObject)F)->type_name));
  PetscCall(PetscLayoutSetUp(F->rmap));
  PetscCall(PetscLayoutSetUp(F->cmap));
  PetscCall(PCCreate(PetscObjectComm((PetscObject)A), &pc));
  F->data = pc;
  F->ops->destroy = MatDestroy_OCLSPKT;
  PetscCall(PCSetType(pc, PCOCLSPKT));
  F->ops->lufactorsymbolic = MatLUFactorSymbolic_OCLSPKT;
  F->ops->choleskyfactorsymbolic = MatCholeskyFactorSymbolic_OCLSPKT;
  F->ops->solve = MatSolve_OCLSPKT;
  F->ops->solvetranspose = MatSolveTranspose_OCLSPKT;
  F->ops->matsolve = MatMatSolve_OCLSPKT;
  F->ops->view = MatView_OCLSPKT;
  F->ops->getinfo = MatGetInfo_OCLSPKT;
  F->factortype = type;
  F->canuseordering = PETSC_FALSE;
  PetscCall(PetscFree(F->solvertype));
  PetscCall(PetscStrallocpy(PCOCLSPKT, &F->solvertype));
  PetscCall(PetscObjectComposeFunction((PetscObject)F, "MatFactorGetSolverType_C", MatFactorGetSolverType_OCLSPKT));
  *factor = F;
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode oclspkt::petsc::RegisterFactor() {
  PetscFunctionBegin;
  /* PETSc 3.18 reads the list of solvers before it fills it: ours would be the first, and the default of every type. */
  PetscCall(MatInitializePackage());
  for (MatType type : {MATSEQAIJ, MATMPIAIJ}) {
    for (const MatFactorType factor : {MAT_FACTOR_LU, MAT_FACTOR_CHOLESKY}) {
      PetscCall(MatSolverTypeRegister(PCOCLSPKT, type, factor, MatGetFactor_OCLSPKT));
    }
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}
