// SPDX-License-Identifier: BSD-2-Clause
/* The preconditioner as a direct solver of tridiagonal matrices, for programs that ask for LU or Cholesky:
   -pc_type lu -pc_factor_mat_solver_type oclspkt. The factor is a matrix whose data is a PC of our type. */
#include <petsc/private/matimpl.h>

#include "boundary.hxx"
#include "options.hpp"
#include "package.hxx"
#include "pc_oclspkt.hxx"

using oclspkt::petsc::comm_of;
using oclspkt::petsc::data;
using oclspkt::petsc::must;
using oclspkt::petsc::Settings;

static PC InnerPC(Mat F) { return static_cast<PC>(F->data); }

/* See that there are factors of the last numeric phase that solve with the whole matrix. */
static void check_factors(Mat F) {
  const PC pc = InnerPC(F);
  const bool solves = !pc->failedreason || data(pc)->failed_apply;
  OclspktCheck(F->assembled && solves, comm_of(F), PETSC_ERR_SUP,
               "There are no factors to solve with%s%s: call MatLUFactorSymbolic() and MatLUFactorNumeric(), or those "
               "of Cholesky, and correct what their errors name",
               data(pc)->failure.empty() ? "" : ", ", data(pc)->failure.c_str());
}

/* PETSc does not ask a factor after a solve whether it failed, so a failure that only a solve finds is an error. */
static void check_solved(Mat F) {
  PC pc = InnerPC(F);
  OclspktCheck(!pc->failedreason, comm_of(F), PETSC_ERR_NOT_CONVERGED,
               "-pc_factor_mat_solver_type oclspkt did not solve: %s", data(pc)->failure.c_str());
}

/* A direct solver leaves no entry out, and takes no method that a name forced beyond its bounds. */
static void check_whole(Mat F, bool transpose) {
  PC pc = InnerPC(F);
  PetscInt64 ignored;
  must(PCOCLSPKTGetIgnoredEntries(pc, &ignored));
  OclspktCheck(
      ignored == 0, comm_of(F), PETSC_ERR_ARG_WRONG,
      "-pc_factor_mat_solver_type oclspkt factors tridiagonal matrices; this one has %" PetscInt64_FMT
      " nonzero entries off the three bands: use -pc_type oclspkt, which makes a preconditioner of the bands, or "
      "another solver type",
      ignored);
  const oclspkt::petsc::Bounds& bounds = data(pc)->first().bounds[transpose];
  OclspktCheck(
      !bounds.above_limits, comm_of(F), PETSC_ERR_ARG_INCOMP,
      "-pc_factor_mat_solver_type oclspkt: -pc_oclspkt_method %s is above its limits for this matrix%s (error by "
      "truncation at most %g, rounding at most %g eps in a row); use -pc_oclspkt_method auto",
      PCOCLSPKTMethods[static_cast<int>(data(pc)->settings.method)], transpose ? ", transposed" : "", bounds.truncation,
      bounds.rounding);
}

template <typename... Arguments>
static void solve(Mat F, PetscErrorCode (*apply)(PC, Arguments...), Arguments... arguments) {
  check_factors(F);
  must((*apply)(InnerPC(F), arguments...));
  check_solved(F);
}

static PetscErrorCode MatSolve_OCLSPKT(Mat F, Vec b, Vec x) {
  PetscFunctionBegin;
  OclspktCall(nullptr, solve(F, PCApply, b, x));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode MatSolveTranspose_OCLSPKT(Mat F, Vec b, Vec x) {
  PetscFunctionBegin;
  OclspktCall(nullptr, solve(F, PCApplyTranspose, b, x));
  OclspktCall(nullptr, check_whole(F, true));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode MatMatSolve_OCLSPKT(Mat F, Mat B, Mat X) {
  PetscFunctionBegin;
  OclspktCall(nullptr, solve(F, PCMatApply, B, X));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* PCApply() sets a PC up anew where its matrix changed; factors stay those of the values that they were made from until
   the next numeric phase, hence the reuse between two of them. */
static PetscErrorCode MatFactorNumeric_OCLSPKT(Mat F, Mat A, const MatFactorInfo*) {
  PC pc = InnerPC(F);
  PCFailedReason reason;

  PetscFunctionBegin;
  F->assembled = PETSC_FALSE;
  PetscCall(PCSetReusePreconditioner(pc, PETSC_FALSE));
  PetscCall(PCSetOperators(pc, A, A));
  pc->erroriffailure = A->erroriffailure;
  PetscCall(PCSetUp(pc));
  PetscCall(PCSetReusePreconditioner(pc, PETSC_TRUE));
  PetscCall(PCGetFailedReason(pc, &reason));
  /* After any other error PCLU never calls the numeric phase again, whatever the matrix holds by then. */
  F->factorerrortype = reason ? MAT_FACTOR_NUMERIC_ZEROPIVOT : MAT_FACTOR_NOERROR;
  if (!reason) OclspktCall(pc, check_whole(F, false));
  F->assembled = PETSC_TRUE;
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* The options that leave something of A x = b out, or round it. */
static std::string inexact_options(const Settings& given) {
  Settings refused;
  if (oclspkt::petsc::parse_directions(given.lines).size() > 1) refused.lines = given.lines;
  if (given.rtol > PETSC_MACHINE_EPSILON) refused.rtol = given.rtol;
  if (given.singular == oclspkt::Singular::pin) refused.singular = given.singular;
  refused.diagonal = given.diagonal;
  refused.precision = given.precision;
  return oclspkt::petsc::non_default_options(refused);
}

/* A direct solver solves A x = b as it stands. */
static void check_options(PC pc) {
  const std::string text = inexact_options(data(pc)->settings);
  OclspktCheck(
      text.empty(), comm_of(pc), PETSC_ERR_ARG_INCOMP,
      "-pc_factor_mat_solver_type oclspkt solves with the whole matrix as it is, which %s does not: leave that "
      "out, or use -pc_type oclspkt, which makes a preconditioner",
      text.c_str());
}

/* The options of the preconditioner, behind the prefix of the PC that factors. Where they leave it open, a singular
   matrix fails as it does in PETSc's own factors, also with a null space attached. */
static PetscErrorCode ReadOptions(Mat F) {
  PC pc = InnerPC(F);
  const char* prefix;

  PetscFunctionBegin;
  F->assembled = PETSC_FALSE;
  F->ops->lufactornumeric = F->ops->choleskyfactornumeric = nullptr; /* none behind options that are refused */
  PetscCall(PCSetReusePreconditioner(pc, PETSC_FALSE));
  PetscCall(MatGetOptionsPrefix(F, &prefix));
  PetscCall(PCSetOptionsPrefix(pc, prefix));
  PetscCall(PCOCLSPKTSetDirections(pc, "matrix"));
  PetscObjectOptionsBegin((PetscObject)pc);
  PetscCall((*pc->ops->setfromoptions)(pc, PetscOptionsObject));
  PetscOptionsEnd();
  OclspktCall(pc, check_options(pc));
  if (data(pc)->settings.singular == oclspkt::Singular::automatic) {
    PetscCall(PCOCLSPKTSetSingular(pc, PC_OCLSPKT_SINGULAR_FAIL));
  }
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
  PetscCall(MatCreate(comm_of(A), &F));
  PetscCall(MatSetSizes(F, A->rmap->n, A->cmap->n, A->rmap->N, A->cmap->N));
  PetscCall(PetscStrallocpy(PCOCLSPKT, &((PetscObject)F)->type_name));
  PetscCall(PetscLayoutSetUp(F->rmap));
  PetscCall(PetscLayoutSetUp(F->cmap));
  PetscCall(PCCreate(comm_of(A), &pc));
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
  F->preallocated = PETSC_TRUE; /* a debug build says less of factors that are not there than check_factors() */
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
