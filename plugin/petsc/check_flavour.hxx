// SPDX-License-Identifier: BSD-2-Clause
#pragma once

#include <string>

#include "flavour.hpp"
#include "petsc_compat.h"

namespace oclspkt::petsc {

/// The flavour whose headers this library was compiled with.
Flavour BuiltFlavour();

/// The flavour of the libpetsc to which the process has bound this library; safe to call for any flavour.
Flavour RunningFlavour();

/// A text with cause and cure if `running` is not `built`; else empty.
std::string complaint(const Flavour& built, const Flavour& running);

/// A text with cause and cure if the program did not call PetscInitialize() of the libpetsc to which this library is
/// bound.
std::string complaint_of_stranger(const Flavour& built);

/// Refuse a libpetsc for which this library was not built: it has another flavour, or another layout of PC and Mat.
/// Builds of PETSc with devices or SAWs have another layout.
PetscErrorCode CheckFlavour();

}  // namespace oclspkt::petsc
