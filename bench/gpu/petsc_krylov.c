/* SPDX-License-Identifier: BSD-2-Clause */
static char help[] =
    "How long an iteration of Krylov methods takes with PETSc's vectors and matrices where the options put them, such as\n\
by -oclspkt_types, or on a GPU by -dm_vec_type cuda -dm_mat_type aijcusparse. The program knows nothing of oclspkt.\n\
Each figure is the difference of two solves of fixed length over their iterations: set-up and start drop out.\n\
It writes one line of JSON for each method.\n\n\
  -points <count>    of a side of the grid; -da_grid_z and its like make one longer\n\
  -dimensions <2|3>  of the grid; the matrix is 1 + lambda (5- or 7-point Laplacian)\n\
  -lambda <ratio>    of the time step to the square of the grid width\n\
  -methods <words>   of cg, gmres, bcgs, chebyshev, chebyshev-no-norm; each with -pc_type (jacobi)\n\
  -short <count>     iterations of the shorter solve; 0: none, the figure is the longer one's mean\n\
  -long <count>      iterations of the longer solve\n\
  -repeats <count>   of each solve, in turn; after one that is not timed\n\
  -steps <count>     instead: so many implicit steps of the heat equation, solved to -ksp_rtol by CG\n\n";

#include <petscdmda.h>
#include <petscksp.h>
#include <petsctime.h>

enum { MOST_METHODS = 8, MOST_REPEATS = 64 };

typedef struct {
  PetscInt points, dimensions, length[2], repeats, steps;
  PetscReal lambda;
} Wanted;

static PetscErrorCode FillRow(Mat A, const MatStencil* row, const PetscInt sides[], const Wanted* wanted) {
  MatStencil columns[7];
  PetscScalar values[7];
  PetscInt count = 1;
  const PetscInt at[] = {row->i, row->j, row->k};

  PetscFunctionBeginUser;
  columns[0] = *row;
  values[0] = 1 + 2 * wanted->lambda * (PetscReal)wanted->dimensions;
  for (PetscInt axis = 0; axis < wanted->dimensions; ++axis) {
    for (PetscInt step = -1; step <= 1; step += 2) {
      const PetscInt to = at[axis] + step;

      if (to < 0 || to >= sides[axis]) continue;
      columns[count] = *row;
      if (axis == 0) columns[count].i = to;
      if (axis == 1) columns[count].j = to;
      if (axis == 2) columns[count].k = to;
      values[count++] = -wanted->lambda;
    }
  }
  PetscCall(MatSetValuesStencil(A, 1, row, count, columns, values, INSERT_VALUES));
  PetscFunctionReturn(0);
}

static PetscErrorCode CreateMatrix(DM dm, const Wanted* wanted, Mat* A) {
  PetscInt first[3], count[3], sides[3];

  PetscFunctionBeginUser;
  PetscCall(
      DMDAGetInfo(dm, NULL, &sides[0], &sides[1], &sides[2], NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL));
  PetscCall(DMSetMatrixPreallocateOnly(dm, PETSC_TRUE));
  PetscCall(DMCreateMatrix(dm, A));
  PetscCall(DMDAGetCorners(dm, &first[0], &first[1], &first[2], &count[0], &count[1], &count[2]));
  for (PetscInt k = first[2]; k < first[2] + count[2]; ++k) {
    for (PetscInt j = first[1]; j < first[1] + count[1]; ++j) {
      for (PetscInt i = first[0]; i < first[0] + count[0]; ++i) {
        const MatStencil row = {.k = k, .j = j, .i = i};
        PetscCall(FillRow(*A, &row, sides, wanted));
      }
    }
  }
  PetscCall(MatAssemblyBegin(*A, MAT_FINAL_ASSEMBLY));
  PetscCall(MatAssemblyEnd(*A, MAT_FINAL_ASSEMBLY));
  PetscFunctionReturn(0);
}

static PetscErrorCode CreateGrid(const Wanted* wanted, DM* dm) {
  const PetscInt n = wanted->points, d = PETSC_DECIDE;

  PetscFunctionBeginUser;
  if (wanted->dimensions == 3) {
    PetscCall(DMDACreate3d(PETSC_COMM_WORLD, DM_BOUNDARY_NONE, DM_BOUNDARY_NONE, DM_BOUNDARY_NONE, DMDA_STENCIL_STAR, n,
                           n, n, d, d, d, 1, 1, NULL, NULL, NULL, dm));
  } else {
    PetscCall(DMDACreate2d(PETSC_COMM_WORLD, DM_BOUNDARY_NONE, DM_BOUNDARY_NONE, DMDA_STENCIL_STAR, n, n, d, d, 1, 1,
                           NULL, NULL, dm));
  }
  PetscCall(DMSetFromOptions(*dm));
  PetscCall(DMSetUp(*dm));
  PetscFunctionReturn(0);
}

/* A solver by a method of the list. */
static PetscErrorCode CreateSolver(Mat A, const char* method, KSP* ksp) {
  PetscBool chebyshev, no_norm;
  PC pc;

  PetscFunctionBeginUser;
  PetscCall(KSPCreate(PETSC_COMM_WORLD, ksp));
  PetscCall(KSPSetOperators(*ksp, A, A));
  PetscCall(KSPGetPC(*ksp, &pc));
  PetscCall(PCSetType(pc, PCJACOBI));
  PetscCall(PetscStrncmp(method, "chebyshev", 9, &chebyshev));
  PetscCall(PetscStrcmp(method, "chebyshev-no-norm", &no_norm));
  PetscCall(KSPSetType(*ksp, chebyshev ? KSPCHEBYSHEV : method));
  PetscCall(KSPSetFromOptions(*ksp));
  if (chebyshev) PetscCall(KSPChebyshevSetEigenvalues(*ksp, 2, 0.01)); /* of a Laplacian by its diagonal */
  if (no_norm) PetscCall(KSPSetNormType(*ksp, KSP_NORM_NONE));
  PetscFunctionReturn(0);
}

/* A solve of so many iterations whatever the residual, up to its answer being known. */
static PetscErrorCode TimeSolve(KSP ksp, Vec b, Vec x, PetscInt length, PetscReal* seconds) {
  PetscLogDouble start, end;
  PetscReal norm;
  PetscInt done;

  PetscFunctionBeginUser;
  PetscCall(KSPSetTolerances(ksp, PETSC_DEFAULT, PETSC_DEFAULT, PETSC_DEFAULT, length));
  PetscCallMPI(MPI_Barrier(PETSC_COMM_WORLD));
  PetscCall(PetscTime(&start));
  PetscCall(KSPSolve(ksp, b, x));
  PetscCall(VecNorm(x, NORM_2, &norm)); /* waits for the device */
  PetscCall(PetscTime(&end));
  PetscCall(KSPGetIterationNumber(ksp, &done));
  PetscCheck(done == length && norm > 0, PETSC_COMM_WORLD, PETSC_ERR_PLIB,
             "the solve ended after %" PetscInt_FMT " iterations of %" PetscInt_FMT ", norm %g", done, length,
             (double)norm);
  *seconds = end - start;
  PetscFunctionReturn(0);
}

static PetscErrorCode TimeMethod(Mat A, Vec b, Vec x, const char* method, const Wanted* wanted) {
  PetscReal first, seconds[2], us[MOST_REPEATS];
  PetscMPIInt ranks;
  PetscInt rows;
  VecType type;
  KSP ksp;

  PetscFunctionBeginUser;
  PetscCall(CreateSolver(A, method, &ksp));
  PetscCall(KSPSetConvergenceTest(ksp, KSPConvergedSkip, NULL, NULL));
  PetscCall(TimeSolve(ksp, b, x, wanted->length[1], &first));
  for (PetscInt r = 0; r < wanted->repeats; ++r) {
    for (PetscInt i = 0; i < 2; ++i) {
      seconds[i] = 0;
      if (wanted->length[i] > 0) PetscCall(TimeSolve(ksp, b, x, wanted->length[i], &seconds[i]));
    }
    us[r] = 1e6 * (seconds[1] - seconds[0]) / (PetscReal)(wanted->length[1] - wanted->length[0]);
  }
  PetscCall(KSPDestroy(&ksp));
  PetscCallMPI(MPI_Comm_size(PETSC_COMM_WORLD, &ranks));
  PetscCall(VecGetSize(x, &rows));
  PetscCall(VecGetType(x, &type));
  PetscCall(PetscPrintf(PETSC_COMM_WORLD,
                        "{\"method\": \"%s\", \"rows\": %" PetscInt_FMT ", \"ranks\": %d, \"vectors\": \"%s\", "
                        "\"first_s\": %.6g, \"us_an_iteration\": [",
                        method, rows, ranks, type, (double)first));
  for (PetscInt r = 0; r < wanted->repeats; ++r) {
    PetscCall(PetscPrintf(PETSC_COMM_WORLD, "%s%.6g", r > 0 ? ", " : "", (double)us[r]));
  }
  PetscCall(PetscPrintf(PETSC_COMM_WORLD, "]}\n"));
  PetscFunctionReturn(0);
}

/* Implicit Euler steps: the matrix once, a solve of CG for each step. */
static PetscErrorCode TimeSteps(Mat A, Vec before, Vec u, const Wanted* wanted) {
  PetscLogDouble start, end;
  PetscInt iterations, rows;
  PetscMPIInt ranks;
  PetscReal norm;
  KSP ksp;

  PetscFunctionBeginUser;
  PetscCall(CreateSolver(A, KSPCG, &ksp));
  PetscCall(KSPSetInitialGuessNonzero(ksp, PETSC_TRUE));
  PetscCall(PetscTime(&start));
  PetscCall(VecCopy(before, u));
  for (PetscInt step = 0; step < wanted->steps; ++step) {
    PetscCall(VecCopy(u, before));
    PetscCall(KSPSolve(ksp, before, u));
  }
  PetscCall(VecNorm(u, NORM_2, &norm));
  PetscCall(PetscTime(&end));
  PetscCall(KSPGetTotalIterations(ksp, &iterations));
  PetscCallMPI(MPI_Comm_size(PETSC_COMM_WORLD, &ranks));
  PetscCall(VecGetSize(u, &rows));
  PetscCall(PetscPrintf(PETSC_COMM_WORLD,
                        "{\"steps\": %" PetscInt_FMT ", \"iterations\": %" PetscInt_FMT ", \"rows\": %" PetscInt_FMT
                        ", \"ranks\": %d, \"norm\": %.12g, \"steps_s\": %.6g}\n",
                        wanted->steps, iterations, rows, ranks, (double)norm, (double)(end - start)));
  PetscCall(KSPDestroy(&ksp));
  PetscFunctionReturn(0);
}

static PetscErrorCode ReadOptions(Wanted* wanted, char** methods, PetscInt* count) {
  PetscBool given;

  PetscFunctionBeginUser;
  PetscCall(PetscOptionsGetInt(NULL, NULL, "-points", &wanted->points, NULL));
  PetscCall(PetscOptionsGetInt(NULL, NULL, "-dimensions", &wanted->dimensions, NULL));
  PetscCall(PetscOptionsGetInt(NULL, NULL, "-short", &wanted->length[0], NULL));
  PetscCall(PetscOptionsGetInt(NULL, NULL, "-long", &wanted->length[1], NULL));
  PetscCall(PetscOptionsGetInt(NULL, NULL, "-repeats", &wanted->repeats, NULL));
  PetscCall(PetscOptionsGetInt(NULL, NULL, "-steps", &wanted->steps, NULL));
  PetscCall(PetscOptionsGetReal(NULL, NULL, "-lambda", &wanted->lambda, NULL));
  PetscCheck(wanted->points > 1 && wanted->lambda > 0 && wanted->steps >= 0 && wanted->length[0] >= 0 &&
                 (wanted->dimensions == 2 || wanted->dimensions == 3),
             PETSC_COMM_WORLD, PETSC_ERR_ARG_OUTOFRANGE,
             "-points is 2 or more, -dimensions 2 or 3, -lambda positive, -steps and -short not negative");
  PetscCheck(wanted->length[1] > wanted->length[0] && wanted->repeats > 0 && wanted->repeats <= MOST_REPEATS,
             PETSC_COMM_WORLD, PETSC_ERR_ARG_OUTOFRANGE, "-long is more than -short, -repeats 1 to %d", MOST_REPEATS);
  *count = MOST_METHODS;
  PetscCall(PetscOptionsGetStringArray(NULL, NULL, "-methods", methods, count, &given));
  if (!given) {
    *count = 1;
    PetscCall(PetscStrallocpy(KSPCG, &methods[0]));
  }
  PetscFunctionReturn(0);
}

int main(int argc, char** argv) {
  Wanted wanted = {.points = 100, .dimensions = 3, .length = {30, 150}, .repeats = 5, .lambda = 10};
  char* methods[MOST_METHODS];
  PetscInt count;
  DM dm;
  Mat A;
  Vec b, x;

  PetscFunctionBeginUser;
  PetscCall(PetscInitialize(&argc, &argv, NULL, help));
  PetscCall(ReadOptions(&wanted, methods, &count));
  PetscCall(CreateGrid(&wanted, &dm));
  PetscCall(CreateMatrix(dm, &wanted, &A));
  PetscCall(DMCreateGlobalVector(dm, &b));
  PetscCall(VecDuplicate(b, &x));
  PetscCall(VecSetRandom(b, NULL));
  if (wanted.steps > 0) PetscCall(TimeSteps(A, b, x, &wanted));
  for (PetscInt m = 0; m < count; ++m) {
    if (wanted.steps == 0) PetscCall(TimeMethod(A, b, x, methods[m], &wanted));
    PetscCall(PetscFree(methods[m]));
  }
  PetscCall(VecDestroy(&x));
  PetscCall(VecDestroy(&b));
  PetscCall(MatDestroy(&A));
  PetscCall(DMDestroy(&dm));
  PetscCall(PetscFinalize());
  return 0;
}
