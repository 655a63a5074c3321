// SPDX-License-Identifier: BSD-2-Clause
/* The preconditioner as a direct solver of tridiagonal matrices, for programs that ask for LU or Cholesky:
   -pc_type lu -pc_factor_mat_solver_type oclspkt. The factor is a matrix whose data is a PC of our type. */
#include <petsc/private/matimpl.h>

#include "logged.hxx"
#include "pc_oclspkt.hxx"

namespace oclspkt::petsc {
namespace {

PC InnerPC(Mat F) { return static_cast<PC>(F->data); }

/* Check that the last numeric phase made factors, and that these solve with the whole matrix. */
void check_factors(Mat F) {
  const PC pc = InnerPC(F);
  const bool solves = !pc->failedreason || data(pc)->failed_apply;
  OclspktCheck(F->assembled && solves, comm_of(F), PETSC_ERR_SUP,
               "There are no factors to solve with%s%s: call MatLUFactorSymbolic() and MatLUFactorNumeric(), or those "
               "of Cholesky, and correct what their errors name",
               data(pc)->failure.empty() ? "" : ", ", data(pc)->failure.c_str());
}

/* A failure that only a solve finds is an error: PETSc does not test after a solve whether the factor failed. */
void check_solved(Mat F) {
  PC pc = InnerPC(F);
  OclspktCheck(!pc->failedreason, comm_of(F), PETSC_ERR_NOT_CONVERGED,
               "-pc_factor_mat_solver_type oclspkt did not solve: %s", data(pc)->failure.c_str());
}

/* Fail if the solver ignores entries, or if the user named a method that exceeds its bounds: a direct solver must do
   neither. */
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

/* PCApply() sets a PC up anew if its matrix changed, but factors must stay as they are until the next numeric phase.
   Hence the PC is reused between two numeric phases. */
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
  /* After any other error PCLU never calls the numeric phase again, even if the matrix changes. */
  F->factorerrortype = reason ? MAT_FACTOR_NUMERIC_ZEROPIVOT : MAT_FACTOR_NOERROR;
  if (!reason) check_whole(F, false);
  F->assembled = PETSC_TRUE;
}

/* The options under which a solve leaves out a part of A x = b, or rounds it. */
std::string inexact_options(const Settings& given) {
  Settings refused;
  if (parse_directions(given.lines).size() > 1) refused.lines = given.lines;
  if (given.rtol > PETSC_MACHINE_EPSILON) refused.rtol = given.rtol;
  if (given.singular == Singular::pin) refused.singular = given.singular;
  refused.diagonal = given.diagonal;
  refused.precision = given.precision;
  return non_default_options(refused);
}

/* Refuse options that are wrong for a direct solver, which solves A x = b as it is. */
void check_options(PC pc) {
  const std::string text = inexact_options(data(pc)->settings);
  OclspktCheck(
      text.empty(), comm_of(pc), PETSC_ERR_ARG_INCOMP,
      "-pc_factor_mat_solver_type oclspkt solves with the whole matrix as it is, which %s does not: leave that "
      "out, or use -pc_type oclspkt, which makes a preconditioner",
      text.c_str());
}

/* Read the options of the preconditioner, with the prefix of the PC that factors. By default a singular matrix fails,
   even with a null space attached, as in PETSc's own factors. */
PetscErrorCode ReadOptions(Mat F) {
  PC pc = InnerPC(F);
  const char* prefix;

  PetscFunctionBegin;
  F->assembled = PETSC_FALSE;
  F->ops->lufactornumeric = F->ops->choleskyfactornumeric = nullptr; /* none if options are refused below */
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

/* The fill, for which PCLU asks: a tridiagonal matrix has none. */
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
  F->preallocated = PETSC_TRUE; /* else a debug build reports missing factors before check_factors(), and says less */
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
  /* PETSc 3.18 registers its own solvers late: without this call, ours would be every type's default. */
  PetscCall(MatInitializePackage());
  for (MatType type : {MATSEQAIJ, MATMPIAIJ}) {
    for (const MatFactorType factor : {MAT_FACTOR_LU, MAT_FACTOR_CHOLESKY}) {
      PetscCall(MatSolverTypeRegister(PCOCLSPKT, type, factor, Called<get_factor>));
    }
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

}  // namespace oclspkt::petsc
