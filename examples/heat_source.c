/* SPDX-License-Identifier: BSD-2-Clause */
static char help[] =
    "The heat equation with a source in two dimensions, implicit in time, in plain PETSc.\n\n\
    u_t = u_xx + u_yy + f on the unit square, u = 0 on its edges;   solution cos(t) sin(pi x) sin(pi y)\n\n\
With -oclspkt_types the steps run on a device, no line changed. Compiled with OWN_KERNEL, the source is written there by a\n\
kernel of the program: the three lines of OWN_KERNEL in WriteSource() are all that changes.\n\n\
  -n <points>    along each edge, inside\n\
  -steps <count> time steps\n\n";

#include <petscksp.h>

#ifdef OWN_KERNEL
#include <CL/cl.h>

#include "oclspkt/oclspkt_vec.h"
#endif

typedef struct {
  PetscInt n, first, end; /* points along an edge; rows of this rank */
  PetscReal h, dt, decay; /* of the lowest wave, with differences for derivatives */
} Heat;

/* The amplitude of the source at a time: what the amplitude cos(t) of the solution needs. */
static PetscReal SourceAmplitude(const Heat* heat, PetscReal t) {
  return heat->decay * PetscCosReal(t) - PetscSinReal(t);
}

#ifdef OWN_KERNEL
static const char* const text =
    "#pragma OPENCL EXTENSION cl_khr_fp64 : enable\n"
    "__kernel void source(__global double* f, long first, long n, double h, double amplitude) {\n"
    "  const long row = first + get_global_id(0);\n"
    "  f[get_global_id(0)] = amplitude * sinpi(h * (row % n + 1)) * sinpi(h * (row / n + 1));\n"
    "}\n";

static PetscErrorCode EnqueueSource(cl_command_queue queue, cl_mem f, const Heat* heat, PetscReal amplitude) {
  static cl_kernel kernel = NULL; /* as long as the program */
  const cl_long first = heat->first, n = heat->n;
  const size_t rows = (size_t)(heat->end - heat->first);
  const cl_double h = heat->h, size = amplitude;
  cl_int failed = CL_SUCCESS;

  PetscFunctionBeginUser;
  if (!kernel) {
    cl_context context;
    cl_program program;

    clGetCommandQueueInfo(queue, CL_QUEUE_CONTEXT, sizeof context, &context, NULL);
    program = clCreateProgramWithSource(context, 1, (const char**)&text, NULL, &failed);
    if (!failed) failed = clBuildProgram(program, 0, NULL, NULL, NULL, NULL);
    if (!failed) kernel = clCreateKernel(program, "source", &failed);
  }
  if (!failed) failed = clSetKernelArg(kernel, 0, sizeof f, &f);
  if (!failed) failed = clSetKernelArg(kernel, 1, sizeof first, &first);
  if (!failed) failed = clSetKernelArg(kernel, 2, sizeof n, &n);
  if (!failed) failed = clSetKernelArg(kernel, 3, sizeof h, &h);
  if (!failed) failed = clSetKernelArg(kernel, 4, sizeof size, &size);
  if (!failed && rows > 0) failed = clEnqueueNDRangeKernel(queue, kernel, 1, NULL, &rows, NULL, 0, NULL, NULL);
  PetscCheck(!failed, PETSC_COMM_SELF, PETSC_ERR_LIB, "OpenCL error %d", (int)failed);
  PetscFunctionReturn(0);
}
#endif

static PetscErrorCode WriteSource(const Heat* heat, PetscReal t, Vec f) {
  const PetscReal amplitude = SourceAmplitude(heat, t);

  PetscFunctionBeginUser;
#ifdef OWN_KERNEL
  cl_mem memory;
  cl_command_queue queue;

  PetscCall(VecOpenCLGetMemWrite(f, &memory, &queue));
  PetscCall(EnqueueSource(queue, memory, heat, amplitude));
  PetscCall(VecOpenCLRestoreMemWrite(f, &memory));
#else
  PetscScalar* values;

  PetscCall(VecGetArrayWrite(f, &values));
  for (PetscInt row = heat->first; row < heat->end; ++row) {
    const PetscReal x = heat->h * (row % heat->n + 1), y = heat->h * (row / heat->n + 1);

    values[row - heat->first] = amplitude * PetscSinReal(PETSC_PI * x) * PetscSinReal(PETSC_PI * y);
  }
  PetscCall(VecRestoreArrayWrite(f, &values));
#endif
  PetscFunctionReturn(0);
}

/* 1 - dt (second differences), by rows of the grid. */
static PetscErrorCode CreateMatrix(Heat* heat, Mat* A) {
  const PetscInt n = heat->n, rows = n * n;
  const PetscReal lambda = heat->dt / (heat->h * heat->h);

  PetscFunctionBeginUser;
  PetscCall(MatCreate(PETSC_COMM_WORLD, A));
  PetscCall(MatSetSizes(*A, PETSC_DECIDE, PETSC_DECIDE, rows, rows));
  PetscCall(MatSetFromOptions(*A));
  PetscCall(MatSeqAIJSetPreallocation(*A, 5, NULL));
  PetscCall(MatMPIAIJSetPreallocation(*A, 5, NULL, 5, NULL));
  PetscCall(MatGetOwnershipRange(*A, &heat->first, &heat->end));
  for (PetscInt row = heat->first; row < heat->end; ++row) {
    const PetscInt i = row % n, j = row / n;

    PetscCall(MatSetValue(*A, row, row, 1 + 4 * lambda, INSERT_VALUES));
    if (i > 0) PetscCall(MatSetValue(*A, row, row - 1, -lambda, INSERT_VALUES));
    if (i < n - 1) PetscCall(MatSetValue(*A, row, row + 1, -lambda, INSERT_VALUES));
    if (j > 0) PetscCall(MatSetValue(*A, row, row - n, -lambda, INSERT_VALUES));
    if (j < n - 1) PetscCall(MatSetValue(*A, row, row + n, -lambda, INSERT_VALUES));
  }
  PetscCall(MatAssemblyBegin(*A, MAT_FINAL_ASSEMBLY));
  PetscCall(MatAssemblyEnd(*A, MAT_FINAL_ASSEMBLY));
  PetscFunctionReturn(0);
}

int main(int argc, char** argv) {
  PetscInt steps = 20, iterations, all = 0;
  PetscReal amplitude = 1, error, size;
  Heat heat = {.n = 40};
  Mat A;
  Vec u, f;
  KSP ksp;
  PC pc;

  PetscFunctionBeginUser;
  PetscCall(PetscInitialize(&argc, &argv, NULL, help));
  PetscCall(PetscOptionsGetInt(NULL, NULL, "-n", &heat.n, NULL));
  PetscCall(PetscOptionsGetInt(NULL, NULL, "-steps", &steps, NULL));
  PetscCheck(heat.n > 0 && steps > 0, PETSC_COMM_WORLD, PETSC_ERR_ARG_OUTOFRANGE, "-n and -steps must be positive");
  heat.h = 1.0 / (heat.n + 1);
  heat.dt = 1.0 / steps;
  heat.decay = 8 / PetscSqr(heat.h) * PetscSqr(PetscSinReal(PETSC_PI * heat.h / 2));
  PetscCall(CreateMatrix(&heat, &A));
  PetscCall(MatCreateVecs(A, &u, &f));
  PetscCall(KSPCreate(PETSC_COMM_WORLD, &ksp));
  PetscCall(KSPSetOperators(ksp, A, A));
  PetscCall(KSPSetType(ksp, KSPCG));
  PetscCall(KSPGetPC(ksp, &pc));
  PetscCall(PCSetType(pc, PCJACOBI));
  PetscCall(KSPSetTolerances(ksp, 1e-12, PETSC_DEFAULT, PETSC_DEFAULT, PETSC_DEFAULT));
  PetscCall(KSPSetFromOptions(ksp));

  /* The source divided by its amplitude is the solution at t = 0. */
  PetscCall(WriteSource(&heat, 0, u));
  PetscCall(VecScale(u, 1 / SourceAmplitude(&heat, 0)));
  for (PetscInt step = 1; step <= steps; ++step) {
    PetscCall(WriteSource(&heat, step * heat.dt, f));
    PetscCall(VecAYPX(f, heat.dt, u));
    PetscCall(KSPSolve(ksp, f, u));
    PetscCall(KSPGetIterationNumber(ksp, &iterations));
    all += iterations;
    amplitude = (amplitude + heat.dt * SourceAmplitude(&heat, step * heat.dt)) / (1 + heat.dt * heat.decay);
  }

  /* What the steps do to the amplitude is known without rounding and without a solver. */
  PetscCall(WriteSource(&heat, 0, f));
  PetscCall(VecScale(f, amplitude / SourceAmplitude(&heat, 0)));
  PetscCall(VecNorm(f, NORM_INFINITY, &size));
  PetscCall(VecAXPY(f, -1, u));
  PetscCall(VecNorm(f, NORM_INFINITY, &error));
  PetscCall(PetscPrintf(PETSC_COMM_WORLD,
                        "%" PetscInt_FMT " steps on %" PetscInt_FMT " x %" PetscInt_FMT " points, %" PetscInt_FMT
                        " iterations, amplitude %.6f for cos(1) = %.6f\n",
                        steps, heat.n, heat.n, all, (double)amplitude, (double)PetscCosReal(1)));
  PetscCheck(error <= 1e-9 * size, PETSC_COMM_WORLD, PETSC_ERR_PLIB, "the steps are off by %g of %g", (double)error,
             (double)size);

  PetscCall(KSPDestroy(&ksp));
  PetscCall(VecDestroy(&f));
  PetscCall(VecDestroy(&u));
  PetscCall(MatDestroy(&A));
  PetscCall(PetscFinalize());
  return 0;
}
