// SPDX-License-Identifier: BSD-2-Clause
/* Couplings that the preconditioner leaves out: entries that no direction takes, and a periodic axis that
   `-pc_oclspkt_lines auto` cannot take. */
#include "boundary.hxx"
#include "pc_oclspkt.hxx"

namespace oclspkt::petsc {
namespace {

/// A line for -info, and by the first call that prints for the error stream of the first rank.
PetscErrorCode Warn(PC pc, bool print, bool* told, const std::string& text) {
  PetscMPIInt rank;

  PetscFunctionBegin;
  PetscCall(PetscInfo(pc, "WARNING: %s\n", text.c_str()));
  PetscCallMPI(MPI_Comm_rank(PetscObjectComm((PetscObject)pc), &rank));
  if (!print || *told || data(pc)->settings.ignored != Ignored::warn) PetscFunctionReturn(PETSC_SUCCESS);
  if (rank == 0) {
    PetscCall((*PetscErrorPrintf)("PCOCLSPKT: %s (-pc_oclspkt_ignored ignore hides this)\n", text.c_str()));
  }
  *told = true;
  PetscFunctionReturn(PETSC_SUCCESS);
}

/// Whether a KSP does nothing but apply this PC once.
PetscErrorCode AppliesOnce(PC pc, KSP ksp, PetscBool* once) {
  PC its_own;

  PetscFunctionBegin;
  PetscCall(PetscObjectTypeCompareAny((PetscObject)ksp, once, KSPPREONLY, "none", ""));
  PetscCall(KSPGetPC(ksp, &its_own));
  if (its_own != pc) *once = PETSC_FALSE; /* a part of another PC */
  PetscFunctionReturn(PETSC_SUCCESS);
}

}  // namespace

std::string ignored_text(const PC_OCLSPKT& o) {
  return std::to_string(ignored_entries(o)) + " nonzero entries off the " +
         (o.sweeps.size() > 1 ? "bands of all directions" : "three bands");
}

PetscErrorCode CheckIgnored(PC pc) {
  PC_OCLSPKT* o = data(pc);
  std::string text;

  PetscFunctionBegin;
  if (o->settings.ignored != Ignored::error || ignored_entries(*o) == 0) PetscFunctionReturn(PETSC_SUCCESS);
  OclspktCall(pc, text = ignored_text(*o));
  SETERRQ(PetscObjectComm((PetscObject)pc), PETSC_ERR_ARG_INCOMP,
          "-pc_oclspkt_ignored error: the matrix has %s; name the directions of all couplings in -pc_oclspkt_lines, or "
          "use -pc_oclspkt_ignored warn with a Krylov method (-ksp_type gmres), which makes up for them",
          text.c_str());
}

PetscErrorCode WarnOfPeriodicAxis(PC pc) {
  PC_OCLSPKT* o = data(pc);

  PetscFunctionBegin;
  if (!o->left_out.empty()) PetscCall(Warn(pc, true, &o->told_left_out, o->left_out));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode WarnOfIgnored(PC pc, KSP ksp) {
  PC_OCLSPKT* o = data(pc);
  PetscInt level;
  PetscBool once;
  std::string text;

  PetscFunctionBegin;
  PetscCall(AppliesOnce(pc, ksp, &once));
  o->applied_once = once;
  if (!once || !o->ready || ignored_entries(*o) == 0) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall(PetscObjectGetTabLevel((PetscObject)ksp, &level));
  OclspktCall(pc, text = "the preconditioner ignores " + ignored_text(*o) +
                         " of the matrix, and no Krylov method follows (-ksp_type preonly), so the answer solves "
                         "another matrix; use -ksp_type gmres");
  /* A KSP that is a part of another solver, such as a block of bjacobi, stands below that: there the outer one
     iterates. */
  PetscCall(Warn(pc, level == 0, &o->told_ignored, text));
  PetscFunctionReturn(PETSC_SUCCESS);
}

}  // namespace oclspkt::petsc
