/* SPDX-License-Identifier: BSD-2-Clause */
static char help[] =
    "How long PCApply() and KSPSolve() take with PETSc's vectors where the options put them, such as on a GPU:\n\
-dm_vec_type cuda -dm_mat_type aijcusparse, or by -oclspkt_types. The program knows nothing of oclspkt.\n\n\
  -n <rows>        a line of so many rows: an implicit step of diffusion\n\
  -grid <points>   instead, a cube of so many points a side: the Laplacian, and 1 on its diagonal\n\
  -lambda <ratio>  of the step to the square of the grid width\n\
  -applies <count> of each batch that is timed, with one wait for the device behind it\n\
  -columns <count> of a dense matrix that PCMatApply() is timed with; 0: none\n\
  -reference       hold the apply against one of the preconditioner with the options -ref_pc_..., and columns\n\
                   against the apply\n\
  -solver_view     the solver after all of it\n\n";

#include <petscdmda.h>
#include <petscksp.h>
#include <petsctime.h>

#include "petsc_wait.h"

enum { BATCHES = 7 };

/* Conductivity between points i and i + 1: not the same anywhere, which would make an easier case. */
static PetscReal Conductivity(PetscInt i) {
  const PetscReal golden = 0.6180339887498949, turned = golden * (PetscReal)(i + 1);

  return 0.1 + 0.9 * (turned - PetscFloorReal(turned));
}

static PetscErrorCode FillRow(Mat A, const MatStencil* row, const DMDALocalInfo* grid, PetscReal lambda) {
  const PetscInt sizes[] = {grid->mx, grid->my, grid->mz}, at[] = {row->i, row->j, row->k};
  MatStencil columns[7];
  PetscScalar values[7];
  PetscInt count = 1;

  PetscFunctionBeginUser;
  columns[0] = *row;
  values[0] = 1;
  for (PetscInt axis = 0; axis < 3; ++axis) {
    for (PetscInt step = -1; step <= 1; step += 2) {
      const PetscInt to = at[axis] + step;
      const PetscReal k = lambda * Conductivity(step < 0 ? to : at[axis]);

      if (sizes[axis] == 1) continue;
      values[0] += k;
      if (to < 0 || to >= sizes[axis]) continue;
      columns[count] = *row;
      if (axis == 0) columns[count].i = to;
      if (axis == 1) columns[count].j = to;
      if (axis == 2) columns[count].k = to;
      values[count++] = -k;
    }
  }
  PetscCall(MatSetValuesStencil(A, 1, row, count, columns, values, INSERT_VALUES));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode FillMatrix(DM dm, Mat A, PetscReal lambda) {
  DMDALocalInfo grid;

  PetscFunctionBeginUser;
  PetscCall(DMDAGetLocalInfo(dm, &grid));
  for (PetscInt k = grid.zs; k < grid.zs + grid.zm; ++k) {
    for (PetscInt j = grid.ys; j < grid.ys + grid.ym; ++j) {
      for (PetscInt i = grid.xs; i < grid.xs + grid.xm; ++i) {
        const MatStencil row = {.k = k, .j = j, .i = i};
        PetscCall(FillRow(A, &row, &grid, lambda));
      }
    }
  }
  PetscCall(MatAssemblyBegin(A, MAT_FINAL_ASSEMBLY));
  PetscCall(MatAssemblyEnd(A, MAT_FINAL_ASSEMBLY));
  PetscFunctionReturn(PETSC_SUCCESS);
}

typedef struct {
  KSP ksp;
  PC pc;
  Vec b, x, marker;
  Mat B, X;
} Work;

static PetscErrorCode Apply(Work* w) {
  PetscFunctionBeginUser;
  PetscCall(PCApply(w->pc, w->b, w->x));
  PetscFunctionReturn(PETSC_SUCCESS);
}
static PetscErrorCode ApplyTranspose(Work* w) {
  PetscFunctionBeginUser;
  PetscCall(PCApplyTranspose(w->pc, w->b, w->x));
  PetscFunctionReturn(PETSC_SUCCESS);
}
static PetscErrorCode ApplyColumns(Work* w) {
  PetscFunctionBeginUser;
  PetscCall(PCMatApply(w->pc, w->B, w->X));
  PetscFunctionReturn(PETSC_SUCCESS);
}
static PetscErrorCode Solve(Work* w) {
  PetscFunctionBeginUser;
  PetscCall(KSPSolve(w->ksp, w->b, w->x));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* The median of batches, in milliseconds a call. */
static PetscErrorCode Time(const char* what, PetscErrorCode (*call)(Work*), Work* work, PetscInt count) {
  PetscReal seconds[BATCHES];

  PetscFunctionBeginUser;
  PetscCall((*call)(work)); /* warm */
  PetscCall(WaitForDevice(work->marker));
  for (PetscInt batch = 0; batch < BATCHES; ++batch) {
    PetscLogDouble start, end;

    PetscCallMPI(MPI_Barrier(PETSC_COMM_WORLD));
    PetscCall(PetscTime(&start));
    for (PetscInt i = 0; i < count; ++i) PetscCall((*call)(work));
    PetscCall(WaitForDevice(work->marker));
    PetscCall(PetscTime(&end));
    seconds[batch] = (end - start) / (PetscLogDouble)count;
  }
  PetscCall(PetscSortReal(BATCHES, seconds));
  PetscCall(PetscPrintf(PETSC_COMM_WORLD, "%s: %.5g ms\n", what, (double)(1e3 * seconds[BATCHES / 2])));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Hold an apply against another preconditioner of the same matrix. */
static PetscErrorCode Compare(Work* w, DM dm, Mat A, PetscErrorCode (*apply)(PC, Vec, Vec), const char* what) {
  PC reference;
  Vec expected;
  PetscReal error, norm;

  PetscFunctionBeginUser;
  PetscCall(PCCreate(PETSC_COMM_WORLD, &reference));
  PetscCall(PCSetDM(reference, dm));
  PetscCall(PCSetOperators(reference, A, A));
  PetscCall(PCSetOptionsPrefix(reference, "ref_"));
  PetscCall(PCSetFromOptions(reference));
  PetscCall(VecDuplicate(w->x, &expected));
  PetscCall((*apply)(reference, w->b, expected));
  PetscCall((*apply)(w->pc, w->b, w->x));
  PetscCall(VecNorm(expected, NORM_INFINITY, &norm));
  PetscCall(VecAXPY(expected, -1, w->x));
  PetscCall(VecNorm(expected, NORM_INFINITY, &error));
  PetscCall(PetscPrintf(PETSC_COMM_WORLD, "%s differs from the reference by %.1e\n", what, (double)(error / norm)));
  PetscCheck(error <= 1e-11 * norm, PETSC_COMM_WORLD, PETSC_ERR_PLIB, "the answer is wrong");
  PetscCall(VecDestroy(&expected));
  PetscCall(PCDestroy(&reference));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Hold the columns of PCMatApply() against PCApply(), whose operator they must have to the bit. */
static PetscErrorCode CompareColumns(Work* w, PetscInt columns) {
  Vec one;
  PetscInt wrong = 0;

  PetscFunctionBeginUser;
  PetscCall(VecDuplicate(w->x, &one));
  PetscCall(PCMatApply(w->pc, w->B, w->X));
  for (PetscInt c = 0; c < columns; ++c) {
    Vec right, together;
    PetscBool same;

    PetscCall(MatDenseGetColumnVecRead(w->B, c, &right));
    PetscCall(PCApply(w->pc, right, one));
    PetscCall(MatDenseRestoreColumnVecRead(w->B, c, &right));
    PetscCall(MatDenseGetColumnVecRead(w->X, c, &together));
    PetscCall(VecEqual(one, together, &same));
    PetscCall(MatDenseRestoreColumnVecRead(w->X, c, &together));
    if (!same) ++wrong;
  }
  PetscCall(PetscPrintf(PETSC_COMM_WORLD, "%" PetscInt_FMT " of %" PetscInt_FMT " columns differ from PCApply\n", wrong,
                        columns));
  PetscCheck(wrong == 0, PETSC_COMM_WORLD, PETSC_ERR_PLIB, "the answer is wrong");
  PetscCall(VecDestroy(&one));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode TimeColumns(Work* w, PetscInt columns, PetscBool compare) {
  PetscInt local;
  VecType type;

  PetscFunctionBeginUser;
  PetscCall(VecGetLocalSize(w->b, &local));
  PetscCall(VecGetType(w->b, &type));
  PetscCall(
      MatCreateDenseFromVecType(PETSC_COMM_WORLD, type, local, PETSC_DECIDE, PETSC_DECIDE, columns, -1, NULL, &w->B));
  PetscCall(MatSetRandom(w->B, NULL));
  PetscCall(MatDuplicate(w->B, MAT_DO_NOT_COPY_VALUES, &w->X));
  if (compare) PetscCall(CompareColumns(w, columns));
  PetscCall(Time("PCMatApply", ApplyColumns, w, 1));
  PetscCall(MatDestroy(&w->B));
  PetscCall(MatDestroy(&w->X));
  PetscFunctionReturn(PETSC_SUCCESS);
}

int main(int argc, char** argv) {
  PetscInt n = 1000000, points = 0, applies = 20, columns = 0, iterations;
  PetscReal lambda = 10, error, norm;
  PetscBool reference = PETSC_FALSE;
  PetscLogDouble start, end;
  DM dm;
  Mat A;
  Vec exact, residual;
  Work w;

  PetscFunctionBeginUser;
  PetscCall(PetscInitialize(&argc, &argv, NULL, help));
  PetscCall(PetscOptionsGetInt(NULL, NULL, "-n", &n, NULL));
  PetscCall(PetscOptionsGetInt(NULL, NULL, "-grid", &points, NULL));
  PetscCall(PetscOptionsGetInt(NULL, NULL, "-applies", &applies, NULL));
  PetscCall(PetscOptionsGetInt(NULL, NULL, "-columns", &columns, NULL));
  PetscCall(PetscOptionsGetReal(NULL, NULL, "-lambda", &lambda, NULL));
  PetscCall(PetscOptionsGetBool(NULL, NULL, "-reference", &reference, NULL));
  PetscCheck(n > 0 && applies > 0 && lambda >= 0 && points >= 0 && columns >= 0, PETSC_COMM_WORLD,
             PETSC_ERR_ARG_OUTOFRANGE, "-n and -applies must be positive, the others not negative");
  if (points > 0) {
    PetscCall(DMDACreate3d(PETSC_COMM_WORLD, DM_BOUNDARY_NONE, DM_BOUNDARY_NONE, DM_BOUNDARY_NONE, DMDA_STENCIL_STAR,
                           points, points, points, PETSC_DECIDE, PETSC_DECIDE, PETSC_DECIDE, 1, 1, NULL, NULL, NULL,
                           &dm));
  } else {
    PetscCall(DMDACreate1d(PETSC_COMM_WORLD, DM_BOUNDARY_NONE, n, 1, 1, NULL, &dm));
  }
  PetscCall(DMSetFromOptions(dm));
  PetscCall(DMSetUp(dm));
  PetscCall(DMCreateMatrix(dm, &A));
  PetscCall(FillMatrix(dm, A, lambda));
  PetscCall(MatCreateVecs(A, &w.x, &w.b));
  PetscCall(CreateMarker(w.x, &w.marker));
  PetscCall(VecDuplicate(w.x, &exact));
  PetscCall(VecSetRandom(exact, NULL));
  PetscCall(MatMult(A, exact, w.b));

  PetscCall(KSPCreate(PETSC_COMM_WORLD, &w.ksp));
  PetscCall(KSPSetOperators(w.ksp, A, A));
  PetscCall(KSPGetPC(w.ksp, &w.pc));
  PetscCall(PCSetDM(w.pc, dm));
  PetscCall(KSPSetFromOptions(w.ksp));
  PetscCall(PetscTime(&start));
  PetscCall(KSPSetUp(w.ksp));
  PetscCall(WaitForDevice(w.marker));
  PetscCall(PetscTime(&end));
  PetscCall(PetscPrintf(PETSC_COMM_WORLD, "set-up: %.4g ms\n", (double)(1e3 * (end - start))));
  PetscCall(Time("PCApply", Apply, &w, applies));
  if (reference) {
    PetscCall(Compare(&w, dm, A, PCApply, "PCApply"));
    PetscCall(Compare(&w, dm, A, PCApplyTranspose, "PCApplyTranspose"));
    PetscCall(Time("PCApplyTranspose", ApplyTranspose, &w, applies));
  }
  if (columns > 0) PetscCall(TimeColumns(&w, columns, reference));
  PetscCall(Time("KSPSolve", Solve, &w, 1));
  PetscCall(KSPGetIterationNumber(w.ksp, &iterations));
  PetscCall(VecDuplicate(w.b, &residual));
  PetscCall(MatMult(A, w.x, residual));
  PetscCall(VecAXPY(residual, -1, w.b));
  PetscCall(VecNorm(residual, NORM_2, &error));
  PetscCall(VecNorm(w.b, NORM_2, &norm));
  PetscCall(PetscPrintf(PETSC_COMM_WORLD, "%" PetscInt_FMT " iterations, relative residual %.1e\n", iterations,
                        (double)(error / norm)));
  PetscCall(KSPViewFromOptions(w.ksp, NULL, "-solver_view"));

  PetscCall(VecDestroy(&residual));
  PetscCall(VecDestroy(&exact));
  PetscCall(VecDestroy(&w.x));
  PetscCall(VecDestroy(&w.b));
  PetscCall(VecDestroy(&w.marker));
  PetscCall(MatDestroy(&A));
  PetscCall(KSPDestroy(&w.ksp));
  PetscCall(DMDestroy(&dm));
  PetscCall(PetscFinalize());
  return 0;
}
