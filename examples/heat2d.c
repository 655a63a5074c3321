/* SPDX-License-Identifier: BSD-2-Clause */
#include "grid.h"
#include "oclspkt/oclspkt.h"

static char help[] =
    "The heat equation in two dimensions by alternating directions (Peaceman and Rachford 1955), second order in time:\n\
  (1 - dt/2 A_x) u* = (1 + dt/2 A_y) u   and then   (1 - dt/2 A_y) u' = (1 + dt/2 A_x) u*\n\
One matrix and one PCOCLSPKT for each direction: a half step solves all lines of the grid, exactly.\n\
u_t = u_xx + u_yy on the unit square, u = 0 on its edge, u(0) a sum of sine waves.\n\n\
  -da_grid_x <nx> -da_grid_y <ny>  points inside the square\n\
  -steps <count>   time steps of the coarsest run; each further run halves the step\n\
  -runs <count>    how many runs\n\
  -end <time>      where to stop\n" OUTPUT_HELP "\n";

/* What u(0) is made of. */
static const Wave waves[] = {{{1, 1}, 1.0}, {{2, 1}, 0.5}, {{1, 3}, -0.4}, {{3, 2}, 0.3}};
enum { WAVES = sizeof waves / sizeof waves[0] };

typedef struct {
  DM grid;
  PetscInt nx, ny;
  PetscReal hx, hy;
  Mat x_matrix, y_matrix; /* 1 - dt/2 A_x, 1 - dt/2 A_y */
  KSP x_solver, y_solver;
} Heat;

/* What becomes of each wave's amplitude until the end. */
typedef struct {
  PetscReal of[WAVES];
} Factors;

static Factors DecayOfEquation(PetscReal end) {
  Factors f;

  for (PetscInt w = 0; w < WAVES; ++w)
    f.of[w] = PetscExpReal(-PetscSqr(PETSC_PI) * (PetscSqr(waves[w].number[0]) + PetscSqr(waves[w].number[1])) * end);
  return f;
}

/* Of the ordinary differential equations that are left when space is discrete and time is not. */
static Factors DecayOnGrid(const Heat* heat, PetscReal end) {
  Factors f;

  for (PetscInt w = 0; w < WAVES; ++w)
    f.of[w] = PetscExpReal(
        -(SecondDifference(waves[w].number[0], heat->hx) + SecondDifference(waves[w].number[1], heat->hy)) * end);
  return f;
}

/* Of the method itself, without rounding. */
static Factors DecayOfMethod(const Heat* heat, PetscReal dt, PetscInt steps) {
  Factors f;

  for (PetscInt w = 0; w < WAVES; ++w) {
    const PetscReal a = dt / 2 * SecondDifference(waves[w].number[0], heat->hx);
    const PetscReal b = dt / 2 * SecondDifference(waves[w].number[1], heat->hy);

    f.of[w] = PetscPowReal((1 - a) * (1 - b) / ((1 + a) * (1 + b)), steps);
  }
  return f;
}

/* 1 - dt/2 A along one axis; lambda = dt/2 over the squared mesh width. Fixed values lie outside of the grid. */
static PetscErrorCode FillMatrix(const Heat* heat, PetscBool along_x, PetscReal lambda, Mat matrix) {
  DMDALocalInfo info;

  PetscFunctionBeginUser;
  PetscCall(DMDAGetLocalInfo(heat->grid, &info));
  for (PetscInt j = info.ys; j < info.ys + info.ym; ++j) {
    for (PetscInt i = info.xs; i < info.xs + info.xm; ++i) {
      const PetscInt place = along_x ? i : j, last = (along_x ? heat->nx : heat->ny) - 1;
      const MatStencil row = {.i = i, .j = j};
      MatStencil columns[3];
      PetscScalar values[3];
      PetscInt count = 0;

      for (PetscInt side = -1; side <= 1; ++side) {
        if (place + side < 0 || place + side > last) continue;
        columns[count] = (MatStencil){.i = along_x ? i + side : i, .j = along_x ? j : j + side};
        values[count++] = side ? -lambda : 1 + 2 * lambda;
      }
      PetscCall(MatSetValuesStencil(matrix, 1, &row, count, columns, values, INSERT_VALUES));
    }
  }
  PetscCall(MatAssemblyBegin(matrix, MAT_FINAL_ASSEMBLY));
  PetscCall(MatAssemblyEnd(matrix, MAT_FINAL_ASSEMBLY));
  PetscFunctionReturn(0);
}

static PetscErrorCode Setup(Heat* heat) {
  PetscFunctionBeginUser;
  PetscCall(DMDACreate2d(PETSC_COMM_WORLD, DM_BOUNDARY_NONE, DM_BOUNDARY_NONE, DMDA_STENCIL_STAR, 120, 90, PETSC_DECIDE,
                         PETSC_DECIDE, 1, 1, NULL, NULL, &heat->grid));
  PetscCall(DMSetFromOptions(heat->grid));
  PetscCall(DMSetUp(heat->grid));
  PetscCall(
      DMDAGetInfo(heat->grid, NULL, &heat->nx, &heat->ny, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL));
  heat->hx = 1.0 / (heat->nx + 1);
  heat->hy = 1.0 / (heat->ny + 1);
  PetscCall(DMDASetUniformCoordinates(heat->grid, heat->hx, 1 - heat->hx, heat->hy, 1 - heat->hy, 0, 0));
  PetscCall(DMCreateMatrix(heat->grid, &heat->x_matrix));
  PetscCall(DMCreateMatrix(heat->grid, &heat->y_matrix));
  PetscCall(CreateLineSolver(heat->grid, heat->x_matrix, "x_", "x", &heat->x_solver));
  PetscCall(CreateLineSolver(heat->grid, heat->y_matrix, "y_", "y", &heat->y_solver));
  PetscFunctionReturn(0);
}

/* u = solution of solver's matrix with right-hand side 2 v - explicit_matrix v, which is (1 + dt/2 A) v. */
static PetscErrorCode HalfStep(Mat explicit_matrix, KSP solver, Vec v, Vec work, Vec u) {
  PetscFunctionBeginUser;
  PetscCall(MatMult(explicit_matrix, v, work));
  PetscCall(VecAYPX(work, -1, v));
  PetscCall(VecAXPY(work, 1, v));
  PetscCall(KSPSolve(solver, work, u));
  PetscFunctionReturn(0);
}

static PetscErrorCode Run(Heat* heat, PetscReal dt, PetscInt steps, Vec u) {
  Vec half, work;

  PetscFunctionBeginUser;
  PetscCall(FillMatrix(heat, PETSC_TRUE, dt / 2 / PetscSqr(heat->hx), heat->x_matrix));
  PetscCall(FillMatrix(heat, PETSC_FALSE, dt / 2 / PetscSqr(heat->hy), heat->y_matrix));
  PetscCall(DMGetGlobalVector(heat->grid, &half));
  PetscCall(DMGetGlobalVector(heat->grid, &work));
  PetscCall(SumWaves(heat->grid, WAVES, waves, DecayOfEquation(0).of, u));
  for (PetscInt step = 0; step < steps; ++step) {
    PetscCall(HalfStep(heat->y_matrix, heat->x_solver, u, work, half));
    PetscCall(HalfStep(heat->x_matrix, heat->y_solver, half, work, u));
    PetscCall(Progress(PETSC_COMM_WORLD, "step", step + 1, steps));
  }
  PetscCall(DMRestoreGlobalVector(heat->grid, &work));
  PetscCall(DMRestoreGlobalVector(heat->grid, &half));
  PetscFunctionReturn(0);
}

/* What second differences let survive of waves that the equation damps more, to leading order. */
static PetscReal SpaceError(const Heat* heat, PetscReal end) {
  const Factors decay = DecayOfEquation(end);
  PetscReal sum = 0;

  for (PetscInt w = 0; w < WAVES; ++w)
    sum += PetscAbsReal(waves[w].amplitude) * decay.of[w] * end * PetscPowReal(PETSC_PI, 4) / 12 *
           (PetscPowReal(waves[w].number[0], 4) * PetscSqr(heat->hx) +
            PetscPowReal(waves[w].number[1], 4) * PetscSqr(heat->hy));
  return sum;
}

/* One row of the table and its checks. coarser: error in time of the run before, 0 in the first one. */
static PetscErrorCode Row(const Heat* heat, PetscReal end, PetscInt steps, Vec u, PetscReal coarser,
                          PetscReal* in_time) {
  const PetscReal dt = end / steps, space = SpaceError(heat, end);
  PetscReal equation, method;

  PetscFunctionBeginUser;
  PetscCall(ErrorAgainstWaves(heat->grid, WAVES, waves, DecayOnGrid(heat, end).of, u, in_time));
  PetscCall(ErrorAgainstWaves(heat->grid, WAVES, waves, DecayOfEquation(end).of, u, &equation));
  PetscCall(ErrorAgainstWaves(heat->grid, WAVES, waves, DecayOfMethod(heat, dt, steps).of, u, &method));
  PetscCall(PetscPrintf(PETSC_COMM_WORLD, "%6d  %9.2e  %13.3e", (int)steps, (double)dt, (double)*in_time));
  if (coarser > 0) {
    const PetscReal order = Order(coarser, *in_time, 2);

    PetscCall(PetscPrintf(PETSC_COMM_WORLD, "  %5.2f", (double)order));
    PetscCheck(PetscAbsReal(order - 2) <= 0.1, PETSC_COMM_WORLD, PETSC_ERR_PLIB,
               "the order in time is %g, not 2: begin with more -steps", (double)order);
  } else {
    PetscCall(PetscPrintf(PETSC_COMM_WORLD, "      -"));
  }
  PetscCall(PetscPrintf(PETSC_COMM_WORLD, "  %13.3e  %13.1e\n", (double)equation, (double)method));
  PetscCheck(equation <= *in_time + 1.1 * space, PETSC_COMM_WORLD, PETSC_ERR_PLIB,
             "the error against the equation's solution is %g; steps and mesh explain %g", (double)equation,
             (double)(*in_time + space));
  PetscCheck(method <= 1e-12 * steps, PETSC_COMM_WORLD, PETSC_ERR_PLIB,
             "the steps are off by %g from what the method does without rounding", (double)method);
  PetscFunctionReturn(0);
}

int main(int argc, char** argv) {
  PetscInt steps = 16, runs = 4;
  PetscReal end = 0.05, coarser = 0, error;
  Heat heat;
  Vec u;

  PetscFunctionBeginUser;
  PetscCall(PetscInitialize(&argc, &argv, NULL, help));
  PetscCall(PCOCLSPKTInitializePackage());
  PetscCall(PetscOptionsGetInt(NULL, NULL, "-steps", &steps, NULL));
  PetscCall(PetscOptionsGetInt(NULL, NULL, "-runs", &runs, NULL));
  PetscCall(PetscOptionsGetReal(NULL, NULL, "-end", &end, NULL));
  PetscCheck(steps > 0 && runs > 0 && end > 0, PETSC_COMM_WORLD, PETSC_ERR_ARG_OUTOFRANGE,
             "-steps, -runs and -end must be positive");
  PetscCall(Setup(&heat));
  PetscCall(DMCreateGlobalVector(heat.grid, &u));

  PetscCall(PetscPrintf(PETSC_COMM_WORLD, "%d x %d points, until t = %g; errors are the largest ones against\n",
                        (int)heat.nx, (int)heat.ny, (double)end));
  PetscCall(PetscPrintf(PETSC_COMM_WORLD, " steps         dt  exact in time  order   the equation     the method\n"));
  for (PetscInt run = 0; run < runs; ++run, steps *= 2, coarser = error) {
    PetscCall(Run(&heat, end / steps, steps, u));
    PetscCall(Row(&heat, end, steps, u, coarser, &error));
  }
  PetscCall(WriteSolution(heat.grid, u, "heat2d: temperature at the end"));

  PetscCall(VecDestroy(&u));
  PetscCall(KSPDestroy(&heat.y_solver));
  PetscCall(KSPDestroy(&heat.x_solver));
  PetscCall(MatDestroy(&heat.y_matrix));
  PetscCall(MatDestroy(&heat.x_matrix));
  PetscCall(DMDestroy(&heat.grid));
  PetscCall(PetscFinalize());
  return 0;
}
