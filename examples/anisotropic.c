/* SPDX-License-Identifier: BSD-2-Clause */
#include <petsctime.h>

#include "grid.h"
#include "oclspkt/oclspkt.h"

static char help[] =
    "Anisotropic diffusion by GMRES: which preconditioner for which anisotropy?\n\
  -a u_xx - u_yy = f on the unit square, u = x (1 - x) (1 + x) y (1 - y) (2 - y) on its edge and in it; second\n\
  differences are exact for such a u, so the answer is known to rounding and the iteration's tolerance.\n\
ILU and its like look at all neighbours alike. Lines along the strong coupling solve what is stiff exactly.\n\n\
  -da_grid_x <nx> -da_grid_y <ny>  points inside the square\n\
  -anisotropies <a,...>            couplings along x against those along y\n\
  -rtol <number>                   of GMRES\n\
  -repeat <count>                  solve so often, and take the shortest time\n" OUTPUT_HELP "\n";

enum { JACOBI, ILU, LINES_X, LINES_Y, FACTORED, MULTIPLICATIVE, METHODS };
static const char* const names[] = {"jacobi", "ilu", "x", "y", "x,y factored", "x,y multiplicative"};

typedef struct {
  DM grid;
  PetscInt nx, ny;
  PetscReal hx, hy;
} Problem;

typedef struct {
  PetscInt iterations;
  PetscReal error;
  PetscLogDouble seconds; /* set-up and solve */
} Result;

static PetscReal Exact(PetscReal x, PetscReal y) { return x * (1 - x) * (1 + x) * y * (1 - y) * (2 - y); }

/* -a u_xx - u_yy: u is x - x^3 times 2 y - 3 y^2 + y^3. */
static PetscReal Right(PetscReal a, PetscReal x, PetscReal y) {
  return a * 6 * x * y * (1 - y) * (2 - y) - (x - x * x * x) * (6 * y - 6);
}

/* u is 0 on three edges and on y = 1, where y (1 - y) (2 - y) is, so edges leave the right-hand side alone. */
static PetscErrorCode Assemble(const Problem* problem, PetscReal a, Mat matrix, Vec right, Vec exact) {
  const PetscReal cx = a / PetscSqr(problem->hx), cy = 1 / PetscSqr(problem->hy);
  DMDALocalInfo info;
  PetscScalar **f, **u;

  PetscFunctionBeginUser;
  PetscCall(DMDAGetLocalInfo(problem->grid, &info));
  PetscCall(DMDAVecGetArrayWrite(problem->grid, right, &f));
  PetscCall(DMDAVecGetArrayWrite(problem->grid, exact, &u));
  for (PetscInt j = info.ys; j < info.ys + info.ym; ++j) {
    for (PetscInt i = info.xs; i < info.xs + info.xm; ++i) {
      const PetscReal x = problem->hx * (i + 1), y = problem->hy * (j + 1);
      const MatStencil row = {.i = i, .j = j};
      MatStencil columns[5] = {row};
      PetscScalar values[5] = {2 * cx + 2 * cy};
      PetscInt count = 1;

      for (PetscInt side = -1; side <= 1; side += 2) {
        if (i + side >= 0 && i + side < problem->nx) {
          columns[count] = (MatStencil){.i = i + side, .j = j};
          values[count++] = -cx;
        }
        if (j + side >= 0 && j + side < problem->ny) {
          columns[count] = (MatStencil){.i = i, .j = j + side};
          values[count++] = -cy;
        }
      }
      PetscCall(MatSetValuesStencil(matrix, 1, &row, count, columns, values, INSERT_VALUES));
      f[j][i] = Right(a, x, y);
      u[j][i] = Exact(x, y);
    }
  }
  PetscCall(DMDAVecRestoreArrayWrite(problem->grid, exact, &u));
  PetscCall(DMDAVecRestoreArrayWrite(problem->grid, right, &f));
  PetscCall(MatAssemblyBegin(matrix, MAT_FINAL_ASSEMBLY));
  PetscCall(MatAssemblyEnd(matrix, MAT_FINAL_ASSEMBLY));
  PetscFunctionReturn(0);
}

static PetscErrorCode SetMethod(int method, PC pc) {
  PetscMPIInt ranks;

  PetscFunctionBeginUser;
  PetscCallMPI(MPI_Comm_size(PETSC_COMM_WORLD, &ranks));
  if (method == JACOBI) PetscCall(PCSetType(pc, PCJACOBI));
  if (method == ILU) PetscCall(PCSetType(pc, ranks == 1 ? PCILU : PCBJACOBI)); /* whose blocks take ILU */
  if (method > ILU) {
    PetscCall(PCSetType(pc, PCOCLSPKT));
    PetscCall(PCOCLSPKTSetDirections(pc, method == LINES_X ? "x" : method == LINES_Y ? "y" : "x,y"));
    PetscCall(PCOCLSPKTSetCombine(
        pc, method == MULTIPLICATIVE ? PC_OCLSPKT_COMBINE_MULTIPLICATIVE : PC_OCLSPKT_COMBINE_FACTORED));
  }
  PetscFunctionReturn(0);
}

/* Set up and solve once. */
static PetscErrorCode SolveOnce(int method, PetscReal rtol, Mat matrix, Vec right, Vec u, Result* result) {
  PetscLogDouble start, end;
  KSPConvergedReason reason;
  KSP ksp;
  PC pc;

  PetscFunctionBeginUser;
  PetscCall(KSPCreate(PETSC_COMM_WORLD, &ksp));
  PetscCall(KSPSetType(ksp, KSPGMRES));
  PetscCall(KSPSetTolerances(ksp, rtol, 0, PETSC_DEFAULT, 5000));
  PetscCall(KSPSetPCSide(ksp, PC_RIGHT)); /* the same norm, hence the same residual, for all preconditioners */
  PetscCall(KSPSetOperators(ksp, matrix, matrix));
  PetscCall(KSPGetPC(ksp, &pc));
  PetscCall(SetMethod(method, pc));
  PetscCall(KSPSetFromOptions(ksp));
  PetscCall(VecSet(u, 0));
  PetscCall(PetscTime(&start));
  PetscCall(KSPSetUp(ksp));
  PetscCall(KSPSolve(ksp, right, u));
  PetscCall(PetscTime(&end));
  PetscCall(KSPGetConvergedReason(ksp, &reason));
  PetscCheck(reason > 0, PETSC_COMM_WORLD, PETSC_ERR_NOT_CONVERGED, "GMRES with %s did not converge: %s", names[method],
             KSPConvergedReasons[reason]);
  PetscCall(KSPGetIterationNumber(ksp, &result->iterations));
  result->seconds = end - start;
  PetscCall(KSPDestroy(&ksp));
  PetscFunctionReturn(0);
}

static PetscErrorCode Solve(int method, PetscReal rtol, PetscInt repeat, Mat matrix, Vec right, Vec exact, Vec u,
                            Result* result) {
  PetscLogDouble shortest = PETSC_MAX_REAL;
  Vec difference;

  PetscFunctionBeginUser;
  for (PetscInt r = 0; r < repeat; ++r) {
    PetscCall(SolveOnce(method, rtol, matrix, right, u, result));
    shortest = PetscMin(shortest, result->seconds);
  }
  result->seconds = shortest;
  PetscCall(VecDuplicate(u, &difference));
  PetscCall(VecCopy(u, difference));
  PetscCall(Difference(difference, exact, &result->error));
  PetscCall(VecDestroy(&difference));
  PetscFunctionReturn(0);
}

/* The largest error that a residual of rtol |f| leaves: the smallest eigenvalue bounds the inverse. Rounding on top. */
static PetscErrorCode Allowed(const Problem* problem, PetscReal a, PetscReal rtol, Vec right, PetscReal* allowed) {
  const PetscReal smallest = a * SecondDifference(1, problem->hx) + SecondDifference(1, problem->hy);
  PetscReal norm;

  PetscFunctionBeginUser;
  PetscCall(VecNorm(right, NORM_2, &norm));
  *allowed = rtol * norm / smallest + 1e-12;
  PetscFunctionReturn(0);
}

static PetscErrorCode Check(const Problem* problem, PetscReal a, PetscReal rtol, Vec right, const Result results[]) {
  PetscReal allowed;
  const PetscReal cx = a / PetscSqr(problem->hx), cy = 1 / PetscSqr(problem->hy);
  const int strong = cx > cy ? LINES_X : LINES_Y, weak = cx > cy ? LINES_Y : LINES_X;

  PetscFunctionBeginUser;
  PetscCall(Allowed(problem, a, rtol, right, &allowed));
  for (int method = 0; method < METHODS; ++method)
    PetscCheck(results[method].error <= allowed, PETSC_COMM_WORLD, PETSC_ERR_PLIB,
               "the answer with %s is off by %g, the tolerance explains %g", names[method],
               (double)results[method].error, (double)allowed);
  if (PetscMax(cx, cy) < 4 * PetscMin(cx, cy)) PetscFunctionReturn(0); /* nothing is strong */
  PetscCheck(results[strong].iterations < results[weak].iterations, PETSC_COMM_WORLD, PETSC_ERR_PLIB,
             "lines along the strong coupling took %d iterations, along the weak one %d",
             (int)results[strong].iterations, (int)results[weak].iterations);
  PetscCheck(results[strong].iterations < results[JACOBI].iterations, PETSC_COMM_WORLD, PETSC_ERR_PLIB,
             "lines along the strong coupling took %d iterations, points %d", (int)results[strong].iterations,
             (int)results[JACOBI].iterations);
  PetscFunctionReturn(0);
}

static PetscErrorCode CreateProblem(Problem* problem) {
  PetscFunctionBeginUser;
  PetscCall(DMDACreate2d(PETSC_COMM_WORLD, DM_BOUNDARY_NONE, DM_BOUNDARY_NONE, DMDA_STENCIL_STAR, 64, 64, PETSC_DECIDE,
                         PETSC_DECIDE, 1, 1, NULL, NULL, &problem->grid));
  PetscCall(DMSetFromOptions(problem->grid));
  PetscCall(DMSetUp(problem->grid));
  PetscCall(DMDAGetInfo(problem->grid, NULL, &problem->nx, &problem->ny, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL,
                        NULL, NULL));
  problem->hx = 1.0 / (problem->nx + 1);
  problem->hy = 1.0 / (problem->ny + 1);
  PetscCall(DMDASetUniformCoordinates(problem->grid, problem->hx, 1 - problem->hx, problem->hy, 1 - problem->hy, 0, 0));
  PetscFunctionReturn(0);
}

int main(int argc, char** argv) {
  PetscReal anisotropies[16] = {1000, 30, 1, 1. / 30, 1e-3}, rtol = 1e-8;
  PetscInt count = 5, given = 16, repeat = 1;
  PetscBool set;
  Problem problem;
  Mat matrix;
  Vec right, exact, u;

  PetscFunctionBeginUser;
  PetscCall(PetscInitialize(&argc, &argv, NULL, help));
  PetscCall(PCOCLSPKTInitializePackage());
  PetscCall(PetscOptionsGetRealArray(NULL, NULL, "-anisotropies", anisotropies, &given, &set));
  if (set) count = given;
  PetscCall(PetscOptionsGetReal(NULL, NULL, "-rtol", &rtol, NULL));
  PetscCall(PetscOptionsGetInt(NULL, NULL, "-repeat", &repeat, NULL));
  PetscCheck(rtol > 0 && repeat > 0, PETSC_COMM_WORLD, PETSC_ERR_ARG_OUTOFRANGE, "-rtol and -repeat must be positive");
  PetscCall(CreateProblem(&problem));
  PetscCall(DMCreateMatrix(problem.grid, &matrix));
  PetscCall(DMCreateGlobalVector(problem.grid, &u));
  PetscCall(VecDuplicate(u, &right));
  PetscCall(VecDuplicate(u, &exact));

  PetscCall(PetscPrintf(PETSC_COMM_WORLD, "%d x %d points, GMRES, rtol %g\n%10s", (int)problem.nx, (int)problem.ny,
                        (double)rtol, "a"));
  for (int method = 0; method < METHODS; ++method) PetscCall(PetscPrintf(PETSC_COMM_WORLD, "  %18s", names[method]));
  PetscCall(PetscPrintf(PETSC_COMM_WORLD, "\n"));
  for (PetscInt c = 0; c < count; ++c) {
    Result results[METHODS];

    PetscCheck(anisotropies[c] > 0, PETSC_COMM_WORLD, PETSC_ERR_ARG_OUTOFRANGE, "-anisotropies must be positive");
    PetscCall(Assemble(&problem, anisotropies[c], matrix, right, exact));
    if (c == 0) PetscCall(SolveOnce(LINES_X, rtol, matrix, right, u, &results[LINES_X])); /* finds the devices */
    for (int method = 0; method < METHODS; ++method) {
      PetscCall(Progress(PETSC_COMM_WORLD, names[method], c, count));
      PetscCall(Solve(method, rtol, repeat, matrix, right, exact, u, &results[method]));
    }
    PetscCall(Progress(PETSC_COMM_WORLD, "", count, count));
    PetscCall(PetscPrintf(PETSC_COMM_WORLD, "%10.3g", (double)anisotropies[c]));
    for (int method = 0; method < METHODS; ++method)
      PetscCall(PetscPrintf(PETSC_COMM_WORLD, "  %6d %8.1f ms", (int)results[method].iterations,
                            1e3 * results[method].seconds));
    PetscCall(PetscPrintf(PETSC_COMM_WORLD, "\n"));
    PetscCall(Check(&problem, anisotropies[c], rtol, right, results));
  }
  PetscCall(WriteSolution(problem.grid, u, "anisotropic: the solution"));

  PetscCall(VecDestroy(&exact));
  PetscCall(VecDestroy(&right));
  PetscCall(VecDestroy(&u));
  PetscCall(MatDestroy(&matrix));
  PetscCall(DMDestroy(&problem.grid));
  PetscCall(PetscFinalize());
  return 0;
}
