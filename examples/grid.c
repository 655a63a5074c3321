/* SPDX-License-Identifier: BSD-2-Clause */
#include "grid.h"

#include <math.h>
#include <petsctime.h>
#include <stdio.h>
#include <unistd.h>

#include "oclspkt/oclspkt.h"

PetscErrorCode CreateLineSolver(DM grid, Mat matrix, const char prefix[], const char axes[], KSP* solver) {
  PC pc;

  PetscFunctionBeginUser;
  PetscCall(KSPCreate(PetscObjectComm((PetscObject)grid), solver));
  PetscCall(KSPSetOptionsPrefix(*solver, prefix));
  PetscCall(KSPSetType(*solver, KSPPREONLY));
  PetscCall(KSPSetOperators(*solver, matrix, matrix));
  PetscCall(KSPGetPC(*solver, &pc));
  PetscCall(PCSetDM(pc, grid)); /* a matrix that the grid did not make knows nothing of it */
  PetscCall(PCSetType(pc, PCOCLSPKT));
  if (axes) PetscCall(PCOCLSPKTSetDirections(pc, axes));
  PetscCall(KSPSetFromOptions(*solver));
  PetscFunctionReturn(0);
}

PetscErrorCode CreateEmptyMatrix(DM grid, Mat* matrix) {
  Vec field;
  PetscInt rows, all;

  PetscFunctionBeginUser;
  PetscCall(DMGetGlobalVector(grid, &field));
  PetscCall(VecGetLocalSize(field, &rows));
  PetscCall(VecGetSize(field, &all));
  PetscCall(DMRestoreGlobalVector(grid, &field));
  PetscCall(MatCreateConstantDiagonal(PetscObjectComm((PetscObject)grid), rows, rows, all, all, 1, matrix));
  PetscCall(MatAssemblyBegin(*matrix, MAT_FINAL_ASSEMBLY));
  PetscCall(MatAssemblyEnd(*matrix, MAT_FINAL_ASSEMBLY));
  PetscFunctionReturn(0);
}

/* All entries on the first rank, in the grid's own order. */
static PetscErrorCode Gather(DM grid, Vec field, Vec* all) {
  Vec natural;
  VecScatter scatter;

  PetscFunctionBeginUser;
  PetscCall(DMDACreateNaturalVector(grid, &natural));
  PetscCall(DMDAGlobalToNaturalBegin(grid, field, INSERT_VALUES, natural));
  PetscCall(DMDAGlobalToNaturalEnd(grid, field, INSERT_VALUES, natural));
  PetscCall(VecScatterCreateToZero(natural, &scatter, all));
  PetscCall(VecScatterBegin(scatter, natural, *all, INSERT_VALUES, SCATTER_FORWARD));
  PetscCall(VecScatterEnd(scatter, natural, *all, INSERT_VALUES, SCATTER_FORWARD));
  PetscCall(VecScatterDestroy(&scatter));
  PetscCall(VecDestroy(&natural));
  PetscFunctionReturn(0);
}

static PetscErrorCode WriteTable(DM grid, Vec field, const char title[], const char path[]) {
  DM coordinate_grid;
  Vec coordinates, values, places;
  const PetscScalar *v, *c;
  PetscInt nx, ny, nz, axes;
  FILE* file;

  PetscFunctionBeginUser;
  PetscCall(DMDAGetInfo(grid, &axes, &nx, &ny, &nz, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL));
  PetscCall(DMGetCoordinateDM(grid, &coordinate_grid));
  PetscCall(DMGetCoordinates(grid, &coordinates));
  PetscCall(Gather(grid, field, &values));
  PetscCall(Gather(coordinate_grid, coordinates, &places));
  PetscCall(VecGetArrayRead(values, &v));
  PetscCall(VecGetArrayRead(places, &c));
  PetscCall(PetscFOpen(PetscObjectComm((PetscObject)grid), path, "w", &file)); /* NULL on all ranks but the first */
  if (file) {
    const PetscInt plane = nz / 2 * nx * ny;

    fprintf(file, "# %s\n# %d %d\nx,y,value\n", title, (int)nx, (int)ny);
    for (PetscInt i = plane; i < plane + nx * ny; ++i)
      fprintf(file, "%.9g,%.9g,%.9g\n", (double)c[axes * i], (double)c[axes * i + 1], (double)v[i]);
    PetscCheck(!ferror(file), PETSC_COMM_SELF, PETSC_ERR_FILE_WRITE, "writing %s failed: is the disk full?", path);
  }
  PetscCall(PetscFClose(PetscObjectComm((PetscObject)grid), file));
  PetscCall(VecRestoreArrayRead(places, &c));
  PetscCall(VecRestoreArrayRead(values, &v));
  PetscCall(VecDestroy(&places));
  PetscCall(VecDestroy(&values));
  PetscFunctionReturn(0);
}

PetscErrorCode WriteSolution(DM grid, Vec field, const char title[]) {
  char path[PETSC_MAX_PATH_LEN];
  PetscBool asked;
  PetscViewer viewer;
  MPI_Comm comm = PetscObjectComm((PetscObject)grid);

  PetscFunctionBeginUser;
  PetscCall(PetscOptionsGetString(NULL, NULL, "-vtk", path, sizeof path, &asked));
  if (asked) {
    PetscCall(PetscObjectSetName((PetscObject)field, "u"));
    PetscCall(PetscViewerVTKOpen(comm, path, FILE_MODE_WRITE, &viewer));
    PetscCall(VecView(field, viewer));
    PetscCall(PetscViewerDestroy(&viewer));
    PetscCall(PetscPrintf(comm, "wrote %s\n", path));
  }
  PetscCall(PetscOptionsGetString(NULL, NULL, "-plot", path, sizeof path, &asked));
  if (asked) {
    PetscCall(WriteTable(grid, field, title, path));
    PetscCall(PetscPrintf(comm, "wrote %s: python3 examples/plot.py %s draws it\n", path, path));
  }
  PetscFunctionReturn(0);
}

PetscErrorCode Progress(MPI_Comm comm, const char what[], PetscInt done, PetscInt all) {
  static PetscLogDouble shown = 0;
  PetscLogDouble now;
  PetscMPIInt rank;

  PetscFunctionBeginUser;
  PetscCallMPI(MPI_Comm_rank(comm, &rank));
  if (rank || !isatty(STDERR_FILENO)) PetscFunctionReturn(0);
  PetscCall(PetscTime(&now));
  if (done < all && now - shown > 0.2) {
    fprintf(stderr, "\r\033[K%s: %d of %d", what, (int)done, (int)all);
    shown = now;
  } else if (done == all) {
    fprintf(stderr, "\r\033[K");
  }
  PetscFunctionReturn(0);
}

PetscReal Order(PetscReal coarse_error, PetscReal fine_error, PetscReal ratio) {
  return log(coarse_error / fine_error) / log(ratio);
}

PetscReal SecondDifference(PetscInt wave, PetscReal h) { return 4 / (h * h) * PetscSqr(sin(wave * PETSC_PI * h / 2)); }

PetscErrorCode SumWaves(DM grid, PetscInt count, const Wave waves[], const PetscReal factors[], Vec u) {
  Vec coordinates;
  PetscInt axes, nodes;
  const PetscScalar* at;
  PetscScalar* values;

  PetscFunctionBeginUser;
  PetscCall(DMGetDimension(grid, &axes));
  PetscCall(DMGetCoordinates(grid, &coordinates));
  PetscCall(VecGetLocalSize(u, &nodes));
  PetscCall(VecGetArrayRead(coordinates, &at));
  PetscCall(VecGetArrayWrite(u, &values));
  for (PetscInt i = 0; i < nodes; ++i) {
    values[i] = 0;
    for (PetscInt w = 0; w < count; ++w) {
      PetscScalar value = waves[w].amplitude * factors[w];

      for (PetscInt a = 0; a < axes; ++a) value *= PetscSinReal(waves[w].number[a] * PETSC_PI * at[axes * i + a]);
      values[i] += value;
    }
  }
  PetscCall(VecRestoreArrayWrite(u, &values));
  PetscCall(VecRestoreArrayRead(coordinates, &at));
  PetscFunctionReturn(0);
}

PetscErrorCode ErrorAgainstWaves(DM grid, PetscInt count, const Wave waves[], const PetscReal factors[], Vec u,
                                 PetscReal* error) {
  Vec exact;

  PetscFunctionBeginUser;
  PetscCall(DMGetGlobalVector(grid, &exact));
  PetscCall(SumWaves(grid, count, waves, factors, exact));
  PetscCall(Difference(exact, u, error));
  PetscCall(DMRestoreGlobalVector(grid, &exact));
  PetscFunctionReturn(0);
}

PetscErrorCode Difference(Vec field, Vec other, PetscReal* largest) {
  PetscFunctionBeginUser;
  PetscCall(VecAXPY(field, -1, other));
  PetscCall(VecNorm(field, NORM_INFINITY, largest));
  PetscFunctionReturn(0);
}
