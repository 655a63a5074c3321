// SPDX-License-Identifier: BSD-2-Clause
/* Devices that were lost: each goes to -info and the log of the rank that lost it; the error stream gets one line for
   a preconditioner, however many ranks lost theirs. */
#include <algorithm>

#include "boundary.hxx"
#include "package.hxx"
#include "pc_oclspkt.hxx"

namespace oclspkt::petsc {
namespace {

/// Note devices of a sweep that were lost since the last call.
PetscErrorCode NoteSweep(PC pc, Sweep& sweep) {
  PC_OCLSPKT* o = data(pc);
  const Report& report = sweep.solver.report();

  PetscFunctionBegin;
  const std::size_t all = report.degraded.size(), fresh = std::min(report.losses - sweep.losses_seen, all);
  sweep.losses_seen = report.losses;
  for (std::size_t i = all - fresh; i < all; ++i) {
    PetscCall(PetscLogEventBegin(events().degraded, pc, 0, 0, 0));
    PetscCall(PetscInfo(pc, "degraded: %s\n", report.degraded[i].c_str()));
    PetscCall(PetscLogEventEnd(events().degraded, pc, 0, 0, 0));
    if (o->first_loss.empty()) {
      OclspktCall(pc, o->first_loss = report.degraded[i] + "; its rows are solved on " + report.device.name);
    }
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode Print(PC pc) {
  PC_OCLSPKT* o = data(pc);
  PetscMPIInt ranks, rank;
  char where[32] = "";

  PetscFunctionBegin;
  PetscCallMPI(MPI_Comm_size(PetscObjectComm((PetscObject)pc), &ranks));
  PetscCallMPI(MPI_Comm_rank(PetscObjectComm((PetscObject)pc), &rank));
  if (ranks > 1) PetscCall(PetscSNPrintf(where, sizeof where, " on rank %d", rank));
  if (o->settings.on_device_failure != OnDeviceFailure::quiet) {
    PetscCall(
        (*PetscErrorPrintf)("PCOCLSPKT degraded%s: %s (-pc_oclspkt_on_device_failure quiet hides this, error "
                            "stops)\n",
                            where, o->first_loss.c_str()));
  }
  o->degraded_printed = true;
  PetscFunctionReturn(PETSC_SUCCESS);
}

}  // namespace

PetscErrorCode NoteDegraded(PC pc) {
  PC_OCLSPKT* o = data(pc);
  PetscMPIInt rank;

  PetscFunctionBegin;
  for (const auto& sweep : o->sweeps) PetscCall(NoteSweep(pc, *sweep));
  PetscCallMPI(MPI_Comm_rank(PetscObjectComm((PetscObject)pc), &rank));
  if (rank == 0 && !o->first_loss.empty() && !o->degraded_printed) PetscCall(Print(pc));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode AgreeOnDegraded(PC pc) {
  PC_OCLSPKT* o = data(pc);
  PetscMPIInt ranks, rank;
  PetscBool finalized; /* a PC may be destroyed behind PetscFinalize() */

  PetscFunctionBegin;
  PetscCall(PetscFinalized(&finalized));
  if (finalized) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCallMPI(MPI_Comm_size(PetscObjectComm((PetscObject)pc), &ranks));
  PetscCallMPI(MPI_Comm_rank(PetscObjectComm((PetscObject)pc), &rank));
  if (ranks == 1) PetscFunctionReturn(PETSC_SUCCESS);
  /* Whether a rank has printed already, and which is the first rank that has something to print. */
  int state[] = {o->degraded_printed, o->first_loss.empty() ? 0 : ranks - rank};
  OclspktAllreduce(MPI_IN_PLACE, state, 2, MPI_INT, MPI_MAX, PetscObjectComm((PetscObject)pc));
  if (!state[0] && state[1] > 0 && rank == ranks - state[1]) PetscCall(Print(pc));
  o->degraded_printed = state[0] || state[1] > 0;
  PetscFunctionReturn(PETSC_SUCCESS);
}

}  // namespace oclspkt::petsc
