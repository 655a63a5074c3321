/* SPDX-License-Identifier: BSD-2-Clause */
#pragma once

#include <petscvec.h>

/* Wait for a device by what every type of vectors has: a number of a vector of its own, behind all work in the queue.
 */
static PetscErrorCode CreateMarker(Vec like, Vec* marker) {
  const PetscInt enough = 20000; /* rows for -oclspkt_types to take the device */
  VecType type;

  PetscFunctionBeginUser;
  PetscCall(VecGetType(like, &type));
  PetscCall(VecCreate(PetscObjectComm((PetscObject)like), marker));
  PetscCall(VecSetSizes(*marker, enough, PETSC_DETERMINE));
  PetscCall(VecSetType(*marker, type));
  PetscFunctionReturn(0);
}

static PetscErrorCode WaitForDevice(Vec marker) {
  PetscScalar square;

  PetscFunctionBeginUser;
  PetscCall(VecSet(marker, 1));
  PetscCall(VecDot(marker, marker, &square)); /* VecSet() tells VecNorm() the norm */
  PetscCheck(PetscRealPart(square) > 0, PETSC_COMM_SELF, PETSC_ERR_PLIB, "ones have no length");
  PetscFunctionReturn(0);
}
