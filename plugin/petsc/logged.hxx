// SPDX-License-Identifier: BSD-2-Clause
/* What -log_view shows in its columns of GPUs, where PETSc was built for any. */
#pragma once

#include <petscpc.h>

#include "oclspkt/report.hpp"

namespace oclspkt::petsc {

/// Flops of a solve with vectors of the host: those of the GPU where a GPU alone solved.
PetscErrorCode LogFlops(const Report& report, PetscLogDouble flops);

/// Bytes that all directions have moved to devices and back so far.
Times moved(PC pc);
/// What was moved since.
PetscErrorCode LogTransfers(PC pc, const Times& before);

}  // namespace oclspkt::petsc
