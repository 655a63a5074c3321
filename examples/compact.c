/* SPDX-License-Identifier: BSD-2-Clause */
#include "grid.h"
#include "oclspkt/oclspkt.h"

static char help[] =
    "The gradient of a field by compact finite differences (Lele 1992), which solve a tridiagonal system a grid line:\n\
  alpha f'(i-1) + f'(i) + alpha f'(i+1) = a (f(i+1) - f(i-1)) / 2h + b (f(i+2) - f(i-2)) / 4h\n\
  order 6: alpha = 1/3, a = 14/9, b = 1/9;   order 4: alpha = 1/4, a = 3/2, b = 0\n\
Three PCOCLSPKT, one an axis, with bands that the program gives and all lines share. The field is odd at the walls (as\n\
a velocity through a symmetry plane is), its derivative across them even, so that the order holds up to the walls.\n\n\
  -n <cells>       along each axis of the coarsest grid; each further run has 3/2 times as many\n\
  -runs <count>    how many runs\n\
  -order <4|6>     of the differences\n" OUTPUT_HELP "\n";

static const char* const axis_names[] = {"x", "y", "z"};
enum { AXES = 3 };

typedef struct {
  PetscReal alpha, a, b;
} Scheme;

typedef struct {
  DM grid;
  PetscInt nodes;
  PetscReal h;
  KSP solvers[AXES];
} Compact;

/* f = sin(2 pi x) sin(pi y) sin(3 pi z) + sin(pi x) sin(2 pi y) sin(3 pi z) / 2, and its derivatives. */
static PetscReal Field(const PetscReal x[]) {
  const PetscReal p = PETSC_PI;

  return PetscSinReal(3 * p * x[2]) * (PetscSinReal(2 * p * x[0]) * PetscSinReal(p * x[1]) +
                                       PetscSinReal(p * x[0]) * PetscSinReal(2 * p * x[1]) / 2);
}

static PetscReal Derivative(const PetscReal x[], PetscInt axis) {
  const PetscReal p = PETSC_PI, s1x = PetscSinReal(p * x[0]), s2x = PetscSinReal(2 * p * x[0]);
  const PetscReal s1y = PetscSinReal(p * x[1]), s2y = PetscSinReal(2 * p * x[1]);

  if (axis == 2) return 3 * p * PetscCosReal(3 * p * x[2]) * (s2x * s1y + s1x * s2y / 2);
  if (axis == 1)
    return p * PetscSinReal(3 * p * x[2]) * (s2x * PetscCosReal(p * x[1]) + s1x * PetscCosReal(2 * p * x[1]));
  return p * PetscSinReal(3 * p * x[2]) * (2 * PetscCosReal(2 * p * x[0]) * s1y + PetscCosReal(p * x[0]) * s2y / 2);
}

static PetscErrorCode FillExact(const Compact* compact, PetscInt derivative_of_axis, Vec field) {
  DMDALocalInfo info;
  PetscScalar*** f;

  PetscFunctionBeginUser;
  PetscCall(DMDAGetLocalInfo(compact->grid, &info));
  PetscCall(DMDAVecGetArrayWrite(compact->grid, field, &f));
  for (PetscInt k = info.zs; k < info.zs + info.zm; ++k) {
    for (PetscInt j = info.ys; j < info.ys + info.ym; ++j) {
      for (PetscInt i = info.xs; i < info.xs + info.xm; ++i) {
        const PetscReal x[] = {i * compact->h, j * compact->h, k * compact->h};

        f[k][j][i] = derivative_of_axis < 0 ? Field(x) : Derivative(x, derivative_of_axis);
      }
    }
  }
  PetscCall(DMDAVecRestoreArrayWrite(compact->grid, field, &f));
  PetscFunctionReturn(0);
}

/* alpha, 1, alpha; beyond a wall f' is what it is before it, which doubles the coupling inwards. */
static PetscErrorCode GiveBands(const Compact* compact, PetscReal alpha, PetscInt axis, PC pc) {
  DMDALocalInfo info;
  Vec lower, diagonal, upper;
  PetscScalar ***l, ***u;

  PetscFunctionBeginUser;
  PetscCall(DMDAGetLocalInfo(compact->grid, &info));
  PetscCall(DMGetGlobalVector(compact->grid, &lower));
  PetscCall(DMGetGlobalVector(compact->grid, &diagonal));
  PetscCall(DMGetGlobalVector(compact->grid, &upper));
  PetscCall(VecSet(diagonal, 1));
  PetscCall(DMDAVecGetArrayWrite(compact->grid, lower, &l));
  PetscCall(DMDAVecGetArrayWrite(compact->grid, upper, &u));
  for (PetscInt k = info.zs; k < info.zs + info.zm; ++k) {
    for (PetscInt j = info.ys; j < info.ys + info.ym; ++j) {
      for (PetscInt i = info.xs; i < info.xs + info.xm; ++i) {
        const PetscInt at = ((PetscInt[]){i, j, k})[axis], last = compact->nodes - 1;

        l[k][j][i] = at == 0 ? 0 : at == last ? 2 * alpha : alpha;
        u[k][j][i] = at == last ? 0 : at == 0 ? 2 * alpha : alpha;
      }
    }
  }
  PetscCall(DMDAVecRestoreArrayWrite(compact->grid, upper, &u));
  PetscCall(DMDAVecRestoreArrayWrite(compact->grid, lower, &l));
  PetscCall(PCOCLSPKTSetBands(pc, axis_names[axis], lower, diagonal, upper));
  PetscCall(DMRestoreGlobalVector(compact->grid, &upper));
  PetscCall(DMRestoreGlobalVector(compact->grid, &diagonal));
  PetscCall(DMRestoreGlobalVector(compact->grid, &lower));
  PetscFunctionReturn(0);
}

/* A field at a place along an axis through (i,j,k), odd about the walls. */
static PetscScalar Odd(const PetscScalar*** f, PetscInt last, const PetscInt node[], PetscInt axis, PetscInt offset) {
  PetscInt at[] = {node[0], node[1], node[2]};
  PetscReal sign = 1;

  at[axis] += offset;
  if (at[axis] < 0) {
    at[axis] = -at[axis];
    sign = -1;
  } else if (at[axis] > last) {
    at[axis] = 2 * last - at[axis];
    sign = -1;
  }
  return sign * f[at[2]][at[1]][at[0]];
}

/* The right-hand side, from a field with its ghost points. */
static PetscErrorCode FillRight(const Compact* compact, Scheme scheme, PetscInt axis, Vec local, Vec right) {
  const PetscInt last = compact->nodes - 1;
  const PetscReal a = scheme.a / (2 * compact->h), b = scheme.b / (4 * compact->h);
  DMDALocalInfo info;
  const PetscScalar*** f;
  PetscScalar*** r;

  PetscFunctionBeginUser;
  PetscCall(DMDAGetLocalInfo(compact->grid, &info));
  PetscCall(DMDAVecGetArrayRead(compact->grid, local, &f));
  PetscCall(DMDAVecGetArrayWrite(compact->grid, right, &r));
  for (PetscInt k = info.zs; k < info.zs + info.zm; ++k) {
    for (PetscInt j = info.ys; j < info.ys + info.ym; ++j) {
      for (PetscInt i = info.xs; i < info.xs + info.xm; ++i) {
        const PetscInt node[] = {i, j, k};

        r[k][j][i] = a * (Odd(f, last, node, axis, 1) - Odd(f, last, node, axis, -1)) +
                     b * (Odd(f, last, node, axis, 2) - Odd(f, last, node, axis, -2));
      }
    }
  }
  PetscCall(DMDAVecRestoreArrayWrite(compact->grid, right, &r));
  PetscCall(DMDAVecRestoreArrayRead(compact->grid, local, &f));
  PetscFunctionReturn(0);
}

static PetscErrorCode SetUp(Compact* compact, PetscInt cells, Scheme scheme) {
  Mat matrix;

  PetscFunctionBeginUser;
  compact->nodes = cells + 1;
  compact->h = 1.0 / cells;
  PetscCall(DMDACreate3d(PETSC_COMM_WORLD, DM_BOUNDARY_NONE, DM_BOUNDARY_NONE, DM_BOUNDARY_NONE, DMDA_STENCIL_STAR,
                         compact->nodes, compact->nodes, compact->nodes, PETSC_DECIDE, PETSC_DECIDE, PETSC_DECIDE, 1, 2,
                         NULL, NULL, NULL, &compact->grid));
  PetscCall(DMSetUp(compact->grid));
  PetscCall(DMDASetUniformCoordinates(compact->grid, 0, 1, 0, 1, 0, 1));
  PetscCall(CreateEmptyMatrix(compact->grid, &matrix));
  for (PetscInt axis = 0; axis < AXES; ++axis) {
    const char prefix[] = {axis_names[axis][0], '_', 0};
    PC pc;

    PetscCall(CreateLineSolver(compact->grid, matrix, prefix, NULL, &compact->solvers[axis]));
    PetscCall(KSPGetPC(compact->solvers[axis], &pc));
    PetscCall(GiveBands(compact, scheme.alpha, axis, pc));
  }
  PetscCall(MatDestroy(&matrix));
  PetscFunctionReturn(0);
}

static PetscErrorCode Destroy(Compact* compact) {
  PetscFunctionBeginUser;
  for (PetscInt axis = 0; axis < AXES; ++axis) PetscCall(KSPDestroy(&compact->solvers[axis]));
  PetscCall(DMDestroy(&compact->grid));
  PetscFunctionReturn(0);
}

/* Differentiate along each axis. write: the derivative along x, if -vtk or -plot ask for it. */
static PetscErrorCode Run(const Compact* compact, Scheme scheme, PetscBool write, PetscReal errors[]) {
  Vec field, local, right, derivative;

  PetscFunctionBeginUser;
  PetscCall(DMCreateGlobalVector(compact->grid, &field));
  PetscCall(VecDuplicate(field, &right));
  PetscCall(VecDuplicate(field, &derivative));
  PetscCall(DMGetLocalVector(compact->grid, &local));
  PetscCall(FillExact(compact, -1, field));
  PetscCall(DMGlobalToLocal(compact->grid, field, INSERT_VALUES, local));
  for (PetscInt axis = 0; axis < AXES; ++axis) {
    PetscCall(FillRight(compact, scheme, axis, local, right));
    PetscCall(KSPSolve(compact->solvers[axis], right, derivative));
    PetscCall(FillExact(compact, axis, right));
    PetscCall(Difference(right, derivative, &errors[axis]));
    if (write && axis == 0) PetscCall(WriteSolution(compact->grid, derivative, "compact: derivative along x"));
  }
  PetscCall(DMRestoreLocalVector(compact->grid, &local));
  PetscCall(VecDestroy(&derivative));
  PetscCall(VecDestroy(&right));
  PetscCall(VecDestroy(&field));
  PetscFunctionReturn(0);
}

/* Print the row of a run, its errors and orders behind those of the run before. */
static PetscErrorCode Row(PetscInt cells, PetscInt cells_before, const PetscReal errors[], const PetscReal before[],
                          PetscInt order) {
  PetscFunctionBeginUser;
  PetscCall(PetscPrintf(PETSC_COMM_WORLD, "%5d", (int)cells));
  for (PetscInt axis = 0; axis < AXES; ++axis) {
    PetscCall(PetscPrintf(PETSC_COMM_WORLD, "  %10.3e", (double)errors[axis]));
    if (cells_before == 0) {
      PetscCall(PetscPrintf(PETSC_COMM_WORLD, "     -"));
      continue;
    }
    const PetscReal seen = Order(before[axis], errors[axis], (PetscReal)cells / cells_before);

    PetscCall(PetscPrintf(PETSC_COMM_WORLD, "  %4.2f", (double)seen));
    PetscCheck(PetscAbsReal(seen - order) <= 0.2, PETSC_COMM_WORLD, PETSC_ERR_PLIB,
               "the order along %s is %g, not %d: begin with more cells -n", axis_names[axis], (double)seen,
               (int)order);
  }
  PetscCall(PetscPrintf(PETSC_COMM_WORLD, "\n"));
  PetscFunctionReturn(0);
}

int main(int argc, char** argv) {
  PetscInt cells = 20, cells_before = 0, runs = 3, order = 6;
  PetscReal errors[AXES], before[AXES] = {0};

  PetscFunctionBeginUser;
  PetscCall(PetscInitialize(&argc, &argv, NULL, help));
  PetscCall(PCOCLSPKTInitializePackage());
  PetscCall(PetscOptionsGetInt(NULL, NULL, "-n", &cells, NULL));
  PetscCall(PetscOptionsGetInt(NULL, NULL, "-runs", &runs, NULL));
  PetscCall(PetscOptionsGetInt(NULL, NULL, "-order", &order, NULL));
  PetscCheck(cells >= 8 && runs > 0, PETSC_COMM_WORLD, PETSC_ERR_ARG_OUTOFRANGE, "-n is 8 at least, -runs positive");
  PetscCheck(order == 4 || order == 6, PETSC_COMM_WORLD, PETSC_ERR_ARG_OUTOFRANGE, "-order is 4 or 6");
  const Scheme scheme = order == 6 ? (Scheme){1. / 3, 14. / 9, 1. / 9} : (Scheme){1. / 4, 3. / 2, 0};

  PetscCall(PetscPrintf(PETSC_COMM_WORLD, "order %d; largest errors of the derivatives, and the order they show\n",
                        (int)order));
  PetscCall(PetscPrintf(PETSC_COMM_WORLD, "cells     along x           along y           along z\n"));
  for (PetscInt run = 0; run < runs; ++run, cells_before = cells, cells = cells * 3 / 2) {
    Compact compact;

    PetscCall(Progress(PETSC_COMM_WORLD, "grid", run, runs));
    PetscCall(SetUp(&compact, cells, scheme));
    PetscCall(Run(&compact, scheme, run == runs - 1, errors));
    PetscCall(Destroy(&compact));
    PetscCall(Progress(PETSC_COMM_WORLD, "grid", runs, runs));
    PetscCall(Row(cells, cells_before, errors, before, order));
    PetscCall(PetscArraycpy(before, errors, AXES));
  }
  PetscCall(PetscFinalize());
  return 0;
}
