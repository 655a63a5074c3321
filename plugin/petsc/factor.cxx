// SPDX-License-Identifier: BSD-2-Clause
/* With -pc_type lu -pc_factor_mat_solver_type oclspkt, or with cholesky, the preconditioner is a direct solver of
   tridiagonal matrices. The data of the factor matrix is a PC of type oclspkt. */
#include <petsc/private/matimpl.h>

#include "logged.hxx"
#include "pc_oclspkt.hxx"

namespace oclspkt::petsc {
namespace {

PC InnerPC(Mat F) { return static_cast<PC>(F->data); }

/* Check that the last numeric phase made factors of the whole matrix. */
void check_factors(Mat F) {
  const PC pc = InnerPC(F);
  const bool solves = !pc->failedreason || data(pc)->failed_apply;
  OclspktCheck(F->assembled && solves, comm_of(F), PETSC_ERR_SUP,
               "There are no factors to solve with%s%s: call MatLUFactorSymbolic() and MatLUFactorNumeric(), or those "
               "of Cholesky, and correct what their errors name",
               data(pc)->failure.empty() ? "" : ", ", data(pc)->failure.c_str());
}

/* Raise an error if a solve failed, because PETSc does not look for a failed factor after a solve. */
void check_solved(Mat F) {
  PC pc = InnerPC(F);
  OclspktCheck(!pc->failedreason, comm_of(F), PETSC_ERR_NOT_CONVERGED,
               "-pc_factor_mat_solver_type oclspkt did not solve: %s", data(pc)->failure.c_str());
}

/* Raise an error if the solver ignores entries, or if the method that the user named exceeds its error bounds. Both are
   wrong for a direct solver. */
void check_whole(Mat F, bool transpose) {
  PC pc = InnerPC(F);
  PetscInt64 ignored;
  must(PCOCLSPKTGetIgnoredEntries(pc, &ignored));
  OclspktCheck(
      ignored == 0, comm_of(F), PETSC_ERR_ARG_WRONG,
      "-pc_factor_mat_solver_type oclspkt factors tridiagonal matrices; this one has %" PetscInt64_FMT
      " nonzero entries off the three bands: use -pc_type oclspkt, which makes a preconditioner of the bands, or "
      "another solver type",
      ignored);
  const Bounds& bounds = data(pc)->first().bounds[transpose];
  OclspktCheck(
      !bounds.above_limits, comm_of(F), PETSC_ERR_ARG_INCOMP,
      "-pc_factor_mat_solver_type oclspkt: -pc_oclspkt_method %s is above its limits for this matrix%s (error by "
      "truncation at most %g, rounding at most %g eps in a row); use -pc_oclspkt_method auto",
      PCOCLSPKTMethods[static_cast<int>(data(pc)->settings.method)], transpose ? ", transposed" : "", bounds.truncation,
      bounds.rounding);
}

template <auto apply, typename... Arguments>
void solve_by_factors(Mat F, Arguments... arguments) {
  check_factors(F);
  must(apply(InnerPC(F), arguments...));
  check_solved(F);
}

void solve_transpose_by_factors(Mat F, Vec b, Vec x) {
  solve_by_factors<PCApplyTranspose>(F, b, x);
  check_whole(F, true);
}

/* PCApply() repeats the set-up if the matrix changed, but factors must stay until the next numeric phase. Between
   numeric phases, PCSetReusePreconditioner() prevents set-ups. */
void factor_numeric(Mat F, Mat A, const MatFactorInfo*) {
  PC pc = InnerPC(F);
  PCFailedReason reason;
  F->assembled = PETSC_FALSE;
  must(PCSetReusePreconditioner(pc, PETSC_FALSE));
  must(PCSetOperators(pc, A, A));
  pc->erroriffailure = A->erroriffailure;
  must(PCSetUp(pc));
  must(PCSetReusePreconditioner(pc, PETSC_TRUE));
  must(PCGetFailedReason(pc, &reason));
  /* With another error type, PCLU would never call the numeric phase again, even for a changed matrix. */
  F->factorerrortype = reason ? MAT_FACTOR_NUMERIC_ZEROPIVOT : MAT_FACTOR_NOERROR;
  if (!reason) check_whole(F, false);
  F->assembled = PETSC_TRUE;
}

/* The options that make the solver ignore or round a part of A x = b, as text. */
std::string inexact_options(const Settings& given) {
  Settings refused;
  if (parse_directions(given.lines).size() > 1) refused.lines = given.lines;
  if (given.rtol > PETSC_MACHINE_EPSILON) refused.rtol = given.rtol;
  if (given.singular == Singular::pin) refused.singular = given.singular;
  refused.diagonal = given.diagonal;
  refused.precision = given.precision;
  return non_default_options(refused);
}

void check_options(PC pc) {
  const std::string text = inexact_options(data(pc)->settings);
  OclspktCheck(
      text.empty(), comm_of(pc), PETSC_ERR_ARG_INCOMP,
      "-pc_factor_mat_solver_type oclspkt solves with the whole matrix as it is, which %s does not: leave that "
      "out, or use -pc_type oclspkt, which makes a preconditioner",
      text.c_str());
}

/* Read the preconditioner's options with the prefix of the factor matrix. By default, a singular matrix fails even with
   a null space, as in PETSc's own factors. */
PetscErrorCode ReadOptions(Mat F) {
  PC pc = InnerPC(F);
  const char* prefix;

  PetscFunctionBegin;
  F->assembled = PETSC_FALSE;
  F->ops->lufactornumeric = F->ops->choleskyfactornumeric = nullptr; /* no numeric phase if options are refused below */
  PetscCall(PCSetReusePreconditioner(pc, PETSC_FALSE));
  PetscCall(MatGetOptionsPrefix(F, &prefix));
  PetscCall(PCSetOptionsPrefix(pc, prefix));
  PetscCall(PCOCLSPKTSetDirections(pc, "matrix"));
  PetscObjectOptionsBegin((PetscObject)pc);
  PetscCall((*pc->ops->setfromoptions)(pc, PetscOptionsObject));
  PetscOptionsEnd();
  OclspktCall(pc, check_options(pc));
  if (data(pc)->settings.singular == Singular::automatic) {
    PetscCall(PCOCLSPKTSetSingular(pc, PC_OCLSPKT_SINGULAR_FAIL));
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

/// The symbolic phase: read the options, and enable the numeric phase.
/// @param slot  the operation of the numeric phase
template <auto slot, typename... Orders>
void factor_symbolic(Mat F, Mat, Orders...) {
  must(ReadOptions(F));
  (*F->ops).*slot = Called<factor_numeric>;
}

void view_factor(Mat F, PetscViewer viewer) { must(PCView(InnerPC(F), viewer)); }

/* PCLU asks for the fill. A tridiagonal matrix has no fill. */
void get_info(Mat, MatInfoType, MatInfo* info) {
  *info = {};
  info->fill_ratio_given = info->fill_ratio_needed = 1;
}

void get_solver_type(Mat, MatSolverType* type) { *type = PCOCLSPKT; }

void destroy_factor(Mat F) {
  PC pc = InnerPC(F);
  F->data = nullptr;
  must(PCDestroy(&pc));
  must(PetscObjectComposeFunction((PetscObject)F, "MatFactorGetSolverType_C", nullptr));
}

void get_factor(Mat A, MatFactorType type, Mat* factor) {
  Mat F;
  PC pc;
  must(MatCreate(comm_of(A), &F));
  must(MatSetSizes(F, A->rmap->n, A->cmap->n, A->rmap->N, A->cmap->N));
  must(PetscStrallocpy(PCOCLSPKT, &((PetscObject)F)->type_name));
  must(PetscLayoutSetUp(F->rmap));
  must(PetscLayoutSetUp(F->cmap));
  must(PCCreate(comm_of(A), &pc));
  F->data = pc;
  F->ops->destroy = Called<destroy_factor>;
  must(PCSetType(pc, PCOCLSPKT));
  F->ops->lufactorsymbolic = Called<factor_symbolic<&_MatOps::lufactornumeric, IS, IS, const MatFactorInfo*>>;
  F->ops->choleskyfactorsymbolic = Called<factor_symbolic<&_MatOps::choleskyfactornumeric, IS, const MatFactorInfo*>>;
  F->ops->solve = Called<solve_by_factors<PCApply, Vec, Vec>>;
  F->ops->solvetranspose = Called<solve_transpose_by_factors>;
  F->ops->matsolve = Called<solve_by_factors<PCMatApply, Mat, Mat>>;
  F->ops->view = Called<view_factor>;
  F->ops->getinfo = Called<get_info>;
  F->factortype = type;
  F->preallocated = PETSC_TRUE; /* otherwise, a debug build reports missing factors before check_factors() */
  F->canuseordering = PETSC_FALSE;
  must(PetscFree(F->solvertype));
  must(PetscStrallocpy(PCOCLSPKT, &F->solvertype));
  must(PetscObjectComposeFunction((PetscObject)F, "MatFactorGetSolverType_C",
                                  (Called<get_solver_type, Mat, MatSolverType*>)));
  *factor = F;
}

}  // namespace

PetscErrorCode RegisterFactor() {
  PetscFunctionBegin;
  /* PETSc 3.18 registers its own solvers late. Without this call, oclspkt would be the default solver of all types. */
  PetscCall(MatInitializePackage());
  for (MatType type : {MATSEQAIJ, MATMPIAIJ}) {
    for (const MatFactorType factor : {MAT_FACTOR_LU, MAT_FACTOR_CHOLESKY}) {
      PetscCall(MatSolverTypeRegister(PCOCLSPKT, type, factor, Called<get_factor>));
    }
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

}  // namespace oclspkt::petsc
