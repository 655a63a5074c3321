// SPDX-License-Identifier: BSD-2-Clause
/* What -log_view shows, in its columns of GPUs where PETSc was built for any, and what the package registers once. */
#pragma once

#include <petscpc.h>

#include <cstdint>

#include "oclspkt/report.hpp"
#include "petsc_compat.h"

namespace oclspkt::petsc {

/// Events of -log_view; numbers given by PETSc in each PetscInitialize().
struct Events {
  PetscLogEvent set_up = 0;    ///< the whole of PCSetUp
  PetscLogEvent bands = 0;     ///< reading the bands out of the matrix
  PetscLogEvent solve = 0;     ///< one right-hand side or many
  PetscLogEvent degraded = 0;  ///< counts devices lost
  PetscLogEvent up = 0;        ///< copies of vectors and matrices to a device; "messages" are copies, lengths are bytes
  PetscLogEvent down = 0;      ///< from it
};
const Events& events();

/// Make -citations name the paper behind the solver.
PetscErrorCode Cite();

/// Register the direct solver behind -pc_factor_mat_solver_type oclspkt.
PetscErrorCode RegisterFactor();

/// Flops of a set-up that chose what the report says. @pre report.ready
PetscLogDouble set_up_flops(const Report& report);
/// Flops of an apply of one right-hand side.
PetscLogDouble apply_flops(const Report& report);

/// Log the flops of applies to vectors of the host: those of the GPU where a GPU alone solved.
void log_applies(const Report& report, Index columns);

/// Bytes that all directions have moved to devices and back so far.
Times moved(PC pc);
/// Log the bytes that were moved since moved() gave `before`.
void log_transfers(PC pc, const Times& before);

/// How many windows the energy of applies was measured in so far, in all directions.
std::int64_t energy_windows(PC pc);
/// Say by -info what was measured since energy_windows() gave `before`.
void tell_energy(PC pc, std::int64_t before);

}  // namespace oclspkt::petsc
