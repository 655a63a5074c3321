// SPDX-License-Identifier: BSD-2-Clause
#pragma once

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

}  // namespace oclspkt::petsc
