// SPDX-License-Identifier: BSD-2-Clause
#pragma once

#include "petsc_compat.h"

/* PETSc's own checks are empty in optimised builds; there a null pointer, which other languages hand over easily, would
   end the program. */
#define OclspktValidPC(pc)                                                                                          \
  do {                                                                                                              \
    PetscCheck(pc, PETSC_COMM_SELF, PETSC_ERR_ARG_NULL,                                                             \
               "The PC is a null pointer: take it from PCCreate() or KSPGetPC() first");                            \
    PetscCheck(((PetscObject)(pc))->classid == PC_CLASSID, PETSC_COMM_SELF, PETSC_ERR_ARG_WRONG,                    \
               "The first argument is not a PC, or one that was destroyed: take it from PCCreate() or KSPGetPC()"); \
  } while (0)
#define OclspktValidPointer(pc, argument)                                      \
  PetscCheck(argument, PetscObjectComm((PetscObject)(pc)), PETSC_ERR_ARG_NULL, \
             "The argument '" #argument "' is a null pointer: pass the address of a value")
