/* SPDX-License-Identifier: BSD-2-Clause */
static char help[] =
    "The heat equation in one dimension, implicit in time, every step solved by oclspkt.\n\n\
    u_t = u_xx on (0,1), u(t,0) = u(t,1) = 0, u(0,x) = sin(pi x);   solution exp(-pi^2 t) sin(pi x)\n\n\
  -n <rows>      points inside the interval\n\
  -steps <count> time steps\n\
  -end <time>    where to stop\n\n";

#include <petscts.h>

#include "oclspkt/oclspkt.h"

/* Second differences with zero boundary values. */
static PetscErrorCode CreateLaplacian(PetscInt n, PetscReal h, Mat* A) {
  PetscFunctionBeginUser;
  PetscCall(MatCreateSeqAIJ(PETSC_COMM_SELF, n, n, 3, NULL, A));
  for (PetscInt i = 0; i < n; ++i) {
    const PetscInt columns[] = {i - 1, i, i + 1};
    const PetscScalar values[] = {1 / (h * h), -2 / (h * h), 1 / (h * h)};
    const PetscInt first = i == 0, count = 3 - (i == 0) - (i == n - 1);

    PetscCall(MatSetValues(*A, 1, &i, count, columns + first, values + first, INSERT_VALUES));
  }
  PetscCall(MatAssemblyBegin(*A, MAT_FINAL_ASSEMBLY));
  PetscCall(MatAssemblyEnd(*A, MAT_FINAL_ASSEMBLY));
  PetscFunctionReturn(0);
}

static PetscErrorCode Solution(PetscReal t, PetscReal h, Vec u) {
  PetscScalar* values;
  PetscInt n;

  PetscFunctionBeginUser;
  PetscCall(VecGetLocalSize(u, &n));
  PetscCall(VecGetArrayWrite(u, &values));
  for (PetscInt i = 0; i < n; ++i)
    values[i] = PetscExpReal(-PETSC_PI * PETSC_PI * t) * PetscSinReal(PETSC_PI * h * (i + 1));
  PetscCall(VecRestoreArrayWrite(u, &values));
  PetscFunctionReturn(0);
}

/* What the discretisation does to the lowest mode, to leading order: second differences let it decay too slowly by
   pi^4 h^2 / 12, Crank-Nicolson too fast by pi^6 dt^2 / 12. */
static PetscReal DiscretisationError(PetscReal end, PetscReal h, PetscReal dt) {
  const PetscReal p2 = PETSC_PI * PETSC_PI;

  return PetscExpReal(-p2 * end) * end * p2 * p2 * PetscAbsReal(h * h - p2 * dt * dt) / 12;
}

/* Which method and device PCOCLSPKT took; another PC may have been asked for by option. */
static PetscErrorCode Report(PC pc) {
  PetscBool ours;
  const char *method, *device, *method_why, *device_type;

  PetscFunctionBeginUser;
  PetscCall(PetscObjectTypeCompare((PetscObject)pc, PCOCLSPKT, &ours));
  if (!ours) PetscFunctionReturn(0);
  PetscCall(PCOCLSPKTGetMethodUsed(pc, &method, &method_why));
  PetscCall(PCOCLSPKTGetDeviceUsed(pc, &device, &device_type));
  PetscCall(PetscPrintf(PETSC_COMM_SELF, "solved by %s (%s)\non %s (%s)\n", method, method_why, device, device_type));
  PetscFunctionReturn(0);
}

int main(int argc, char** argv) {
  PetscInt n = 1000, steps = 100, iterations;
  PetscReal end = 0.1, h, dt, error, expected;
  Mat A;
  Vec u, exact;
  TS ts;
  SNES snes;
  KSP ksp;
  PC pc;

  PetscFunctionBeginUser;
  PetscCall(PetscInitialize(&argc, &argv, NULL, help));
  PetscCall(PCOCLSPKTInitializePackage());
  PetscCall(PetscOptionsGetInt(NULL, NULL, "-n", &n, NULL));
  PetscCall(PetscOptionsGetInt(NULL, NULL, "-steps", &steps, NULL));
  PetscCall(PetscOptionsGetReal(NULL, NULL, "-end", &end, NULL));
  PetscCheck(n > 0 && steps > 0 && end > 0, PETSC_COMM_SELF, PETSC_ERR_ARG_OUTOFRANGE,
             "-n, -steps and -end must be positive");
  h = 1.0 / (n + 1);
  dt = end / steps;

  PetscCall(CreateLaplacian(n, h, &A));
  PetscCall(MatCreateVecs(A, &u, &exact));
  PetscCall(Solution(0, h, u));

  PetscCall(TSCreate(PETSC_COMM_SELF, &ts));
  PetscCall(TSSetProblemType(ts, TS_LINEAR));
  PetscCall(TSSetType(ts, TSCN));
  PetscCall(TSSetRHSFunction(ts, NULL, TSComputeRHSFunctionLinear, NULL));
  PetscCall(TSSetRHSJacobian(ts, A, A, TSComputeRHSJacobianConstant, NULL));
  PetscCall(TSSetTimeStep(ts, dt));
  PetscCall(TSSetMaxSteps(ts, steps));
  PetscCall(TSSetMaxTime(ts, end));
  PetscCall(TSSetExactFinalTime(ts, TS_EXACTFINALTIME_MATCHSTEP));
  PetscCall(TSGetSNES(ts, &snes));
  PetscCall(SNESGetKSP(snes, &ksp));
  PetscCall(KSPGetPC(ksp, &pc));
  PetscCall(PCSetType(pc, PCOCLSPKT));
  PetscCall(TSSetFromOptions(ts));
  PetscCall(TSSolve(ts, u));

  PetscCall(Report(pc));
  PetscCall(Solution(end, h, exact));
  PetscCall(VecAXPY(u, -1, exact));
  PetscCall(VecNorm(u, NORM_INFINITY, &error));
  PetscCall(TSGetKSPIterations(ts, &iterations));
  expected = DiscretisationError(end, h, dt);
  PetscCall(PetscPrintf(PETSC_COMM_SELF,
                        "%" PetscInt_FMT " rows, %" PetscInt_FMT " steps, %" PetscInt_FMT " linear iterations\n", n,
                        steps, iterations));
  PetscCall(PetscPrintf(PETSC_COMM_SELF,
                        "largest error against the analytic solution %.3g, of which the discretisation explains %.3g\n",
                        (double)error, (double)expected));
  PetscCheck(PetscAbsReal(error - expected) <= 0.05 * expected, PETSC_COMM_SELF, PETSC_ERR_PLIB,
             "the error is not that of the discretisation");

  PetscCall(TSDestroy(&ts));
  PetscCall(VecDestroy(&exact));
  PetscCall(VecDestroy(&u));
  PetscCall(MatDestroy(&A));
  PetscCall(PetscFinalize());
  return 0;
}
