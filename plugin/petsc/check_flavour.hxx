// SPDX-License-Identifier: BSD-2-Clause
#pragma once

#include <string>

#include "flavour.hpp"
#include "petsc_compat.h"

namespace oclspkt::petsc {

/// The flavour whose headers this library was compiled with.
Flavour BuiltFlavour();

/// The flavour of the libpetsc that the process has bound this library to; safe to call whatever it is.
Flavour RunningFlavour();

/// Cause and cure if `running` is not `built`; empty if it is.
std::string complaint(const Flavour& built, const Flavour& running);

/// Cause and cure if the program did not call PetscInitialize() of the libpetsc that this library is bound to.
std::string complaint_of_stranger(const Flavour& built);

/// Refuse a libpetsc that this library was not built for: another flavour, or another layout of PC and Mat, which
/// builds of PETSc with devices or SAWs have.
PetscErrorCode CheckFlavour();

}  // namespace oclspkt::petsc
