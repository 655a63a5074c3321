// SPDX-License-Identifier: BSD-2-Clause
#pragma once

#include <string_view>

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

namespace oclspkt::petsc {

/// @param place     of the argument, in words
/// @param function  its name, or that of the composed function behind it, which ends with "_C"
inline PetscErrorCode CheckPointer(MPI_Comm comm, const char* place, std::string_view function, const void* value) {
  PetscFunctionBegin;
  if (function.ends_with("_C")) function.remove_suffix(2);
  PetscCheck(value, comm, PETSC_ERR_ARG_NULL,
             "The %s argument of %.*s() is a null pointer: pass the address of a value", place,
             static_cast<int>(function.size()), function.data());
  PetscFunctionReturn(PETSC_SUCCESS);
}

}  // namespace oclspkt::petsc
