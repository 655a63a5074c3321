// SPDX-License-Identifier: BSD-2-Clause
#pragma once

/// The only place that knows in which release of PETSc something changed its name or its type.

#include <petsc/private/pcimpl.h>

#if PETSC_VERSION_LT(3, 18, 0)
#error "oclspkt needs PETSc 3.18 or newer"
#endif

#if PETSC_VERSION_LT(3, 19, 0)
#define PETSC_SUCCESS 0
#endif

#if PETSC_VERSION_LT(3, 23, 0)
using OclspktOptionItems = PetscOptionItems*;
#else
using OclspktOptionItems = PetscOptionItems;
#endif

#if PETSC_VERSION_LT(3, 24, 0)
#define OCLSPKT_MPI_BOOL MPIU_BOOL
#else
#define OCLSPKT_MPI_BOOL MPI_C_BOOL
#endif

/// Fill a vector with Inf, which the solvers above take for a failed preconditioner. Collective.
inline PetscErrorCode OclspktVecSetInf(Vec vector) {
#if PETSC_VERSION_LT(3, 22, 0)
  return VecSetInf(vector);
#else
  return VecFlag(vector, 1);
#endif
}
