// SPDX-License-Identifier: BSD-2-Clause
#pragma once

#include "pc_oclspkt.hxx"

namespace oclspkt::petsc {

/// The queue by which PETSc orders work on two blocks, where both lie on a device by one run-time: CUDA (VECCUDA,
/// VECKOKKOS, MATDENSECUDA) or OpenCL (VECVIENNACL). None for others, and for vectors that are bound to the host.
PetscErrorCode QueueOf(const Block& right, const Block& solution, DeviceQueue* queue);

/// Have the view say why vectors of Kokkos are solved for from the host's memory, if they are; of others it says
/// nothing.
PetscErrorCode NoteVectors(PC pc, Vec vector);

/// Before a set-up: remember where vectors are likely to lie, by those that the matrix makes. Collective.
PetscErrorCode FindQueue(PC pc);

/// Before the applies of a solve: set up for the device where its vectors lie, if the last set-up was not told of it.
/// Collective: all ranks set up, or none.
PetscErrorCode SetUpForVectors(PC pc, Vec right, Vec solution);

/// Solve along one direction on the device where the vectors lie, if the set-up was told of it: by the matrix, or by
/// a KSP, see SetUpForVectors().
/// @param[out] solved  false: they have to be taken to the host
PetscErrorCode SolveOnDevice(PC pc, Sweep& sweep, const Block& right, const Block& solution, bool transpose,
                             PetscBool* solved);

/// Set the solver of a direction up. A breakdown on one rank is one on all. Collective.
PetscErrorCode SetUpSweep(PC pc, Sweep& sweep, const Known& known);

/// What the matrix is known to be, and where vectors lie.
PetscErrorCode KnownOfMatrix(PC pc, Known* known);

}  // namespace oclspkt::petsc
