/* SPDX-License-Identifier: BSD-2-Clause */
/* A program that is not linked with the plugin finds the functions of oclspkt_vec.h by their names. */
#include "oclspkt/oclspkt_vec.h"

typedef PetscErrorCode (*Get)(Vec, struct _cl_mem**, struct _cl_command_queue**);
typedef PetscErrorCode (*Restore)(Vec, struct _cl_mem**);

int main(int argc, char** argv) {
  struct _cl_mem* memory = NULL;
  struct _cl_command_queue* queue = NULL;
  Get get = NULL;
  Restore restore = NULL;
  Vec x;

  PetscCall(PetscInitialize(&argc, &argv, NULL, NULL));
  PetscCall(PetscDLSym(NULL, "VecOpenCLGetMemReadWrite", (void**)&get));
  PetscCall(PetscDLSym(NULL, "VecOpenCLRestoreMemReadWrite", (void**)&restore));
  PetscCheck(get && restore, PETSC_COMM_SELF, PETSC_ERR_LIB, "the functions are not found");
  PetscCall(VecCreate(PETSC_COMM_SELF, &x));
  PetscCall(VecSetSizes(x, 10, 10));
  PetscCall(VecSetType(x, VECOPENCL));
  PetscCall((*get)(x, &memory, &queue));
  PetscCall(PetscPrintf(PETSC_COMM_SELF, memory && queue ? "memory is there\n" : "no memory\n"));
  PetscCall((*restore)(x, &memory));
  PetscCall(VecDestroy(&x));
  PetscCall(PetscFinalize());
  return 0;
}
