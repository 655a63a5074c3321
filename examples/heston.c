/* SPDX-License-Identifier: BSD-2-Clause */
#include "grid.h"
#include "oclspkt/oclspkt.h"

static char help[] =
    "The price of a European call in Heston's model (1993) by alternating directions.\n\
  u_t = 1/2 s^2 v u_ss + rho sigma s v u_sv + 1/2 sigma^2 v u_vv + r s u_s + kappa (eta - v) u_v - r u\n\
Finite differences on a stretched grid, the modified Craig-Sneyd method with theta = 1/3 in time (in 't Hout, Foulon\n\
2010): the mixed derivative is explicit, s and v are tridiagonal solves, two of each a step. Prices are compared with\n\
Heston's formula, integrated numerically.\n\n\
  -n <count>      points along v of the coarsest grid, half as many as along s, and time steps\n\
  -runs <count>   how many runs; each further one doubles -n\n\
  -kappa, -eta, -sigma, -rho, -r, -maturity, -strike <number>  the model and the contract\n" OUTPUT_HELP "\n";

typedef struct {
  PetscReal kappa, eta, sigma, rho, r, maturity, strike;
} Model;

typedef struct {
  DM grid;
  PetscInt ns, nv;
  PetscReal *s, *v; /* coordinates; s from the first point above 0 */
  Mat all, mixed;   /* A, and its mixed derivative */
  Mat m[2];         /* 1 - theta dt A_s, 1 - theta dt A_v */
  KSP solvers[2];
} Heston;

static const PetscReal theta = 1. / 3;
static const PetscReal largest_v = 3;  /* variance; 1.7 is a yearly volatility of 130 % */
static const PetscReal largest_s = 10; /* in strikes */

/* --- Heston's formula --- */

/* E exp(i u log S_T), in the form whose logarithm has no cut in the way (Albrecher et al. 2007). */
static PetscComplex Characteristic(const Model* m, PetscReal s, PetscReal v, PetscComplex u) {
  const PetscReal t = m->maturity, variance = PetscSqr(m->sigma);
  const PetscComplex iu = PETSC_i * u, b = m->kappa - m->rho * m->sigma * iu;
  const PetscComplex d = PetscSqrtComplex(b * b + variance * (iu + u * u)), g = (b - d) / (b + d);
  const PetscComplex decay = PetscExpComplex(-d * t);

  return PetscExpComplex(iu * (log(s) + m->r * t) +
                         m->kappa * m->eta / variance *
                             ((b - d) * t - 2. * PetscLogComplex((1. - g * decay) / (1. - g))) +
                         v / variance * (b - d) * (1. - decay) / (1. - g * decay));
}

static PetscReal Formula(const Model* m, PetscReal s, PetscReal v) {
  const PetscReal step = 0.02, discount = exp(-m->r * m->maturity);
  PetscReal sums[2] = {0, 0};

  for (PetscInt k = 0; k < 20000; ++k) { /* midpoints up to 400, where the integrand is nothing */
    const PetscReal u = (k + 0.5) * step;
    const PetscComplex kernel = PetscExpComplex(-PETSC_i * u * log(m->strike)) / (PETSC_i * u);

    sums[0] += PetscRealPartComplex(kernel * Characteristic(m, s, v, u - PETSC_i)) * discount / s;
    sums[1] += PetscRealPartComplex(kernel * Characteristic(m, s, v, u));
  }
  for (PetscInt p = 0; p < 2; ++p) sums[p] = 0.5 + sums[p] * step / PETSC_PI;
  return s * sums[0] - m->strike * discount * sums[1];
}

/* --- The grid --- */

/* Dense around the strike and towards v = 0. s[-1] would be 0, where the price is 0. */
static PetscErrorCode CreateGrid(const Model* model, PetscInt n, Heston* h) {
  const PetscReal width = model->strike / 5, first = asinh(-5.), last = asinh((largest_s - 1) * 5);
  const PetscReal dense = largest_v / 500, end = asinh(largest_v / dense);

  PetscFunctionBeginUser;
  h->ns = 2 * n;
  h->nv = n;
  PetscCall(PetscMalloc2(h->ns, &h->s, h->nv, &h->v));
  for (PetscInt i = 0; i < h->ns; ++i) h->s[i] = model->strike + width * sinh(first + (last - first) * (i + 1) / h->ns);
  for (PetscInt j = 0; j < h->nv; ++j) h->v[j] = dense * sinh(end * j / (h->nv - 1));
  PetscCall(DMDACreate2d(PETSC_COMM_WORLD, DM_BOUNDARY_NONE, DM_BOUNDARY_NONE, DMDA_STENCIL_BOX, h->ns, h->nv,
                         PETSC_DECIDE, PETSC_DECIDE, 1, 1, NULL, NULL, &h->grid));
  PetscCall(DMSetUp(h->grid));
  PetscFunctionReturn(0);
}

/* The grid's coordinates in a picture: strikes and variance. */
static PetscErrorCode SetCoordinates(const Model* model, Heston* h) {
  DM coordinate_grid;
  Vec coordinates;
  DMDALocalInfo info;
  PetscScalar*** at;

  PetscFunctionBeginUser;
  PetscCall(DMDASetUniformCoordinates(h->grid, 0, 1, 0, 1, 0, 0));
  PetscCall(DMGetCoordinateDM(h->grid, &coordinate_grid));
  PetscCall(DMGetCoordinates(h->grid, &coordinates));
  PetscCall(DMDAGetLocalInfo(h->grid, &info));
  PetscCall(DMDAVecGetArrayDOFWrite(coordinate_grid, coordinates, &at));
  for (PetscInt j = info.ys; j < info.ys + info.ym; ++j) {
    for (PetscInt i = info.xs; i < info.xs + info.xm; ++i) {
      at[j][i][0] = h->s[i] / model->strike;
      at[j][i][1] = h->v[j];
    }
  }
  PetscCall(DMDAVecRestoreArrayDOFWrite(coordinate_grid, coordinates, &at));
  PetscFunctionReturn(0);
}

/* --- The operator --- */

/* Weights of the point before, the point, the point behind: first and second derivative. */
typedef struct {
  PetscReal first[3], second[3];
} Weights;

/* Central differences; x[-1] is `before`. At the last point the derivative is 0: what lies beyond mirrors. */
static Weights Central(const PetscReal x[], PetscInt i, PetscInt count, PetscReal before) {
  const PetscReal l = x[i] - (i > 0 ? x[i - 1] : before), u = i < count - 1 ? x[i + 1] - x[i] : l;
  Weights w = {{-u / (l * (l + u)), (u - l) / (l * u), l / (u * (l + u))},
               {2 / (l * (l + u)), -2 / (l * u), 2 / (u * (l + u))}};

  if (i == count - 1) {
    for (PetscInt k = 0; k < 3; ++k) w.first[k] = 0;
    w.second[0] += w.second[2];
  }
  return w;
}

/* At v = 0 diffusion ends, and what is left of the equation carries values from the inside. */
static Weights OneSided(const PetscReal x[]) {
  const PetscReal u = x[1] - x[0];

  return (Weights){{0, -1 / u, 1 / u}, {0, 0, 0}};
}

/* The 3 x 3 weights of A_s, A_v and the mixed derivative at a point; [1][1] is the point, the first index counts v. */
typedef struct {
  PetscReal s[3][3], v[3][3], mixed[3][3];
} Stencil;

static Stencil StencilAt(const Model* m, const Heston* h, PetscInt i, PetscInt j) {
  const PetscReal s = h->s[i], v = h->v[j];
  const Weights ws = Central(h->s, i, h->ns, 0), wv = j > 0 ? Central(h->v, j, h->nv, 0) : OneSided(h->v);
  const PetscReal drift = m->kappa * (m->eta - v), *dv = wv.first;
  PetscReal upwind[3];
  Stencil stencil = {{{0}}, {{0}}, {{0}}};

  /* Where drift outweighs diffusion over a cell, far above all prices that matter, central differences would swing. */
  if (j > 0 && -drift * (v - h->v[j - 1]) > PetscSqr(m->sigma) * v) {
    upwind[1] = 1 / (v - h->v[j - 1]);
    upwind[0] = -upwind[1];
    upwind[2] = 0;
    dv = upwind;
  }
  for (PetscInt a = 0; a < 3; ++a) {
    stencil.s[1][a] = 0.5 * s * s * v * ws.second[a] + m->r * s * ws.first[a] - (a == 1 ? m->r / 2 : 0);
    stencil.v[a][1] = 0.5 * PetscSqr(m->sigma) * v * wv.second[a] + drift * dv[a] - (a == 1 ? m->r / 2 : 0);
    for (PetscInt b = 0; b < 3; ++b) stencil.mixed[b][a] = m->rho * m->sigma * s * v * ws.first[a] * wv.first[b];
  }
  return stencil;
}

/* Row (i,j) = unit times the identity + factor times the weights. Points outside are 0 or have no weight. */
static PetscErrorCode SetRow(const Heston* h, Mat matrix, PetscInt i, PetscInt j, PetscReal unit, PetscReal factor,
                             PetscReal weights[3][3]) {
  const MatStencil row = {.i = i, .j = j};
  MatStencil columns[9];
  PetscScalar values[9];
  PetscInt count = 0;

  PetscFunctionBeginUser;
  for (PetscInt b = 0; b < 3; ++b) {
    for (PetscInt a = 0; a < 3; ++a) {
      const PetscInt x = i + a - 1, y = j + b - 1;

      if (x < 0 || x >= h->ns || y < 0 || y >= h->nv) continue;
      columns[count] = (MatStencil){.i = x, .j = y};
      values[count++] = factor * weights[b][a] + (a == 1 && b == 1 ? unit : 0);
    }
  }
  PetscCall(MatSetValuesStencil(matrix, 1, &row, count, columns, values, INSERT_VALUES));
  PetscFunctionReturn(0);
}

static PetscErrorCode Assemble(const Model* model, PetscReal dt, Heston* h) {
  Mat* const matrices[] = {&h->all, &h->mixed, &h->m[0], &h->m[1]};
  DMDALocalInfo info;

  PetscFunctionBeginUser;
  for (PetscInt k = 0; k < 4; ++k) PetscCall(DMCreateMatrix(h->grid, matrices[k]));
  PetscCall(DMDAGetLocalInfo(h->grid, &info));
  for (PetscInt j = info.ys; j < info.ys + info.ym; ++j) {
    for (PetscInt i = info.xs; i < info.xs + info.xm; ++i) {
      Stencil stencil = StencilAt(model, h, i, j);
      PetscReal sum[3][3];

      for (PetscInt b = 0; b < 3; ++b)
        for (PetscInt a = 0; a < 3; ++a) sum[b][a] = stencil.s[b][a] + stencil.v[b][a] + stencil.mixed[b][a];
      PetscCall(SetRow(h, h->all, i, j, 0, 1, sum));
      PetscCall(SetRow(h, h->mixed, i, j, 0, 1, stencil.mixed));
      PetscCall(SetRow(h, h->m[0], i, j, 1, -theta * dt, stencil.s));
      PetscCall(SetRow(h, h->m[1], i, j, 1, -theta * dt, stencil.v));
    }
  }
  for (PetscInt k = 0; k < 4; ++k) {
    PetscCall(MatAssemblyBegin(*matrices[k], MAT_FINAL_ASSEMBLY));
    PetscCall(MatAssemblyEnd(*matrices[k], MAT_FINAL_ASSEMBLY));
  }
  PetscCall(CreateLineSolver(h->grid, h->m[0], "s_", "x", &h->solvers[0]));
  PetscCall(CreateLineSolver(h->grid, h->m[1], "v_", "y", &h->solvers[1]));
  PetscFunctionReturn(0);
}

static PetscErrorCode Destroy(Heston* h) {
  PetscFunctionBeginUser;
  for (PetscInt k = 0; k < 2; ++k) {
    PetscCall(KSPDestroy(&h->solvers[k]));
    PetscCall(MatDestroy(&h->m[k]));
  }
  PetscCall(MatDestroy(&h->mixed));
  PetscCall(MatDestroy(&h->all));
  PetscCall(DMDestroy(&h->grid));
  PetscCall(PetscFree2(h->s, h->v));
  PetscFunctionReturn(0);
}

/* --- Time --- */

/* The unknown is the price less s, which solves the equation too: it is 0 at s = 0 and flat for large s and v. The kink
   is averaged over the cell that holds it. */
static PetscErrorCode Payoff(const Model* model, const Heston* h, Vec w) {
  DMDALocalInfo info;
  PetscScalar** values;

  PetscFunctionBeginUser;
  PetscCall(DMDAGetLocalInfo(h->grid, &info));
  PetscCall(DMDAVecGetArrayWrite(h->grid, w, &values));
  for (PetscInt i = info.xs; i < info.xs + info.xm; ++i) {
    const PetscReal s = h->s[i], below = (s + (i > 0 ? h->s[i - 1] : 0)) / 2;
    const PetscReal above = i < h->ns - 1 ? (s + h->s[i + 1]) / 2 : s;
    PetscReal payoff = PetscMax(s - model->strike, 0);

    if (below < model->strike && model->strike < above)
      payoff = PetscSqr(above - model->strike) / (2 * (above - below));
    for (PetscInt j = info.ys; j < info.ys + info.ym; ++j) values[j][i] = payoff - s;
  }
  PetscCall(DMDAVecRestoreArrayWrite(h->grid, w, &values));
  PetscFunctionReturn(0);
}

/* result = (1 - theta dt A_v)^-1 ((1 - theta dt A_s)^-1 (start - theta dt A_s w) - theta dt A_v w); start is lost. */
static PetscErrorCode Directions(const Heston* h, Vec w, Vec start, Vec work, Vec result) {
  PetscFunctionBeginUser;
  for (PetscInt k = 0; k < 2; ++k) {
    PetscCall(MatMult(h->m[k], w, work));
    PetscCall(VecAXPBYPCZ(start, 1, -1, 1, work, w));
    PetscCall(KSPSolve(h->solvers[k], start, result));
    PetscCall(VecCopy(result, start));
  }
  PetscFunctionReturn(0);
}

static PetscErrorCode Step(const Heston* h, PetscReal dt, Vec w, Vec start, Vec predicted, Vec work, Vec change) {
  PetscFunctionBeginUser;
  PetscCall(MatMult(h->all, w, predicted));
  PetscCall(VecAYPX(predicted, dt, w));
  PetscCall(VecCopy(predicted, start));
  PetscCall(Directions(h, w, start, work, change));
  PetscCall(VecAXPY(change, -1, w));
  PetscCall(MatMult(h->mixed, change, work));
  PetscCall(VecAXPY(predicted, theta * dt, work));
  PetscCall(MatMult(h->all, change, work));
  PetscCall(VecAXPY(predicted, (0.5 - theta) * dt, work));
  PetscCall(Directions(h, w, predicted, work, change));
  PetscCall(VecCopy(change, w));
  PetscFunctionReturn(0);
}

static PetscErrorCode Run(const Model* model, const Heston* h, PetscInt steps, Vec w) {
  const PetscReal dt = model->maturity / steps;
  Vec work[4];

  PetscFunctionBeginUser;
  for (PetscInt k = 0; k < 4; ++k) PetscCall(DMGetGlobalVector(h->grid, &work[k]));
  PetscCall(Payoff(model, h, w));
  for (PetscInt step = 0; step < steps; ++step) {
    PetscCall(Step(h, dt, w, work[0], work[1], work[2], work[3]));
    PetscCall(Progress(PETSC_COMM_WORLD, "step", step + 1, steps));
  }
  for (PetscInt k = 0; k < 4; ++k) PetscCall(DMRestoreGlobalVector(h->grid, &work[k]));
  PetscFunctionReturn(0);
}

/* --- Prices --- */

enum { SPOTS = 5, VARIANCES = 3 };
static const PetscReal spots[SPOTS] = {0.8, 0.9, 1, 1.1, 1.2}, variances[VARIANCES] = {0.01, 0.04, 0.16};

static PetscInt Nearest(const PetscReal x[], PetscInt count, PetscReal value) {
  PetscInt nearest = 0;

  for (PetscInt i = 1; i < count; ++i)
    if (PetscAbsReal(x[i] - value) < PetscAbsReal(x[nearest] - value)) nearest = i;
  return nearest;
}

/* The prices at the points next to the spots and variances, on all ranks. */
static PetscErrorCode Prices(const Model* model, const Heston* h, Vec w, PetscReal prices[], PetscReal formula[]) {
  PetscReal both[2][VARIANCES * SPOTS] = {{0}, {0}};
  DMDALocalInfo info;
  const PetscScalar** values;

  PetscFunctionBeginUser;
  PetscCall(DMDAGetLocalInfo(h->grid, &info));
  PetscCall(DMDAVecGetArrayRead(h->grid, w, &values));
  for (PetscInt k = 0; k < VARIANCES * SPOTS; ++k) {
    const PetscInt i = Nearest(h->s, h->ns, spots[k % SPOTS] * model->strike);
    const PetscInt j = Nearest(h->v, h->nv, variances[k / SPOTS]);

    if (i < info.xs || i >= info.xs + info.xm || j < info.ys || j >= info.ys + info.ym) continue;
    both[0][k] = values[j][i] + h->s[i];
    both[1][k] = Formula(model, h->s[i], h->v[j]);
  }
  PetscCall(DMDAVecRestoreArrayRead(h->grid, w, &values));
  PetscCallMPI(MPI_Allreduce(both[0], prices, VARIANCES * SPOTS, MPIU_REAL, MPI_SUM, PETSC_COMM_WORLD));
  PetscCallMPI(MPI_Allreduce(both[1], formula, VARIANCES * SPOTS, MPIU_REAL, MPI_SUM, PETSC_COMM_WORLD));
  PetscFunctionReturn(0);
}

static PetscErrorCode PrintPrices(const Model* model, const Heston* h, const PetscReal prices[],
                                  const PetscReal formula[]) {
  PetscFunctionBeginUser;
  PetscCall(PetscPrintf(PETSC_COMM_WORLD, "\n     spot  variance     price   formula\n"));
  for (PetscInt k = 0; k < VARIANCES * SPOTS; ++k)
    PetscCall(PetscPrintf(PETSC_COMM_WORLD, "%9.4f  %8.5f  %8.4f  %8.4f\n",
                          (double)h->s[Nearest(h->s, h->ns, spots[k % SPOTS] * model->strike)],
                          (double)h->v[Nearest(h->v, h->nv, variances[k / SPOTS])], (double)prices[k],
                          (double)formula[k]));
  PetscFunctionReturn(0);
}

/* One grid: its error in percent of the strike, which must fall to half at least when the grid is refined. */
static PetscErrorCode Grid(const Model* model, PetscInt n, PetscBool last, PetscReal* error) {
  PetscReal prices[VARIANCES * SPOTS], formula[VARIANCES * SPOTS];
  const PetscReal coarser = *error;
  Heston h;
  Vec w;

  PetscFunctionBeginUser;
  PetscCall(CreateGrid(model, n, &h));
  PetscCall(SetCoordinates(model, &h));
  PetscCall(Assemble(model, model->maturity / n, &h));
  PetscCall(DMCreateGlobalVector(h.grid, &w));
  PetscCall(Run(model, &h, n, w));
  PetscCall(Prices(model, &h, w, prices, formula));
  *error = 0;
  for (PetscInt k = 0; k < VARIANCES * SPOTS; ++k) {
    const PetscReal difference = 100 * PetscAbsReal(prices[k] - formula[k]) / model->strike;

    if (!(difference <= *error)) *error = difference; /* NaN is kept */
  }
  PetscCall(PetscPrintf(PETSC_COMM_WORLD, "%4d x %4d  %5d  %12.2e\n", (int)h.ns, (int)h.nv, (int)n, (double)*error));
  PetscCheck(coarser == 0 || *error <= coarser / 2, PETSC_COMM_WORLD, PETSC_ERR_PLIB,
             "a finer grid leaves an error of %g, the coarser one had %g", (double)*error, (double)coarser);
  if (last) {
    PetscCall(PrintPrices(model, &h, prices, formula));
    PetscCheck(*error <= 0.02, PETSC_COMM_WORLD, PETSC_ERR_PLIB, "prices are off by %g %% of the strike: raise -n",
               (double)*error);
    PetscCall(WriteSolution(h.grid, w, "heston: price less spot, over spot / strike and variance"));
  }
  PetscCall(VecDestroy(&w));
  PetscCall(Destroy(&h));
  PetscFunctionReturn(0);
}

static PetscErrorCode ReadModel(Model* m) {
  const char* const names[] = {"-kappa", "-eta", "-sigma", "-rho", "-r", "-maturity", "-strike"};
  PetscReal* const places[] = {&m->kappa, &m->eta, &m->sigma, &m->rho, &m->r, &m->maturity, &m->strike};

  PetscFunctionBeginUser;
  for (PetscInt k = 0; k < 7; ++k) {
    PetscCall(PetscOptionsGetReal(NULL, NULL, names[k], places[k], NULL));
    PetscCheck(*places[k] > 0 || k == 3 || k == 4, PETSC_COMM_WORLD, PETSC_ERR_ARG_OUTOFRANGE, "%s must be positive",
               names[k]);
  }
  PetscCheck(PetscAbsReal(m->rho) <= 1, PETSC_COMM_WORLD, PETSC_ERR_ARG_OUTOFRANGE, "-rho lies between -1 and 1");
  PetscFunctionReturn(0);
}

int main(int argc, char** argv) {
  Model model = {.kappa = 1.5, .eta = 0.04, .sigma = 0.3, .rho = -0.9, .r = 0.025, .maturity = 1, .strike = 100};
  PetscInt n = 30, runs = 3;
  PetscReal error = 0;

  PetscFunctionBeginUser;
  PetscCall(PetscInitialize(&argc, &argv, NULL, help));
  PetscCall(PCOCLSPKTInitializePackage());
  PetscCall(PetscOptionsGetInt(NULL, NULL, "-n", &n, NULL));
  PetscCall(PetscOptionsGetInt(NULL, NULL, "-runs", &runs, NULL));
  PetscCall(ReadModel(&model));
  PetscCheck(n >= 8 && runs > 0, PETSC_COMM_WORLD, PETSC_ERR_ARG_OUTOFRANGE, "-n is 8 at least, -runs positive");

  PetscCall(PetscPrintf(PETSC_COMM_WORLD, "     s x v  steps  error in %% of the strike\n"));
  for (PetscInt run = 0; run < runs; ++run, n *= 2) PetscCall(Grid(&model, n, run == runs - 1, &error));
  PetscCall(PetscFinalize());
  return 0;
}
