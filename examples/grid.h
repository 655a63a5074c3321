/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef OCLSPKT_EXAMPLES_GRID_H
#define OCLSPKT_EXAMPLES_GRID_H

/* What the examples on grids share. */

#include <petscdmda.h>
#include <petscksp.h>

/* A solver that is nothing but PCOCLSPKT: every KSPSolve() solves the tridiagonal systems along the axes and no more.
   The options of the preconditioner go behind the prefix, as in -x_pc_oclspkt_devices cpu.
   axes: as -pc_oclspkt_lines takes them; NULL: left to the plugin. */
PetscErrorCode CreateLineSolver(DM grid, Mat matrix, const char prefix[], const char axes[], KSP* solver);

/* A matrix that only says how many rows there are, for preconditioners whose bands the program gives. */
PetscErrorCode CreateEmptyMatrix(DM grid, Mat* matrix);

/* Options that all examples have, for their help texts. */
#define OUTPUT_HELP \
  "  -vtk <file.vts>  write the solution for ParaView and its like\n\
  -plot <file.csv> write the solution (of a 3-D grid its middle plane) for examples/plot.py\n"

/* Write a field with one unknown a node as -vtk and -plot ask for it. The grid has coordinates. */
PetscErrorCode WriteSolution(DM grid, Vec field, const char title[]);

/* Say on stderr what a long run does: one line, written over, at most five times a second, and only on a terminal. */
PetscErrorCode Progress(MPI_Comm comm, const char what[], PetscInt done, PetscInt all);

/* The order of convergence that two errors show when the step shrinks by the ratio coarse/fine. */
PetscReal Order(PetscReal coarse_error, PetscReal fine_error, PetscReal ratio);

/* amplitude sin(number[0] pi x) sin(number[1] pi y) ...: an eigenvector of second differences between fixed ends. */
typedef struct {
  PetscInt number[3];
  PetscReal amplitude;
} Wave;

/* u = sum of the waves, each times its factor, at the grid's coordinates. */
PetscErrorCode SumWaves(DM grid, PetscInt count, const Wave waves[], const PetscReal factors[], Vec u);

/* Largest difference of u and such a sum. */
PetscErrorCode ErrorAgainstWaves(DM grid, PetscInt count, const Wave waves[], const PetscReal factors[], Vec u,
                                 PetscReal* error);

/* 4/h^2 sin^2(k pi h / 2): what minus the second difference multiplies sin(k pi x) by. */
PetscReal SecondDifference(PetscInt wave, PetscReal h);

/* Largest difference of two fields, which is left in the first one. */
PetscErrorCode Difference(Vec field, Vec other, PetscReal* largest);

#endif
