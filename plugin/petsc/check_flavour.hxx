// SPDX-License-Identifier: BSD-2-Clause
#pragma once

#include <string>

#include "flavour.hpp"
#include "petsc_compat.h"

namespace oclspkt::petsc {

Flavour BuiltFlavour();

/// The flavour of the libpetsc to which this library is bound. The call is safe for every flavour.
Flavour RunningFlavour();

/// The error message if the two flavours differ; else empty.
std::string complaint(const Flavour& built, const Flavour& running);

/// The error message if the program did not call PetscInitialize() of the libpetsc to which this library is bound.
std::string complaint_of_stranger(const Flavour& built);

/// Return an error if the running libpetsc has another flavour than this library, or another layout of PC and Mat.
/// Builds of PETSc with devices or SAWs have another layout.
PetscErrorCode CheckFlavour();

}  // namespace oclspkt::petsc
