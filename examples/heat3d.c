/* SPDX-License-Identifier: BSD-2-Clause */
#include "grid.h"
#include "oclspkt/oclspkt.h"

static char help[] =
    "The heat equation in three dimensions by Douglas' method (1962), second order in time:\n\
  (1 - dt/2 A_z) (1 - dt/2 A_y) (1 - dt/2 A_x) (u' - u) = dt (A_x + A_y + A_z) u\n\
The whole left side is one PCOCLSPKT with three directions, -pc_oclspkt_combine factored.\n\
u_t = u_xx + u_yy + u_zz on the unit cube, u = 0 on its faces, u(0) a sum of sine waves.\n\n\
  -da_grid_x <nx> -da_grid_y <ny> -da_grid_z <nz>  points, those on the faces included\n\
  -steps <count>   time steps of the coarsest run; each further run halves the step\n\
  -runs <count>    how many runs\n\
  -end <time>      where to stop\n\
  -from <both>     where the solver's numbers come from: bands (PCOCLSPKTSetBands(), no matrix at all), matrix (whose\n\
                   diagonal -pc_oclspkt_diagonal split parts among the directions), or both, which must agree\n" OUTPUT_HELP
    "\n";

static const Wave waves[] = {{{1, 1, 1}, 1.0}, {{2, 1, 1}, 0.5}, {{1, 3, 2}, -0.4}, {{1, 2, 3}, 0.3}};
enum { WAVES = sizeof waves / sizeof waves[0] };

typedef enum { FROM_BANDS, FROM_MATRIX, FROM_BOTH } From;
static const char* const from_names[] = {"bands", "matrix", "both", "From", "FROM_", NULL};

typedef struct {
  DM grid;
  PetscInt nodes[3];
  PetscReal h[3];
} Heat;

/* What becomes of each wave's amplitude until the end. */
typedef struct {
  PetscReal of[WAVES];
} Factors;

/* Of the ordinary differential equations that are left when space is discrete and time is not. */
static Factors DecayOnGrid(const Heat* heat, PetscReal end) {
  Factors f;

  for (PetscInt w = 0; w < WAVES; ++w) {
    PetscReal rate = 0;

    for (PetscInt a = 0; a < 3; ++a) rate += SecondDifference(waves[w].number[a], heat->h[a]);
    f.of[w] = PetscExpReal(-rate * end);
  }
  return f;
}

/* Of the method itself, without rounding. */
static Factors DecayOfMethod(const Heat* heat, PetscReal dt, PetscInt steps) {
  Factors f;

  for (PetscInt w = 0; w < WAVES; ++w) {
    PetscReal sum = 0, product = 1;

    for (PetscInt a = 0; a < 3; ++a) {
      const PetscReal rate = dt / 2 * SecondDifference(waves[w].number[a], heat->h[a]);

      sum += rate;
      product *= 1 + rate;
    }
    f.of[w] = PetscPowReal(1 - 2 * sum / product, steps);
  }
  return f;
}

/* Whether a node lies on a face, where u stays 0. */
static PetscBool OnFace(const Heat* heat, const PetscInt at[]) {
  for (PetscInt a = 0; a < 3; ++a)
    if (at[a] == 0 || at[a] == heat->nodes[a] - 1) return PETSC_TRUE;
  return PETSC_FALSE;
}

static PetscErrorCode CreateGrid(Heat* heat) {
  PetscFunctionBeginUser;
  PetscCall(DMDACreate3d(PETSC_COMM_WORLD, DM_BOUNDARY_NONE, DM_BOUNDARY_NONE, DM_BOUNDARY_NONE, DMDA_STENCIL_STAR, 33,
                         29, 25, PETSC_DECIDE, PETSC_DECIDE, PETSC_DECIDE, 1, 1, NULL, NULL, NULL, &heat->grid));
  PetscCall(DMSetFromOptions(heat->grid));
  PetscCall(DMSetUp(heat->grid));
  PetscCall(DMDAGetInfo(heat->grid, NULL, &heat->nodes[0], &heat->nodes[1], &heat->nodes[2], NULL, NULL, NULL, NULL,
                        NULL, NULL, NULL, NULL, NULL));
  PetscCall(DMDASetUniformCoordinates(heat->grid, 0, 1, 0, 1, 0, 1));
  for (PetscInt a = 0; a < 3; ++a) {
    PetscCheck(heat->nodes[a] > 2, PETSC_COMM_WORLD, PETSC_ERR_ARG_OUTOFRANGE, "an axis needs 3 points at least");
    heat->h[a] = 1.0 / (heat->nodes[a] - 1);
  }
  PetscFunctionReturn(0);
}

/* The bands of 1 - dt/2 A along one axis; identity rows on the faces. A band and its mirror image are the same. */
static PetscErrorCode GiveBands(const Heat* heat, PetscReal dt, PC pc) {
  static const char* const axes[] = {"x", "y", "z"};
  DMDALocalInfo info;
  Vec off, diagonal;
  PetscScalar ***o, ***d;

  PetscFunctionBeginUser;
  PetscCall(DMDAGetLocalInfo(heat->grid, &info));
  PetscCall(DMGetGlobalVector(heat->grid, &off));
  PetscCall(DMGetGlobalVector(heat->grid, &diagonal));
  for (PetscInt a = 0; a < 3; ++a) {
    const PetscReal lambda = dt / 2 / PetscSqr(heat->h[a]);

    PetscCall(DMDAVecGetArrayWrite(heat->grid, off, &o));
    PetscCall(DMDAVecGetArrayWrite(heat->grid, diagonal, &d));
    for (PetscInt k = info.zs; k < info.zs + info.zm; ++k) {
      for (PetscInt j = info.ys; j < info.ys + info.ym; ++j) {
        for (PetscInt i = info.xs; i < info.xs + info.xm; ++i) {
          const PetscBool face = OnFace(heat, (PetscInt[]){i, j, k});

          o[k][j][i] = face ? 0 : -lambda;
          d[k][j][i] = face ? 1 : 1 + 2 * lambda;
        }
      }
    }
    PetscCall(DMDAVecRestoreArrayWrite(heat->grid, diagonal, &d));
    PetscCall(DMDAVecRestoreArrayWrite(heat->grid, off, &o));
    PetscCall(PCOCLSPKTSetBands(pc, axes[a], off, diagonal, off));
  }
  PetscCall(DMRestoreGlobalVector(heat->grid, &diagonal));
  PetscCall(DMRestoreGlobalVector(heat->grid, &off));
  PetscFunctionReturn(0);
}

/* 1 - dt/2 (A_x + A_y + A_z); identity rows on the faces. */
static PetscErrorCode FillMatrix(const Heat* heat, PetscReal dt, Mat matrix) {
  DMDALocalInfo info;

  PetscFunctionBeginUser;
  PetscCall(DMDAGetLocalInfo(heat->grid, &info));
  for (PetscInt k = info.zs; k < info.zs + info.zm; ++k) {
    for (PetscInt j = info.ys; j < info.ys + info.ym; ++j) {
      for (PetscInt i = info.xs; i < info.xs + info.xm; ++i) {
        const MatStencil row = {.i = i, .j = j, .k = k};
        const PetscBool face = OnFace(heat, (PetscInt[]){i, j, k});
        MatStencil columns[7] = {row};
        PetscScalar values[7] = {1};

        for (PetscInt a = 0; a < 3 && !face; ++a) {
          const PetscReal lambda = dt / 2 / PetscSqr(heat->h[a]);

          for (PetscInt side = 0; side < 2; ++side) {
            MatStencil* column = &columns[1 + 2 * a + side];
            PetscInt* place[] = {&column->i, &column->j, &column->k};

            *column = row;
            *place[a] += 2 * side - 1;
            values[1 + 2 * a + side] = -lambda;
          }
          values[0] += 2 * lambda;
        }
        PetscCall(MatSetValuesStencil(matrix, 1, &row, face ? 1 : 7, columns, values, INSERT_VALUES));
      }
    }
  }
  PetscCall(MatAssemblyBegin(matrix, MAT_FINAL_ASSEMBLY));
  PetscCall(MatAssemblyEnd(matrix, MAT_FINAL_ASSEMBLY));
  PetscFunctionReturn(0);
}

/* dt (A_x + A_y + A_z) u, 0 on the faces. */
static PetscErrorCode ApplyLaplacian(const Heat* heat, PetscReal dt, Vec u, Vec result) {
  const PetscReal cx = dt / PetscSqr(heat->h[0]), cy = dt / PetscSqr(heat->h[1]), cz = dt / PetscSqr(heat->h[2]);
  DMDALocalInfo info;
  Vec local;
  const PetscScalar*** v;
  PetscScalar*** r;

  PetscFunctionBeginUser;
  PetscCall(DMDAGetLocalInfo(heat->grid, &info));
  PetscCall(DMGetLocalVector(heat->grid, &local));
  PetscCall(DMGlobalToLocal(heat->grid, u, INSERT_VALUES, local));
  PetscCall(DMDAVecGetArrayRead(heat->grid, local, &v));
  PetscCall(DMDAVecGetArrayWrite(heat->grid, result, &r));
  for (PetscInt k = info.zs; k < info.zs + info.zm; ++k) {
    for (PetscInt j = info.ys; j < info.ys + info.ym; ++j) {
      for (PetscInt i = info.xs; i < info.xs + info.xm; ++i) {
        r[k][j][i] = 0;
        if (OnFace(heat, (PetscInt[]){i, j, k})) continue;
        r[k][j][i] = cx * (v[k][j][i - 1] - 2 * v[k][j][i] + v[k][j][i + 1]) +
                     cy * (v[k][j - 1][i] - 2 * v[k][j][i] + v[k][j + 1][i]) +
                     cz * (v[k - 1][j][i] - 2 * v[k][j][i] + v[k + 1][j][i]);
      }
    }
  }
  PetscCall(DMDAVecRestoreArrayWrite(heat->grid, result, &r));
  PetscCall(DMDAVecRestoreArrayRead(heat->grid, local, &v));
  PetscCall(DMRestoreLocalVector(heat->grid, &local));
  PetscFunctionReturn(0);
}

/* (1 - dt/2 A_z) (1 - dt/2 A_y) (1 - dt/2 A_x) as a solver. */
static PetscErrorCode CreateSolver(const Heat* heat, PetscReal dt, From from, KSP* solver) {
  Mat matrix;
  PC pc;

  PetscFunctionBeginUser;
  if (from == FROM_MATRIX) {
    PetscCall(DMCreateMatrix(heat->grid, &matrix));
    PetscCall(FillMatrix(heat, dt, matrix));
  } else {
    PetscCall(CreateEmptyMatrix(heat->grid, &matrix));
  }
  PetscCall(CreateLineSolver(heat->grid, matrix, NULL, "x,y,z", solver));
  PetscCall(KSPGetPC(*solver, &pc));
  PetscCall(PCOCLSPKTSetCombine(pc, PC_OCLSPKT_COMBINE_FACTORED));
  PetscCall(PCOCLSPKTSetDiagonal(pc, PC_OCLSPKT_DIAGONAL_SPLIT));
  if (from == FROM_BANDS) PetscCall(GiveBands(heat, dt, pc));
  PetscCall(MatDestroy(&matrix)); /* the solver holds it */
  PetscFunctionReturn(0);
}

static PetscErrorCode Run(const Heat* heat, PetscReal dt, PetscInt steps, From from, Vec u) {
  KSP solver;
  Vec right, change;

  PetscFunctionBeginUser;
  PetscCall(CreateSolver(heat, dt, from, &solver));
  PetscCall(DMGetGlobalVector(heat->grid, &right));
  PetscCall(DMGetGlobalVector(heat->grid, &change));
  PetscCall(SumWaves(heat->grid, WAVES, waves, DecayOnGrid(heat, 0).of, u));
  for (PetscInt step = 0; step < steps; ++step) {
    PetscCall(ApplyLaplacian(heat, dt, u, right));
    PetscCall(KSPSolve(solver, right, change));
    PetscCall(VecAXPY(u, 1, change));
    PetscCall(Progress(PETSC_COMM_WORLD, "step", step + 1, steps));
  }
  PetscCall(DMRestoreGlobalVector(heat->grid, &change));
  PetscCall(DMRestoreGlobalVector(heat->grid, &right));
  PetscCall(KSPDestroy(&solver));
  PetscFunctionReturn(0);
}

/* One row of the table and its checks. coarser: error of the run before, 0 in the first one. */
static PetscErrorCode Row(const Heat* heat, PetscReal end, PetscInt steps, From from, Vec u, PetscReal coarser,
                          PetscReal* error) {
  const PetscReal dt = end / steps;
  PetscReal method, norm;
  char order_text[16] = "-";

  PetscFunctionBeginUser;
  PetscCall(ErrorAgainstWaves(heat->grid, WAVES, waves, DecayOnGrid(heat, end).of, u, error));
  PetscCall(ErrorAgainstWaves(heat->grid, WAVES, waves, DecayOfMethod(heat, dt, steps).of, u, &method));
  PetscCall(VecNorm(u, NORM_2, &norm));
  if (coarser > 0) PetscCall(PetscSNPrintf(order_text, sizeof order_text, "%.2f", (double)Order(coarser, *error, 2)));
  PetscCall(PetscPrintf(PETSC_COMM_WORLD, "%-7s %6d  %9.2e  %.8e  %13.3e  %5s  %s\n", from_names[from], (int)steps,
                        (double)dt, (double)norm, (double)*error, order_text, method <= 1e-12 * steps ? "yes" : "NO"));
  PetscCheck(method <= 1e-12 * steps, PETSC_COMM_WORLD, PETSC_ERR_PLIB,
             "the steps are off by %g from what the method does without rounding", (double)method);
  PetscCheck(coarser == 0 || PetscAbsReal(Order(coarser, *error, 2) - 2) <= 0.1, PETSC_COMM_WORLD, PETSC_ERR_PLIB,
             "the order in time is %s, not 2: begin with more -steps", order_text);
  PetscFunctionReturn(0);
}

/* All runs with numbers from one place; u is the solution of the last one. */
static PetscErrorCode Table(const Heat* heat, PetscReal end, PetscInt steps, PetscInt runs, From from, Vec u) {
  PetscReal coarser = 0, error;

  PetscFunctionBeginUser;
  for (PetscInt run = 0; run < runs; ++run, steps *= 2, coarser = error) {
    PetscCall(Run(heat, end / steps, steps, from, u));
    PetscCall(Row(heat, end, steps, from, u, coarser, &error));
  }
  PetscFunctionReturn(0);
}

int main(int argc, char** argv) {
  PetscInt steps = 16, runs = 3;
  PetscReal end = 0.05, difference;
  From from = FROM_BOTH;
  Heat heat;
  Vec u, other;

  PetscFunctionBeginUser;
  PetscCall(PetscInitialize(&argc, &argv, NULL, help));
  PetscCall(PCOCLSPKTInitializePackage());
  PetscCall(PetscOptionsGetInt(NULL, NULL, "-steps", &steps, NULL));
  PetscCall(PetscOptionsGetInt(NULL, NULL, "-runs", &runs, NULL));
  PetscCall(PetscOptionsGetReal(NULL, NULL, "-end", &end, NULL));
  PetscCall(PetscOptionsGetEnum(NULL, NULL, "-from", from_names, (PetscEnum*)&from, NULL));
  PetscCheck(steps > 0 && runs > 0 && end > 0, PETSC_COMM_WORLD, PETSC_ERR_ARG_OUTOFRANGE,
             "-steps, -runs and -end must be positive");
  PetscCall(CreateGrid(&heat));
  PetscCall(DMCreateGlobalVector(heat.grid, &u));
  PetscCall(VecDuplicate(u, &other));

  PetscCall(PetscPrintf(PETSC_COMM_WORLD, "%d x %d x %d points, until t = %g\n", (int)heat.nodes[0], (int)heat.nodes[1],
                        (int)heat.nodes[2], (double)end));
  PetscCall(PetscPrintf(PETSC_COMM_WORLD, "from     steps         dt            norm  error in time  order  exact\n"));
  if (from != FROM_MATRIX) PetscCall(Table(&heat, end, steps, runs, FROM_BANDS, u));
  if (from != FROM_BANDS) PetscCall(Table(&heat, end, steps, runs, FROM_MATRIX, from == FROM_BOTH ? other : u));
  if (from == FROM_BOTH) {
    PetscCall(Difference(other, u, &difference));
    PetscCheck(difference <= 1e-13, PETSC_COMM_WORLD, PETSC_ERR_PLIB, "bands and matrix differ by %g",
               (double)difference);
  }
  PetscCall(WriteSolution(heat.grid, u, "heat3d: temperature of the middle plane at the end"));

  PetscCall(VecDestroy(&other));
  PetscCall(VecDestroy(&u));
  PetscCall(DMDestroy(&heat.grid));
  PetscCall(PetscFinalize());
  return 0;
}
