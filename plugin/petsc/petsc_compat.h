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
