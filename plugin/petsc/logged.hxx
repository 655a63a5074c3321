// SPDX-License-Identifier: BSD-2-Clause
/* Logging for -log_view, and the events and the direct solver that the package registers once. */
#pragma once

#include <petscpc.h>

#include <cstdint>

#include "oclspkt/operator.hpp"
#include "oclspkt/report.hpp"
#include "petsc_compat.h"

namespace oclspkt::petsc {

/// Events of -log_view. PETSc assigns new numbers after each PetscInitialize().
struct Events {
  PetscLogEvent set_up = 0;    ///< the whole of PCSetUp
  PetscLogEvent bands = 0;     ///< reading the bands out of the matrix
  PetscLogEvent solve = 0;     ///< an apply to one or several right-hand sides
  PetscLogEvent degraded = 0;  ///< counts devices lost
  PetscLogEvent up = 0;    ///< copies of vectors and matrices to a device; "messages" counts copies, lengths are bytes
  PetscLogEvent down = 0;  ///< copies from a device, counted in the same way
};
const Events& events();

/// Make -citations name the paper behind the solver.
PetscErrorCode Cite();

/// Register the direct solver behind -pc_factor_mat_solver_type oclspkt.
PetscErrorCode RegisterFactor();

/// Flops of the set-up that `report` describes. @pre report.ready
PetscLogDouble set_up_flops(const Report& report);
/// Flops of an apply of one right-hand side.
PetscLogDouble apply_flops(const Report& report);

/// Log the flops of an apply to `columns` vectors. The flops count for the GPU if the vectors lie on a device or if one
/// GPU solved all rows, and for the host otherwise.
void log_applies(const Report& report, Index columns, const Place& place = {});

/// Bytes and times of all transfers to and from devices so far, over all directions.
Times moved(PC pc);
/// Log the transfers since moved() returned `before`.
void log_transfers(PC pc, const Times& before);

/// The number of time windows so far in which the energy of applies was measured, over all directions.
std::int64_t energy_windows(PC pc);
/// Print by -info the energy that was measured since energy_windows() returned `before`.
void tell_energy(PC pc, std::int64_t before);

}  // namespace oclspkt::petsc
