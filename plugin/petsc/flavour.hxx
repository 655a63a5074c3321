// SPDX-License-Identifier: BSD-2-Clause
#pragma once

#include <string>

#include "petsc_compat.h"

namespace oclspkt::petsc {

/// What makes two builds of PETSc binary incompatible although they export the same names.
struct Flavour {
  bool initialized = true;  ///< false: PetscInitialize() was called in another libpetsc than the one bound to
  int major = PETSC_VERSION_MAJOR, minor = PETSC_VERSION_MINOR;
  bool complex_scalars = false;
  bool double_precision = true;
  int index_bits = 8 * static_cast<int>(sizeof(PetscInt));

  bool operator==(const Flavour&) const = default;
};

/// The flavour of the libpetsc that the process has bound this library to; safe to call whatever it is.
PetscErrorCode RunningFlavour(Flavour* flavour);

/// "PETSc 3.18 with real scalars in double precision and 32-bit indices"
std::string describe(const Flavour& flavour);

/// Cause and cure if `running` is not `built`; empty if it is.
std::string complaint(const Flavour& built, const Flavour& running);

/// Refuse a libpetsc that this library was not built for.
PetscErrorCode CheckFlavour();

}  // namespace oclspkt::petsc
