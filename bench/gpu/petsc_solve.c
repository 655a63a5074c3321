/* SPDX-License-Identifier: BSD-2-Clause */
static char help[] =
    "An implicit step of diffusion by whatever KSP and PC the options name, several times over: how long a KSPSolve()\n\
takes with PETSc's vectors. The program knows nothing of oclspkt.\n\n\
  -n <rows>        of the matrix -lambda k, 1 + lambda (k + k'), -lambda k', k between 0.1 and 1\n\
  -lambda <ratio>  of the step to the square of the grid width\n\
  -solves <count>  batches that are timed\n\
  -batch <count>   solves of a batch, with one wait for the device behind it\n\
  -solver_view     the solver after all of them; -ksp_view would print in each\n\n";

#include <petscksp.h>
#include <petsctime.h>

#include "petsc_wait.h"

/* Conductivity between rows i and i + 1: not the same anywhere, which would make an easier case. */
static PetscReal Conductivity(PetscInt i) {
  const PetscReal golden = 0.6180339887498949, turned = golden * (PetscReal)(i + 1);

  return 0.1 + 0.9 * (turned - PetscFloorReal(turned));
}

static PetscErrorCode CreateMatrix(PetscInt n, PetscReal lambda, Mat* A) {
  PetscFunctionBeginUser;
  PetscCall(MatCreateSeqAIJ(PETSC_COMM_SELF, n, n, 3, NULL, A));
  for (PetscInt i = 0; i < n; ++i) {
    const PetscReal above = lambda * Conductivity(i - 1), below = lambda * Conductivity(i);
    const PetscScalar values[] = {-above, 1 + above + below, -below};
    const PetscInt columns[] = {i - 1, i, i + 1};
    const PetscInt first = i == 0, count = 3 - (i == 0) - (i == n - 1);

    PetscCall(MatSetValues(*A, 1, &i, count, columns + first, values + first, INSERT_VALUES));
  }
  PetscCall(MatAssemblyBegin(*A, MAT_FINAL_ASSEMBLY));
  PetscCall(MatAssemblyEnd(*A, MAT_FINAL_ASSEMBLY));
  PetscFunctionReturn(0);
}

static PetscErrorCode TimeSolve(KSP ksp, Vec b, Vec x, Vec marker, PetscInt batch, PetscReal* seconds) {
  PetscLogDouble start, end;

  PetscFunctionBeginUser;
  PetscCall(PetscTime(&start));
  for (PetscInt i = 0; i < batch; ++i) PetscCall(KSPSolve(ksp, b, x));
  PetscCall(WaitForDevice(marker));
  PetscCall(PetscTime(&end));
  *seconds = (end - start) / (PetscReal)batch;
  PetscFunctionReturn(0);
}

static PetscErrorCode TimeSolves(KSP ksp, Vec b, Vec x, PetscInt count, PetscInt batch, PetscReal* first,
                                 PetscReal* median) {
  PetscReal* seconds;
  Vec marker;

  PetscFunctionBeginUser;
  PetscCall(CreateMarker(x, &marker));
  PetscCall(WaitForDevice(marker));
  PetscCall(PetscMalloc1(count, &seconds));
  PetscCall(TimeSolve(ksp, b, x, marker, 1, first));
  for (PetscInt i = 0; i < count; ++i) PetscCall(TimeSolve(ksp, b, x, marker, batch, &seconds[i]));
  PetscCall(PetscSortReal(count, seconds));
  *median = seconds[count / 2];
  PetscCall(PetscFree(seconds));
  PetscCall(VecDestroy(&marker));
  PetscFunctionReturn(0);
}

int main(int argc, char** argv) {
  PetscInt n = 1000000, solves = 7, batch = 1;
  PetscReal lambda = 10, first = 0, median = 0, error, norm;
  PetscLogDouble start, end;
  Mat A;
  Vec exact, b, x;
  KSP ksp;

  PetscFunctionBeginUser;
  PetscCall(PetscInitialize(&argc, &argv, NULL, help));
  PetscCall(PetscOptionsGetInt(NULL, NULL, "-n", &n, NULL));
  PetscCall(PetscOptionsGetReal(NULL, NULL, "-lambda", &lambda, NULL));
  PetscCall(PetscOptionsGetInt(NULL, NULL, "-solves", &solves, NULL));
  PetscCall(PetscOptionsGetInt(NULL, NULL, "-batch", &batch, NULL));
  PetscCheck(n > 0 && solves > 0 && batch > 0 && lambda >= 0, PETSC_COMM_SELF, PETSC_ERR_ARG_OUTOFRANGE,
             "-n, -solves and -batch must be positive, -lambda not negative");
  PetscCall(CreateMatrix(n, lambda, &A));
  PetscCall(MatCreateVecs(A, &x, &b));
  PetscCall(VecDuplicate(x, &exact));
  PetscCall(VecSetRandom(exact, NULL));
  PetscCall(MatMult(A, exact, b));

  PetscCall(KSPCreate(PETSC_COMM_SELF, &ksp));
  PetscCall(KSPSetOperators(ksp, A, A));
  PetscCall(KSPSetFromOptions(ksp));
  PetscCall(PetscTime(&start));
  PetscCall(KSPSetUp(ksp));
  PetscCall(PetscTime(&end));
  PetscCall(TimeSolves(ksp, b, x, solves, batch, &first, &median));
  PetscCall(KSPViewFromOptions(ksp, NULL, "-solver_view"));

  PetscCall(VecAXPY(x, -1, exact));
  PetscCall(VecNorm(x, NORM_INFINITY, &error));
  PetscCall(VecNorm(exact, NORM_INFINITY, &norm));
  PetscCall(PetscPrintf(PETSC_COMM_SELF,
                        "%" PetscInt_FMT " rows: set-up %.4g s, first solve %.4g s, median of %" PetscInt_FMT
                        " solves %.4g s, %.4g Mrows/s, error %.1e\n",
                        n, (double)(end - start), (double)first, solves, (double)median, (double)(1e-6 * n / median),
                        (double)(error / norm)));
  PetscCheck(error <= 1e-10 * norm, PETSC_COMM_SELF, PETSC_ERR_PLIB, "the answer is wrong");
  PetscCall(KSPDestroy(&ksp));
  PetscCall(VecDestroy(&x));
  PetscCall(VecDestroy(&b));
  PetscCall(VecDestroy(&exact));
  PetscCall(MatDestroy(&A));
  PetscCall(PetscFinalize());
  return 0;
}
