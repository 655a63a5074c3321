/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef OCLSPKT_VEC_H
#define OCLSPKT_VEC_H

#include <petscvec.h>

/* Access to the device memory of vectors, for programs with their own OpenCL kernels. This works for vectors of
   -vec_type opencl and, in a program that runs with -oclspkt_types, for vectors of PETSc's own types that work on the
   device. Link the library for your PETSc as for oclspkt.h, or load liboclspkt.so with -dll_append and look the
   functions up by PetscDLSym(NULL, "VecOpenCLGetMemWrite", &function). Each function has a page in docs/manual. */

#define VECOPENCL "opencl"
#define MATAIJOPENCL "aijopencl"
/* Conjugate gradients whose scalars stay on the device of such vectors: docs/manual/KSPCGDEVICE.md. */
#define KSPCGDEVICE "cgdevice"

/* The types to which a cl_mem and a cl_command_queue point. These declarations replace OpenCL's headers. */
struct _cl_mem;
struct _cl_command_queue;

/* The memory holds as many PetscScalars as the vector has local entries. The queue is in order, and carries all work
   on vectors of this process. Commands that you enqueue in it need neither waits nor events. Pass NULL if you need no
   queue. */
PETSC_EXTERN PetscErrorCode VecOpenCLGetQueue(struct _cl_command_queue** queue);
PETSC_EXTERN PetscErrorCode VecOpenCLGetMemRead(Vec vector, struct _cl_mem** memory, struct _cl_command_queue** queue);
PETSC_EXTERN PetscErrorCode VecOpenCLRestoreMemRead(Vec vector, struct _cl_mem** memory);
PETSC_EXTERN PetscErrorCode VecOpenCLGetMemWrite(Vec vector, struct _cl_mem** memory, struct _cl_command_queue** queue);
PETSC_EXTERN PetscErrorCode VecOpenCLRestoreMemWrite(Vec vector, struct _cl_mem** memory);
PETSC_EXTERN PetscErrorCode VecOpenCLGetMemReadWrite(Vec vector, struct _cl_mem** memory,
                                                     struct _cl_command_queue** queue);
PETSC_EXTERN PetscErrorCode VecOpenCLRestoreMemReadWrite(Vec vector, struct _cl_mem** memory);
PETSC_EXTERN PetscErrorCode VecCreateOpenCLWithMem(MPI_Comm comm, PetscInt bs, PetscInt n, PetscInt N,
                                                   struct _cl_mem* memory, Vec* vector);

#endif
