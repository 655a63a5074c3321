// SPDX-License-Identifier: BSD-2-Clause
#pragma once

#include <exception>

#include "petsc_compat.h"

namespace oclspkt::petsc {

/// What an exception is to PETSc, in bytes that ranks can send each other.
struct Caught {
  PetscErrorCode code;
  PCFailedReason reason;  ///< of a Breakdown, which is a result and no error; else PC_NOERROR
  char text[2000];
};
Caught Describe(const std::exception_ptr& exception);

/// Raise on all ranks of a PC what one of them met, or mark the PC as failed. Collective.
/// @param rank that rank; -1: not to be named
PetscErrorCode RaiseOnAll(PC pc, const Caught& told, int rank);

/// Turn the exception being handled into a PETSc error, raised at the place given.
///
/// A Breakdown is a result and no error, unless the user asked for errors: it becomes the PC's failed reason, and 0 is
/// returned.
/// @param pc the preconditioner concerned, of type PCOCLSPKT; or null
PetscErrorCode TranslateException(PC pc, int line, const char* function, const char* file);

}  // namespace oclspkt::petsc

/// Evaluate an expression that may throw; what takes several statements is a function or a named lambda. After it,
/// pc->failedreason tells whether a Breakdown was caught. Calls of PETSc do not belong inside: an exception would skip
/// the end of PETSc's call stack. PetscError() takes the function off that stack, so an error returns without
/// PetscFunctionReturn(), as in PetscCall().
#define OclspktCall(pc, ...)                                                               \
  do {                                                                                     \
    PetscStackUpdateLine;                                                                  \
    try {                                                                                  \
      static_cast<void>(__VA_ARGS__);                                                      \
    } catch (...) {                                                                        \
      const PetscErrorCode ierr_oclspkt_ =                                                 \
          oclspkt::petsc::TranslateException(pc, __LINE__, PETSC_FUNCTION_NAME, __FILE__); \
      if (PetscUnlikely(ierr_oclspkt_ != PETSC_SUCCESS)) return ierr_oclspkt_;             \
    }                                                                                      \
  } while (0)
